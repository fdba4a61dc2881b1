/* SPDX-License-Identifier: BSD-2-Clause */
/* 16 array lookups with a run-time key. */
#include "bench.h"
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, u64);
} arr SEC(".maps");

SEC("xdp") int init(struct xdp_md *ctx)
{
	NOUNROLL
	for (u32 i = 0; i < 64; i++) {
		u32 k = i;
		u64 *v = map_lookup(&arr, &k);
		if (!v)
			return 1;
		*v = (u64)i * i + 1;
	}
	return 0;
}

SEC("xdp") int bench(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	u64 sum = 0;
	u32 base = p[15 + 2]; /* low byte of the IPv4 length */
	NOUNROLL
	for (u32 i = 0; i < 16; i++) {
		u32 k = (base + i * 5) & 63;
		u64 *v = map_lookup(&arr, &k);
		if (v)
			sum += *v;
	}
	return fold32(sum);
}
LICENSE;
