/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_loop: 64 iterations of a small callback. */
#include "bench.h"
struct st {
	u64 sum, mul;
};
static int cb(u32 i, struct st *s)
{
	s->sum += i * s->mul;
	s->mul ^= i;
	return 0;
}
SEC("xdp") int bench(struct xdp_md *ctx)
{
	struct st s = { 0, 13 };
	bpf_loop(64, cb, &s, 0);
	return fold32(s.sum);
}
LICENSE;
