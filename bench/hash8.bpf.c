/* SPDX-License-Identifier: BSD-2-Clause */
/* 16 hash lookups, 8-byte keys; 12 hit and 4 miss. */
#include "bench.h"
struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, u64);
} h SEC(".maps");
static __always_inline u64 key(u32 i)
{
	return 0x9e3779b97f4a7c15ULL * (i + 1);
}

SEC("xdp") int init(struct xdp_md *ctx)
{
	NOUNROLL
	for (u32 i = 0; i < 128; i++) {
		u64 k = key(i), v = i + 1000;
		if (map_update(&h, &k, &v, F_ANY))
			return 1;
	}
	return 0;
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	u64 sum = 0;
	u32 base = p[17]; /* 114 */
	NOUNROLL
	for (u32 i = 0; i < 16; i++) {
		u64 k = key(base - 98 + i * 10);
		u64 *v = map_lookup(&h, &k);
		if (v)
			sum += *v;
		else
			sum += 1 << 20;
	}
	return fold32(sum);
}
LICENSE;
