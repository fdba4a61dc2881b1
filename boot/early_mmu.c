// SPDX-License-Identifier: BSD-2-Clause
#include "boot/early_mmu.h"
#include "boot/boot.h"
#include "mm/layout.h"

/*
 * Runs with the MMU off: every address here is physical, memory is Device memory. Stores go through
 * volatile pointers so that the compiler neither widens them nor makes a memset of them.
 */

struct boot_info boot_info;
uint64_t boot_cpu_mpidr[MAX_CPUS];

#define TABLE_ENTRIES 512

/* About 30 are taken; linker.ld and head.S maintain the caches for 64. */
static uint64_t pool_take_page(void)
{
	uint64_t pa = boot_info.pool_pa;
	volatile uint64_t *p = (volatile uint64_t *)pa;

	boot_info.pool_pa = pa + PAGE_BYTES;
	for (unsigned int i = 0; i < TABLE_ENTRIES; i++)
		p[i] = 0;
	return pa;
}

static volatile uint64_t *table_below(volatile uint64_t *table, unsigned int index)
{
	if (!(table[index] & PTE_VALID))
		table[index] = pool_take_page() | PTE_TABLE;
	return (volatile uint64_t *)(table[index] & PTE_ADDR);
}

static unsigned int table_index(uint64_t va, unsigned int shift)
{
	return (unsigned int)(va >> shift) & (TABLE_ENTRIES - 1);
}

static void map_block(uint64_t root_pa, uint64_t va, uint64_t pa, uint64_t attrs)
{
	volatile uint64_t *l2 =
		table_below((volatile uint64_t *)root_pa, table_index(va, GIGA_SHIFT));

	l2[table_index(va, BLOCK_SHIFT)] = pa | attrs | PTE_BLOCK;
}

static void map_pages(uint64_t root_pa, uint64_t va, uint64_t pa, uint64_t bytes, uint64_t attrs)
{
	volatile uint64_t *l2 =
		table_below((volatile uint64_t *)root_pa, table_index(va, GIGA_SHIFT));
	volatile uint64_t *l3 = table_below(l2, table_index(va, BLOCK_SHIFT));

	for (uint64_t at = 0; at < bytes; at += PAGE_BYTES)
		l3[table_index(va + at, PAGE_SHIFT)] = (pa + at) | attrs | PTE_PAGE;
}

static uint64_t pool_map_pages(uint64_t root_pa, uint64_t va, uint64_t bytes)
{
	uint64_t first = 0;

	for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
		uint64_t pa = pool_take_page();

		if (at == 0)
			first = pa;
		map_pages(root_pa, va + at, pa, PAGE_BYTES, PTE_KERNEL_RW);
	}
	return first;
}

/* The image at its link addresses. */
static void map_image(uint64_t root)
{
	uint64_t data_pa = boot_info.text_pa + BLOCK_BYTES;
	uint64_t rodata_bytes = (uint64_t)(__rodata_end - __rodata_start);
	uint64_t image_bytes = (uint64_t)(__image_end - __rodata_start);

	map_block(root, TEXT_BASE, boot_info.text_pa, PTE_KERNEL_RX);
	map_pages(root, DATA_BASE, data_pa, rodata_bytes, PTE_KERNEL_RO);
	map_pages(root, DATA_BASE + rodata_bytes, data_pa + rodata_bytes,
		  image_bytes - rodata_bytes, PTE_KERNEL_RW);
}

static uint64_t tcr_of_this_cpu(void)
{
	uint64_t mmfr0;

	__asm__("mrs %0, id_aa64mmfr0_el1" : "=r"(mmfr0));
	mmfr0 &= 0xf;
	if (mmfr0 > TCR_IPS_MAX)
		mmfr0 = TCR_IPS_MAX;
	return TCR_VALUE | mmfr0 << TCR_IPS_SHIFT;
}

void early_mmu_build(void)
{
	uint64_t root;

	/* The page behind the image is this function's stack. */
	boot_info.pool_pa = (uint64_t)__image_end + PAGE_BYTES;
	root = pool_take_page();
	boot_info.root_pa = root;
	boot_info.empty_pa = pool_take_page();
	boot_info.idmap_pa = pool_take_page();
	boot_info.tcr = tcr_of_this_cpu();

	map_block(boot_info.idmap_pa, boot_info.text_pa, boot_info.text_pa, PTE_KERNEL_RX);
	map_image(root);
	/* The data frame, whose rest is the first memory the page allocator hands out. */
	map_block(root, DIRECT_BASE + boot_info.text_pa + BLOCK_BYTES,
		  boot_info.text_pa + BLOCK_BYTES, PTE_KERNEL_RW);
	pool_map_pages(root, STACK_TOP(0, STACK_MAIN) - STACK_BYTES, STACK_BYTES);
	pool_map_pages(root, STACK_TOP(0, STACK_EMERGENCY) - STACK_EMERGENCY_BYTES,
		       STACK_EMERGENCY_BYTES);
	pool_map_pages(root, PERCPU_BASE, PERCPU_BOOT_BYTES);
}
