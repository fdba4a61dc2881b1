/* SPDX-License-Identifier: BSD-2-Clause */
#include "mm/xlat.h"

#include <string.h>

#include "include/err.h"
#include "include/hal.h"
#include "lib/spinlock.h"
#include "mm/phys.h"
#include "mm/xlat_int.h"

#define PTE_ADDR_TLBI(va) (((va) >> PAGE_SHIFT) & 0xfffffffffffull)
/* From this many entries on, invalidating everything is cheaper than one by one. */
#define TLBI_ALL_FROM 128

static struct {
	struct spinlock lock;
	uint64_t root_pa;
	struct xlat_stats stats;
} xlat;

static const uint64_t kind_attrs[XLAT_KINDS] = {
	[XLAT_RX] = PTE_KERNEL_RX,
	[XLAT_RO] = PTE_KERNEL_RO,
	[XLAT_RW] = PTE_KERNEL_RW,
	[XLAT_DEVICE] = PTE_DEVICE_RW,
};

/* ---- table access ---------------------------------------------------------------------------- */

static uint64_t *table_at(uint64_t desc)
{
	return phys_to_virt(desc & PTE_ADDR);
}

static bool is_table(uint64_t desc)
{
	return (desc & PTE_TYPE) == PTE_TABLE;
}

static uint64_t *l1_entry(uint64_t va)
{
	return table_at(xlat.root_pa) + (va >> GIGA_SHIFT) % TABLE_ENTRIES;
}

/* Entry of level 2, or NULL if there is no table. */
static uint64_t *l2_entry(uint64_t va)
{
	uint64_t *e = l1_entry(va);

	return is_table(*e) ? table_at(*e) + (va >> BLOCK_SHIFT) % TABLE_ENTRIES : NULL;
}

/*
 * The entry that maps va, or the entry where a mapping is missing; *bytes is what it covers. A
 * block of level 1 is never made here.
 */
static uint64_t *leaf_entry(uint64_t va, uint64_t *bytes)
{
	uint64_t *e = l2_entry(va);

	if (!e) {
		*bytes = GIGA_BYTES;
		return l1_entry(va);
	}
	if (!is_table(*e)) {
		*bytes = BLOCK_BYTES;
		return e;
	}
	*bytes = PAGE_BYTES;
	return table_at(*e) + (va >> PAGE_SHIFT) % TABLE_ENTRIES;
}

static void entry_write(uint64_t *e, uint64_t desc)
{
	__atomic_store_n(e, desc, __ATOMIC_RELAXED);
}

static int table_add(uint64_t *e)
{
	uint64_t pa;
	int ret = phys_alloc_pages(1, 1, PHYS_TABLE, &pa);

	if (ret)
		return ret;
	memset(phys_to_virt(pa), 0, PAGE_BYTES);
	__asm__ volatile("dsb ishst" ::: "memory");
	entry_write(e, pa | PTE_TABLE);
	xlat.stats.tables++;
	return 0;
}

/* ---- TLB ------------------------------------------------------------------------------------- */

static void tlbi_begin(void)
{
	__asm__ volatile("dsb ishst" ::: "memory");
}

static void tlbi_end(void)
{
	__asm__ volatile("dsb ish; isb" ::: "memory");
}

static void tlbi_all(void)
{
	__asm__ volatile("tlbi vmalle1is" ::: "memory");
	xlat.stats.tlbi++;
}

/* Leaf entries only: tables above stay. */
static void tlbi_leaf(uint64_t va)
{
	__asm__ volatile("tlbi vaale1is, %0" ::"r"(PTE_ADDR_TLBI(va)) : "memory");
	xlat.stats.tlbi++;
}

static void tlbi_table(uint64_t va)
{
	__asm__ volatile("tlbi vaae1is, %0" ::"r"(PTE_ADDR_TLBI(va)) : "memory");
	xlat.stats.tlbi++;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_page_range(uint64_t va, uint64_t bytes)
{
	return !((va | bytes) & PAGE_MASK) && bytes > 0 && va >= TOP_BASE && va + bytes > va;
}

static bool kind_suits(enum xlat_kind kind, uint64_t pa, uint64_t bytes)
{
	switch (kind) {
	case XLAT_RX:
		return phys_is_code(pa, bytes);
	case XLAT_RO:
		return phys_is_ram(pa, bytes);
	case XLAT_RW:
		return phys_is_ram(pa, bytes) && !phys_touches_code(pa, bytes);
	case XLAT_DEVICE:
		return !phys_touches_ram(pa, bytes);
	default:
		return false;
	}
}

/* ---- map ------------------------------------------------------------------------------------- */

static uint64_t step_bytes(uint64_t va, uint64_t pa, uint64_t left)
{
	return !((va | pa) & BLOCK_MASK) && left >= BLOCK_BYTES ? BLOCK_BYTES : PAGE_BYTES;
}

/* Make the tables for an entry of that size at va, and see that nothing is there. */
static int entry_prepare(uint64_t va, uint64_t bytes)
{
	uint64_t *e = l1_entry(va);
	int ret;

	if (!*e) {
		ret = table_add(e);
		if (ret)
			return ret;
	}
	e = l2_entry(va);
	if (!e)
		return -EEXIST;
	if (bytes == BLOCK_BYTES)
		return *e ? -EEXIST : 0;
	if (!*e) {
		ret = table_add(e);
		if (ret)
			return ret;
	}
	if (!is_table(*e))
		return -EEXIST;
	return table_at(*e)[(va >> PAGE_SHIFT) % TABLE_ENTRIES] ? -EEXIST : 0;
}

static bool table_is_empty(const uint64_t *table)
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < TABLE_ENTRIES; i++)
		any |= table[i];
	return !any;
}

