/* SPDX-License-Identifier: BSD-2-Clause */
/* The Internet checksum of the 128 bytes, 16 bits at a time. */
#include "bench.h"
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	if (p + PKT_LEN > e)
		return -1;
	u32 sum = 0;
	NOUNROLL
	for (u32 i = 0; i < PKT_LEN; i += 2)
		sum += *(const u16 *)(p + i);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (u16)~sum;
}
BENCH_COMPUTE(run);
