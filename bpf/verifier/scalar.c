/* SPDX-License-Identifier: BSD-2-Clause */
/* Making scalars, asking them, and keeping their domains in step. */
#include "bpf/verifier/scalar.h"

#define HALF_MASK ((ux)UH_MAX)

struct scalar scalar_const(ux v)
{
	return (struct scalar){
		.t = tnum_const(v),
		.umin = v,
		.umax = v,
		.smin = (sx)v,
		.smax = (sx)v,
		.humin = (uh)v,
		.humax = (uh)v,
		.hsmin = (sh)(uh)v,
		.hsmax = (sh)(uh)v,
	};
}

struct scalar scalar_unknown(void)
{
	return (struct scalar){
		.t = TNUM_UNKNOWN,
		.umin = 0,
		.umax = UX_MAX,
		.smin = SX_MIN,
		.smax = SX_MAX,
		.humin = 0,
		.humax = UH_MAX,
		.hsmin = SH_MIN,
		.hsmax = SH_MAX,
	};
}

struct scalar scalar_urange(ux lo, ux hi)
{
	struct scalar a = scalar_unknown();

	a.umin = lo;
	a.umax = hi;
	if (!scalar_sync(&a))
		return scalar_unknown();
	return a;
}

bool scalar_is_unknown(const struct scalar *a)
{
	return a->t.mask == UX_MAX && a->umin == 0 && a->umax == UX_MAX && a->smin == SX_MIN &&
	       a->smax == SX_MAX && a->humin == 0 && a->humax == UH_MAX && a->hsmin == SH_MIN &&
	       a->hsmax == SH_MAX;
}

bool scalar_has(const struct scalar *a, ux v)
{
	uh h = (uh)v;

	return tnum_has(a->t, v) && v >= a->umin && v <= a->umax && (sx)v >= a->smin &&
	       (sx)v <= a->smax && h >= a->humin && h <= a->humax && (sh)h >= a->hsmin &&
	       (sh)h <= a->hsmax;
}

bool scalar_contains(const struct scalar *a, const struct scalar *b)
{
	return a->umin <= b->umin && a->umax >= b->umax && a->smin <= b->smin &&
	       a->smax >= b->smax && a->humin <= b->humin && a->humax >= b->humax &&
	       a->hsmin <= b->hsmin && a->hsmax >= b->hsmax && tnum_contains(a->t, b->t);
}

/* Ranges from bits: unknown bits all 0 and all 1; for signed order the sign bit goes the other way.
 */
static void learn_from_bits(struct scalar *a)
{
	ux lo = a->t.value, hi = (ux)(a->t.value | a->t.mask);
	uh hlo = (uh)lo, hhi = (uh)hi;
	sx slo = (sx)(lo | (ux)(a->t.mask & UX_SIGN));
	sx shi = (sx)(hi & (ux) ~(ux)(a->t.mask & UX_SIGN));
	uh hmask = (uh)a->t.mask;
	sh hslo = (sh)(uh)(hlo | (uh)(hmask & UH_SIGN));
	sh hshi = (sh)(uh)(hhi & (uh) ~(uh)(hmask & UH_SIGN));

	a->umin = MAX(a->umin, lo);
	a->umax = MIN(a->umax, hi);
	a->smin = MAX(a->smin, slo);
	a->smax = MIN(a->smax, shi);
	a->humin = MAX(a->humin, hlo);
	a->humax = MIN(a->humax, hhi);
	a->hsmin = MAX(a->hsmin, hslo);
	a->hsmax = MIN(a->hsmax, hshi);
}

/*
 * Signed and unsigned views of one word. A signed range that spans zero is two unsigned arcs, [0,
 * smax] and [smin, MAX]; the unsigned range may rule one of them out. The same holds the other way
 * round at the sign boundary.
 */
#define LEARN_SIGNS(UMIN, UMAX, SMIN, SMAX, UT, ST)                                                \
	do {                                                                                       \
		if ((ST)(UMIN) <= (ST)(UMAX)) {                                                    \
			SMIN = MAX(SMIN, (ST)(UMIN));                                              \
			SMAX = MIN(SMAX, (ST)(UMAX));                                              \
		} else {                                                                           \
			/* unsigned range holds both signs: [UMIN, MAX/2] and [MAX/2+1, UMAX] */   \
			if (SMIN > (ST)(UMAX) && SMIN < (ST)(UMIN))                                \
				SMIN = (ST)(UMIN);                                                 \
			if (SMAX < (ST)(UMIN) && SMAX > (ST)(UMAX))                                \
				SMAX = (ST)(UMAX);                                                 \
		}                                                                                  \
		if ((UT)(SMIN) <= (UT)(SMAX)) {                                                    \
			UMIN = MAX(UMIN, (UT)(SMIN));                                              \
			UMAX = MIN(UMAX, (UT)(SMAX));                                              \
		} else {                                                                           \
			if (UMIN > (UT)(SMAX) && UMIN < (UT)(SMIN))                                \
				UMIN = (UT)(SMIN);                                                 \
			if (UMAX < (UT)(SMIN) && UMAX > (UT)(SMAX))                                \
				UMAX = (UT)(SMAX);                                                 \
		}                                                                                  \
	} while (0)

