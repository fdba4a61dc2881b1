/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 array lookups with constant keys (what a counter array or a config map looks like). */
#include "bench.h"
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 16);
	__type(key, u32);
	__type(value, u64);
} arr SEC(".maps");
#define SET(n)                                                                                     \
	{                                                                                          \
		u32 k = n;                                                                         \
		u64 *v = map_lookup(&arr, &k);                                                     \
		if (!v)                                                                            \
			return 1;                                                                  \
		*v = 3 * n + 7;                                                                    \
	}
#define GET(n)                                                                                     \
	{                                                                                          \
		u32 k = n;                                                                         \
		u64 *v = map_lookup(&arr, &k);                                                     \
		if (v)                                                                             \
			sum += *v;                                                                 \
	}

SEC("xdp") int init(struct xdp_md *ctx)
{
	SET(0) SET(1) SET(3) SET(5) SET(7) SET(9) SET(11) SET(15) return 0;
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	u64 sum = 0;
	GET(0) GET(1) GET(3) GET(5) GET(7) GET(9) GET(11) GET(15) return fold32(sum);
}
LICENSE;
