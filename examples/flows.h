/* SPDX-License-Identifier: BSD-2-Clause */
/* What flows.bpf.c tells flows.c. */
#pragma once

#include <linux/types.h>

struct flow_record {
	__u64 time_ns;
	__be32 saddr, daddr;
	__u32 bytes;
	__u16 cpu;
	__u8 protocol;
	__u8 pad;
};
