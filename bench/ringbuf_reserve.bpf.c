/* SPDX-License-Identifier: BSD-2-Clause */
/* 4 x (reserve, fill 16 bytes, submit), no wakeup. The runner drains the ring between runs. */
#include "bench.h"
struct {
	__uint(type, MAP_RINGBUF);
	__uint(max_entries, 1 << 20);
} rb SEC(".maps");
struct rec {
	u64 a;
	u32 b, c;
};
SEC("xdp") int bench(struct xdp_md *ctx)
{
	u32 bad = 0;
	NOUNROLL
	for (u32 i = 0; i < 4; i++) {
		struct rec *r = ringbuf_reserve(&rb, sizeof(*r), 0);
		if (!r) {
			bad++;
			continue;
		}
		r->a = 1;
		r->b = 2;
		r->c = i;
		ringbuf_submit(r, F_RB_NO_WAKEUP);
	}
	return bad;
}
LICENSE;
