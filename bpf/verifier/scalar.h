/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of a number in a register: the product of five domains, kept in step.
 *
 *   t              bits (tnum)
 *   umin .. umax   the word as unsigned          humin .. humax  its low half as unsigned
 *   smin .. smax   the word as signed            hsmin .. hsmax  its low half as signed
 *
 * The set that a scalar stands for is the words that satisfy all five. Every operation gives a
 * superset of the true results (soundness, tested against brute force on narrow words);
 * scalar_sync makes each domain learn from the others.
 */
#pragma once

#include "bpf/verifier/tnum.h"

struct scalar {
	struct tnum t;
	ux umin, umax;
	sx smin, smax;
	uh humin, humax;
	sh hsmin, hsmax;
};

/* ---- making and asking ---- */

struct scalar scalar_const(ux v);
struct scalar scalar_unknown(void);
/* All of [lo, hi], unsigned, lo <= hi. */
struct scalar scalar_urange(ux lo, ux hi);
static inline bool scalar_is_const(const struct scalar *a)
{
	return tnum_is_const(a->t);
}
bool scalar_is_unknown(const struct scalar *a);
/* The word v is in the set that a describes. */
bool scalar_has(const struct scalar *a, ux v);
/* Every word that b may be, a may be too, by each domain. */
bool scalar_contains(const struct scalar *a, const struct scalar *b);
/*
 * Let the domains learn from each other. false: no word satisfies all of them (the state cannot be
 * reached); *a is then unspecified.
 */
bool scalar_sync(struct scalar *a) __must_check;

/* ---- arithmetic (scalar_ops.c) ---- */

enum scalar_op {
	SCALAR_ADD,
	SCALAR_SUB,
	SCALAR_MUL,
	SCALAR_UDIV, /* by 0: 0 */
	SCALAR_UMOD, /* by 0: the dividend */
	SCALAR_SDIV, /* by 0: 0; MIN / -1: MIN */
	SCALAR_SMOD, /* by 0: the dividend; MIN % -1: 0 */
	SCALAR_AND,
	SCALAR_OR,
	SCALAR_XOR,
	SCALAR_LSH, /* count masked to the width */
	SCALAR_RSH,
	SCALAR_ARSH,
	SCALAR_OP_NR,
};

/* a op b on full words. */
struct scalar scalar_binop(enum scalar_op op, const struct scalar *a, const struct scalar *b);
/* a op b on low halves; the result's upper half is zero. */
struct scalar scalar_binop_half(enum scalar_op op, const struct scalar *a, const struct scalar *b);
/* What binop does to concrete words (the definition that the domains approximate). */
ux scalar_concrete(enum scalar_op op, ux a, ux b);
ux scalar_concrete_half(enum scalar_op op, ux a, ux b);
/* Low n bits, 0 < n <= VBITS, zero-extended or sign-extended. */
/* The low half, zero-extended, out of what is known of halves; in step if a is. */
struct scalar scalar_half_zext(const struct scalar *a);
struct scalar scalar_zext(const struct scalar *a, unsigned int n);
struct scalar scalar_sext(const struct scalar *a, unsigned int n);
/* Sign-extended from n bits within the low half, upper half zero (32-bit movsx). */
struct scalar scalar_sext_half(const struct scalar *a, unsigned int n);

/* ---- branches (scalar_branch.c) ---- */

enum scalar_cmp {
	SCALAR_EQ,
	SCALAR_NE,
	SCALAR_GT, /* unsigned */
	SCALAR_GE,
	SCALAR_LT,
	SCALAR_LE,
	SCALAR_SGT,
	SCALAR_SGE,
	SCALAR_SLT,
	SCALAR_SLE,
	SCALAR_SET,   /* a & b != 0 */
	SCALAR_CLEAR, /* a & b == 0: the other branch of SET */
	SCALAR_CMP_NR,
};
/* The comparison that holds where cmp does not. */
enum scalar_cmp scalar_cmp_invert(enum scalar_cmp cmp);
/* 1 cmp holds for all pairs, 0 for none, -1 it depends. half: compare low halves. */
int scalar_decide(enum scalar_cmp cmp, const struct scalar *a, const struct scalar *b, bool half);
/*
 * cmp is known to hold: narrow both. false: it cannot hold (dead branch), a and b unspecified.
 */
bool scalar_refine(enum scalar_cmp cmp, struct scalar *a, struct scalar *b, bool half) __must_check;
/* What a comparison gives for concrete words. */
bool scalar_cmp_concrete(enum scalar_cmp cmp, ux a, ux b, bool half);
