/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "boot/boot.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/cpu.h"
#include "kernel/memory.h"
#include "kernel/selftest.h"
#include "mm/heap.h"
#include "mm/percpu.h"
#include "mm/phys.h"
#include "mm/vmem.h"
#include "mm/wx.h"
#include "mm/xlat.h"

static bool is_readable(const void *p)
{
	uint8_t byte;

	return hal_probe_read(&byte, p, 1) == 0;
}

/* ---- wx -------------------------------------------------------------------------------------- */

/*
 * A tree of three tables with two mappings of one page: the walk must see what is wrong with them.
 * The hardware never uses this tree.
 */
static void fake_tree_check(struct selftest *t, uint64_t first, uint64_t second, int expect)
{
	uint64_t pa;
	struct wx_report r;
	uint64_t *l1, *l2, *l3;

	if (!SELF_CHECK(t, phys_alloc_pages(4, 1, PHYS_TABLE, &pa) == 0))
		return;
	l1 = phys_to_virt(pa);
	l2 = l1 + 512;
	l3 = l2 + 512;
	memset(l1, 0, 3 * PAGE_BYTES);
	/* The last gigabyte, far from the direct map. */
	l1[511] = (pa + PAGE_BYTES) | PTE_TABLE;
	l2[3] = (pa + 2 * PAGE_BYTES) | PTE_TABLE;
	l3[7] = (pa + 3 * PAGE_BYTES) | first | PTE_PAGE;
	if (second)
		l3[400] = (pa + 3 * PAGE_BYTES) | second | PTE_PAGE;
	SELF_CHECK(t, wx_check(0, pa, &r) == expect);
	SELF_CHECK(t, r.pages == (second ? 2 : 1) && r.tables == 3);
	SELF_CHECK(t, phys_free_pages(pa, 4, PHYS_TABLE) == 0);
}

void selftest_wx(struct selftest *t)
{
	struct wx_report r;

	fake_tree_check(t, PTE_KERNEL_RW, PTE_KERNEL_RO, 0);
	fake_tree_check(t, PTE_KERNEL_RX, PTE_KERNEL_RO, 0);
	fake_tree_check(t, PTE_KERNEL_RX, PTE_KERNEL_RW, -EPERM);
	fake_tree_check(t, PTE_KERNEL_RW, PTE_KERNEL_RX, -EPERM);
	fake_tree_check(t, PTE_NORMAL | PTE_UXN, 0, -EPERM);
	fake_tree_check(t, PTE_KERNEL_RW | PTE_EL0, 0, -EPERM);

	SELF_CHECK(t, wx_check_live(&r) == 0);
	SELF_CHECK(t, r.exec_bytes >= BLOCK_BYTES && r.tables >= 5);
	if (r.violations)
		selftest_note(t, "  %llu violations, first: %s at 0x%llx, descriptor 0x%llx\n",
			      (unsigned long long)r.violations, r.bad_what,
			      (unsigned long long)r.bad_va, (unsigned long long)r.bad_desc);
	selftest_note(t, "  %llu tables, %llu blocks, %llu pages; %llu KB executable\n",
		      (unsigned long long)r.tables, (unsigned long long)r.blocks,
		      (unsigned long long)r.pages, (unsigned long long)(r.exec_bytes / 1024));
}

/* ---- xlat ------------------------------------------------------------------------------------ */

/* An address range for the checks: the end of the map window, which is filled from below. */
#define TRY_VA (MAPMEM_END - 4 * BLOCK_BYTES)

