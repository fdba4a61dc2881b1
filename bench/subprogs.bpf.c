/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf-to-bpf calls: 16 x (a 5-argument call which calls a leaf), three frames deep. */
#include "bench.h"
static __noinline u64 leaf(u64 x, u64 y)
{
	return x * 31 + (y >> 3);
}
static __noinline u64 mix5(u64 a, u64 b, u64 c, u64 d, u64 e)
{
	return leaf(a + b, c) ^ leaf(d, e);
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	u64 x = ld64(p + 54);
	NOUNROLL
	for (u32 i = 0; i < 16; i++)
		x = mix5(x, i, x >> 7, ~x, 5);
	return fold32(x);
}
LICENSE;
