/* SPDX-License-Identifier: BSD-2-Clause */
/* Running programs: what test runs and raw runs need beside prog_run (runtime/rt.h). */
#pragma once

#include "include/base.h"
#include "bpf/run_ctx.h"

struct bpf_prog;

/*
 * Run prog with R1 and R2 as given, in a context whose regions the caller has set; all else in rc
 * is set here. 0 and *ret, or -EFAULT with rc->end. Counted as aborted, not as run, when it fails.
 * Context: thread, irq.
 */
int run_prepared(struct bpf_prog *prog, struct run_ctx *rc, void *r1, void *r2,
		 uint64_t *ret) __must_check;
