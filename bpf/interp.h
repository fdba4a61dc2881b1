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
 * Decode prog->insns into prog->interp, by prog->subprogs (bpf_verify or bpf_scan made them). 0,
 * -EINVAL (not a legal instruction array: isa_check, branch and call targets), -ENOMEM. A call of
 * an unknown helper decodes and ends the run if it is reached. Thread.
 */
int interp_prepare(struct bpf_prog *prog) __must_check;
void interp_free(struct interp_code *code);

/*
 * Run it. r1, r2: values of R1 and R2 at entry, R1 as ctx_run_begin gave it. rc: set up by the
 * caller (runtime/run.c) but for checked and seen. The stack is the caller's kernel
 * stack: at most 8 frames of up to 512 bytes and some 250 bytes of the interpreter's each. Ends
 * through hal_run_abort on a refused access or used-up budget, rc->end filled in.
 *
 * The fast mode looks at deadline_ns only where helpers call back (bpf_call_function); an
 * interrupt may abort it wherever it stands in section .text.bpf_interp, which holds no lock. The
 * checked mode looks at deadline_ns and insns_max itself. Context: run.
 */
uint64_t interp_run_fast(struct bpf_prog *prog, void *r1, void *r2, struct run_ctx *rc);
uint64_t interp_run_checked(struct bpf_prog *prog, void *r1, void *r2, struct run_ctx *rc);

/*
 * Call a bpf function (callback) of the running program from a helper: fn is the value that the
 * program passed (PSEUDO_FUNC). Works whatever mode the caller runs in: values of the interpreter
 * are odd; even ones are machine code that takes R1 .. R5 and returns R0 as a helper does. Context:
 * run.
 */
uint64_t bpf_call_function(uint64_t fn, uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4,
			   uint64_t r5);
/* The program that an interpreter's function value belongs to, NULL for machine code. */
struct bpf_prog *bpf_function_prog(uint64_t fn);

/*
 * Checked mode, for helpers that hand memory to a callback: allow [base, base+size) until popped.
 * Does nothing in other modes. Context: run.
 */
void interp_region_push(struct run_ctx *rc, uintptr_t base, size_t size, bool writable);
void interp_region_pop(struct run_ctx *rc);
