/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers: one row of bpf/helpers.def and one function each. Every fact about a helper is a column
 * of its row; verifier, checked interpreter, xlate, JIT and docs read the row and nothing else.
 */
#pragma once

#include "include/base.h"
#include "include/uapi_new.h"
#include "bpf/map.h"
#include "bpf/run_ctx.h"

/* R1-R5 in, R0 out. Finds its run with hal_run_current(). Context: run. */
typedef uint64_t (*bpf_helper_fn)(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5);

enum helper_ret {
	RET_INTEGER,
	RET_VOID,
	RET_PTR_TO_MAP_VALUE_OR_NULL,
	RET_PTR_TO_MAP_VALUE,
	RET_PTR_TO_MEM_OR_NULL,	       /* size from the ARG_CONST_ALLOC_SIZE argument */
	RET_PTR_TO_DYNPTR_MEM_OR_NULL, /* bpf_dynptr_data: size from its length argument */
	RET_NEVER,		       /* tail_call on success */
};

/* Names as in Linux's verifier, for readers who know it. */
enum helper_arg {
	ARG_NONE = 0,
	ARG_ANYTHING, /* any initialised value */
	ARG_CONST_MAP_PTR,
	ARG_PTR_TO_MAP_KEY,	     /* key_size readable bytes */
	ARG_PTR_TO_MAP_VALUE,	     /* value_size readable bytes */
	ARG_PTR_TO_UNINIT_MAP_VALUE, /* value_size writable bytes */
	ARG_PTR_TO_MEM,		     /* readable; size in the next argument */
	ARG_PTR_TO_MEM_OR_NULL,
	ARG_PTR_TO_UNINIT_MEM, /* writable; size in the next argument */
	ARG_PTR_TO_MEM_RW,     /* readable and writable; size in the next argument */
	ARG_CONST_SIZE,	       /* size of the memory before it, > 0 */
	ARG_CONST_SIZE_OR_ZERO,
	ARG_CONST_ALLOC_SIZE, /* constant; size of the returned memory */
	ARG_PTR_TO_CTX,
	ARG_PTR_TO_CTX_OR_NULL,
	ARG_PTR_TO_RINGBUF_MEM, /* record from reserve; released by the call */
	ARG_PTR_TO_SPIN_LOCK,
	ARG_PTR_TO_TIMER,
	ARG_PTR_TO_FUNC,	  /* callback, PSEUDO_FUNC */
	ARG_PTR_TO_STACK_OR_NULL, /* callback context */
	ARG_PTR_TO_CONST_STR,	  /* NUL-terminated, in a frozen read-only map */
	ARG_PTR_TO_LONG,	  /* 8 aligned writable bytes */
	ARG_PTR_TO_INT,		  /* 4 aligned writable bytes */
	ARG_PTR_TO_DYNPTR,
	ARG_PTR_TO_UNINIT_DYNPTR,
	ARG_PTR_TO_DYNPTR_RELEASE, /* ring-buffer dynptr given back by the call */
};

enum helper_flags {
	HELPER_GPL = 1 << 0,	  /* GPL-compatible programs only */
	HELPER_ACQUIRES = 1 << 1, /* result must be released on every path */
	HELPER_RELEASES = 1 << 2,
	HELPER_CHANGES_PKT = 1 << 3, /* packet pointers die */
	HELPER_PKT_READ = 1 << 4,    /* memory arguments may be packet bytes */
	HELPER_CALLBACK = 1 << 5,    /* calls a bpf function */
	HELPER_LOCK = 1 << 6,	     /* takes a spin lock: no other call until unlock */
	HELPER_UNLOCK = 1 << 7,
	HELPER_ANY_CONTEXT = 1 << 8, /* allowed while a lock is held */
	HELPER_NO_TRACING = 1 << 9,  /* not in tracing program types (spin locks, timers) */
	HELPER_ARG5_FLAGS_ZERO = 1 << 10,
};

/* Inline emitters of the JIT; JIT_INLINE_NONE: BL to the function. */
enum helper_inline {
	HELPER_INLINE_NONE,
	HELPER_INLINE_MAP_LOOKUP,
	HELPER_INLINE_MAP_UPDATE,
	HELPER_INLINE_KTIME,
	HELPER_INLINE_CPU_ID,
	HELPER_INLINE_PRANDOM,
	HELPER_INLINE_TAIL_CALL,
	HELPER_INLINE_LOOP,
	HELPER_INLINE_RINGBUF_RESERVE,
	HELPER_INLINE_RINGBUF_COMMIT,
	HELPER_INLINE_SPIN_LOCK,
	HELPER_INLINE_SPIN_UNLOCK,
};

