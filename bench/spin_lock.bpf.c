/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 x (lock, two updates, unlock) of a map value. */
#include "bench.h"
struct val {
	struct bpf_spin_lock lock;
	u32 n;
	u64 sum;
};
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct val);
} m SEC(".maps");

SEC("xdp") int bench(struct xdp_md *ctx)
{
	u32 k = 0, done = 0;
	struct val *v = map_lookup(&m, &k);
	if (!v)
		return -1;
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		spin_lock(&v->lock);
		v->n++;
		v->sum += i;
		spin_unlock(&v->lock);
		done++;
	}
	return done;
}
LICENSE;
