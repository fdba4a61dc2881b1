/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The verifier's number domains against brute force. The same sources are compiled here with 16-bit
 * words and 8-bit halves: every member of an abstract number can be listed, so that soundness is
 * checked for all of them.
 */
#define VERIFIER_NARROW
#include "bpf/verifier/tnum.c"
#include "bpf/verifier/scalar.c"
#include "bpf/verifier/scalar_ops.c"
#include "bpf/verifier/scalar_ext.c"
#include "bpf/verifier/scalar_branch.c"

#include "test.h"

#define MEMBERS_MAX 48
#define ROUNDS	    6000

static uint64_t rnd_state = 88172645463325252ull;

static uint64_t rnd(void)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state;
}

/* A word near one where signs, halves or carries change. */
static ux edge(void)
{
	static const ux e[] = { 0,	1,	2,	3,	7,     8,      0x7f,
				0x80,	0x81,	0xff,	0x100,	0x101, 0x7fff, 0x8000,
				0x8001, 0xfffe, 0xffff, 0xff80, 0xff7f };

	return rnd() % 3 ? (ux)(e[rnd() % ARRAY_SIZE(e)] + rnd() % 3) : (ux)rnd();
}

#define RANDOM_RANGE(lo, hi, type)                                                                 \
	do {                                                                                       \
		type x_ = (type)edge(), y_ = (type)edge();                                         \
		lo = x_ < y_ ? x_ : y_;                                                            \
		hi = x_ < y_ ? y_ : x_;                                                            \
	} while (0)

/* An abstract number with some of its domains narrowed, out of step. */
static struct scalar random_raw(void)
{
	unsigned int kind = (unsigned int)(rnd() % 6);
	struct scalar a = kind ? scalar_unknown() : scalar_const(edge());

	if (kind & 1)
		RANDOM_RANGE(a.umin, a.umax, ux);
	if (kind & 2)
		RANDOM_RANGE(a.smin, a.smax, sx);
	if (rnd() % 3 == 0) {
		a.t.mask = (ux)(rnd() % 2 ? rnd() & rnd() : rnd() | rnd());
		a.t.value = (ux)(edge() & (ux)~a.t.mask);
	}
	if (rnd() % 4 == 0)
		RANDOM_RANGE(a.humin, a.humax, uh);
	if (rnd() % 4 == 0)
		RANDOM_RANGE(a.hsmin, a.hsmax, sh);
	return a;
}

struct sample {
	struct scalar a;
	ux member[MEMBERS_MAX];
	unsigned int cnt;
};

/* A number in step, and up to MEMBERS_MAX of its members; false: sync lost one. */
static bool random_sample(struct sample *s)
{
	static ux all[UX_MAX + 1];
	struct scalar raw;
	unsigned int n;
	bool ok;

	do {
		raw = random_raw();
		s->a = raw;
		ok = scalar_sync(&s->a);
		n = 0;
		for (unsigned int v = 0; v <= UX_MAX; v++) {
			if (!scalar_has(&raw, (ux)v))
				continue;
			if (!ok || !scalar_has(&s->a, (ux)v))
				return false;
			all[n++] = (ux)v;
		}
	} while (!n);
	s->cnt = 0;
	for (unsigned int i = 0; i < n; i += n / (MEMBERS_MAX - 1) + 1)
		s->member[s->cnt++] = all[i];
	s->member[s->cnt - 1] = all[n - 1];
	return true;
}

TEST(tnum_operations_on_all_small_tnums)
{
	static struct tnum (*const op[])(struct tnum,
					 struct tnum) = { tnum_add, tnum_sub, tnum_mul,
							  tnum_and, tnum_or,  tnum_xor };
	static const enum scalar_op concrete[] = { SCALAR_ADD, SCALAR_SUB, SCALAR_MUL,
						   SCALAR_AND, SCALAR_OR,  SCALAR_XOR };

	/* all tnums of 4 bits: 81 of them */
	for (unsigned int am = 0; am < 16; am++)
		for (unsigned int av = 0; av < 16; av++)
			for (unsigned int bm = 0; bm < 16; bm++)
				for (unsigned int bv = 0; bv < 16; bv++) {
					struct tnum a = { (ux)av, (ux)am }, b = { (ux)bv, (ux)bm };

					if ((av & am) || (bv & bm))
						continue;
					for (unsigned int o = 0; o < ARRAY_SIZE(op); o++)
						for (ux x = 0; x < 16; x++)
							for (ux y = 0; y < 16; y++)
								if (tnum_has(a, x) &&
								    tnum_has(b, y))
									CHECK(tnum_has(
										op[o](a, b),
										scalar_concrete(
											concrete[o],
											x, y)));
				}
}

