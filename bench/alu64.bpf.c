/* SPDX-License-Identifier: BSD-2-Clause */
/* 64 rounds of 64-bit arithmetic: shifts, xor, add and multiply with 64-bit constants. */
#include "bench.h"
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	if (p + PKT_LEN > e)
		return -1;
	u64 x = ld64(p + 54), acc = 0;
	NOUNROLL
	for (u32 i = 0; i < 64; i++) {
		x ^= x >> 12;
		x ^= x << 25;
		x ^= x >> 27;
		acc += x * 0x2545f4914f6cdd1dULL;
		acc = rol64(acc, 7) + 0x12345;
		acc -= (x & 0xff00ff) | i;
	}
	return fold32(acc);
}
BENCH_COMPUTE(run);
