/* SPDX-License-Identifier: BSD-2-Clause */
/* A whole small program: parse, LPM drop list, flow-table lookup, counters. Returns 2 (pass). */
#include "bench.h"
struct flow {
	u32 saddr, daddr;
	u16 sport, dport;
};
struct stat {
	u64 packets, bytes;
};
struct lpm_key {
	u32 plen, a;
};
struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 1024);
	__type(key, struct flow);
	__type(value, struct stat);
} flows SEC(".maps");
struct {
	__uint(type, MAP_LPM_TRIE);
	__uint(max_entries, 64);
	__uint(map_flags, F_NO_PREALLOC);
	__type(key, struct lpm_key);
	__type(value, u32);
} deny SEC(".maps");
struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 4);
	__type(key, u32);
	__type(value, struct stat);
} totals SEC(".maps");

SEC("xdp") int init(struct xdp_md *ctx)
{
	NOUNROLL
	for (u32 i = 0; i < 16; i++) {
		struct lpm_key k = { 16 + (i & 7), 0x0000a8c0u + (i << 16) }; /* 192.168.i.0 */
		u32 v = 1;
		if (map_update(&deny, &k, &v, F_ANY))
			return 1;
	}
	return 0;
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	const u8 *p = (const u8 *)(long)ctx->data, *e = (const u8 *)(long)ctx->data_end;
	u32 verdict = 2, len = e - p;
	if (p + 54 > e || *(const u16 *)(p + 12) != 0x0008 || p[14] != 0x45 || p[23] != 6)
		return 1;
	struct lpm_key lk = { 32, ld32(p + 26) };
	if (map_lookup(&deny, &lk))
		verdict = 1;
	struct flow f = { ld32(p + 26), ld32(p + 30), *(const u16 *)(p + 34),
			  *(const u16 *)(p + 36) };
	struct stat *s = map_lookup(&flows, &f);
	if (s) {
		__sync_fetch_and_add(&s->packets, 1);
		__sync_fetch_and_add(&s->bytes, len);
	} else {
		struct stat n = { 1, len };
		map_update(&flows, &f, &n, F_ANY);
	}
	s = map_lookup(&totals, &verdict);
	if (s) {
		s->packets++;
		s->bytes += len;
	}
	return verdict;
}
LICENSE;
