/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 x (push, pop) on a queue map. */
#include "bench.h"
struct {
	__uint(type, MAP_QUEUE);
	__uint(max_entries, 16);
	__type(value, u64);
} q SEC(".maps");

SEC("xdp") int bench(struct xdp_md *ctx)
{
	u64 sum = 0;
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		u64 v = i * 11, w = 0;
		if (map_push(&q, &v, F_ANY) || map_pop(&q, &w))
			return -1;
		sum += w;
	}
	return fold32(sum);
}
LICENSE;
