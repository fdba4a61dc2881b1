/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads, stores, atomics, branches, system instructions. */
#include "jit/a64_int.h"

#include "include/err.h"

/* ---- one register ---- */

static uint32_t ldst_op(struct a64_asm *a, enum a64_ldst op, enum a64_size s)
{
	if ((op == A64_LDRS_X && s == A64_D64) || (op == A64_LDRS_W && s >= A64_W32))
		a64_fail(a, -EINVAL, "nothing to sign-extend");
	return (uint32_t)s << 30 | (uint32_t)op << 22;
}

bool a64_ldst_imm_ok(enum a64_size s, int64_t off)
{
	return off >= 0 && !(off & ((1 << s) - 1)) && off >> s < 4096;
}

void a64_ldst_imm(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		  enum a64_reg rn, int64_t off)
{
	if (!a64_ldst_imm_ok(s, off))
		a64_fail(a, -ERANGE, "offset: a multiple of the size, 12 bits of it");
	a64_word(a, 0x39000000 | ldst_op(a, op, s) | (uint32_t)(off >> s & 0xfff) << 10 |
			    a64_gp_sp(a, rn) << 5 | a64_gp(a, rt));
}

static void ldst_9bit(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		      enum a64_reg rn, int64_t off, uint32_t mode)
{
	if (off < -256 || off > 255)
		a64_fail(a, -ERANGE, "offset beyond -256 .. 255");
	a64_word(a, 0x38000000 | ldst_op(a, op, s) | ((uint32_t)off & 0x1ff) << 12 | mode << 10 |
			    a64_gp_sp(a, rn) << 5 | a64_gp(a, rt));
}

void a64_ldst_unscaled(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		       enum a64_reg rn, int64_t off)
{
	ldst_9bit(a, op, s, rt, rn, off, 0);
}

void a64_ldst_indexed(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		      enum a64_reg rn, int64_t off, enum a64_index mode)
{
	if (mode == A64_OFFSET)
		a64_fail(a, -EINVAL, "indexed form without index");
	if (rt == rn && rt != A64_XZR)
		a64_fail(a, -EINVAL, "writeback to the transferred register");
	ldst_9bit(a, op, s, rt, rn, off, mode == A64_PRE ? 3 : 1);
}

void a64_ldst_reg(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		  enum a64_reg rn, enum a64_reg rm, enum a64_extend e, bool scaled)
{
	if (!((uint32_t)e & 2))
		a64_fail(a, -EINVAL, "index is UXTW, UXTX, SXTW or SXTX");
	a64_word(a, 0x38200800 | ldst_op(a, op, s) | a64_gp(a, rm) << 16 | (uint32_t)e << 13 |
			    (uint32_t)scaled << 12 | a64_gp_sp(a, rn) << 5 | a64_gp(a, rt));
}

bool a64_ldst_any(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		  enum a64_reg rn, int64_t off)
{
	if (a64_ldst_imm_ok(s, off))
		a64_ldst_imm(a, op, s, rt, rn, off);
	else if (off >= -256 && off <= 255)
		a64_ldst_unscaled(a, op, s, rt, rn, off);
	else
		return false;
	return true;
}

/* ---- pairs and literals ---- */

void a64_ldst_pair(struct a64_asm *a, bool load, enum a64_width w, enum a64_reg rt,
		   enum a64_reg rt2, enum a64_reg rn, int64_t off, enum a64_index mode)
{
	static const uint32_t form[] = { [A64_OFFSET] = 2, [A64_PRE] = 3, [A64_POST] = 1 };
	int64_t unit = w == A64_X ? 8 : 4, n = off / unit;

	if (off % unit || n < -64 || n > 63)
		a64_fail(a, -ERANGE, "pair: a multiple of the size, 7 bits of it");
	if (load && rt == rt2)
		a64_fail(a, -EINVAL, "pair: loads into one register twice");
	if (mode != A64_OFFSET && (rt == rn || rt2 == rn))
		a64_fail(a, -EINVAL, "writeback to a transferred register");
	a64_word(a, 0x28000000 | (uint32_t)w << 31 | form[mode] << 23 | (uint32_t)load << 22 |
			    ((uint32_t)n & 0x7f) << 15 | a64_gp(a, rt2) << 10 |
			    a64_gp_sp(a, rn) << 5 | a64_gp(a, rt));
}

void a64_ldr_literal(struct a64_asm *a, enum a64_width w, enum a64_reg rt, struct a64_label l)
{
	a64_fix(a, 0x18000000 | (uint32_t)w << 30 | a64_gp(a, rt), A64_FIX_B19, l.id, 0);
}

/* ---- ordered, exclusive, atomic ---- */

static void exclusive(struct a64_asm *a, uint32_t op, enum a64_size s, uint32_t rs, enum a64_reg rt,
		      enum a64_reg rn)
{
	a64_word(a, 0x08007c00 | op | (uint32_t)s << 30 | rs << 16 | a64_gp_sp(a, rn) << 5 |
			    a64_gp(a, rt));
}

