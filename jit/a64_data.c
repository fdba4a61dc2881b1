/* SPDX-License-Identifier: BSD-2-Clause */
/* Data processing. */
#include "jit/a64_int.h"

#include "include/err.h"

static uint32_t sf(enum a64_width w)
{
	return (uint32_t)w << 31;
}

/* ---- constants ---- */

static void move_wide(struct a64_asm *a, uint32_t op, enum a64_width w, enum a64_reg rd,
		      uint32_t imm16, uint32_t lsl)
{
	uint32_t max = w == A64_X ? 48 : 16;

	if (lsl > max || lsl % 16)
		a64_fail(a, -ERANGE, "move wide: shift is 0, 16, 32 or 48");
	a64_word(a, sf(w) | op | (lsl / 16) << 21 |
			    a64_field(a, imm16, 16, "move wide: 16 bits") << 5 | a64_gp(a, rd));
}

void a64_movn(struct a64_asm *a, enum a64_width w, enum a64_reg rd, uint32_t imm16, uint32_t lsl)
{
	move_wide(a, 0x12800000, w, rd, imm16, lsl);
}

void a64_movz(struct a64_asm *a, enum a64_width w, enum a64_reg rd, uint32_t imm16, uint32_t lsl)
{
	move_wide(a, 0x52800000, w, rd, imm16, lsl);
}

void a64_movk(struct a64_asm *a, enum a64_width w, enum a64_reg rd, uint32_t imm16, uint32_t lsl)
{
	move_wide(a, 0x72800000, w, rd, imm16, lsl);
}

static uint32_t pieces(enum a64_width w, uint64_t imm, uint16_t fill)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < (w == A64_X ? 64u : 32u); s += 16)
		n += (uint16_t)(imm >> s) != fill;
	return n;
}

uint32_t a64_mov_imm_cost(enum a64_width w, uint64_t imm)
{
	uint32_t n, enc;

	if (w == A64_W)
		imm = (uint32_t)imm;
	n = MIN(pieces(w, imm, 0), pieces(w, imm, 0xffff));
	if (n > 1 && a64_logic_imm_ok(w, imm, &enc))
		return 1;
	return MAX(n, 1u);
}

void a64_mov_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, uint64_t imm)
{
	uint32_t zeros, ones, enc, bits = w == A64_X ? 64 : 32;
	bool invert, first = true;
	uint16_t fill;

	if (w == A64_W)
		imm = (uint32_t)imm;
	zeros = pieces(w, imm, 0);
	ones = pieces(w, imm, 0xffff);
	if (MIN(zeros, ones) > 1 && a64_logic_imm_ok(w, imm, &enc)) {
		a64_orr_imm(a, w, rd, A64_XZR, imm);
		return;
	}
	invert = ones < zeros;
	fill = invert ? 0xffff : 0;
	for (uint32_t s = 0; s < bits; s += 16) {
		uint16_t p = (uint16_t)(imm >> s);

		if (p == fill)
			continue;
		if (!first)
			a64_movk(a, w, rd, p, s);
		else if (invert)
			a64_movn(a, w, rd, (uint16_t)~p, s);
		else
			a64_movz(a, w, rd, p, s);
		first = false;
	}
	if (first && invert)
		a64_movn(a, w, rd, 0, 0);
	else if (first)
		a64_movz(a, w, rd, 0, 0);
}

void a64_adr(struct a64_asm *a, enum a64_reg rd, struct a64_label l)
{
	a64_fix(a, 0x10000000 | a64_gp(a, rd), A64_FIX_ADR, l.id, 0);
}

void a64_adrp_add(struct a64_asm *a, enum a64_reg rd, uint64_t va)
{
	a64_fix(a, 0x90000000 | a64_gp(a, rd), A64_FIX_EXTPAGE, 0, va);
	a64_add_imm(a, A64_X, rd, rd, 0);
}

/* ---- add, sub ---- */

bool a64_add_imm_ok(uint64_t imm)
{
	return imm < 4096 || (!(imm & 0xfff) && imm < 4096ull << 12);
}