/* Give back level 3 tables of the range that map nothing. */
static void tables_prune(uint64_t va, uint64_t bytes)
{
	uint64_t at = ROUND_DOWN(va, BLOCK_BYTES);
	uint64_t n = (va + bytes - 1 - at) / BLOCK_BYTES + 1;

	for (; n > 0; n--, at += BLOCK_BYTES) {
		uint64_t *e = l2_entry(at);
		uint64_t pa;

		if (!e || !is_table(*e) || !table_is_empty(table_at(*e)))
			continue;
		pa = *e & PTE_ADDR;
		entry_write(e, 0);
		tlbi_begin();
		tlbi_table(at);
		tlbi_end();
		xlat.stats.tables--;
		phys_free_pages(pa, 1, PHYS_TABLE);
	}
}

static int pieces_prepare(uint64_t va, const uint64_t *pa, unsigned int n, uint64_t bytes)
{
	for (unsigned int i = 0; i < n; i++) {
		uint64_t step;

		for (uint64_t at = 0; at < bytes; at += step) {
			uint64_t to = va + i * bytes + at;
			int ret;

			step = step_bytes(to, pa[i] + at, bytes - at);
			ret = entry_prepare(to, step);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static void pieces_write(uint64_t va, const uint64_t *pa, unsigned int n, uint64_t bytes,
			 uint64_t attrs)
{
	for (unsigned int i = 0; i < n; i++) {
		uint64_t step;

		for (uint64_t at = 0; at < bytes; at += step) {
			uint64_t to = va + i * bytes + at;
			uint64_t covers;
			uint64_t *e = leaf_entry(to, &covers);

			step = step_bytes(to, pa[i] + at, bytes - at);
			entry_write(e, (pa[i] + at) | attrs |
					       (step == BLOCK_BYTES ? PTE_BLOCK : PTE_PAGE));
		}
	}
}

int xlat_map_unchecked(uint64_t va, const uint64_t *pa, unsigned int n, uint64_t bytes,
		       uint64_t attrs)
{
	unsigned long flags = spin_lock_irqsave(&xlat.lock);
	int ret = pieces_prepare(va, pa, n, bytes);

	if (ret)
		tables_prune(va, n * bytes);
	else
		pieces_write(va, pa, n, bytes, attrs);
	__asm__ volatile("dsb ishst; isb" ::: "memory");
	spin_unlock_irqrestore(&xlat.lock, flags);
	return ret;
}

int xlat_map_pieces(uint64_t va, const uint64_t *pa, unsigned int n_pieces, uint64_t piece_bytes,
		    enum xlat_kind kind)
{
	if ((unsigned int)kind >= XLAT_KINDS || n_pieces == 0 ||
	    piece_bytes > (uint64_t)-1 / n_pieces || !is_page_range(va, n_pieces * piece_bytes) ||
	    (piece_bytes & PAGE_MASK))
		return -EINVAL;
	for (unsigned int i = 0; i < n_pieces; i++) {
		if ((pa[i] & PAGE_MASK) || pa[i] + piece_bytes < pa[i] ||
		    pa[i] + piece_bytes > PTE_ADDR)
			return -EINVAL;
		if (!kind_suits(kind, pa[i], piece_bytes))
			return -EPERM;
	}
	return xlat_map_unchecked(va, pa, n_pieces, piece_bytes, kind_attrs[kind]);
}

int xlat_map(uint64_t va, uint64_t pa, uint64_t bytes, enum xlat_kind kind)
{
	return xlat_map_pieces(va, &pa, 1, bytes, kind);
}

/* ---- unmap and protect ----------------------------------------------------------------------- */

/* No block lies across an end of the range; with all, everything in it is mapped. */
static bool range_is_whole(uint64_t va, uint64_t bytes, bool all)
{
	uint64_t step;

	for (uint64_t at = va; at - va < bytes; at = ROUND_DOWN(at, step) + step) {
		uint64_t desc = *leaf_entry(at, &step);

		if (!(desc & PTE_VALID)) {
			if (all)
				return false;
			continue;
		}
		if ((at & (step - 1)) || bytes - (at - va) < step)
			return false;
	}
	return true;
}

int xlat_unmap(uint64_t va, uint64_t bytes)
{
	uint64_t step, n = 0;
	unsigned long flags;
	int ret = -EINVAL;

	if (!is_page_range(va, bytes))
		return -EINVAL;
	flags = spin_lock_irqsave(&xlat.lock);
	if (!range_is_whole(va, bytes, false))
		goto out;
	for (uint64_t at = va; at - va < bytes; at = ROUND_DOWN(at, step) + step) {
		uint64_t *e = leaf_entry(at, &step);

		if (*e & PTE_VALID) {
			entry_write(e, 0);
			n++;
		}
	}
	tlbi_begin();
	if (n >= TLBI_ALL_FROM)
		tlbi_all();
	else
		for (uint64_t at = va; at - va < bytes; at = ROUND_DOWN(at, step) + step) {
			leaf_entry(at, &step);
			if (step < GIGA_BYTES)
				tlbi_leaf(at);
		}
	tlbi_end();
	tables_prune(va, bytes);
	ret = 0;
out:
	spin_unlock_irqrestore(&xlat.lock, flags);
	return ret;
}

static bool range_suits(uint64_t va, uint64_t bytes, enum xlat_kind kind)
{
	uint64_t step;

	for (uint64_t at = va; at - va < bytes; at += step) {
		uint64_t desc = *leaf_entry(at, &step);

		if ((desc & PTE_ATTR_MASK) != PTE_ATTR(MAIR_NORMAL) ||
		    !kind_suits(kind, desc & PTE_ADDR, step))
			return false;
	}
	return true;
}

int xlat_protect(uint64_t va, uint64_t bytes, enum xlat_kind kind)
{
	const uint64_t changed = PTE_RO | PTE_PXN | PTE_UXN;
	unsigned long flags;
	uint64_t step;
	int ret = -EINVAL;

	if (!is_page_range(va, bytes) || (kind != XLAT_RX && kind != XLAT_RO && kind != XLAT_RW))
		return -EINVAL;
	flags = spin_lock_irqsave(&xlat.lock);
	if (!range_is_whole(va, bytes, true))
		goto out;
	ret = -EPERM;
	if (!range_suits(va, bytes, kind))
		goto out;
	/* Only permissions change, so no entry has to be invalid in between. */
	for (uint64_t at = va; at - va < bytes; at += step) {
		uint64_t *e = leaf_entry(at, &step);

		entry_write(e, (*e & ~changed) | (kind_attrs[kind] & changed));
	}
	tlbi_begin();
	for (uint64_t at = va; at - va < bytes; at += step) {
		leaf_entry(at, &step);
		tlbi_leaf(at);
	}
	tlbi_end();
	ret = 0;
out:
	spin_unlock_irqrestore(&xlat.lock, flags);
	return ret;
}

/* ---- direct map ------------------------------------------------------------------------------ */

int xlat_direct_add(uint64_t pa, uint64_t bytes)
{
	unsigned long flags;
	int ret = 0;

	if (((pa | bytes) & BLOCK_MASK) || pa + bytes < pa || pa + bytes > DIRECT_BYTES)
		return -EINVAL;
	flags = spin_lock_irqsave(&xlat.lock);
	for (uint64_t at = pa; at < pa + bytes && !ret; at += BLOCK_BYTES) {
		ret = entry_prepare(DIRECT_BASE + at, BLOCK_BYTES);
		if (!ret)
			entry_write(l2_entry(DIRECT_BASE + at), at | PTE_KERNEL_RW | PTE_BLOCK);
		else if (ret == -EEXIST)
			ret = 0;
	}
	__asm__ volatile("dsb ishst; isb" ::: "memory");
	spin_unlock_irqrestore(&xlat.lock, flags);
	return ret;
}

int xlat_code_frame_take(uint64_t frame_pa)
{
	unsigned long flags;
	int ret = phys_set_code(frame_pa, true);

	if (ret)
		return ret;
	flags = spin_lock_irqsave(&xlat.lock);
	entry_write(l2_entry(DIRECT_BASE + frame_pa), 0);
	tlbi_begin();
	tlbi_leaf(DIRECT_BASE + frame_pa);
	tlbi_end();
	spin_unlock_irqrestore(&xlat.lock, flags);
	return 0;
}

int xlat_code_frame_give(uint64_t frame_pa)
{
	unsigned long flags;
	int ret = phys_set_code(frame_pa, false);

	if (ret)
		return ret;
	flags = spin_lock_irqsave(&xlat.lock);
	entry_write(l2_entry(DIRECT_BASE + frame_pa), frame_pa | PTE_KERNEL_RW | PTE_BLOCK);
	__asm__ volatile("dsb ishst; isb" ::: "memory");
	spin_unlock_irqrestore(&xlat.lock, flags);
	return 0;
}

/* ---- the whole ------------------------------------------------------------------------------ */

void xlat_get_stats(struct xlat_stats *out)
{
	unsigned long flags = spin_lock_irqsave(&xlat.lock);

	*out = xlat.stats;
	spin_unlock_irqrestore(&xlat.lock, flags);
}

void xlat_init(uint64_t root_pa)
{
	xlat.root_pa = root_pa;
}

uint64_t xlat_root_pa(void)
{
	return xlat.root_pa;
}
