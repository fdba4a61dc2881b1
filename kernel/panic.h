/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end: a message, registers, a symbolised backtrace on the first UART, then halt or reset as
 * the knob says. Other CPUs are stopped. A fault while reporting ends the report, not silently.
 */
#pragma once

#include "include/base.h"

struct trap_frame;

/* Context: any. Backtrace from the caller. */
void panic(const char *fmt, ...) __printf_like(1, 2) __attribute__((noreturn));
/* The same for a fault, registers from its frame. */
void panic_trap(const struct trap_frame *frame, const char *what) __attribute__((noreturn));

/* What happens after the report. */
enum panic_action { PANIC_HALT, PANIC_RESET };
void panic_set_action(enum panic_action action);

/* Checks that hold in any correct kernel. Not for input. */
#define kernel_assert(cond)                                                                        \
	do {                                                                                       \
		if (__builtin_expect(!(cond), 0))                                                  \
			panic("%s:%d: assertion failed: %s", __FILE__, __LINE__, #cond);           \
	} while (0)
