/* SPDX-License-Identifier: BSD-2-Clause */
/* SipHash-2-4 of 64 bytes of the packet. */
#include "bench.h"
#define ROUND                                                                                      \
	do {                                                                                       \
		v0 += v1;                                                                          \
		v1 = rol64(v1, 13);                                                                \
		v1 ^= v0;                                                                          \
		v0 = rol64(v0, 32);                                                                \
		v2 += v3;                                                                          \
		v3 = rol64(v3, 16);                                                                \
		v3 ^= v2;                                                                          \
		v0 += v3;                                                                          \
		v3 = rol64(v3, 21);                                                                \
		v3 ^= v0;                                                                          \
		v2 += v1;                                                                          \
		v1 = rol64(v1, 17);                                                                \
		v1 ^= v2;                                                                          \
		v2 = rol64(v2, 32);                                                                \
	} while (0)
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	if (p + PKT_LEN > e)
		return -1;
	u64 k0 = 0x0706050403020100ULL, k1 = 0x0f0e0d0c0b0a0908ULL;
	u64 v0 = k0 ^ 0x736f6d6570736575ULL, v1 = k1 ^ 0x646f72616e646f6dULL;
	u64 v2 = k0 ^ 0x6c7967656e657261ULL, v3 = k1 ^ 0x7465646279746573ULL;
	NOUNROLL
	for (u32 i = 0; i < 64; i += 8) {
		u64 m = ld64(p + 54 + i);
		v3 ^= m;
		ROUND;
		ROUND;
		v0 ^= m;
	}
	u64 b = 64ULL << 56;
	v3 ^= b;
	ROUND;
	ROUND;
	v0 ^= b;
	v2 ^= 0xff;
	ROUND;
	ROUND;
	ROUND;
	ROUND;
	return fold32(v0 ^ v1 ^ v2 ^ v3);
}
BENCH_COMPUTE(run);
