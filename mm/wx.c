/* SPDX-License-Identifier: BSD-2-Clause */
#include "mm/wx.h"

#include "include/err.h"
#include "mm/layout.h"
#include "mm/phys.h"

#define TABLE_ENTRIES 512
#define UPPER_HALF    0xffffff8000000000ull

struct leaf {
	uint64_t va, pa, bytes, desc;
};

/* Physical memory that is executable somewhere, some stretches at a time. */
#define EXEC_BATCH 32
struct exec_set {
	struct leaf at[EXEC_BATCH];
	unsigned int n;
	uint64_t skip; /* executable leaves that earlier batches have dealt with */
	uint64_t seen;
};

struct walk {
	struct wx_report *report;
	struct exec_set *exec;
	void (*leaf)(struct walk *w, const struct leaf *l);
	uint64_t tables;
};

static bool is_exec(uint64_t desc)
{
	return !(desc & PTE_PXN);
}

static bool is_writable(uint64_t desc)
{
	return !(desc & PTE_RO);
}

static void violation(struct wx_report *r, const char *what, const struct leaf *l)
{
	if (r->violations++ == 0) {
		r->bad_what = what;
		r->bad_va = l->va;
		r->bad_desc = l->desc;
	}
}

static void walk_table(struct walk *w, uint64_t table_pa, unsigned int shift, uint64_t va)
{
	const uint64_t *table = phys_to_virt(table_pa);

	w->tables++;
	for (unsigned int i = 0; i < TABLE_ENTRIES; i++, va += BIT(shift)) {
		uint64_t desc = READ_ONCE(table[i]);
		struct leaf l = { va, desc & PTE_ADDR, BIT(shift), desc };

		if (!(desc & PTE_VALID))
			continue;
		if (shift > PAGE_SHIFT && (desc & PTE_TYPE) == PTE_TABLE)
			walk_table(w, desc & PTE_ADDR, shift - (GIGA_SHIFT - BLOCK_SHIFT), va);
		else
			w->leaf(w, &l);
	}
}

static void walk_trees(struct walk *w, uint64_t lower_pa, uint64_t upper_pa)
{
	w->tables = 0;
	if (lower_pa)
		walk_table(w, lower_pa, GIGA_SHIFT, 0);
	if (upper_pa)
		walk_table(w, upper_pa, GIGA_SHIFT, UPPER_HALF);
}

/* First walk: every descriptor by itself. */
static void leaf_check(struct walk *w, const struct leaf *l)
{
	struct wx_report *r = w->report;
	bool direct = l->va >= DIRECT_BASE && l->va < DIRECT_END;

	if (l->bytes == PAGE_BYTES)
		r->pages++;
	else
		r->blocks++;
	if (is_exec(l->desc))
		r->exec_bytes += l->bytes;
	if (is_writable(l->desc))
		r->rw_bytes += l->bytes;
	else
		r->ro_bytes += l->bytes;
	if (is_exec(l->desc) && is_writable(l->desc))
		violation(r, "writable and executable in one mapping", l);
	if ((l->desc & PTE_EL0) || !(l->desc & PTE_UXN))
		violation(r, "open to EL0", l);
	if (direct && l->bytes != BLOCK_BYTES)
		violation(r, "direct map not in 2 MB blocks", l);
	if (direct && is_exec(l->desc))
		violation(r, "executable in the direct map", l);
	if (direct && l->pa != l->va - DIRECT_BASE)
		violation(r, "direct map out of place", l);
}

/* Second walk: gather a batch of executable memory. */
static void leaf_gather(struct walk *w, const struct leaf *l)
{
	struct exec_set *x = w->exec;

	if (!is_exec(l->desc) || x->seen++ < x->skip)
		return;
	if (x->n < EXEC_BATCH)
		x->at[x->n++] = *l;
}

/* Third walk: is any of it writable? */
static void leaf_compare(struct walk *w, const struct leaf *l)
{
	const struct exec_set *x = w->exec;

	if (!is_writable(l->desc))
		return;
	for (unsigned int i = 0; i < x->n; i++)
		if (l->pa < x->at[i].pa + x->at[i].bytes && x->at[i].pa < l->pa + l->bytes)
			violation(w->report, "writable here, executable elsewhere", l);
}

int wx_check(uint64_t lower_pa, uint64_t upper_pa, struct wx_report *out)
{
	struct wx_report report = { 0 };
	struct exec_set exec = { .n = 0 };
	struct walk w = { .report = &report, .exec = &exec, .leaf = leaf_check };

	walk_trees(&w, lower_pa, upper_pa);
	report.tables = w.tables;
	do {
		exec.n = 0;
		exec.seen = 0;
		w.leaf = leaf_gather;
		walk_trees(&w, lower_pa, upper_pa);
		w.leaf = leaf_compare;
		walk_trees(&w, lower_pa, upper_pa);
		exec.skip += exec.n;
	} while (exec.n == EXEC_BATCH);
	*out = report;
	return report.violations ? -EPERM : 0;
}

int wx_check_live(struct wx_report *out)
{
	uint64_t lower, upper;

	__asm__ volatile("mrs %0, ttbr0_el1" : "=r"(lower));
	__asm__ volatile("mrs %0, ttbr1_el1" : "=r"(upper));
	return wx_check(lower & PTE_ADDR, upper & PTE_ADDR, out);
}
