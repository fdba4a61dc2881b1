/* SPDX-License-Identifier: BSD-2-Clause */
/* 64 rounds of 32-bit arithmetic (the murmur3 mixers): multiply, rotate, xor, add. */
#include "bench.h"
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	if (p + PKT_LEN > e)
		return -1;
	u32 h = ld32(p + 54), x = ld32(p + 58);
	NOUNROLL
	for (u32 i = 0; i < 64; i++) {
		u32 k = x + i;
		k *= 0xcc9e2d51u;
		k = rol32(k, 15);
		k *= 0x1b873593u;
		h ^= k;
		h = rol32(h, 13);
		h = h * 5 + 0xe6546b64u;
		x ^= h >> 16;
	}
	return h ^ x;
}
BENCH_COMPUTE(run);