TEST(sync_keeps_every_member)
{
	struct sample s;

	for (int i = 0; i < ROUNDS; i++)
		CHECK(random_sample(&s));
}

TEST(operations_keep_every_result)
{
	struct sample s, t;

	for (int i = 0; i < ROUNDS / 4; i++) {
		CHECK(random_sample(&s) && random_sample(&t));
		for (unsigned int op = 0; op < SCALAR_OP_NR; op++) {
			struct scalar r = scalar_binop(op, &s.a, &t.a);
			struct scalar h = scalar_binop_half(op, &s.a, &t.a);

			for (unsigned int x = 0; x < s.cnt; x++)
				for (unsigned int y = 0; y < t.cnt; y++) {
					CHECK(scalar_has(
						&r, scalar_concrete(op, s.member[x], t.member[y])));
					CHECK(scalar_has(&h, scalar_concrete_half(op, s.member[x],
										  t.member[y])));
				}
		}
	}
}

TEST(extensions_keep_every_result)
{
	struct sample s;

	for (int i = 0; i < ROUNDS; i++) {
		CHECK(random_sample(&s));
		for (unsigned int n = 1; n <= VBITS; n++) {
			struct scalar z = scalar_zext(&s.a, n), g = scalar_sext(&s.a, n);
			struct scalar h = scalar_sext_half(&s.a, n);

			for (unsigned int x = 0; x < s.cnt; x++) {
				ux v = (ux)(s.member[x] << (VBITS - n));
				ux sext = (ux)((sx)v >> (VBITS - n));

				CHECK(scalar_has(&z, (ux)(v >> (VBITS - n))));
				CHECK(scalar_has(&g, sext));
				CHECK(n > VHALF || scalar_has(&h, (ux)(uh)sext));
			}
		}
	}
}

TEST(branches_keep_every_pair)
{
	struct sample s, t;

	for (int i = 0; i < ROUNDS / 4; i++) {
		CHECK(random_sample(&s) && random_sample(&t));
		for (unsigned int c = 0; c < SCALAR_CMP_NR * 2; c++) {
			enum scalar_cmp cmp = (enum scalar_cmp)(c / 2);
			bool half = c & 1, ok;
			int d = scalar_decide(cmp, &s.a, &t.a, half);
			struct scalar a = s.a, b = t.a;

			ok = scalar_refine(cmp, &a, &b, half);
			for (unsigned int x = 0; x < s.cnt; x++)
				for (unsigned int y = 0; y < t.cnt; y++) {
					ux p = s.member[x], q = t.member[y];
					bool holds = scalar_cmp_concrete(cmp, p, q, half);

					CHECK(d < 0 || holds == (d == 1));
					CHECK(!holds ||
					      (ok && scalar_has(&a, p) && scalar_has(&b, q)));
				}
		}
	}
}

/* Precision that programs rely on: bounds survive the common shapes. */
TEST(useful_bounds)
{
	struct scalar x = scalar_unknown(), m = scalar_const(0x3f), r, b;

	r = scalar_binop(SCALAR_AND, &x, &m);
	CHECK_EQ(r.umin, 0);
	CHECK_EQ(r.umax, 0x3f);
	b = scalar_const(2);
	r = scalar_binop(SCALAR_LSH, &r, &b);
	CHECK_EQ(r.umax, 0x3f << 2);
	CHECK(tnum_is_aligned(r.t, 4));
	b = scalar_const(100);
	CHECK(scalar_refine(SCALAR_LT, &x, &b, false));
	CHECK_EQ(x.umax, 99);
	CHECK_EQ(x.smin, 0);
	x = scalar_unknown();
	b = scalar_const(10);
	CHECK(scalar_refine(SCALAR_SGT, &x, &b, true)); /* low half, signed */
	CHECK_EQ(x.humin, 11);
	CHECK_EQ(x.humax, 0x7f);
	CHECK_EQ(x.umax, UX_MAX - 0x80);
	r = scalar_zext(&x, VHALF);
	CHECK_EQ(r.umin, 11);
	CHECK_EQ(r.umax, 0x7f);
}
