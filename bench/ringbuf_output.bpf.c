/* SPDX-License-Identifier: BSD-2-Clause */
/* 4 x ringbuf_output of a 16-byte record, no wakeup. The runner drains the ring between runs. */
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
	struct rec r = { 1, 2, 3 };
	u32 bad = 0;
	NOUNROLL
	for (u32 i = 0; i < 4; i++) {
		r.c = i;
		bad += ringbuf_output(&rb, &r, sizeof(r), F_RB_NO_WAKEUP) != 0;
	}
	return bad;
}
LICENSE;