static void refusals_check(struct selftest *t, uint64_t page_pa)
{
	uint64_t text_pa = boot_info.text_pa;
	struct xlat_entry e;

	/* W^X by physical page: data is never executable, code never writable. */
	SELF_CHECK(t, xlat_map(TRY_VA, page_pa, PAGE_BYTES, XLAT_RX) == -EPERM);
	SELF_CHECK(t, xlat_map(TRY_VA, text_pa, PAGE_BYTES, XLAT_RW) == -EPERM);
	SELF_CHECK(t, xlat_protect(TEXT_BASE, BLOCK_BYTES, XLAT_RW) == -EPERM);
	SELF_CHECK(t, xlat_protect(DATA_BASE, PAGE_BYTES, XLAT_RX) == -EPERM);
	/* RAM is not a device, and what is no RAM is not memory. */
	SELF_CHECK(t, xlat_map(TRY_VA, page_pa, PAGE_BYTES, XLAT_DEVICE) == -EPERM);
	SELF_CHECK(t, xlat_map(TRY_VA, DIRECT_BYTES, PAGE_BYTES, XLAT_RW) == -EPERM);
	SELF_CHECK(t, xlat_device_map(page_pa, 4) == NULL);
	/* Places and sizes. */
	SELF_CHECK(t, xlat_map(TRY_VA + 1, page_pa, PAGE_BYTES, XLAT_RW) == -EINVAL);
	SELF_CHECK(t, xlat_map(TRY_VA, page_pa, 0, XLAT_RW) == -EINVAL);
	SELF_CHECK(t, xlat_map(DIRECT_BASE, page_pa, PAGE_BYTES, XLAT_RW) == -EINVAL);
	SELF_CHECK(t, xlat_map(0x1000, page_pa, PAGE_BYTES, XLAT_RW) == -EINVAL);
	SELF_CHECK(t, xlat_map(TEXT_BASE, page_pa, PAGE_BYTES, XLAT_RW) == -EEXIST);
	SELF_CHECK(t, xlat_unmap(TEXT_BASE + PAGE_BYTES, PAGE_BYTES) == -EINVAL);
	SELF_CHECK(t, xlat_unmap(DIRECT_BASE, BLOCK_BYTES) == -EINVAL);
	SELF_CHECK(t, xlat_protect(TRY_VA, PAGE_BYTES, XLAT_RO) == -EINVAL);
	SELF_CHECK(t, xlat_lookup(TRY_VA, &e) == -ENOENT);
}

static void page_check(struct selftest *t, uint64_t page_pa)
{
	volatile uint32_t *p = (volatile uint32_t *)(TRY_VA + PAGE_BYTES);
	volatile uint32_t *direct = phys_to_virt(page_pa);
	struct xlat_entry e;

	if (!SELF_CHECK(t, xlat_map((uint64_t)p, page_pa, PAGE_BYTES, XLAT_RW) == 0))
		return;
	*p = 0x12345678;
	SELF_CHECK(t, *direct == 0x12345678);
	SELF_CHECK(t, xlat_map((uint64_t)p, page_pa, PAGE_BYTES, XLAT_RW) == -EEXIST);
	SELF_CHECK(t, xlat_lookup((uint64_t)p + 100, &e) == 0 && e.pa == page_pa &&
			      e.bytes == PAGE_BYTES && e.va == (uint64_t)p);
	SELF_CHECK(t, !is_readable((const void *)(TRY_VA)));
	SELF_CHECK(t, !is_readable((const void *)(TRY_VA + 2 * PAGE_BYTES)));
	SELF_CHECK(t, xlat_protect((uint64_t)p, PAGE_BYTES, XLAT_RO) == 0);
	SELF_CHECK(t, *p == 0x12345678 && xlat_lookup((uint64_t)p, &e) == 0 && (e.attrs & PTE_RO));
	SELF_CHECK(t, xlat_unmap((uint64_t)p, PAGE_BYTES) == 0);
	SELF_CHECK(t, !is_readable((const void *)p));
}

/* Behind the kernel's code: executable, and nothing but traps. */
static void text_spare_check(struct selftest *t)
{
	uint64_t va, pa, bytes, wrong = 0;
	struct xlat_entry e;

	memory_get_text_spare(&va, &pa, &bytes);
	SELF_CHECK(t, bytes >= BLOCK_BYTES / 2 && va + bytes == TEXT_END);
	SELF_CHECK(t, xlat_lookup(va, &e) == 0 && e.bytes == BLOCK_BYTES &&
			      e.pa + (va - e.va) == pa && !(e.attrs & PTE_PXN));
	for (uint64_t at = va; at < va + bytes; at += 4)
		wrong += *(const uint32_t *)at != BRK_FILL_INSN;
	SELF_CHECK(t, wrong == 0);
}

static void code_frame_check(struct selftest *t)
{
	uint64_t pa;
	struct wx_report r;

	if (phys_alloc_frames(1, PHYS_CODE, &pa)) {
		selftest_note(t, "  no frame free: code frames not tried\n");
		return;
	}
	SELF_CHECK(t, is_readable(phys_to_virt(pa)));
	SELF_CHECK(t, xlat_code_frame_take(pa) == 0);
	SELF_CHECK(t, !is_readable(phys_to_virt(pa)));
	SELF_CHECK(t, phys_free_frames(pa, 1, PHYS_CODE) == -EINVAL);
	SELF_CHECK(t, xlat_map(TRY_VA, pa, BLOCK_BYTES, XLAT_RW) == -EPERM);
	SELF_CHECK(t, xlat_map(TRY_VA, pa, BLOCK_BYTES, XLAT_RX) == 0);
	SELF_CHECK(t, is_readable((const void *)TRY_VA));
	SELF_CHECK(t, wx_check_live(&r) == 0);
	SELF_CHECK(t, xlat_unmap(TRY_VA + BLOCK_BYTES / 2, BLOCK_BYTES / 2) == -EINVAL);
	SELF_CHECK(t, xlat_unmap(TRY_VA, BLOCK_BYTES) == 0);
	SELF_CHECK(t, xlat_code_frame_give(pa) == 0);
	SELF_CHECK(t, is_readable(phys_to_virt(pa)));
	SELF_CHECK(t, phys_free_frames(pa, 1, PHYS_CODE) == 0);
	SELF_CHECK(t, phys_free_frames(pa, 1, PHYS_CODE) == -EINVAL);
}

