/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/backtrace.h"

#include "boot/early_mmu.h"
#include "mm/xlat.h"

/* Made by tools/gen-ksyms.py at link time; described there. */
extern const uint64_t ksyms_base;
extern const uint32_t ksyms_count;
extern const uint32_t ksyms_offset[];
extern const uint32_t ksyms_index[];
extern const uint8_t ksyms_pairs[128][2];
extern const uint8_t ksyms_names[];

#define GROUP	   16
#define FIRST_PAIR 128
/* A pair is made of bytes and of pairs before it: no deeper than there are pairs. */
#define DEPTH_MAX 130

static void name_get(uint32_t i, char buf[KSYMS_NAME_MAX])
{
	const uint8_t *name = ksyms_names + ksyms_index[i / GROUP];
	uint8_t stack[DEPTH_MAX];
	size_t len = 0;

	for (i %= GROUP; i > 0; i--)
		name += 1 + name[0];
	for (unsigned int at = 1; at <= name[0]; at++) {
		unsigned int depth = 0;

		stack[depth++] = name[at];
		while (depth > 0) {
			uint8_t byte = stack[--depth];

			if (byte >= FIRST_PAIR) {
				stack[depth++] = ksyms_pairs[byte - FIRST_PAIR][1];
				stack[depth++] = ksyms_pairs[byte - FIRST_PAIR][0];
			} else if (len < KSYMS_NAME_MAX - 1) {
				buf[len++] = (char)byte;
			}
		}
	}
	buf[len] = 0;
}

bool ksyms_find(uint64_t pc, char buf[KSYMS_NAME_MAX], uint64_t *offset)
{
	uint32_t lo = 0, hi = ksyms_count;

	if (pc < (uint64_t)__text_start || pc >= (uint64_t)__text_end || ksyms_count == 0 ||
	    pc < ksyms_base)
		return false;
	/* The last function that starts at or below pc. */
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ksyms_base + ksyms_offset[mid] <= pc)
			lo = mid;
		else
			hi = mid;
	}
	*offset = pc - (ksyms_base + ksyms_offset[lo]);
	name_get(lo, buf);
	return true;
}

bool ksyms_at(uint32_t i, char buf[KSYMS_NAME_MAX], uint64_t *addr)
{
	if (i >= ksyms_count)
		return false;
	*addr = ksyms_base + ksyms_offset[i];
	name_get(i, buf);
	return true;
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
