/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 lookups through an array of maps: outer, then inner. */
#include "bench.h"
struct inner {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 8);
	__type(key, u32);
	__type(value, u64);
};
struct inner in0 SEC(".maps");
struct inner in1 SEC(".maps");
struct {
	__uint(type, MAP_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, u32);
	__array(values, struct inner);
} outer SEC(".maps") = { .values = { &in0, &in1 } };

SEC("xdp") int init(struct xdp_md *ctx)
{
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		u32 k = i;
		u64 v = i + 1, w = i + 100;
		if (map_update(&in0, &k, &v, F_ANY) || map_update(&in1, &k, &w, F_ANY))
			return 1;
	}
	return 0;
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	u64 sum = 0;
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		u32 ko = i & 1, ki = i;
		void *m = map_lookup(&outer, &ko);
		if (!m)
			return -1;
		u64 *v = map_lookup(m, &ki);
		if (v)
			sum += *v;
	}
	return fold32(sum);
}
LICENSE;
