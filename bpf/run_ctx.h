/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The context of one run of a program: what it may use up, what it holds, how it ended. One per
 * nesting level on a CPU, on the stack of whoever starts the run (runtime/run.c). Helpers find it
 * with hal_run_current(); the JIT and the interpreter get it as an argument.
 */
#pragma once

#include "include/base.h"

struct bpf_prog;
struct bpf_map;

/* Why a run ended. Order is part of the log and of JSON output: append only. */
enum run_end_why {
	RUN_END_OK = 0,
	RUN_END_FAULT,	    /* CPU exception at an address of the program or of a helper for it */
	RUN_END_BAD_ACCESS, /* checked mode: outside every region of the run */
	RUN_END_BUDGET,	    /* time */
	RUN_END_LOOPS,	    /* bpf_loop iterations */
	RUN_END_STACK,	    /* call depth or stack bytes */
	RUN_END_BAD_INSN,   /* reached an instruction that cannot run (poisoned, unsupported) */
	RUN_END_BAD_CALL,   /* helper refused its arguments in checked mode */
};

struct run_end {
	enum run_end_why why;
	uint32_t insn;	       /* index in the xlated program `prog`, ~0 unknown */
	uint64_t addr;	       /* faulting or refused address */
	uint32_t size;	       /* of the access in bytes, 0 unknown */
	uint32_t write;	       /* 1 store, 0 load */
	uint64_t esr;	       /* RUN_END_FAULT: ESR_EL1 */
	uint64_t pc;	       /* RUN_END_FAULT: A64 address */
	struct bpf_prog *prog; /* the program that ran then (after tail calls), not a reference */
};

/* What must be given back when the run is aborted. */
enum run_held_kind { RUN_HELD_NONE, RUN_HELD_SPIN_LOCK, RUN_HELD_RINGBUF };
struct run_held {
	enum run_held_kind kind;
	struct bpf_map *map;
	void *ptr; /* the bpf_spin_lock, or the record */
};
#define RUN_HELD_MAX 8
#define RUN_SEEN_MAX 8

/* A piece of memory that a checked run may touch. */
enum run_region_kind {
	RUN_REGION_MEM, /* plain bytes */
	RUN_REGION_CTX, /* context: accesses go through the ctx access table of the program type */
	RUN_REGION_STACK, /* a frame of this run */
	RUN_REGION_PKT,	  /* data .. data_end: bounds are read from the context at each access */
};
struct run_region {
	uintptr_t base;
	size_t size;
	uint8_t kind;
	uint8_t writable;
};
#define RUN_REGIONS_MAX 16

/* Map values are allowed by asking the map that owns the address (bpf_map_owns_value). */
struct run_ctx {
	struct bpf_prog *prog; /* running now; changes at a tail call */
	void *ctx;	       /* internal context (bpf/ctx.h) or raw memory */
	struct run_ctx *outer; /* the run that this one interrupted, or NULL */
	uint32_t cpu;
	uint32_t tail_calls;  /* made so far; at most 33 succeed */
	uint32_t depth;	      /* bpf-to-bpf frames in use */
	uint32_t loops_left;  /* bpf_loop iterations still allowed */
	uint32_t callbacks;   /* calls of bpf functions by helpers, so far */
	uint64_t deadline_ns; /* 0: no time budget */
	uint64_t cookie;      /* bpf_get_attach_cookie */
	uint64_t insns;	      /* eBPF instructions executed; counted in checked mode only */
	uint64_t insns_max;   /* checked mode: budget of those, 0: none */
	uint8_t checked;      /* set by the interpreter: callbacks run in the caller's mode */
	uint8_t seen_nr;
	/* Checked mode: inner maps that lookups in a map of maps gave out, the newest ones. */
	struct bpf_map *seen[RUN_SEEN_MAX];
	const void *timer;	/* the timer whose callback this run is, or NULL */
	unsigned long lock_irq; /* what hal_irq_save gave before the held spin lock was taken */
	struct run_held held[RUN_HELD_MAX];
	uint32_t held_nr;
	uint32_t regions_nr;
	struct run_region regions[RUN_REGIONS_MAX];
	uint32_t redirect_ifindex; /* set by bpf_redirect */
	uint32_t redirect_flags;
	struct run_end end;
	uint64_t machine[4]; /* the HAL's: saved stack pointer and the like */
};
