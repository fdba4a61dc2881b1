/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 x (insert, overwrite, delete) in a preallocated hash. Returns the failures: 0. */
#include "bench.h"
struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, 256);
	__type(key, u64);
	__type(value, u64);
} h SEC(".maps");

SEC("xdp") int bench(struct xdp_md *ctx)
{
	u32 bad = 0;
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		u64 k = i * 0x10001ULL, v = i;
		bad += map_update(&h, &k, &v, F_ANY) != 0;
		v++;
		bad += map_update(&h, &k, &v, F_ANY) != 0;
		bad += map_delete(&h, &k) != 0;
	}
	return bad;
}
LICENSE;