void selftest_xlat(struct selftest *t)
{
	struct phys_stats before, after;
	uint64_t pa;

	phys_get_stats(&before);
	if (!SELF_CHECK(t, phys_alloc_pages(1, 1, PHYS_MAP, &pa) == 0))
		return;
	refusals_check(t, pa);
	page_check(t, pa);
	SELF_CHECK(t, phys_free_pages(pa, 1, PHYS_MAP) == 0);
	SELF_CHECK(t, phys_free_pages(pa, 1, PHYS_MAP) == -EINVAL);
	code_frame_check(t);
	text_spare_check(t);
	/* What must never be mapped. */
	SELF_CHECK(t, !is_readable(NULL));
	SELF_CHECK(t, !is_readable((const void *)0x40000000));
	SELF_CHECK(t, !is_readable((const void *)-1));
	SELF_CHECK(t, !is_readable((const void *)(DIRECT_BASE + boot_info.text_pa)));
	for (unsigned int i = 0; i < cpu_count(); i++) {
		uint64_t top = STACK_TOP(i, STACK_MAIN);

		SELF_CHECK(t, is_readable((const void *)(top - STACK_BYTES)));
		SELF_CHECK(t, !is_readable((const void *)(top - STACK_BYTES - 1)));
		SELF_CHECK(t, !is_readable((const void *)top));
	}
	phys_get_stats(&after);
	SELF_CHECK(t, memcmp(&before, &after, sizeof(before)) == 0);
}

/* ---- allocators ------------------------------------------------------------------------------ */

#define TRIES 64

static void heap_check(struct selftest *t)
{
	struct heap_stats before, after;
	void *p[TRIES];
	bool clean = true;

	heap_get_stats(&before);
	for (unsigned int i = 0; i < TRIES; i++) {
		size_t n = i * i * 9 + 1;

		p[i] = heap_alloc(n);
		if (!SELF_CHECK(t,
				p[i] && ((uint64_t)p[i] & 15) == 0 && heap_usable_bytes(p[i]) >= n))
			continue;
		for (size_t k = 0; k < n; k++)
			clean &= ((uint8_t *)p[i])[k] == 0;
		memset(p[i], (int)i, n);
	}
	SELF_CHECK(t, clean);
	for (unsigned int i = 0; i < TRIES; i++) {
		size_t n = i * i * 9 + 1;

		for (size_t k = 0; p[i] && k < n; k++)
			clean &= ((uint8_t *)p[i])[k] == i;
		heap_free(p[i]);
	}
	SELF_CHECK(t, clean);
	SELF_CHECK(t, heap_alloc(0) == NULL && heap_alloc(HEAP_LARGE_MAX + 1) == NULL);
	heap_fail_after(2);
	p[0] = heap_alloc(8);
	p[1] = heap_alloc(8);
	SELF_CHECK(t, p[0] && !p[1]);
	heap_free(p[0]);
	heap_get_stats(&after);
	SELF_CHECK(t, before.used_bytes == after.used_bytes &&
			      before.used_objects == after.used_objects);
}

static void mirror_check(struct selftest *t, uint64_t head, uint64_t bytes)
{
	uint8_t *p = vmem_alloc_mirror(head, bytes), *ring;
	bool good = true;

	if (!SELF_CHECK(t, p != NULL))
		return;
	ring = p + head;
	for (uint64_t i = 0; i < bytes; i += 1024)
		ring[bytes + i] = (uint8_t)(i >> 10 | 1);
	for (uint64_t i = 0; i < bytes; i += 1024)
		good &= ring[i] == (uint8_t)(i >> 10 | 1);
	ring[bytes - 1] = 0x77;
	SELF_CHECK(t, good && ring[2 * bytes - 1] == 0x77);
	SELF_CHECK(t, head == 0 || (p[0] == 0 && p[head - 1] == 0));
	SELF_CHECK(t, !is_readable(ring + 2 * bytes));
	vmem_free_mirror(p, head, bytes);
	SELF_CHECK(t, !is_readable(p) && !is_readable(ring + bytes));
}

