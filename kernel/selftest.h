/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Built-in checks that need the real machine: page tables, faults, interrupts, cores. They run by
 * name while the board works, take a few milliseconds each and leave nothing behind.
 */
#pragma once

#include "include/base.h"

/* Where a check writes. */
struct selftest {
	char *log;
	size_t size;
	size_t len;
	uint32_t checks;
	uint32_t failed;
};

/* One check of a test: false is noted with its place and text. Returns ok. */
bool selftest_check(struct selftest *t, bool ok, const char *file, int line, const char *what);
#define SELF_CHECK(t, cond) selftest_check(t, (cond), __FILE__, __LINE__, #cond)
/* Words for the log. */
void selftest_note(struct selftest *t, const char *fmt, ...) __printf_like(2, 3);

/*
 * Run the test called name, or all of them for "" and "all". Text goes to log (terminated, cut at
 * len); *failed counts the checks that failed. Returns the number of bytes of text, or -ENOENT for
 * an unknown name (then log lists the known ones). Thread, CPU 0.
 */
int selftest_run(const char *name, char *log, uint32_t len, uint32_t *failed);

/* The tests. */
void selftest_wx(struct selftest *t);
void selftest_xlat(struct selftest *t);
void selftest_memory(struct selftest *t);
void selftest_faults(struct selftest *t);
void selftest_timers(struct selftest *t);
void selftest_cpus(struct selftest *t);
void selftest_strings(struct selftest *t);
