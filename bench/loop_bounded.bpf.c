/* SPDX-License-Identifier: BSD-2-Clause */
/* The same 64 iterations as loop_helper, as a bounded loop (state kept in memory). */
#include "bench.h"
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	u64 sum = 0, mul = 13;
	NOUNROLL
	for (u32 i = 0; i < 64; i++) {
		sum += i * mul;
		mul ^= i;
		asm volatile("" : "+r"(sum), "+r"(mul));
	}
	return fold32(sum);
}
BENCH_COMPUTE(run);
