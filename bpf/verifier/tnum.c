/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/verifier/tnum.h"

static struct tnum tnum_make(ux value, ux mask)
{
	return (struct tnum){ .value = (ux)(value & (ux)~mask), .mask = mask };
}

struct tnum tnum_range(ux lo, ux hi)
{
	ux diff = lo ^ hi;
	unsigned int bits = 0;

	while (diff) {
		bits++;
		diff = (ux)(diff >> 1);
	}
	if (bits == VBITS)
		return TNUM_UNKNOWN;
	return tnum_make(lo, (ux)(((ux)1 << bits) - 1u));
}

struct tnum tnum_add(struct tnum a, struct tnum b)
{
	ux masks = (ux)(a.mask + b.mask);
	ux values = (ux)(a.value + b.value);
	ux carries = (ux)((ux)(masks + values) ^ values);

	return tnum_make(values, (ux)(carries | a.mask | b.mask));
}

struct tnum tnum_sub(struct tnum a, struct tnum b)
{
	ux diff = (ux)(a.value - b.value);
	ux most = (ux)(diff + a.mask), least = (ux)(diff - b.mask);

	return tnum_make(diff, (ux)((ux)(most ^ least) | a.mask | b.mask));
}

/* Sum of partial products; uncertain bits are collected apart, which keeps the carries few. */
struct tnum tnum_mul(struct tnum a, struct tnum b)
{
	ux product = (ux)(a.value * b.value);
	struct tnum doubt = tnum_const(0);

	while (a.value || a.mask) {
		if (a.value & 1)
			doubt = tnum_add(doubt, (struct tnum){ 0, b.mask });
		else if (a.mask & 1)
			doubt = tnum_add(doubt, (struct tnum){ 0, (ux)(b.value | b.mask) });
		a = tnum_rsh(a, 1);
		b = tnum_lsh(b, 1);
	}
	return tnum_add(tnum_const(product), doubt);
}

struct tnum tnum_and(struct tnum a, struct tnum b)
{
	ux may_a = a.value | a.mask, may_b = b.value | b.mask;
	ux value = a.value & b.value;

	return (struct tnum){ .value = value, .mask = (ux)(may_a & may_b & (ux)~value) };
}

struct tnum tnum_or(struct tnum a, struct tnum b)
{
	ux value = a.value | b.value;

	return (struct tnum){ .value = value, .mask = (ux)((ux)(a.mask | b.mask) & (ux)~value) };
}

struct tnum tnum_xor(struct tnum a, struct tnum b)
{
	return tnum_make((ux)(a.value ^ b.value), (ux)(a.mask | b.mask));
}

struct tnum tnum_lsh(struct tnum a, unsigned int n)
{
	return (struct tnum){ .value = (ux)(a.value << n), .mask = (ux)(a.mask << n) };
}

struct tnum tnum_rsh(struct tnum a, unsigned int n)
{
	return (struct tnum){ .value = (ux)(a.value >> n), .mask = (ux)(a.mask >> n) };
}

struct tnum tnum_arsh(struct tnum a, unsigned int n)
{
	return tnum_make((ux)((sx)a.value >> n), (ux)((sx)a.mask >> n));
}

struct tnum tnum_zext(struct tnum a, unsigned int n)
{
	ux keep = n == VBITS ? UX_MAX : (ux)(((ux)1 << n) - 1u);

	return (struct tnum){ .value = (ux)(a.value & keep), .mask = (ux)(a.mask & keep) };
}

struct tnum tnum_sext(struct tnum a, unsigned int n)
{
	return tnum_arsh(tnum_lsh(a, VBITS - n), VBITS - n);
}

bool tnum_intersect(struct tnum a, struct tnum b, struct tnum *out)
{
	ux mask = a.mask & b.mask;

	if ((ux)(a.value ^ b.value) & (ux) ~(ux)(a.mask | b.mask))
		return false;
	*out = tnum_make((ux)(a.value | b.value), mask);
	return true;
}

struct tnum tnum_union(struct tnum a, struct tnum b)
{
	return tnum_make(a.value, (ux)(a.mask | b.mask | (ux)(a.value ^ b.value)));
}

bool tnum_contains(struct tnum a, struct tnum b)
{
	return !(b.mask & (ux)~a.mask) && (ux)(b.value & (ux)~a.mask) == a.value;
}
