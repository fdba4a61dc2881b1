/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arithmetic on scalars. Word operations are written once, for full words. An operation on halves
 * is the word operation on the halves extended to words, zero-extended and (where the operation is
 * the same modulo the half's width) sign-extended, cut back to halves; what both say is kept.
 */
#include "bpf/verifier/scalar.h"

/* ---- concrete ---- */

static sx concrete_sdiv(sx a, sx b, sx min)
{
	if (b == 0)
		return 0;
	return b == -1 && a == min ? min : (sx)(a / b);
}

static sx concrete_smod(sx a, sx b)
{
	if (b == 0)
		return a;
	return b == -1 ? 0 : (sx)(a % b);
}

ux scalar_concrete(enum scalar_op op, ux a, ux b)
{
	unsigned int n = (unsigned int)(b & (VBITS - 1u));

	switch (op) {
	case SCALAR_ADD:
		return (ux)(a + b);
	case SCALAR_SUB:
		return (ux)(a - b);
	case SCALAR_MUL:
		return (ux)((uint64_t)a * b);
	case SCALAR_UDIV:
		return b ? (ux)(a / b) : 0;
	case SCALAR_UMOD:
		return b ? (ux)(a % b) : a;
	case SCALAR_SDIV:
		return (ux)concrete_sdiv((sx)a, (sx)b, SX_MIN);
	case SCALAR_SMOD:
		return (ux)concrete_smod((sx)a, (sx)b);
	case SCALAR_AND:
		return a & b;
	case SCALAR_OR:
		return a | b;
	case SCALAR_XOR:
		return a ^ b;
	case SCALAR_LSH:
		return (ux)(a << n);
	case SCALAR_RSH:
		return (ux)(a >> n);
	case SCALAR_ARSH:
		return (ux)((sx)a >> n);
	case SCALAR_OP_NR:
		break;
	}
	return 0;
}

ux scalar_concrete_half(enum scalar_op op, ux a, ux b)
{
	uh x = (uh)a, y = (uh)b;
	unsigned int n = (unsigned int)(y & (VHALF - 1u));

	switch (op) {
	case SCALAR_SDIV:
		return (ux)(uh)concrete_sdiv((sh)x, (sh)y, SH_MIN);
	case SCALAR_SMOD:
		return (ux)(uh)concrete_smod((sh)x, (sh)y);
	case SCALAR_LSH:
		return (ux)(uh)(x << n);
	case SCALAR_RSH:
		return (ux)(uh)(x >> n);
	case SCALAR_ARSH:
		return (ux)(uh)((sh)x >> n);
	default:
		return (ux)(uh)scalar_concrete(op, x, y);
	}
}

/* ---- word operations; the result's domains are set, not yet in step ---- */

static void op_add(const struct scalar *a, const struct scalar *b, struct scalar *r)
{
	ux lo = (ux)(a->umin + b->umin), hi = (ux)(a->umax + b->umax);
	sx slo, shi;
	bool olo = __builtin_add_overflow(a->smin, b->smin, &slo);
	bool ohi = __builtin_add_overflow(a->smax, b->smax, &shi);

	r->t = tnum_add(a->t, b->t);
	if ((lo < a->umin) == (hi < a->umax)) { /* both ends wrap, or none */
		r->umin = lo;
		r->umax = hi;
	}
	if (olo == ohi && (!olo || (a->smin < 0) == (a->smax < 0))) {
		r->smin = slo;
		r->smax = shi;
	}
}

static void op_sub(const struct scalar *a, const struct scalar *b, struct scalar *r)
{
	ux lo = (ux)(a->umin - b->umax), hi = (ux)(a->umax - b->umin);
	sx slo, shi;
	bool olo = __builtin_sub_overflow(a->smin, b->smax, &slo);
	bool ohi = __builtin_sub_overflow(a->smax, b->smin, &shi);

	r->t = tnum_sub(a->t, b->t);
	if ((a->umin < b->umax) == (a->umax < b->umin)) {
		r->umin = lo;
		r->umax = hi;
	}
	if (olo == ohi && (!olo || (a->smin < 0) == (a->smax < 0))) {
		r->smin = slo;
		r->smax = shi;
	}
}

static void op_mul(const struct scalar *a, const struct scalar *b, struct scalar *r)
{
	ux hi;
	sx c[4];

	r->t = tnum_mul(a->t, b->t);
	if (!__builtin_mul_overflow(a->umax, b->umax, &hi)) {
		r->umin = (ux)((uint64_t)a->umin * b->umin);
		r->umax = hi;
	}
	if (__builtin_mul_overflow(a->smin, b->smin, &c[0]) ||
	    __builtin_mul_overflow(a->smin, b->smax, &c[1]) ||
	    __builtin_mul_overflow(a->smax, b->smin, &c[2]) ||
	    __builtin_mul_overflow(a->smax, b->smax, &c[3]))
		return;
	r->smin = r->smax = c[0];
	for (int i = 1; i < 4; i++) {
		r->smin = MIN(r->smin, c[i]);
		r->smax = MAX(r->smax, c[i]);
	}
}

static void op_udiv(const struct scalar *a, const struct scalar *b, struct scalar *r)
{
	r->umin = b->umin ? (ux)(a->umin / b->umax) : 0;
	r->umax = (ux)(a->umax / (b->umin ? b->umin : 1u));
	if (!b->umax)
		r->umax = 0;
}

static void op_umod(const struct scalar *a, const struct scalar *b, struct scalar *r)
{
	if (a->umax < b->umin || !b->umax) { /* smaller than every divisor, or only by 0 */
		*r = *a;
		return;
	}
	if (scalar_is_const(b) && !(b->t.value & (ux)(b->t.value - 1u))) {
		r->t = tnum_and(a->t, tnum_const((ux)(b->t.value - 1u)));
		return;
	}
	r->umax = b->umin ? MIN(a->umax, (ux)(b->umax - 1u)) : a->umax;
}

/* Largest |x| of a, as unsigned (|SX_MIN| is representable). */
static ux abs_max(const struct scalar *a)
{
	ux lo = a->smin < 0 ? (ux)(0u - (ux)a->smin) : (ux)a->smin;
	ux hi = a->smax < 0 ? (ux)(0u - (ux)a->smax) : (ux)a->smax;

	return MAX(lo, hi);
}

static void op_sdiv(const struct scalar *a, const struct scalar *b, struct scalar *r)
{
	sx c = (sx)b->t.value, x, y;
	ux m = abs_max(a);

	if (a->smin >= 0 && b->smin >= 0) {
		op_udiv(a, b, r);
		return;
	}
	if (a->smin == SX_MIN && b->smin <= -1 && b->smax >= -1)
		return; /* MIN / -1 may happen: anything up to MIN */
	if (scalar_is_const(b) && c) {
		x = (sx)(a->smin / c);
		y = (sx)(a->smax / c);
		r->smin = MIN(x, y);
		r->smax = MAX(x, y);
		return;
	}
	if (m > (ux)SX_MAX)
		return;
	r->smin = (sx)(0 - (sx)m);
	r->smax = (sx)m;
}

static void op_smod(const struct scalar *a, const struct scalar *b, struct scalar *r)
{
	ux m = abs_max(b);
	bool may_be_zero = b->smin <= 0 && b->smax >= 0;

	if (scalar_is_const(b) && !b->t.value) {
		*r = *a;
		return;
	}
	r->smin = a->smin < 0 ? a->smin : 0;
	r->smax = a->smax > 0 ? a->smax : 0;
	if (may_be_zero || m > (ux)SX_MAX)
		return;
	r->smin = MAX(r->smin, (sx)(1 - (sx)m));
	r->smax = MIN(r->smax, (sx)((sx)m - 1));
}

static void op_and(const struct scalar *a, const struct scalar *b, struct scalar *r)
{
	r->t = tnum_and(a->t, b->t);
	r->umax = MIN(a->umax, b->umax);
	if (a->smin < 0 &&
	    b->smin < 0) { /* clearing bits of a negative number: not below either's power */
		ux both = (ux)((ux)a->smin & (ux)b->smin);
		ux fill = (ux)~both;

		while (fill & (ux)(fill + 1u))
			fill = (ux)(fill | (ux)(fill >> 1));
		r->smin = (sx)(ux)~fill;
	} else {
		r->smin = 0;
	}
	if (a->smax < 0 && b->smax < 0)
		r->smax = MIN(a->smax, b->smax);
	else
		r->smax = a->smin >= 0 && b->smin >= 0 ? MIN(a->smax, b->smax)
			  : a->smin >= 0	       ? a->smax
			  : b->smin >= 0	       ? b->smax
						       : MAX(a->smax, b->smax);
}

static void op_or(const struct scalar *a, const struct scalar *b, struct scalar *r)
{
	r->t = tnum_or(a->t, b->t);
	r->umin = MAX(a->umin, b->umin);
	if (a->smax < 0 && b->smax < 0)
		r->smin = MAX(a->smin, b->smin);
	else if (a->smin < 0 && b->smin < 0)
		r->smin = MIN(a->smin, b->smin);
	else if (a->smin >= 0 && b->smin >= 0)
		r->smin = MAX(a->smin, b->smin);
	else
		r->smin = a->smin < 0 ? a->smin : b->smin;
}

static void op_xor(const struct scalar *a, const struct scalar *b, struct scalar *r)
{
	r->t = tnum_xor(a->t, b->t);
}

/* Range of the shift count, masked to `width` bits of word. */
static void shift_range(const struct scalar *b, unsigned int width, unsigned int *lo,
			unsigned int *hi)
{
	if (b->umax < width) {
		*lo = (unsigned int)b->umin;
		*hi = (unsigned int)b->umax;
	} else if (scalar_is_const(b)) {
		*lo = *hi = (unsigned int)(b->t.value & (width - 1u));
	} else {
		*lo = 0;
		*hi = width - 1u;
	}
}

static void op_lsh(const struct scalar *a, unsigned int lo, unsigned int hi, struct scalar *r)
{
	ux low_zero = (ux)(((ux)1 << lo) - 1u);

	if (lo == hi)
		r->t = tnum_lsh(a->t, lo);
	else
		r->t = (struct tnum){ .value = 0, .mask = (ux)~low_zero };
	if (a->umax <= (ux)(UX_MAX >> hi)) {
		r->umin = (ux)(a->umin << lo);
		r->umax = (ux)(a->umax << hi);
	}
	if (a->smin >= (sx)(SX_MIN >> hi) && a->smax <= (sx)(SX_MAX >> hi)) {
		r->smin = (sx)((ux)a->smin << (a->smin < 0 ? hi : lo));
		r->smax = (sx)((ux)a->smax << (a->smax < 0 ? lo : hi));
	}
}

static void op_rsh(const struct scalar *a, unsigned int lo, unsigned int hi, struct scalar *r)
{
	if (lo == hi)
		r->t = tnum_rsh(a->t, lo);
	r->umin = (ux)(a->umin >> hi);
	r->umax = (ux)(a->umax >> lo);
}

static void op_arsh(const struct scalar *a, unsigned int lo, unsigned int hi, struct scalar *r)
{
	if (lo == hi)
		r->t = tnum_arsh(a->t, lo);
	r->smin = (sx)(a->smin >> (a->smin < 0 ? lo : hi));
	r->smax = (sx)(a->smax >> (a->smax < 0 ? hi : lo));
}

/* width: of the operation, for shift counts. false never happens for non-empty operands. */
static struct scalar op_word(enum scalar_op op, const struct scalar *a, const struct scalar *b,
			     unsigned int width)
{
	static void (*const table[])(const struct scalar *, const struct scalar *,
				     struct scalar *) = {
		[SCALAR_ADD] = op_add,	 [SCALAR_SUB] = op_sub,	  [SCALAR_MUL] = op_mul,
		[SCALAR_UDIV] = op_udiv, [SCALAR_UMOD] = op_umod, [SCALAR_SDIV] = op_sdiv,
		[SCALAR_SMOD] = op_smod, [SCALAR_AND] = op_and,	  [SCALAR_OR] = op_or,
		[SCALAR_XOR] = op_xor,
	};
	struct scalar r = scalar_unknown();
	unsigned int lo, hi;

	if (op < SCALAR_LSH) {
		table[op](a, b, &r);
	} else {
		shift_range(b, width, &lo, &hi);
		if (op == SCALAR_LSH)
			op_lsh(a, lo, hi, &r);
		else if (op == SCALAR_RSH)
			op_rsh(a, lo, hi, &r);
		else
			op_arsh(a, lo, hi, &r);
	}
	if (!scalar_sync(&r)) /* an operand stood for no word at all: any answer is right */
		return scalar_unknown();
	return r;
}

/* ---- halves ---- */

struct scalar scalar_half_zext(const struct scalar *a)
{
	struct scalar r = {
		.t = tnum_zext(a->t, VHALF),
		.umin = a->humin,
		.umax = a->humax,
		.smin = (sx)a->humin,
		.smax = (sx)a->humax,
		.humin = a->humin,
		.humax = a->humax,
		.hsmin = a->hsmin,
		.hsmax = a->hsmax,
	};

	return r;
}

static struct scalar half_sext(const struct scalar *a)
{
	struct scalar r = scalar_half_zext(a);

	r.t = tnum_sext(a->t, VHALF);
	r.smin = (sx)a->hsmin;
	r.smax = (sx)a->hsmax;
	if ((ux)r.smin <= (ux)r.smax) {
		r.umin = (ux)r.smin;
		r.umax = (ux)r.smax;
	} else {
		r.umin = 0;
		r.umax = UX_MAX;
	}
	return r;
}

/* Keep what both say of the low half. */
static void half_meet(struct scalar *a, const struct scalar *b)
{
	struct tnum low;

	a->humin = MAX(a->humin, b->humin);
	a->humax = MIN(a->humax, b->humax);
	a->hsmin = MAX(a->hsmin, b->hsmin);
	a->hsmax = MIN(a->hsmax, b->hsmax);
	low = b->t;
	low.value = (ux)(low.value & (ux)UH_MAX);
	low.mask = (ux)(low.mask | (ux) ~(ux)UH_MAX);
	if (tnum_intersect(a->t, low, &low))
		a->t = low;
}

struct scalar scalar_binop_half(enum scalar_op op, const struct scalar *a, const struct scalar *b)
{
	bool zext = op != SCALAR_SDIV && op != SCALAR_SMOD && op != SCALAR_ARSH;
	bool sext = op != SCALAR_UDIV && op != SCALAR_UMOD && op != SCALAR_RSH;
	struct scalar r = scalar_unknown(), x, y, z;

	if (a->humin == a->humax && b->humin == b->humax)
		return scalar_const(scalar_concrete_half(op, a->humin, b->humin));
	if (zext) {
		x = scalar_half_zext(a);
		y = scalar_half_zext(b);
		z = op_word(op, &x, &y, VHALF);
		half_meet(&r, &z);
	}
	if (sext) {
		x = half_sext(a);
		y = op >= SCALAR_LSH ? scalar_half_zext(b) : half_sext(b);
		z = op_word(op, &x, &y, VHALF);
		half_meet(&r, &z);
	}
	r = scalar_half_zext(&r);
	if (!scalar_sync(&r))
		return scalar_unknown();
	return r;
}

/* The half's ranges follow from the word's. */
static bool half_is_derived(const struct scalar *a)
{
	return a->umax <= UH_MAX || (a->smin >= SH_MIN && a->smax <= SH_MAX) ||
	       (a->humin == 0 && a->humax == UH_MAX && a->hsmin == SH_MIN && a->hsmax == SH_MAX);
}

struct scalar scalar_binop(enum scalar_op op, const struct scalar *a, const struct scalar *b)
{
	struct scalar r, h;

	if (scalar_is_const(a) && scalar_is_const(b))
		return scalar_const(scalar_concrete(op, a->t.value, b->t.value));
	r = op_word(op, a, b, VBITS);
	if (half_is_derived(a) && half_is_derived(b))
		return r;
	/* These give a low half that depends on low halves only. */
	if (op <= SCALAR_MUL || (op >= SCALAR_AND && op <= SCALAR_XOR) ||
	    (op == SCALAR_LSH && b->umax < VHALF)) {
		h = scalar_binop_half(op, a, b);
		half_meet(&r, &h);
		if (!scalar_sync(&r))
			return scalar_unknown();
	}
	return r;
}
