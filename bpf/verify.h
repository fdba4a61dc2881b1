/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verdict on a program. Pure: the same code runs on the board at PROG_LOAD and in host fuzzers.
 */
#pragma once

#include "include/base.h"
#include "bpf/prog.h"

struct bpf_log;

struct verify_verdict {
	int err;	 /* 0 accepted; -EINVAL -EACCES -EPERM -E2BIG -ENOMEM -EFAULT as in Linux */
	uint32_t insn;	 /* where, index in prog->insns; ~0: the program as a whole */
	uint32_t reason; /* row of bpf/verifier/reasons.def; tests match this, never wording */
	uint32_t processed; /* instructions processed */
	uint32_t states_total, states_peak, pruned;
	uint64_t peak_bytes; /* heap in use at most */
};

/*
 * Judge prog (maps resolved: xlate_resolve_maps; prog->btf and infos set). Fills prog->aux and
 * prog->subprogs (both allocated here with hal_alloc) and *v. Returns v->err. All other memory is
 * given back. prog->flags: BPF_F_STRICT_ALIGNMENT, BPF_F_ANY_ALIGNMENT, BPF_F_TEST_STATE_FREQ,
 * BPF_F_TEST_REG_INVARIANTS, BPF_F_TEST_RND_HI32. Thread.
 */
int bpf_verify(struct bpf_prog *prog, struct bpf_log *log, struct verify_verdict *v) __must_check;

/*
 * What a program needs that is loaded without verification (raw runs; and all programs as long as
 * the verifier does not judge them): subprograms found, aux allocated, branch targets in range. For
 * context conversion a must-analysis marks loads and stores whose base is the context on every
 * path. 0 or -errno. Thread.
 */
int bpf_scan(struct bpf_prog *prog, struct bpf_log *log) __must_check;
