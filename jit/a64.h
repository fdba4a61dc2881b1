/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Typed arm64 encoder. Source: Arm ARM (DDI 0487), "A64 Instruction Set Encoding".
 *
 * Every operand is checked where it is encoded. The first operand that does not fit sets a sticky
 * error with place and cause; further calls write nothing; the caller asks once, at the end. No
 * call ever writes a wrong instruction, none gives an error in the instruction's place.
 *
 * Branches name labels; targets outside the buffer (helpers, other programs) are absolute
 * addresses. Both are patched by a64_link when the code's final address is known. Instructions are
 * a fixed 4 bytes, so sizes do not depend on the address.
 *
 * Pure: no state but struct a64_asm, no allocation, no asserts. Context: any.
 */
#pragma once

#include "include/base.h"

/* 31 means XZR or SP depending on the operand slot. Here they differ; each slot refuses the wrong
 * one. */
enum a64_reg {
	A64_X0,
	A64_X1,
	A64_X2,
	A64_X3,
	A64_X4,
	A64_X5,
	A64_X6,
	A64_X7,
	A64_X8,
	A64_X9,
	A64_X10,
	A64_X11,
	A64_X12,
	A64_X13,
	A64_X14,
	A64_X15,
	A64_X16,
	A64_X17,
	A64_X18,
	A64_X19,
	A64_X20,
	A64_X21,
	A64_X22,
	A64_X23,
	A64_X24,
	A64_X25,
	A64_X26,
	A64_X27,
	A64_X28,
	A64_X29,
	A64_X30,
	A64_XZR,
	A64_SP,
	A64_REG_NR,
};
enum a64_width { A64_W, A64_X }; /* 32 or 64 bits */
enum a64_cond {
	A64_EQ,
	A64_NE,
	A64_CS,
	A64_CC,
	A64_MI,
	A64_PL,
	A64_VS,
	A64_VC,
	A64_HI,
	A64_LS,
	A64_GE,
	A64_LT,
	A64_GT,
	A64_LE,
};
/* The opposite condition. */
static inline enum a64_cond a64_cond_not(enum a64_cond c)
{
	return (enum a64_cond)(c ^ 1);
}
enum a64_shift { A64_LSL, A64_LSR, A64_ASR, A64_ROR };
enum a64_extend { A64_UXTB, A64_UXTH, A64_UXTW, A64_UXTX, A64_SXTB, A64_SXTH, A64_SXTW, A64_SXTX };
enum a64_size { A64_B8, A64_H16, A64_W32, A64_D64 }; /* of a memory access */
enum a64_index { A64_OFFSET, A64_PRE, A64_POST };

struct a64_label {
	uint32_t id; /* 1-based; 0 is no label */
};

enum a64_fix_kind {
	A64_FIX_B26,	 /* b, bl */
	A64_FIX_B19,	 /* b.cond, cbz, ldr literal */
	A64_FIX_B14,	 /* tbz */
	A64_FIX_ADR,	 /* adr */
	A64_FIX_EXT26,	 /* b, bl to an absolute address */
	A64_FIX_EXTPAGE, /* adrp + add (or load) of an absolute address: patched as a pair */
};
struct a64_fixup {
	uint32_t at;	/* instruction index */
	uint32_t label; /* id, or 0 */
	uint64_t ext;	/* absolute address */
	uint8_t kind;	/* enum a64_fix_kind */
};

struct a64_asm {
	uint32_t *insn;	     /* buffer */
	uint32_t cap, len;   /* instructions */
	uint32_t *label_pos; /* per label id - 1; UINT32_MAX: not bound yet */
	uint32_t label_cap, label_len;
	struct a64_fixup *fix;
	uint32_t fix_cap, fix_len;
	int err;	 /* 0, -ERANGE (operand), -ENOSPC (a buffer is full), -EINVAL (misuse) */
	uint32_t err_at; /* instruction index */
	const char *err_why; /* static text */
};

