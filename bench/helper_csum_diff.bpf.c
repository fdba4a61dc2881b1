/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_csum_diff over 64 bytes of the stack: a helper with five arguments and real work. */
#include "bench.h"
SEC("xdp") int bench(struct xdp_md *ctx)
{
	PKT(ctx, p, e);
	u64 buf[8];
	for (int i = 0; i < 8; i++)
		buf[i] = ld64(p + 54 + 8 * i);
	u64 s = csum_diff(0, 0, buf, sizeof(buf), 0x1234);
	s = (s & 0xffff) + ((s >> 16) & 0xffff);
	s = (s & 0xffff) + (s >> 16);
	return (u32)s;
}
LICENSE;
