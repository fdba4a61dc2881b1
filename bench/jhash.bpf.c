/* SPDX-License-Identifier: BSD-2-Clause */
/* Jenkins' lookup3 (hashword) of 24 words. */
#include "bench.h"
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	if (p + PKT_LEN > e)
		return -1;
	u32 a, b, c;
	a = b = c = 0xdeadbeef + (24 << 2) + 7;
	NOUNROLL
	for (u32 i = 0; i < 84; i += 12) {
		a += ld32(p + i);
		b += ld32(p + i + 4);
		c += ld32(p + i + 8);
		a -= c;
		a ^= rol32(c, 4);
		c += b;
		b -= a;
		b ^= rol32(a, 6);
		a += c;
		c -= b;
		c ^= rol32(b, 8);
		b += a;
		a -= c;
		a ^= rol32(c, 16);
		c += b;
		b -= a;
		b ^= rol32(a, 19);
		a += c;
		c -= b;
		c ^= rol32(b, 4);
		b += a;
	}
	a += ld32(p + 84);
	b += ld32(p + 88);
	c += ld32(p + 92);
	c ^= b;
	c -= rol32(b, 14);
	a ^= c;
	a -= rol32(c, 11);
	b ^= a;
	b -= rol32(a, 25);
	c ^= b;
	c -= rol32(b, 16);
	a ^= c;
	a -= rol32(c, 4);
	b ^= a;
	b -= rol32(a, 14);
	c ^= b;
	c -= rol32(b, 24);
	return c;
}
BENCH_COMPUTE(run);