/* Bits of column PROGS: sets of program types. */
#define HELPER_PROGS_ALL    (~0u)
#define HELPER_PROGS_SKB    ((1u << BPF_PROG_TYPE_SCHED_CLS) | (1u << BPF_PROG_TYPE_SCHED_ACT))
#define HELPER_PROGS_SOCKET (1u << BPF_PROG_TYPE_SOCKET_FILTER)
#define HELPER_PROGS_XDP    (1u << BPF_PROG_TYPE_XDP)
#define HELPER_PROGS_NET    (HELPER_PROGS_SKB | HELPER_PROGS_SOCKET | HELPER_PROGS_XDP)
#define HELPER_PROGS_TRACING                                                                       \
	((1u << BPF_PROG_TYPE_TRACEPOINT) | (1u << BPF_PROG_TYPE_RAW_TRACEPOINT) |                 \
	 (1u << BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE) | (1u << BPF_PROG_TYPE_PERF_EVENT))
#define HELPER_PROGS_PERF (1u << BPF_PROG_TYPE_PERF_EVENT)

/* Bit of column MAPS for a map type, and sets of them: which maps a helper may be given. */
#define HELPER_MAP(t)	    (1ull << BPF_MAP_TYPE_##t)
#define HELPER_MAPS_OF_MAPS (HELPER_MAP(ARRAY_OF_MAPS) | HELPER_MAP(HASH_OF_MAPS))
#define HELPER_MAPS_PERCPU                                                                         \
	(HELPER_MAP(PERCPU_ARRAY) | HELPER_MAP(PERCPU_HASH) | HELPER_MAP(LRU_PERCPU_HASH))
#define HELPER_MAPS_PLAIN                                                                          \
	(HELPER_MAP(HASH) | HELPER_MAP(ARRAY) | HELPER_MAP(LRU_HASH) | HELPER_MAP(LPM_TRIE) |      \
	 HELPER_MAPS_PERCPU)
#define HELPER_MAPS_LOOKUP (HELPER_MAPS_PLAIN | HELPER_MAPS_OF_MAPS)
#define HELPER_MAPS_UPDATE HELPER_MAPS_PLAIN
#define HELPER_MAPS_FOREACH                                                                        \
	(HELPER_MAP(HASH) | HELPER_MAP(ARRAY) | HELPER_MAP(LRU_HASH) | HELPER_MAPS_PERCPU)
#define HELPER_MAPS_QUEUE   (HELPER_MAP(QUEUE) | HELPER_MAP(STACK))
#define HELPER_MAPS_PUSH    (HELPER_MAPS_QUEUE | HELPER_MAP(BLOOM_FILTER))
#define HELPER_MAPS_RINGBUF HELPER_MAP(RINGBUF)
#define HELPER_MAPS_PERF    HELPER_MAP(PERF_EVENT_ARRAY)
/* None of these types exists here. */
#define HELPER_MAPS_DEVICES                                                                        \
	(HELPER_MAP(DEVMAP) | HELPER_MAP(DEVMAP_HASH) | HELPER_MAP(CPUMAP) | HELPER_MAP(XSKMAP))

struct bpf_helper {
	uint32_t id;
	const char *name; /* without bpf_ */
	bpf_helper_fn fn;
	uint8_t ret;	/* enum helper_ret */
	uint8_t arg[5]; /* enum helper_arg */
	uint32_t flags; /* enum helper_flags */
	uint32_t progs; /* bit n: program type n may call it */
	uint64_t maps;	/* bit n: map type n as the map argument; 0: takes no map */
	uint8_t inl;	/* enum helper_inline */
};

/* The row, or NULL for an id that this board does not have. Context: any. */
const struct bpf_helper *bpf_helper_get(uint32_t id);
/* Rows in id order: index 0 .. ; NULL after the last. For docs, feature lists and tests. */
const struct bpf_helper *bpf_helper_at(uint32_t index);

/* Private range of board helpers: include/barebpf_helpers.h. */
#define BPF_FUNC_BOARD_BASE 0x10000
