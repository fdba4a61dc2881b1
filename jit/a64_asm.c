/* SPDX-License-Identifier: BSD-2-Clause */
/* The assembler's state: buffer, operands, labels, fixups, errors. */
#include "jit/a64_int.h"

#include "include/err.h"

void a64_init(struct a64_asm *a, uint32_t *insn, uint32_t cap, uint32_t *label_pos,
	      uint32_t label_cap, struct a64_fixup *fix, uint32_t fix_cap)
{
	*a = (struct a64_asm){
		.insn = insn,
		.cap = cap,
		.label_pos = label_pos,
		.label_cap = label_cap,
		.fix = fix,
		.fix_cap = fix_cap,
	};
}

void a64_fail(struct a64_asm *a, int err, const char *why)
{
	if (a->err)
		return;
	a->err = err;
	a->err_at = a->len;
	a->err_why = why;
}

void a64_word(struct a64_asm *a, uint32_t word)
{
	if (a->err)
		return;
	if (a->len == a->cap) {
		a64_fail(a, -ENOSPC, "code buffer is full");
		return;
	}
	a->insn[a->len++] = word;
}

/* ---- operands ---- */

uint32_t a64_gp(struct a64_asm *a, enum a64_reg r)
{
	if ((unsigned int)r > A64_XZR)
		a64_fail(a, -EINVAL, "this operand cannot be SP");
	return (uint32_t)r & 31;
}

uint32_t a64_gp_sp(struct a64_asm *a, enum a64_reg r)
{
	if (r == A64_SP)
		return 31;
	if ((unsigned int)r >= A64_XZR)
		a64_fail(a, -EINVAL, "this operand cannot be XZR");
	return (uint32_t)r & 31;
}

uint32_t a64_field(struct a64_asm *a, uint64_t v, uint32_t bits, const char *why)
{
	if (v >> bits)
		a64_fail(a, -ERANGE, why);
	return (uint32_t)(v & ((1ull << bits) - 1));
}

/* ---- labels ---- */

struct a64_label a64_new_label(struct a64_asm *a)
{
	if (a->label_len == a->label_cap) {
		a64_fail(a, -ENOSPC, "too many labels");
		return (struct a64_label){ 0 };
	}
	a->label_pos[a->label_len++] = UINT32_MAX;
	return (struct a64_label){ a->label_len };
}

void a64_bind(struct a64_asm *a, struct a64_label l)
{
	if (!l.id || l.id > a->label_len)
		a64_fail(a, -EINVAL, "no such label");
	else if (a->label_pos[l.id - 1] != UINT32_MAX)
		a64_fail(a, -EINVAL, "label bound twice");
	else
		a->label_pos[l.id - 1] = a->len;
}

void a64_fix(struct a64_asm *a, uint32_t word, enum a64_fix_kind kind, uint32_t label, uint64_t ext)
{
	if (a->fix_len == a->fix_cap) {
		a64_fail(a, -ENOSPC, "too many branches");
		return;
	}
	if (kind < A64_FIX_EXT26 && (!label || label > a->label_len)) {
		a64_fail(a, -EINVAL, "no such label");
		return;
	}
	if (a->err)
		return;
	a->fix[a->fix_len++] = (struct a64_fixup){ a->len, label, ext, (uint8_t)kind };
	a64_word(a, word);
}

/* Put a signed word distance of `bits` bits at bit `at`. */
static bool patch(uint32_t *insn, int64_t dist, uint32_t bits, uint32_t at)
{
	uint32_t mask = (uint32_t)((1ull << bits) - 1);

	if (dist < -(1ll << (bits - 1)) || dist >= 1ll << (bits - 1))
		return false;
	*insn = (*insn & ~(mask << at)) | ((uint32_t)dist & mask) << at;
	return true;
}

static bool patch_adr(uint32_t *insn, int64_t dist)
{
	uint32_t d = (uint32_t)dist;

	if (dist < -(1ll << 20) || dist >= 1ll << 20)
		return false;
	*insn = (*insn & ~(3u << 29 | 0x7ffffu << 5)) | (d & 3) << 29 | (d >> 2 & 0x7ffff) << 5;
	return true;
}

static bool link_one(struct a64_asm *a, const struct a64_fixup *f, uint64_t base_va)
{
	uint32_t *insn = &a->insn[f->at];
	uint64_t pc = base_va + (uint64_t)f->at * 4;
	int64_t dist = 0;

	if (f->kind < A64_FIX_EXT26)
		dist = (int64_t)a->label_pos[f->label - 1] - (int64_t)f->at;
	switch (f->kind) {
	case A64_FIX_B26:
		return patch(insn, dist, 26, 0);
	case A64_FIX_B19:
		return patch(insn, dist, 19, 5);
	case A64_FIX_B14:
		return patch(insn, dist, 14, 5);
	case A64_FIX_ADR:
		return patch_adr(insn, dist * 4);
	case A64_FIX_EXT26:
		dist = (int64_t)(f->ext - pc);
		return !(dist & 3) && patch(insn, dist / 4, 26, 0);
	default: /* A64_FIX_EXTPAGE: adrp, then add with the low 12 bits */
		dist = (int64_t)(f->ext >> 12) - (int64_t)(pc >> 12);
		if (!patch_adr(insn, dist))
			return false;
		insn[1] = (insn[1] & ~(0xfffu << 10)) | (uint32_t)(f->ext & 0xfff) << 10;
		return true;
	}
}

int a64_link(struct a64_asm *a, uint64_t base_va)
{
	if (a->err)
		return a->err;
	for (uint32_t i = 0; i < a->fix_len; i++) {
		const struct a64_fixup *f = &a->fix[i];

		if (f->kind < A64_FIX_EXT26 && a->label_pos[f->label - 1] == UINT32_MAX) {
			a->err_at = f->at;
			a->err_why = "label never bound";
			return a->err = -EINVAL;
		}
		if (!link_one(a, f, base_va)) { /* not sticky: another address may do */
			a->err_at = f->at;
			a->err_why = "branch target out of reach";
			return -ERANGE;
		}
	}
	return 0;
}
