/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparisons: what is decided, and what each outcome teaches. */
#include "bpf/verifier/scalar.h"

enum scalar_cmp scalar_cmp_invert(enum scalar_cmp cmp)
{
	static const uint8_t inverse[SCALAR_CMP_NR] = {
		[SCALAR_EQ] = SCALAR_NE,   [SCALAR_NE] = SCALAR_EQ,	[SCALAR_GT] = SCALAR_LE,
		[SCALAR_GE] = SCALAR_LT,   [SCALAR_LT] = SCALAR_GE,	[SCALAR_LE] = SCALAR_GT,
		[SCALAR_SGT] = SCALAR_SLE, [SCALAR_SGE] = SCALAR_SLT,	[SCALAR_SLT] = SCALAR_SGE,
		[SCALAR_SLE] = SCALAR_SGT, [SCALAR_SET] = SCALAR_CLEAR, [SCALAR_CLEAR] = SCALAR_SET,
	};

	return (enum scalar_cmp)inverse[cmp];
}

/* a < b is b > a, and so on: leaves EQ NE GT GE SGT SGE SET CLEAR. */
static enum scalar_cmp swap_less(enum scalar_cmp cmp, bool *swapped)
{
	*swapped = true;
	switch (cmp) {
	case SCALAR_LT:
		return SCALAR_GT;
	case SCALAR_LE:
		return SCALAR_GE;
	case SCALAR_SLT:
		return SCALAR_SGT;
	case SCALAR_SLE:
		return SCALAR_SGE;
	default:
		*swapped = false;
		return cmp;
	}
}

bool scalar_cmp_concrete(enum scalar_cmp cmp, ux a, ux b, bool half)
{
	ux x = half ? (ux)(uh)a : a, y = half ? (ux)(uh)b : b;
	sx sa = half ? (sx)(sh)(uh)a : (sx)a, sb = half ? (sx)(sh)(uh)b : (sx)b;

	switch (cmp) {
	case SCALAR_EQ:
		return x == y;
	case SCALAR_NE:
		return x != y;
	case SCALAR_GT:
		return x > y;
	case SCALAR_GE:
		return x >= y;
	case SCALAR_LT:
		return x < y;
	case SCALAR_LE:
		return x <= y;
	case SCALAR_SGT:
		return sa > sb;
	case SCALAR_SGE:
		return sa >= sb;
	case SCALAR_SLT:
		return sa < sb;
	case SCALAR_SLE:
		return sa <= sb;
	case SCALAR_SET:
		return x & y;
	case SCALAR_CLEAR:
		return !(x & y);
	case SCALAR_CMP_NR:
		break;
	}
	return false;
}

/* The domains that a comparison of this width looks at. */
struct cmp_view {
	struct tnum t;
	ux umin, umax;
	sx smin, smax;
};

static struct cmp_view view_of(const struct scalar *a, bool half)
{
	if (half)
		return (struct cmp_view){ tnum_zext(a->t, VHALF), a->humin, a->humax, (sx)a->hsmin,
					  (sx)a->hsmax };
	return (struct cmp_view){ a->t, a->umin, a->umax, a->smin, a->smax };
}

static int decide_eq(const struct cmp_view *a, const struct cmp_view *b)
{
	struct tnum both;

	if (tnum_is_const(a->t) && tnum_is_const(b->t))
		return a->t.value == b->t.value;
	if (a->umin > b->umax || b->umin > a->umax || a->smin > b->smax || b->smin > a->smax ||
	    !tnum_intersect(a->t, b->t, &both))
		return 0;
	return -1;
}

static int decide_set(const struct cmp_view *a, const struct cmp_view *b)
{
	if (a->t.value & b->t.value)
		return 1;
	if (!((ux)(a->t.value | a->t.mask) & (ux)(b->t.value | b->t.mask)))
		return 0;
	return -1;
}

static int not_of(int verdict)
{
	return verdict < 0 ? verdict : !verdict;
}

int scalar_decide(enum scalar_cmp cmp, const struct scalar *a, const struct scalar *b, bool half)
{
	bool swapped;
	struct cmp_view x, y;

	cmp = swap_less(cmp, &swapped);
	x = view_of(swapped ? b : a, half);
	y = view_of(swapped ? a : b, half);
	switch (cmp) {
	case SCALAR_EQ:
		return decide_eq(&x, &y);
	case SCALAR_NE:
		return not_of(decide_eq(&x, &y));
	case SCALAR_GT:
		return x.umin > y.umax ? 1 : x.umax <= y.umin ? 0 : -1;
	case SCALAR_GE:
		return x.umin >= y.umax ? 1 : x.umax < y.umin ? 0 : -1;
	case SCALAR_SGT:
		return x.smin > y.smax ? 1 : x.smax <= y.smin ? 0 : -1;
	case SCALAR_SGE:
		return x.smin >= y.smax ? 1 : x.smax < y.smin ? 0 : -1;
	case SCALAR_SET:
		return decide_set(&x, &y);
	case SCALAR_CLEAR:
		return not_of(decide_set(&x, &y));
	default:
		return -1;
	}
}

/* a > b (strict) or a >= b, in one order of one width. */
#define REFINE_GREATER(AMIN, AMAX, BMIN, BMAX, TYPE, LOWEST, HIGHEST, STRICT)                      \
	do {                                                                                       \
		if (STRICT) {                                                                      \
			if (BMIN == HIGHEST || AMAX == LOWEST)                                     \
				return false;                                                      \
			AMIN = MAX(AMIN, (TYPE)(BMIN + 1));                                        \
			BMAX = MIN(BMAX, (TYPE)(AMAX - 1));                                        \
		} else {                                                                           \
			AMIN = MAX(AMIN, BMIN);                                                    \
			BMAX = MIN(BMAX, AMAX);                                                    \
		}                                                                                  \
	} while (0)