static void addsub_imm(struct a64_asm *a, uint32_t op, enum a64_width w, enum a64_reg rd,
		       enum a64_reg rn, uint64_t imm, bool flags)
{
	uint32_t sh = 0;

	if (!a64_add_imm_ok(imm))
		a64_fail(a, -ERANGE, "add/sub: 12 bits, shifted by 0 or 12");
	if (imm >= 4096) {
		imm >>= 12;
		sh = 1;
	}
	a64_word(a, sf(w) | op | sh << 22 | (uint32_t)(imm & 0xfff) << 10 | a64_gp_sp(a, rn) << 5 |
			    (flags ? a64_gp(a, rd) : a64_gp_sp(a, rd)));
}

#define ADDSUB_IMM(name, op, flags)                                                                \
	void name(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,           \
		  uint64_t imm)                                                                    \
	{                                                                                          \
		addsub_imm(a, op, w, rd, rn, imm, flags);                                          \
	}
ADDSUB_IMM(a64_add_imm, 0x11000000, false)
ADDSUB_IMM(a64_adds_imm, 0x31000000, true)
ADDSUB_IMM(a64_sub_imm, 0x51000000, false)
ADDSUB_IMM(a64_subs_imm, 0x71000000, true)

static void shifted(struct a64_asm *a, uint32_t op, enum a64_width w, enum a64_reg rd,
		    enum a64_reg rn, enum a64_reg rm, enum a64_shift sh, uint32_t n)
{
	a64_word(a, sf(w) | op | (uint32_t)sh << 22 | a64_gp(a, rm) << 16 |
			    a64_field(a, n, w == A64_X ? 6 : 5, "shift beyond the width") << 10 |
			    a64_gp(a, rn) << 5 | a64_gp(a, rd));
}

#define ADDSUB_REG(name, op)                                                                       \
	void name(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,           \
		  enum a64_reg rm, enum a64_shift sh, uint32_t n)                                  \
	{                                                                                          \
		if (sh == A64_ROR)                                                                 \
			a64_fail(a, -EINVAL, "add/sub: no rotated operand");                       \
		shifted(a, op, w, rd, rn, rm, sh, n);                                              \
	}
ADDSUB_REG(a64_add_reg, 0x0b000000)
ADDSUB_REG(a64_adds_reg, 0x2b000000)
ADDSUB_REG(a64_sub_reg, 0x4b000000)
ADDSUB_REG(a64_subs_reg, 0x6b000000)

static void extended(struct a64_asm *a, uint32_t op, enum a64_width w, enum a64_reg rd,
		     enum a64_reg rn, enum a64_reg rm, enum a64_extend e, uint32_t n)
{
	if (n > 4)
		a64_fail(a, -ERANGE, "extended operand: shift of at most 4");
	a64_word(a, sf(w) | op | a64_gp(a, rm) << 16 | (uint32_t)e << 13 | (n & 7) << 10 |
			    a64_gp_sp(a, rn) << 5 | a64_gp_sp(a, rd));
}

void a64_add_ext(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 enum a64_reg rm, enum a64_extend e, uint32_t n)
{
	extended(a, 0x0b200000, w, rd, rn, rm, e, n);
}

void a64_sub_ext(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 enum a64_reg rm, enum a64_extend e, uint32_t n)
{
	extended(a, 0x4b200000, w, rd, rn, rm, e, n);
}

/* ---- logic ---- */

/*
 * A logical immediate is an element of 2, 4, ... 64 bits, repeated; the element is a run of ones,
 * rotated. Arm ARM, DecodeBitMasks().
 */
