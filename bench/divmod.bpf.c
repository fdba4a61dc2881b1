/* SPDX-License-Identifier: BSD-2-Clause */
/* cpu v4: 32 rounds of signed and unsigned division, remainders, sign-extending moves, bswap. */
#include "bench.h"
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	if (p + PKT_LEN > e)
		return -1;
	s64 x = (s64)ld64(p + 54);
	u64 y = ld64(p + 62);
	u32 acc = 0;
	NOUNROLL
	for (u32 i = 1; i <= 32; i++) {
		s32 d = (s32)(i * 3) - 50;
		asm volatile("" : "+r"(d));
		s64 q = x / (d | 1);
		s32 r = (s32)x % (d | 1);
		acc += (u32)q + (u32)r;
		acc ^= (u32)(y / (i + 7)) + (u32)(y % (i + 9));
		x = (s64)(signed char)acc + (x ^ (s64)(short)(y >> 5)) + q;
		y = __builtin_bswap64(y) + acc;
	}
	return acc;
}
BENCH_COMPUTE(run);
