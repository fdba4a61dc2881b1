/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tristate numbers: each bit is 0, 1 or unknown. A set of words { x : (x & ~mask) == value }, with
 * value & mask == 0. Operations give a superset of what the operation gives on the members.
 * Addition, subtraction and multiplication follow Vishwanathan, Shachnai, Narayana, Nagarakatte:
 * "Sound, Precise, and Fast Abstract Interpretation with Tristate Numbers" (CGO 2022).
 * Pure functions of their arguments.
 */
#pragma once

#include "bpf/verifier/width.h"

struct tnum {
	ux value, mask;
};

#define TNUM_UNKNOWN ((struct tnum){ .value = 0, .mask = UX_MAX })

static inline struct tnum tnum_const(ux v)
{
	return (struct tnum){ .value = v, .mask = 0 };
}
static inline bool tnum_is_const(struct tnum a)
{
	return a.mask == 0;
}
/* Smallest tnum that holds all of [lo, hi], lo <= hi. */
struct tnum tnum_range(ux lo, ux hi);
struct tnum tnum_add(struct tnum a, struct tnum b);
struct tnum tnum_sub(struct tnum a, struct tnum b);
struct tnum tnum_mul(struct tnum a, struct tnum b);
struct tnum tnum_and(struct tnum a, struct tnum b);
struct tnum tnum_or(struct tnum a, struct tnum b);
struct tnum tnum_xor(struct tnum a, struct tnum b);
/* Shifts by a known count < VBITS. */
struct tnum tnum_lsh(struct tnum a, unsigned int n);
struct tnum tnum_rsh(struct tnum a, unsigned int n);
struct tnum tnum_arsh(struct tnum a, unsigned int n);
/* Low n bits of a, zero-extended or sign-extended; 0 < n <= VBITS. */
struct tnum tnum_zext(struct tnum a, unsigned int n);
struct tnum tnum_sext(struct tnum a, unsigned int n);
/* Members of both. false: there are none, *out untouched. */
bool tnum_intersect(struct tnum a, struct tnum b, struct tnum *out);
/* Smallest tnum that holds both. */
struct tnum tnum_union(struct tnum a, struct tnum b);
/* Every member of b is one of a. */
bool tnum_contains(struct tnum a, struct tnum b);
static inline bool tnum_has(struct tnum a, ux v)
{
	return (ux)(v & (ux)~a.mask) == a.value;
}
/* Every member is a multiple of size, a power of two. */
static inline bool tnum_is_aligned(struct tnum a, ux size)
{
	return !((ux)(a.value | a.mask) & (ux)(size - 1u));
}
