/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runtime: bpf(2) without a process. One struct rt per board (or per test); no other state.
 * Everything here runs in thread context unless said.
 */
#pragma once

#include "include/base.h"
#include "bpf/map.h"
#include "bpf/prog.h"
#include "wire/bpf_call.h"

struct rt;

/* ---- knobs (runtime/knobs.def): sysctl-like settings ------------------------------------------
 */

enum rt_knob {
#define KNOB(id, name, dflt, min, max, flags, text) KNOB_##id,
#include "runtime/knobs.def"
#undef KNOB
	KNOB_NR,
};
/* Context: any. */
int64_t rt_knob(const struct rt *rt, enum rt_knob k);
/* 0, -ENOENT, -EPERM (read only), -EINVAL (out of range), or the platform's refusal. Thread. */
int rt_knob_set(struct rt *rt, const char *name, int64_t value) __must_check;

/* Machine services that only the kernel has; NULL members answer -EOPNOTSUPP. */
struct rt_platform {
	void (*info)(void *arg, struct board_info_reply *out);
	int (*reset)(void *arg, uint32_t how, uint32_t status);
	int (*pmu_read)(void *arg, struct board_attr_pmu *pmu);
	/* Text from position *pos; returns bytes, advances *pos, adds to *lost. */
	uint32_t (*log_read)(void *arg, uint32_t which, char *buf, uint32_t len, uint64_t *pos,
			     uint64_t *lost);
	uint32_t (*mem_stat)(void *arg, struct board_mem_purpose *rows, uint32_t nr,
			     uint64_t *total, uint64_t *free_bytes);
	/* 0 and terminated text in log (len > 0), or -ENOENT. */
	int (*selftest)(void *arg, const char *name, char *log, uint32_t len, uint32_t *failed);
	/* Whole lines from symbol *first on; bytes, and the next one in *first (0: the end). */
	uint32_t (*syms)(void *arg, uint32_t *first, char *buf, uint32_t len);
	void (*load_stat)(void *arg, struct board_load_stat *out);
	uint64_t (*insns_retired)(void *arg); /* this CPU's instruction counter, 0 without one */
	/* A knob is about to take a checked value: 0, or -errno to refuse it. */
	int (*knob_set)(void *arg, enum rt_knob k, int64_t value);
	void *arg;
};

/* NULL: no memory. */
struct rt *rt_new(const struct rt_platform *platform);
/*
 * Drops every handle and pin. Returns the bytes of objects that are referenced even so (0 unless
 * references leaked); those objects stay allocated.
 */
uint64_t rt_free(struct rt *rt);

/*
 * The system call. call->ret, attr scalars, buffers' out_len and call->obj are the result; returns
 * call->ret. Linux's order of checks: command known (-EINVAL), attr tail zero (-E2BIG), then the
 * command's own.
 */
int64_t bpf_syscall(struct rt *rt, struct bpf_call *call);

/* The session died: drop its handles. Pins and what they hold stay. */
void rt_session_end(struct rt *rt, uint32_t session);

/* ---- objects (runtime/objects.c) ------------------------------------------------------------- */

enum rt_kind { RT_MAP, RT_PROG, RT_BTF, RT_LINK, RT_STATS, RT_KIND_NR };

/* Object behind a handle, no new reference: 0, -EBADF, -EINVAL (other kind). */
int rt_handle_get(struct rt *rt, uint32_t handle, enum rt_kind kind, void **obj) __must_check;
/* Next live id after `id`; 0 or -ENOENT. For the console and GET_NEXT_ID. */
int rt_next_id(struct rt *rt, enum rt_kind kind, uint32_t id, uint32_t *next);
/* Object by id, no new reference, NULL: none. */
void *rt_by_id(struct rt *rt, enum rt_kind kind, uint32_t id);

/* ---- running (runtime/run.c) ------------------------------------------------------------------
 */

/*
 * Run a program once on this CPU: a new run_ctx around prog's mode, statistics kept. r1 is the
 * internal context. 0 and *ret, or -EFAULT with *end (may be NULL). Context: thread, irq.
 */
int prog_run(struct bpf_prog *prog, void *ctx, uint64_t cookie, uint64_t *ret,
	     struct run_end *end) __must_check;
/*
 * A line in the board's log about a run that was ended: program, instruction, C line, cause. While
 * the program of the run is still held. Context: any.
 */
void prog_log_end(const struct run_end *end);

/* ---- bundles (runtime/bundle.c) ---------------------------------------------------------------
 */

/*
 * Replay recorded calls. All or nothing: on an error everything that the bundle made is dropped. 0
 * or -errno, *at = index of the failing call, log gets a line per object. Format: docs/protocol.md.
 */
int bundle_replay(struct rt *rt, const void *image, size_t len, uint32_t *at) __must_check;
