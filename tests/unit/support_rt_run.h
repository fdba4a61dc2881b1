/* SPDX-License-Identifier: BSD-2-Clause */
/* Test runs of a 64-byte packet (support_rt.h). */
#pragma once

#include "support_rt.h"

extern uint8_t packet[64];

/* A test run of prog with the first size bytes of packet. */
struct bpf_call *run_call(int64_t prog, uint32_t size);
/* The program's return value over the whole packet, or -errno. */
int64_t run_value(struct rt *rt, int64_t prog);
/* From now on programs are loaded unverified and run in the checked interpreter. */
int64_t run_unverified(struct rt *rt);
