/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreter: pre-decoded code, threaded dispatch, two modes from one source.
 *   fast     no checks; for verified programs
 *   checked  every access must lie in a region of the run, in a live map value or in the context
 *            (through the ctx access table); helper arguments are checked by their row; the
 *            instruction budget is kept. The oracle of tests and fuzzers.
 * All of RFC 9669 runs in both: base, divmul, atomic groups, packet loads, bpf-to-bpf calls (8
 * frames of 512 bytes), tail calls (33), gotol, load-acquire and store-release. callx does not
 * exist.
 */
#pragma once

#include "include/base.h"
#include "bpf/prog.h"

/*
 * Decode prog->insns into prog->interp. 0, -EINVAL (not a legal instruction array: isa_check,
 * branch targets, unknown helper), -ENOMEM. Thread.
 */
int interp_prepare(struct bpf_prog *prog) __must_check;
void interp_free(struct interp_code *code);

/*
 * Run it. r1: the value of R1 at entry (fast: address of the internal context or what the converted
 * program expects; checked: the UAPI context handle is r1 itself, see CTX region). The stack is
 * the caller's kernel stack. Ends through hal_run_abort on a refused access or used-up budget.
 * Context: run.
 */
uint64_t interp_run_fast(struct bpf_prog *prog, void *r1, void *r2, struct run_ctx *rc);
uint64_t interp_run_checked(struct bpf_prog *prog, void *r1, void *r2, struct run_ctx *rc);

/*
 * Call a bpf function (callback) of the running program from a helper: fn is the value that the
 * program passed (PSEUDO_FUNC). Works whatever mode the caller runs in. Context: run.
 */
uint64_t bpf_call_function(uint64_t fn, uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4,
			   uint64_t r5);
