/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A verifier or BTF log in a buffer of fixed room. As in Linux since 6.4: the end is kept when it
 * does not fit (BPF_LOG_FIXED keeps the beginning), the true size is known, the text ends in NUL.
 */
#pragma once

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
	uint32_t level;
	uint64_t total; /* bytes written so far, NUL not counted */
};

void bpf_log_init(struct bpf_log *log, uint32_t level, char *buf, uint32_t room);
void bpf_log_printf(struct bpf_log *log, const char *fmt, ...) __printf_like(2, 3);
/* Position to go back to when a path turns out good (level 1 drops the text of good paths). */
uint64_t bpf_log_mark(const struct bpf_log *log);
void bpf_log_reset_to(struct bpf_log *log, uint64_t mark);
/* Put the text in order, NUL-terminate. 0, or -ENOSPC where it did not fit; *true_size incl. NUL.
 */
int bpf_log_finish(struct bpf_log *log, uint32_t *true_size);