bool a64_logic_imm_ok(enum a64_width w, uint64_t imm, uint32_t *enc)
{
	uint32_t size = 64, ones, rot;
	uint64_t mask;

	if (w == A64_W)
		imm = (uint32_t)imm | imm << 32;
	if (!imm || !~imm)
		return false;
	while (size > 2) {
		uint32_t half = size / 2;

		mask = (1ull << half) - 1;
		if ((imm & mask) != (imm >> half & mask))
			break;
		size = half;
	}
	mask = size == 64 ? ~0ull : (1ull << size) - 1;
	imm &= mask;
	/* Rotate so that the run of ones starts at bit 0. */
	if (imm & 1) {
		uint64_t inv = ~imm & mask;
		uint32_t low = (uint32_t)__builtin_ctzll(inv); /* ones at the bottom */
		uint32_t top = (uint32_t)__builtin_clzll(inv) - (64 - size);

		ones = low + top;
		rot = top;
	} else {
		rot = size - (uint32_t)__builtin_ctzll(imm);
		ones = (uint32_t)__builtin_popcountll(imm);
	}
	if ((uint32_t)__builtin_popcountll(imm) != ones)
		return false;
	{
		uint64_t run = (1ull << ones) - 1;
		uint64_t back = rot % size ? (run >> rot | run << (size - rot)) & mask : run;

		if (back != imm)
			return false;
	}
	*enc = (size == 64 ? 1u << 12 : 0) | (rot % size) << 6 |
	       (((~(size * 2 - 1)) & 0x3f) | (ones - 1));
	return true;
}

static void logic_imm(struct a64_asm *a, uint32_t op, enum a64_width w, enum a64_reg rd,
		      enum a64_reg rn, uint64_t imm, bool flags)
{
	uint32_t enc = 0;

	if (!a64_logic_imm_ok(w, imm, &enc))
		a64_fail(a, -ERANGE, "not a logical immediate");
	a64_word(a, sf(w) | op | enc << 10 | a64_gp(a, rn) << 5 |
			    (flags ? a64_gp(a, rd) : a64_gp_sp(a, rd)));
}

#define LOGIC_IMM(name, op, flags)                                                                 \
	void name(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,           \
		  uint64_t imm)                                                                    \
	{                                                                                          \
		logic_imm(a, op, w, rd, rn, imm, flags);                                           \
	}
LOGIC_IMM(a64_and_imm, 0x12000000, false)
LOGIC_IMM(a64_orr_imm, 0x32000000, false)
LOGIC_IMM(a64_eor_imm, 0x52000000, false)
LOGIC_IMM(a64_ands_imm, 0x72000000, true)

void a64_logic_reg(struct a64_asm *a, enum a64_logic op, enum a64_width w, enum a64_reg rd,
		   enum a64_reg rn, enum a64_reg rm, enum a64_shift sh, uint32_t n)
{
	shifted(a, 0x0a000000 | ((uint32_t)op >> 1) << 29 | ((uint32_t)op & 1) << 21, w, rd, rn, rm,
		sh, n);
}

void a64_mov_reg(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rm)
{
	if (rd == A64_SP || rm == A64_SP)
		a64_add_imm(a, w, rd, rm, 0);
	else
		a64_logic_reg(a, A64_ORR, w, rd, A64_XZR, rm, A64_LSL, 0);
}

/* ---- bit fields ---- */

static void bitfield(struct a64_asm *a, uint32_t op, enum a64_width w, enum a64_reg rd,
		     enum a64_reg rn, uint32_t immr, uint32_t imms)
{
	uint32_t bits = w == A64_X ? 6 : 5;

	a64_word(a, sf(w) | op | (uint32_t)w << 22 | a64_field(a, immr, bits, "bit number") << 16 |
			    a64_field(a, imms, bits, "bit number") << 10 | a64_gp(a, rn) << 5 |
			    a64_gp(a, rd));
}

#define BITFIELD(name, op)                                                                         \
	void name(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,           \
		  uint32_t immr, uint32_t imms)                                                    \
	{                                                                                          \
		bitfield(a, op, w, rd, rn, immr, imms);                                            \
	}
BITFIELD(a64_sbfm, 0x13000000)
BITFIELD(a64_bfm, 0x33000000)
BITFIELD(a64_ubfm, 0x53000000)

static uint32_t top_bit(enum a64_width w)
{
	return w == A64_X ? 63 : 31;
}

void a64_lsl_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t n)
{
	uint32_t top = top_bit(w);

	if (n > top)
		a64_fail(a, -ERANGE, "shift beyond the width");
	a64_ubfm(a, w, rd, rn, (0u - n) & top, (top - n) & top);
}

void a64_lsr_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t n)
{
	a64_ubfm(a, w, rd, rn, n, top_bit(w));
}

