/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/backtrace.h"

#include "boot/early_mmu.h"
#include "mm/xlat.h"

/* Made by tools/gen-ksyms.py at link time. */
extern const uint64_t ksyms_base;
extern const uint32_t ksyms_count;
extern const uint32_t ksyms_offset[];
extern const uint32_t ksyms_name[];
extern const char ksyms_names[];

const char *ksyms_find(uint64_t pc, uint64_t *offset)
{
	uint32_t lo = 0, hi = ksyms_count;

	if (pc < (uint64_t)__text_start || pc >= (uint64_t)__text_end || ksyms_count == 0 ||
	    pc < ksyms_base)
		return NULL;
	/* The last function that starts at or below pc. */
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ksyms_base + ksyms_offset[mid] <= pc)
			lo = mid;
		else
			hi = mid;
	}
	*offset = pc - (ksyms_base + ksyms_offset[lo]);
	return ksyms_names + ksyms_name[lo];
}

const char *ksyms_at(uint32_t i, uint64_t *addr)
{
	if (i >= ksyms_count)
		return NULL;
	*addr = ksyms_base + ksyms_offset[i];
	return ksyms_names + ksyms_name[i];
}

void backtrace_begin(struct backtrace *bt, uint64_t fp, uint64_t pc)
{
	*bt = (struct backtrace){ .fp = fp, .pc = pc };
}

bool backtrace_next(struct backtrace *bt)
{
	const uint64_t *record = (const uint64_t *)bt->fp;
	struct xlat_entry e;
	uint64_t fp;

	/* A record is 16 bytes at a multiple of 16 on one of the stacks. */
	if (bt->depth >= BACKTRACE_MAX || (bt->fp & 15) || bt->fp < STACK_BASE ||
	    bt->fp >= STACK_END || xlat_lookup(bt->fp, &e))
		return false;
	fp = record[0];
	bt->pc = record[1];
	bt->depth++;
	/* Towards the top within one stack; any other stack ends the walk after this step. */
	bt->fp = fp > bt->fp || (fp ^ bt->fp) & ~(STACK_SLOT - 1) ? fp : 0;
	return bt->pc != 0;
}
