/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 counters bumped in a per-CPU array. Returns the hits: 8. */
#include "bench.h"
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 16);
	__type(key, u32);
	__type(value, u64);
} c SEC(".maps");

SEC("xdp") int bench(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	u32 hits = 0, base = p[23]; /* 6, the protocol */
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		u32 k = (base + i) & 15;
		u64 *v = map_lookup(&c, &k);
		if (v) {
			*v += 1;
			hits++;
		}
	}
	return hits;
}
LICENSE;