void a64_asr_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t n)
{
	a64_sbfm(a, w, rd, rn, n, top_bit(w));
}

void a64_sxt(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t n)
{
	if (!n || n > top_bit(w))
		a64_fail(a, -ERANGE, "sign extension from within the register");
	a64_sbfm(a, w, rd, rn, 0, (n - 1) & 63);
}

void a64_extr(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
	      enum a64_reg rm, uint32_t lsb)
{
	a64_word(a, sf(w) | 0x13800000 | (uint32_t)w << 22 | a64_gp(a, rm) << 16 |
			    a64_field(a, lsb, w == A64_X ? 6 : 5, "bit number") << 10 |
			    a64_gp(a, rn) << 5 | a64_gp(a, rd));
}

/* ---- the rest of data processing ---- */

void a64_dp2_reg(struct a64_asm *a, enum a64_dp2 op, enum a64_width w, enum a64_reg rd,
		 enum a64_reg rn, enum a64_reg rm)
{
	a64_word(a, sf(w) | 0x1ac00000 | a64_gp(a, rm) << 16 | (uint32_t)op << 10 |
			    a64_gp(a, rn) << 5 | a64_gp(a, rd));
}

static void dp1(struct a64_asm *a, uint32_t op, enum a64_width w, enum a64_reg rd, enum a64_reg rn)
{
	a64_word(a, sf(w) | 0x5ac00000 | op << 10 | a64_gp(a, rn) << 5 | a64_gp(a, rd));
}

void a64_rev(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn)
{
	dp1(a, w == A64_X ? 3 : 2, w, rd, rn);
}

void a64_rev16(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn)
{
	dp1(a, 1, w, rd, rn);
}

void a64_rev32(struct a64_asm *a, enum a64_reg rd, enum a64_reg rn)
{
	dp1(a, 2, A64_X, rd, rn);
}

void a64_clz(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn)
{
	dp1(a, 4, w, rd, rn);
}

static void dp3(struct a64_asm *a, uint32_t op, enum a64_reg rd, enum a64_reg rn, enum a64_reg rm,
		enum a64_reg ra)
{
	a64_word(a, op | a64_gp(a, rm) << 16 | a64_gp(a, ra) << 10 | a64_gp(a, rn) << 5 |
			    a64_gp(a, rd));
}

void a64_madd(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
	      enum a64_reg rm, enum a64_reg ra)
{
	dp3(a, sf(w) | 0x1b000000, rd, rn, rm, ra);
}

void a64_msub(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
	      enum a64_reg rm, enum a64_reg ra)
{
	dp3(a, sf(w) | 0x1b008000, rd, rn, rm, ra);
}

void a64_umulh(struct a64_asm *a, enum a64_reg rd, enum a64_reg rn, enum a64_reg rm)
{
	dp3(a, 0x9bc00000, rd, rn, rm, A64_XZR);
}

void a64_umaddl(struct a64_asm *a, enum a64_reg rd, enum a64_reg rn, enum a64_reg rm,
		enum a64_reg ra)
{
	dp3(a, 0x9ba00000, rd, rn, rm, ra);
}

void a64_csel(struct a64_asm *a, enum a64_csel_op op, enum a64_width w, enum a64_reg rd,
	      enum a64_reg rn, enum a64_reg rm, enum a64_cond c)
{
	a64_word(a, sf(w) | 0x1a800000 | ((uint32_t)op >> 1) << 30 | a64_gp(a, rm) << 16 |
			    (uint32_t)c << 12 | ((uint32_t)op & 1) << 10 | a64_gp(a, rn) << 5 |
			    a64_gp(a, rd));
}

void a64_ccmp_reg(struct a64_asm *a, enum a64_width w, enum a64_reg rn, enum a64_reg rm,
		  uint32_t nzcv, enum a64_cond c)
{
	a64_word(a, sf(w) | 0x7a400000 | a64_gp(a, rm) << 16 | (uint32_t)c << 12 |
			    a64_gp(a, rn) << 5 | a64_field(a, nzcv, 4, "flags are 4 bits"));
}