void a64_init(struct a64_asm *a, uint32_t *insn, uint32_t cap, uint32_t *label_pos,
	      uint32_t label_cap, struct a64_fixup *fix, uint32_t fix_cap);
struct a64_label a64_new_label(struct a64_asm *a);
/* The label means the next instruction. */
void a64_bind(struct a64_asm *a, struct a64_label l);
/*
 * Resolve every fixup for code that will run at base_va. 0 or the sticky error (-ERANGE: a target
 * out of reach). May be called again for another address.
 */
int a64_link(struct a64_asm *a, uint64_t base_va) __must_check;
void a64_fail(struct a64_asm *a, int err, const char *why);

/* ---- constants and addresses ---- */
void a64_movz(struct a64_asm *a, enum a64_width w, enum a64_reg rd, uint32_t imm16, uint32_t lsl);
void a64_movn(struct a64_asm *a, enum a64_width w, enum a64_reg rd, uint32_t imm16, uint32_t lsl);
void a64_movk(struct a64_asm *a, enum a64_width w, enum a64_reg rd, uint32_t imm16, uint32_t lsl);
/* Shortest sequence (1 to 4) of movz/movn/movk or one orr that makes imm. */
void a64_mov_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, uint64_t imm);
/* How many instructions a64_mov_imm takes. */
uint32_t a64_mov_imm_cost(enum a64_width w, uint64_t imm);
void a64_adr(struct a64_asm *a, enum a64_reg rd, struct a64_label l);
/* adrp + add: an absolute address within 4 GB of the code. */
void a64_adrp_add(struct a64_asm *a, enum a64_reg rd, uint64_t va);

/* ---- add, sub: immediate is 12 bits, or 12 bits shifted by 12 ---- */
bool a64_add_imm_ok(uint64_t imm);
void a64_add_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 uint64_t imm);
void a64_sub_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 uint64_t imm);
void a64_adds_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		  uint64_t imm);
void a64_subs_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		  uint64_t imm);
void a64_add_reg(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 enum a64_reg rm, enum a64_shift sh, uint32_t n);
void a64_sub_reg(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 enum a64_reg rm, enum a64_shift sh, uint32_t n);
void a64_adds_reg(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		  enum a64_reg rm, enum a64_shift sh, uint32_t n);
void a64_subs_reg(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		  enum a64_reg rm, enum a64_shift sh, uint32_t n);
/* Extended register: rm cut and extended, shifted left by n <= 4. */
void a64_add_ext(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 enum a64_reg rm, enum a64_extend e, uint32_t n);
void a64_sub_ext(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 enum a64_reg rm, enum a64_extend e, uint32_t n);

/* ---- logic ---- */
/* Can imm be a logical immediate? *enc: N:immr:imms. */
bool a64_logic_imm_ok(enum a64_width w, uint64_t imm, uint32_t *enc);
void a64_and_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 uint64_t imm);
void a64_orr_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 uint64_t imm);
void a64_eor_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		 uint64_t imm);
void a64_ands_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
		  uint64_t imm);
enum a64_logic { A64_AND, A64_BIC, A64_ORR, A64_ORN, A64_EOR, A64_EON, A64_ANDS, A64_BICS };
void a64_logic_reg(struct a64_asm *a, enum a64_logic op, enum a64_width w, enum a64_reg rd,
		   enum a64_reg rn, enum a64_reg rm, enum a64_shift sh, uint32_t n);
/* rd = rm; between a register and SP it is an add of 0. */
void a64_mov_reg(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rm);

/* ---- bit fields and shifts ---- */
void a64_ubfm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t immr,
	      uint32_t imms);
void a64_sbfm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t immr,
	      uint32_t imms);
void a64_bfm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t immr,
	     uint32_t imms);
void a64_lsl_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t n);
void a64_lsr_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t n);
void a64_asr_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t n);
/* Low n bits, sign-extended to w. */
void a64_sxt(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn, uint32_t n);
void a64_extr(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
	      enum a64_reg rm, uint32_t lsb);
