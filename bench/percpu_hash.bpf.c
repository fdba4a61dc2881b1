/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 counters bumped in a per-CPU hash. Returns the hits: 8. */
#include "bench.h"
struct {
	__uint(type, MAP_PERCPU_HASH);
	__uint(max_entries, 64);
	__type(key, u32);
	__type(value, u64);
} c SEC(".maps");

SEC("xdp") int init(struct xdp_md *ctx)
{
	NOUNROLL
	for (u32 i = 0; i < 32; i++) {
		u32 k = i;
		u64 v = 0;
		if (map_update(&c, &k, &v, F_ANY))
			return 1;
	}
	return 0;
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	u32 hits = 0, base = p[23];
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		u32 k = (base + i * 3) & 31;
		u64 *v = map_lookup(&c, &k);
		if (v) {
			*v += 1;
			hits++;
		}
	}
	return hits;
}
LICENSE;
