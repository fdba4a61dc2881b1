/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF_PROG_TEST_RUN: what the kinds of contexts share. Thread context. */
#pragma once

#include "bpf/ctx.h"
#include "runtime/cmd.h"

struct test_run {
	struct rt *rt;
	struct bpf_call *call;
	union bpf_attr *attr; /* of call */
	struct bpf_prog *prog;
	/* Results of test_run_loop. */
	uint32_t retval, duration_ns;
};

/*
 * Run the program attr->test.repeat times (0: once) on ctx, its internal context, on the chosen
 * CPU. 0, -EFAULT (a run was ended; a log line says why), -EINTR (the call took longer than
 * the knob bpf.test_run_ms), -ENXIO (no such CPU).
 */
int test_run_loop(struct test_run *t, void *ctx) __must_check;
/* retval, duration and data to the client: 0, -ENOSPC (as much as fits was sent), -EFAULT. */
int test_run_finish(struct test_run *t, const void *data, uint32_t size) __must_check;
/*
 * The client's context structure: *have tells whether there is one to read or to write. 0 and bytes
 * in ctx (zeroed by the caller), -E2BIG, -EFAULT.
 */
int test_run_ctx_in(struct test_run *t, void *ctx, uint32_t size, bool *have) __must_check;
int test_run_ctx_out(struct test_run *t, const void *ctx, uint32_t size) __must_check;

/*
 * A packet buffer: size bytes of data_in behind headroom bytes, tailroom bytes after it at least.
 * 0, -EINVAL (too long), -EFAULT, -ENOMEM. Freed with hal_free(pkt->hard_start).
 */
#define TEST_RUN_PKT_MAX 65535u /* the verifier's bound of a packet offset */
int test_run_packet(struct test_run *t, uint32_t headroom, uint32_t tailroom,
		    struct ctx_pkt *pkt) __must_check;

/* test_run_xdp.c, test_run_skb.c */
int test_run_xdp(struct test_run *t) __must_check;
int test_run_skb(struct test_run *t) __must_check;

#define ETH_HLEN 14u
