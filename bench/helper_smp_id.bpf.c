/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 calls of bpf_get_smp_processor_id (often inlined). Returns 8 on one CPU. */
#include "bench.h"
SEC("xdp") int bench(struct xdp_md *ctx)
{
	u32 n = 0;
	NOUNROLL
	for (u32 i = 0; i < 8; i++)
		n += get_smp_processor_id() + 1;
	return n;
}
LICENSE;
