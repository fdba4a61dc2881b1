/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 calls of bpf_ktime_get_ns; counts those which did not go backwards: 8. */
#include "bench.h"
SEC("xdp") int bench(struct xdp_md *ctx)
{
	u64 last = 0;
	u32 n = 0;
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		u64 t = ktime_get_ns();
		n += t >= last;
		last = t;
	}
	return n;
}
LICENSE;
