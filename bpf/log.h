/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A verifier or BTF log in a buffer of fixed room. As in Linux since 6.4: the end is kept when it
 * does not fit (BPF_LOG_FIXED keeps the beginning), the true size is known, the text ends in NUL.
 */
#pragma once

#include <stdarg.h>

#include "include/base.h"

enum bpf_log_level {
	BPF_LOG_LEVEL1 = 1, /* what was refused and why, path to it */
	BPF_LOG_LEVEL2 = 2, /* every instruction and state */
	BPF_LOG_STATS = 4,  /* totals only */
	BPF_LOG_FIXED = 8,
};

struct bpf_log {
	char *buf; /* ring of `room` bytes; NULL: only counts */
	uint32_t room;
	uint32_t level;	   /* enum bpf_log_level; 0: nothing is logged */
	uint64_t total;	   /* position after the last byte written, NUL not counted */
	uint64_t start;	   /* position of the oldest byte kept */
	uint64_t most;	   /* the largest `total` so far */
	uint32_t room_max; /* room grows up to here as text comes; <= room: it does not */
};

/* One call of bpf_log_printf adds at most this many bytes; the rest of its text is dropped. */
#define BPF_LOG_LINE_MAX 511

/* buf may be NULL (room 0): the size is counted. buf holds text only after bpf_log_finish. */
void bpf_log_init(struct bpf_log *log, uint32_t level, char *buf, uint32_t room);
/*
 * The same with a buffer that is made here and grows with the text up to room_max bytes, so that a
 * client's generous buffer costs only what is written. The caller frees log->buf (hal_free); where
 * memory ends, the room is what it has grown to. Thread.
 */
void bpf_log_init_growing(struct bpf_log *log, uint32_t level, uint32_t room_max);
/* log may be NULL. */
void bpf_log_printf(struct bpf_log *log, const char *fmt, ...) __printf_like(2, 3);
void bpf_log_vprintf(struct bpf_log *log, const char *fmt, va_list ap);
/* Position to go back to when a path turns out good (level 1 drops the text of good paths). */
uint64_t bpf_log_mark(const struct bpf_log *log);
/* Drop the text after mark. What was pushed out of the ring meanwhile does not come back. */
void bpf_log_reset_to(struct bpf_log *log, uint64_t mark);
/*
 * Put the text in order, NUL-terminate. 0, or -ENOSPC where it did not fit; *true_size: bytes that
 * would have held all of it, NUL included (0 at level 0).
 */
int bpf_log_finish(struct bpf_log *log, uint32_t *true_size);
