/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 longest-prefix matches among 32 IPv4 routes. */
#include "bench.h"
struct lpm_key {
	u32 plen;
	u8 a[4];
};
struct {
	__uint(type, MAP_LPM_TRIE);
	__uint(max_entries, 64);
	__uint(map_flags, F_NO_PREALLOC);
	__type(key, struct lpm_key);
	__type(value, u64);
} t SEC(".maps");

SEC("xdp") int init(struct xdp_md *ctx)
{
	NOUNROLL
	for (u32 i = 0; i < 32; i++) {
		struct lpm_key k = { 8 + (i & 15), { 10, i * 16, i * 3, 0 } };
		u64 v = 100 + i;
		if (map_update(&t, &k, &v, F_ANY))
			return 1;
	}
	return 0;
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	u64 sum = 0;
	struct lpm_key k = { 32, { p[26], 0, 0, 0 } }; /* 10.x.x.9 */
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		k.a[1] = i * 48;
		k.a[2] = i * 9;
		k.a[3] = 9;
		u64 *v = map_lookup(&t, &k);
		sum = sum * 3 + (v ? *v : 1);
	}
	return fold32(sum);
}
LICENSE;
