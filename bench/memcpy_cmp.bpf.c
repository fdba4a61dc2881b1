/* SPDX-License-Identifier: BSD-2-Clause */
/* Copies 64 bytes (the compiler's inline copy), then compares 64 bytes byte by byte, 4 times. */
#include "bench.h"
static u8 buf[64];
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	if (p + PKT_LEN > e)
		return -1;
	u32 eq = 0;
	NOUNROLL
	for (u32 n = 0; n < 4; n++) {
		__builtin_memcpy(buf, p + 16 * n, 64);
		asm volatile("" ::: "memory");
		NOUNROLL
		for (u32 i = 0; i < 64; i++) {
			if (buf[i] != p[16 * n + i])
				return -2;
			eq++;
		}
	}
	return eq;
}
BENCH_COMPUTE(run);