static void vmem_check(struct selftest *t)
{
	static const uint64_t sizes[] = { 1,
					  PAGE_BYTES,
					  PAGE_BYTES + 1,
					  600000,
					  BLOCK_BYTES - PAGE_BYTES,
					  BLOCK_BYTES,
					  2 * BLOCK_BYTES + 5 * PAGE_BYTES };
	struct vmem_stats stats;
	uint8_t *p[ARRAY_SIZE(sizes)];

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		bool zero = true;

		p[i] = vmem_alloc(sizes[i]);
		if (!SELF_CHECK(t, p[i] != NULL))
			continue;
		for (uint64_t k = 0; k < sizes[i]; k += 512)
			zero &= p[i][k] == 0;
		SELF_CHECK(t, zero && p[i][sizes[i] - 1] == 0);
		memset(p[i], 0xa5, sizes[i]);
		SELF_CHECK(t, (uint64_t)p[i] >= TOP_BASE);
	}
	/* Behind every area a page is not mapped. */
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint64_t end = ROUND_UP((uint64_t)p[i] + sizes[i], PAGE_BYTES);

		if (sizes[i] % BLOCK_BYTES != BLOCK_BYTES - PAGE_BYTES)
			SELF_CHECK(t, !p[i] || !is_readable((const void *)end));
	}
	vmem_get_stats(&stats);
	SELF_CHECK(t, stats.block_bytes >= 4 * BLOCK_BYTES);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		vmem_free(p[i]);
		SELF_CHECK(t, !p[i] || !is_readable(p[i]));
	}
	mirror_check(t, 0, PAGE_BYTES);
	mirror_check(t, 2 * PAGE_BYTES, 16 * PAGE_BYTES);
	mirror_check(t, PAGE_BYTES, 2 * BLOCK_BYTES);
	SELF_CHECK(t, vmem_alloc_mirror(100, PAGE_BYTES) == NULL &&
			      vmem_alloc_mirror(0, 0) == NULL &&
			      vmem_alloc_mirror(0, 1ull << 31) == NULL);
	SELF_CHECK(t, vmem_alloc(0) == NULL && vmem_alloc(1ull << 40) == NULL);
}

static void percpu_check(struct selftest *t)
{
	void *p[TRIES];
	bool good = true;

	for (unsigned int i = 0; i < TRIES; i++) {
		p[i] = percpu_alloc(i * 40 + 1, i & 1 ? 64 : 8);
		if (!SELF_CHECK(t, p[i] && ((uint64_t)p[i] & (i & 1 ? 63 : 7)) == 0))
			continue;
		for (unsigned int cpu = 0; cpu < cpu_count(); cpu++) {
			uint8_t *copy = percpu_ptr(p[i], cpu);

			for (unsigned int k = 0; k < i * 40 + 1; k++)
				good &= copy[k] == 0;
			memset(copy, (int)(i + cpu), i * 40 + 1);
		}
	}
	for (unsigned int i = 0; i < TRIES; i++) {
		for (unsigned int cpu = 0; p[i] && cpu < cpu_count(); cpu++) {
			uint8_t *copy = percpu_ptr(p[i], cpu);

			for (unsigned int k = 0; k < i * 40 + 1; k++)
				good &= copy[k] == (uint8_t)(i + cpu);
		}
	}
	SELF_CHECK(t, good);
	/* Out of order, so that neighbours keep the pages they share. */
	for (unsigned int i = 0; i < TRIES; i++)
		percpu_free(p[i * 37 % TRIES]);
	SELF_CHECK(t, percpu_alloc(0, 8) == NULL && percpu_alloc(8, 3) == NULL &&
			      percpu_alloc(PERCPU_STRIDE, 8) == NULL);
}

void selftest_memory(struct selftest *t)
{
	struct phys_stats before, after;
	struct heap_stats h;

	/* Slabs that stay as a class's reserve are made first, so that the rest must come out even.
	 */
	heap_check(t);
	vmem_check(t);
	percpu_check(t);
	phys_get_stats(&before);
	heap_check(t);
	vmem_check(t);
	percpu_check(t);
	phys_get_stats(&after);
	SELF_CHECK(t, memcmp(&before, &after, sizeof(before)) == 0);
	heap_get_stats(&h);
	selftest_note(t, "  heap: %llu bytes in %llu objects\n", (unsigned long long)h.used_bytes,
		      (unsigned long long)h.used_objects);
}
