/* SPDX-License-Identifier: BSD-2-Clause */
/* Bubble sort of 64 words in .bss (2016 compares), then a position-weighted sum. */
#include "bench.h"
static u32 v[64];
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	if (p + PKT_LEN > e)
		return -1;
	u32 x = ld32(p + 54) | 1, r = 0;
	NOUNROLL
	for (u32 i = 0; i < 64; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5; /* xorshift32 */
		v[i] = x;
	}
	NOUNROLL
	for (u32 n = 63; n > 0; n--) {
		NOUNROLL
		for (u32 i = 0; i < n; i++) {
			u32 a = v[i & 63], b = v[(i + 1) & 63];
			if (a > b) {
				v[i & 63] = b;
				v[(i + 1) & 63] = a;
			}
		}
	}
	NOUNROLL
	for (u32 i = 0; i < 64; i++)
		r += v[i] * (i + 1);
	return r;
}
BENCH_COMPUTE(run);
