/* SPDX-License-Identifier: BSD-2-Clause */
/* Global variables: counters in .bss and .data, configuration in .rodata; 8 packets' worth. */
#include "bench.h"
volatile u64 packets, bytes; /* .bss */
volatile u32 by_kind[4];
volatile u64 budget = 1000;		     /* .data */
const volatile u32 enabled = 1, limit = 200; /* .rodata */

SEC("xdp") int bench(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	u32 len = p[17];
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		if (!enabled || len > limit)
			return 1;
		packets += 1;
		bytes += len;
		by_kind[i & 3] += 1;
		budget ^= packets;
		budget ^= packets;
	}
	return (u32)budget + len;
}
LICENSE;