static inline void a64_ror_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rd,
			       enum a64_reg rn, uint32_t n)
{
	a64_extr(a, w, rd, rn, rn, n);
}
enum a64_dp2 {
	A64_UDIV = 2,
	A64_SDIV = 3,
	A64_LSLV = 8,
	A64_LSRV = 9,
	A64_ASRV = 10,
	A64_RORV = 11
};
void a64_dp2_reg(struct a64_asm *a, enum a64_dp2 op, enum a64_width w, enum a64_reg rd,
		 enum a64_reg rn, enum a64_reg rm);
void a64_rev(struct a64_asm *a, enum a64_width w, enum a64_reg rd,
	     enum a64_reg rn); /* whole register */
void a64_rev16(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn);
void a64_rev32(struct a64_asm *a, enum a64_reg rd, enum a64_reg rn); /* each word of 64 bits */
void a64_clz(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn);

/* ---- multiply ---- */
void a64_madd(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
	      enum a64_reg rm, enum a64_reg ra);
void a64_msub(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
	      enum a64_reg rm, enum a64_reg ra);
void a64_umulh(struct a64_asm *a, enum a64_reg rd, enum a64_reg rn, enum a64_reg rm);
void a64_umaddl(struct a64_asm *a, enum a64_reg rd, enum a64_reg rn, enum a64_reg rm,
		enum a64_reg ra);

/* ---- conditional ---- */
enum a64_csel_op { A64_CSEL, A64_CSINC, A64_CSINV, A64_CSNEG };
void a64_csel(struct a64_asm *a, enum a64_csel_op op, enum a64_width w, enum a64_reg rd,
	      enum a64_reg rn, enum a64_reg rm, enum a64_cond c);
void a64_ccmp_reg(struct a64_asm *a, enum a64_width w, enum a64_reg rn, enum a64_reg rm,
		  uint32_t nzcv, enum a64_cond c);

/* ---- memory ---- */
/* Loads zero-extend unless sext: then to w. Stores use w only for the name of the register. */
enum a64_ldst { A64_STR, A64_LDR, A64_LDRS_X, A64_LDRS_W };
/* Scaled unsigned offset: multiple of the size, below 4096 units. */
bool a64_ldst_imm_ok(enum a64_size s, int64_t off);
void a64_ldst_imm(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		  enum a64_reg rn, int64_t off);
/* Unscaled offset -256..255 (ldur, stur), or pre- or post-indexed. */
void a64_ldst_unscaled(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		       enum a64_reg rn, int64_t off);
void a64_ldst_indexed(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		      enum a64_reg rn, int64_t off, enum a64_index mode);
/* [rn, rm, extend #0 or #size]; e is UXTW, UXTX (LSL), SXTW or SXTX. */
void a64_ldst_reg(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		  enum a64_reg rn, enum a64_reg rm, enum a64_extend e, bool scaled);
/* Whichever immediate form fits; false: neither does, nothing is written. */
bool a64_ldst_any(struct a64_asm *a, enum a64_ldst op, enum a64_size s, enum a64_reg rt,
		  enum a64_reg rn, int64_t off);
void a64_ldst_pair(struct a64_asm *a, bool load, enum a64_width w, enum a64_reg rt,
		   enum a64_reg rt2, enum a64_reg rn, int64_t off, enum a64_index mode);
void a64_ldr_literal(struct a64_asm *a, enum a64_width w, enum a64_reg rt, struct a64_label l);
/* Acquire and release, no offset. */
void a64_ldar(struct a64_asm *a, enum a64_size s, enum a64_reg rt, enum a64_reg rn);
void a64_stlr(struct a64_asm *a, enum a64_size s, enum a64_reg rt, enum a64_reg rn);
/* Exclusives; acq/rel select LDAXR/STLXR. rs gets the status and must differ from rt and rn. */
void a64_ldxr(struct a64_asm *a, enum a64_size s, bool acq, enum a64_reg rt, enum a64_reg rn);
void a64_stxr(struct a64_asm *a, enum a64_size s, bool rel, enum a64_reg rs, enum a64_reg rt,
	      enum a64_reg rn);
