/* SPDX-License-Identifier: BSD-2-Clause */
#include "include/err.h"
#include "mm/phys.h"
#include "mm/xlat.h"
#include "mm/xlat_int.h"

static bool is_table(uint64_t desc)
{
	return (desc & PTE_TYPE) == PTE_TABLE;
}

static int table_lookup(uint64_t root_pa, uint64_t va, struct xlat_entry *out)
{
	uint64_t desc = root_pa | PTE_TABLE;
	unsigned int shift = GIGA_SHIFT;

	for (;; shift -= GIGA_SHIFT - BLOCK_SHIFT) {
		desc = READ_ONCE(
			((uint64_t *)phys_to_virt(desc & PTE_ADDR))[(va >> shift) % TABLE_ENTRIES]);
		if (!(desc & PTE_VALID))
			return -ENOENT;
		if (shift == PAGE_SHIFT || !is_table(desc))
			break;
	}
	*out = (struct xlat_entry){
		.va = va & ~(BIT(shift) - 1),
		.pa = desc & PTE_ADDR,
		.bytes = BIT(shift),
		.attrs = desc & ~(PTE_ADDR | PTE_TYPE),
	};
	return 0;
}

int xlat_lookup(uint64_t va, struct xlat_entry *out)
{
	uint64_t root_pa = xlat_root_pa();

	if (va < DIRECT_BASE) {
		if (va >> 39)
			return -ENOENT;
		__asm__ volatile("mrs %0, ttbr0_el1" : "=r"(root_pa));
		root_pa &= PTE_ADDR;
	}
	return table_lookup(root_pa, va, out);
}

bool xlat_is_normal(uint64_t va, uint64_t bytes)
{
	struct xlat_entry e;

	if (va + bytes < va)
		return false;
	for (uint64_t at = va; at - va < bytes; at = e.va + e.bytes)
		if (xlat_lookup(at, &e) || (e.attrs & PTE_ATTR_MASK) != PTE_ATTR(MAIR_NORMAL))
			return false;
	return true;
}
