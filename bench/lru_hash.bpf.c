/* SPDX-License-Identifier: BSD-2-Clause */
/* 16 lookups that hit in an LRU hash. */
#include "bench.h"
struct {
	__uint(type, MAP_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} h SEC(".maps");

SEC("xdp") int init(struct xdp_md *ctx)
{
	NOUNROLL
	for (u32 i = 0; i < 64; i++) {
		u32 k = i * 7;
		u64 v = i;
		if (map_update(&h, &k, &v, F_ANY))
			return 1;
	}
	return 0;
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	u32 base = p[23];
	u64 sum = 0;
	NOUNROLL
	for (u32 i = 0; i < 16; i++) {
		u32 k = ((base + i * 3) & 63) * 7;
		u64 *v = map_lookup(&h, &k);
		if (v)
			sum += *v + 1;
	}
	return fold32(sum);
}
LICENSE;