static void learn_signs(struct scalar *a)
{
	LEARN_SIGNS(a->umin, a->umax, a->smin, a->smax, ux, sx);
	LEARN_SIGNS(a->humin, a->humax, a->hsmin, a->hsmax, uh, sh);
}

/* Ranges of the half from ranges of the word, where the upper half is one value. */
static void learn_half_from_word(struct scalar *a)
{
	if ((ux)(a->umin >> VHALF) == (ux)(a->umax >> VHALF)) {
		a->humin = MAX(a->humin, (uh)a->umin);
		a->humax = MIN(a->humax, (uh)a->umax);
	}
	if ((ux)((ux)a->smin >> VHALF) == (ux)((ux)a->smax >> VHALF)) {
		a->humin = MAX(a->humin, (uh)a->smin);
		a->humax = MIN(a->humax, (uh)a->smax);
	}
	if (a->smin >= SH_MIN && a->smax <= SH_MAX) {
		a->hsmin = MAX(a->hsmin, (sh)a->smin);
		a->hsmax = MIN(a->hsmax, (sh)a->smax);
	}
}

/* Smallest word >= lo with low half in [hmin, hmax]; false: it would wrap past `top`. */
static bool step_up(ux lo, uh hmin, uh hmax, ux top, ux *out)
{
	ux hi = (ux)(lo & (ux)~HALF_MASK);
	uh low = (uh)lo;

	if (low <= hmin)
		*out = (ux)(hi | hmin);
	else if (low <= hmax)
		*out = lo;
	else if (hi == (ux)(top & (ux)~HALF_MASK))
		return false;
	else
		*out = (ux)((ux)(hi + HALF_MASK + 1u) | hmin);
	return true;
}

/* Largest word <= hi_ with low half in [hmin, hmax]; false: it would wrap past `bottom`. */
static bool step_down(ux hi_, uh hmin, uh hmax, ux bottom, ux *out)
{
	ux hi = (ux)(hi_ & (ux)~HALF_MASK);
	uh low = (uh)hi_;

	if (low >= hmax)
		*out = (ux)(hi | hmax);
	else if (low >= hmin)
		*out = hi_;
	else if (hi == (ux)(bottom & (ux)~HALF_MASK))
		return false;
	else
		*out = (ux)((ux)(hi - HALF_MASK - 1u) | hmax);
	return true;
}

/* Ranges of the word from those of the half: its ends must have a possible low half. */
static bool learn_word_from_half(struct scalar *a)
{
	ux lo, hi;

	if (a->humin > a->humax || a->hsmin > a->hsmax)
		return false;
	if (!step_up(a->umin, a->humin, a->humax, UX_MAX, &a->umin) ||
	    !step_down(a->umax, a->humin, a->humax, 0, &a->umax))
		return false;
	if (!step_up((ux)a->smin, a->humin, a->humax, (ux)SX_MAX, &lo) ||
	    !step_down((ux)a->smax, a->humin, a->humax, UX_SIGN, &hi))
		return false;
	a->smin = (sx)lo;
	a->smax = (sx)hi;
	if (a->smin >= SH_MIN && a->smax <= SH_MAX) { /* the word is its half, sign-extended */
		a->smin = MAX(a->smin, (sx)a->hsmin);
		a->smax = MIN(a->smax, (sx)a->hsmax);
	}
	return true;
}

static bool learn_bits(struct scalar *a)
{
	struct tnum half;

	if (a->umin > a->umax || a->smin > a->smax || a->humin > a->humax || a->hsmin > a->hsmax)
		return false;
	if (!tnum_intersect(a->t, tnum_range(a->umin, a->umax), &a->t))
		return false;
	half = tnum_range(a->humin, a->humax);
	half.mask = (ux)(half.mask | (ux)~HALF_MASK);
	return tnum_intersect(a->t, half, &a->t);
}

static bool learn_once(struct scalar *a)
{
	learn_from_bits(a);
	learn_signs(a);
	learn_half_from_word(a);
	if (!learn_word_from_half(a))
		return false;
	learn_signs(a);
	return learn_bits(a);
}

bool scalar_sync(struct scalar *a)
{
	struct scalar before;

	if (scalar_is_const(a)) { /* the bits say it all, if the ranges agree */
		if (!scalar_has(a, a->t.value))
			return false;
		*a = scalar_const(a->t.value);
		return true;
	}
	if (!learn_once(a))
		return false;
	before = *a;
	if (!learn_once(a))
		return false;
	/* Two rounds reach the fixed point but for rare cases, where a third one gains a little. */
	if (before.umin != a->umin || before.umax != a->umax || before.t.mask != a->t.mask ||
	    before.smin != a->smin || before.smax != a->smax) {
		if (!learn_once(a))
			return false;
	}
	if (scalar_is_const(a) && !scalar_has(a, a->t.value))
		return false;
	return true;
}