void a64_ldar(struct a64_asm *a, enum a64_size s, enum a64_reg rt, enum a64_reg rn)
{
	exclusive(a, 0x00c08000, s, 31, rt, rn);
}

void a64_stlr(struct a64_asm *a, enum a64_size s, enum a64_reg rt, enum a64_reg rn)
{
	exclusive(a, 0x00808000, s, 31, rt, rn);
}

void a64_ldxr(struct a64_asm *a, enum a64_size s, bool acq, enum a64_reg rt, enum a64_reg rn)
{
	exclusive(a, 0x00400000 | (uint32_t)acq << 15, s, 31, rt, rn);
}

void a64_stxr(struct a64_asm *a, enum a64_size s, bool rel, enum a64_reg rs, enum a64_reg rt,
	      enum a64_reg rn)
{
	if (rs == rt || rs == rn)
		a64_fail(a, -EINVAL, "status register is also an operand");
	exclusive(a, (uint32_t)rel << 15, s, a64_gp(a, rs), rt, rn);
}

void a64_lse(struct a64_asm *a, enum a64_lse op, enum a64_width w, bool acq, bool rel,
	     enum a64_reg rs, enum a64_reg rt, enum a64_reg rn)
{
	a64_word(a, 0xb8200000 | (uint32_t)w << 30 | (uint32_t)acq << 23 | (uint32_t)rel << 22 |
			    a64_gp(a, rs) << 16 | (uint32_t)op << 12 | a64_gp_sp(a, rn) << 5 |
			    a64_gp(a, rt));
}

void a64_cas(struct a64_asm *a, enum a64_width w, bool acq, bool rel, enum a64_reg rs,
	     enum a64_reg rt, enum a64_reg rn)
{
	a64_word(a, 0x88a07c00 | (uint32_t)w << 30 | (uint32_t)acq << 22 | (uint32_t)rel << 15 |
			    a64_gp(a, rs) << 16 | a64_gp_sp(a, rn) << 5 | a64_gp(a, rt));
}

/* ---- branches ---- */

void a64_b(struct a64_asm *a, struct a64_label l)
{
	a64_fix(a, 0x14000000, A64_FIX_B26, l.id, 0);
}

void a64_bl(struct a64_asm *a, struct a64_label l)
{
	a64_fix(a, 0x94000000, A64_FIX_B26, l.id, 0);
}

void a64_b_cond(struct a64_asm *a, enum a64_cond c, struct a64_label l)
{
	a64_fix(a, 0x54000000 | (uint32_t)c, A64_FIX_B19, l.id, 0);
}

void a64_cbz(struct a64_asm *a, bool nonzero, enum a64_width w, enum a64_reg rt, struct a64_label l)
{
	a64_fix(a, 0x34000000 | (uint32_t)w << 31 | (uint32_t)nonzero << 24 | a64_gp(a, rt),
		A64_FIX_B19, l.id, 0);
}

void a64_tbz(struct a64_asm *a, bool nonzero, enum a64_reg rt, uint32_t bit, struct a64_label l)
{
	uint32_t b = a64_field(a, bit, 6, "bit number");

	a64_fix(a,
		0x36000000 | (b >> 5) << 31 | (uint32_t)nonzero << 24 | (b & 31) << 19 |
			a64_gp(a, rt),
		A64_FIX_B14, l.id, 0);
}

void a64_b_ext(struct a64_asm *a, uint64_t va)
{
	a64_fix(a, 0x14000000, A64_FIX_EXT26, 0, va);
}

void a64_bl_ext(struct a64_asm *a, uint64_t va)
{
	a64_fix(a, 0x94000000, A64_FIX_EXT26, 0, va);
}

void a64_br(struct a64_asm *a, enum a64_reg rn)
{
	a64_word(a, 0xd61f0000 | a64_gp(a, rn) << 5);
}

void a64_blr(struct a64_asm *a, enum a64_reg rn)
{
	a64_word(a, 0xd63f0000 | a64_gp(a, rn) << 5);
}

void a64_ret(struct a64_asm *a)
{
	a64_word(a, 0xd65f03c0);
}

/* ---- system ---- */

void a64_brk(struct a64_asm *a, uint32_t imm16)
{
	a64_word(a, 0xd4200000 | a64_field(a, imm16, 16, "brk: 16 bits") << 5);
}

void a64_hint(struct a64_asm *a, enum a64_hint h)
{
	a64_word(a, 0xd503201f | a64_field(a, h, 7, "hint: 7 bits") << 5);
}

void a64_dmb_ish(struct a64_asm *a)
{
	a64_word(a, 0xd5033bbf);
}

void a64_dmb_ishld(struct a64_asm *a)
{
	a64_word(a, 0xd50339bf);
}

void a64_isb(struct a64_asm *a)
{
	a64_word(a, 0xd5033fdf);
}

void a64_mrs(struct a64_asm *a, enum a64_reg rt, uint32_t sysreg)
{
	a64_word(a, 0xd5300000 | a64_field(a, sysreg, 15, "system register") << 5 | a64_gp(a, rt));
}