/* FEAT_LSE: rs is the operand, rt gets the old value (XZR: none wanted). */
enum a64_lse { A64_LDADD = 0, A64_LDCLR = 1, A64_LDEOR = 2, A64_LDSET = 3, A64_SWP = 8 };
void a64_lse(struct a64_asm *a, enum a64_lse op, enum a64_width w, bool acq, bool rel,
	     enum a64_reg rs, enum a64_reg rt, enum a64_reg rn);
/* rs: expected, gets the old value; rt: new. */
void a64_cas(struct a64_asm *a, enum a64_width w, bool acq, bool rel, enum a64_reg rs,
	     enum a64_reg rt, enum a64_reg rn);

/* ---- branches ---- */
void a64_b(struct a64_asm *a, struct a64_label l);
void a64_bl(struct a64_asm *a, struct a64_label l);
void a64_b_cond(struct a64_asm *a, enum a64_cond c, struct a64_label l);
void a64_cbz(struct a64_asm *a, bool nonzero, enum a64_width w, enum a64_reg rt,
	     struct a64_label l);
void a64_tbz(struct a64_asm *a, bool nonzero, enum a64_reg rt, uint32_t bit, struct a64_label l);
void a64_b_ext(struct a64_asm *a, uint64_t va);
void a64_bl_ext(struct a64_asm *a, uint64_t va);
void a64_br(struct a64_asm *a, enum a64_reg rn);
void a64_blr(struct a64_asm *a, enum a64_reg rn);
void a64_ret(struct a64_asm *a);

/* ---- system ---- */
void a64_brk(struct a64_asm *a, uint32_t imm16);
enum a64_hint {
	A64_NOP = 0,
	A64_PACIASP = 25,
	A64_AUTIASP = 29,
	A64_BTI_C = 34,
	A64_BTI_J = 36,
	A64_BTI_JC = 38
};
void a64_hint(struct a64_asm *a, enum a64_hint h);
void a64_dmb_ish(struct a64_asm *a);
void a64_dmb_ishld(struct a64_asm *a);
void a64_isb(struct a64_asm *a);
/* op0 (2 or 3), op1, CRn, CRm, op2 packed as A64_SYSREG. */
#define A64_SYSREG(op0, op1, crn, crm, op2)                                                        \
	((uint32_t)(((op0) & 1) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2)))
#define A64_TPIDR_EL1  A64_SYSREG(3, 0, 13, 0, 4)
#define A64_CNTVCT_EL0 A64_SYSREG(3, 3, 14, 0, 2)
void a64_mrs(struct a64_asm *a, enum a64_reg rt, uint32_t sysreg);
/* A word as it is (data, or an instruction made elsewhere). */
void a64_word(struct a64_asm *a, uint32_t word);

/* Names used everywhere. */
static inline void a64_cmp_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rn, uint64_t imm)
{
	a64_subs_imm(a, w, A64_XZR, rn, imm);
}
static inline void a64_cmn_imm(struct a64_asm *a, enum a64_width w, enum a64_reg rn, uint64_t imm)
{
	a64_adds_imm(a, w, A64_XZR, rn, imm);
}
static inline void a64_cmp_reg(struct a64_asm *a, enum a64_width w, enum a64_reg rn,
			       enum a64_reg rm)
{
	a64_subs_reg(a, w, A64_XZR, rn, rm, A64_LSL, 0);
}
static inline void a64_mul(struct a64_asm *a, enum a64_width w, enum a64_reg rd, enum a64_reg rn,
			   enum a64_reg rm)
{
	a64_madd(a, w, rd, rn, rm, A64_XZR);
}