static bool refine_greater(struct scalar *a, struct scalar *b, bool half, bool is_signed,
			   bool strict)
{
	if (half && is_signed)
		REFINE_GREATER(a->hsmin, a->hsmax, b->hsmin, b->hsmax, sh, SH_MIN, SH_MAX, strict);
	else if (half)
		REFINE_GREATER(a->humin, a->humax, b->humin, b->humax, uh, 0, UH_MAX, strict);
	else if (is_signed)
		REFINE_GREATER(a->smin, a->smax, b->smin, b->smax, sx, SX_MIN, SX_MAX, strict);
	else
		REFINE_GREATER(a->umin, a->umax, b->umin, b->umax, ux, 0, UX_MAX, strict);
	return true;
}

#define MEET(A, B, MINF, MAXF)                                                                     \
	do {                                                                                       \
		(A)->MINF = (B)->MINF = MAX((A)->MINF, (B)->MINF);                                 \
		(A)->MAXF = (B)->MAXF = MIN((A)->MAXF, (B)->MAXF);                                 \
	} while (0)

static bool refine_eq(struct scalar *a, struct scalar *b, bool half)
{
	struct tnum x, low = { .value = 0, .mask = (ux) ~(ux)UH_MAX };

	MEET(a, b, humin, humax);
	MEET(a, b, hsmin, hsmax);
	if (!half) {
		MEET(a, b, umin, umax);
		MEET(a, b, smin, smax);
		if (!tnum_intersect(a->t, b->t, &x))
			return false;
		a->t = b->t = x;
		return true;
	}
	if (!tnum_intersect(tnum_zext(a->t, VHALF), tnum_zext(b->t, VHALF), &x))
		return false;
	low.value = x.value;
	low.mask = (ux)(low.mask | x.mask);
	return tnum_intersect(a->t, low, &a->t) && tnum_intersect(b->t, low, &b->t);
}

/* a is not the constant v: only an end of a range can be cut off. */
#define CUT_ENDS(MINF, MAXF, V)                                                                    \
	do {                                                                                       \
		if (MINF == (V) && MAXF == (V))                                                    \
			return false;                                                              \
		if (MINF == (V))                                                                   \
			MINF++;                                                                    \
		else if (MAXF == (V))                                                              \
			MAXF--;                                                                    \
	} while (0)

static bool refine_ne_const(struct scalar *a, ux v, bool half)
{
	if (half) {
		CUT_ENDS(a->humin, a->humax, (uh)v);
		CUT_ENDS(a->hsmin, a->hsmax, (sh)(uh)v);
	} else {
		CUT_ENDS(a->umin, a->umax, v);
		CUT_ENDS(a->smin, a->smax, (sx)v);
	}
	return true;
}

static bool refine_ne(struct scalar *a, struct scalar *b, bool half)
{
	struct tnum x = half ? tnum_zext(a->t, VHALF) : a->t;
	struct tnum y = half ? tnum_zext(b->t, VHALF) : b->t;

	if (tnum_is_const(y) && !refine_ne_const(a, y.value, half))
		return false;
	return !tnum_is_const(x) || refine_ne_const(b, x.value, half);
}

/* a & c != 0 for a constant c. */
static bool refine_set_const(struct scalar *a, ux c, bool half)
{
	if (!c)
		return false;
	if (!(c & (ux)(c - 1u))) /* one bit: it is set */
		return tnum_intersect(a->t, (struct tnum){ .value = c, .mask = (ux)~c }, &a->t);
	return refine_ne_const(a, 0, half);
}

static bool refine_set(struct scalar *a, struct scalar *b, bool half)
{
	struct tnum x = half ? tnum_zext(a->t, VHALF) : a->t;
	struct tnum y = half ? tnum_zext(b->t, VHALF) : b->t;

	if (tnum_is_const(y) && !refine_set_const(a, y.value, half))
		return false;
	return !tnum_is_const(x) || refine_set_const(b, x.value, half);
}

/* a & b == 0: where one has a 1, the other has a 0. */
static bool refine_clear(struct scalar *a, struct scalar *b, bool half)
{
	ux width = half ? (ux)UH_MAX : UX_MAX;
	ux ones_a = a->t.value & width, ones_b = b->t.value & width;

	if (ones_a & ones_b)
		return false;
	a->t.mask = (ux)(a->t.mask & (ux)~ones_b);
	b->t.mask = (ux)(b->t.mask & (ux)~ones_a);
	return true;
}

bool scalar_refine(enum scalar_cmp cmp, struct scalar *a, struct scalar *b, bool half)
{
	bool swapped, ok;
	struct scalar *x, *y;

	cmp = swap_less(cmp, &swapped);
	x = swapped ? b : a;
	y = swapped ? a : b;
	switch (cmp) {
	case SCALAR_EQ:
		ok = refine_eq(x, y, half);
		break;
	case SCALAR_NE:
		ok = refine_ne(x, y, half);
		break;
	case SCALAR_SET:
		ok = refine_set(x, y, half);
		break;
	case SCALAR_CLEAR:
		ok = refine_clear(x, y, half);
		break;
	default:
		ok = refine_greater(x, y, half, cmp == SCALAR_SGT || cmp == SCALAR_SGE,
				    cmp == SCALAR_GT || cmp == SCALAR_SGT);
		break;
	}
	return ok && scalar_sync(a) && scalar_sync(b);
}
