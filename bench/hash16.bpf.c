/* SPDX-License-Identifier: BSD-2-Clause */
/* 16 hash lookups, 16-byte keys (a 5-tuple); 12 hit and 4 miss. */
#include "bench.h"
struct tuple {
	u32 saddr, daddr;
	u16 sport, dport;
	u32 proto;
};
struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 256);
	__type(key, struct tuple);
	__type(value, u64);
} h SEC(".maps");

SEC("xdp") int init(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	struct tuple t = { ld32(p + 26), ld32(p + 30), 0, 80, 6 };
	NOUNROLL
	for (u32 i = 0; i < 128; i++) {
		u64 v = i + 1000;
		t.sport = i + 1;
		if (map_update(&h, &t, &v, F_ANY))
			return 1;
	}
	return 0;
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	struct tuple t = { ld32(p + 26), ld32(p + 30), 0, 80, 6 };
	u64 sum = 0;
	NOUNROLL
	for (u32 i = 0; i < 16; i++) {
		t.sport = i * 10 + 17;
		u64 *v = map_lookup(&h, &t);
		if (v)
			sum += *v;
		else
			sum += 1 << 20;
	}
	return fold32(sum);
}
LICENSE;
