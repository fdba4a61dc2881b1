/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 calls of bpf_get_prandom_u32; its value is dropped (returns 8). */
#include "bench.h"
SEC("xdp") int bench(struct xdp_md *ctx)
{
	u32 n = 0;
	NOUNROLL
	for (u32 i = 0; i < 8; i++)
		n += 1 + (get_prandom_u32() & 0);
	return n;
}
LICENSE;
