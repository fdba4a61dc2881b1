/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Grace periods: who still may hold a pointer to an object that nobody can find any more.
 * hal_quiesce_* (include/hal.h) are implemented here.
 *
 * struct cpu.busy counts up by one when the CPU starts to use shared objects (outermost run, a call
 * from another CPU) and by one when it stops: odd means busy. A grace period ends when every other
 * CPU was seen even, or changed, since it began.
 */
#pragma once

#include "include/base.h"
#include "kernel/cpu.h"

/* Nested pairs count once. Context: any. */
static __always_inline void quiesce_enter(struct cpu *cpu)
{
	if (cpu->busy_depth++ == 0) {
		WRITE_ONCE(cpu->busy, cpu->busy + 1);
		/* Busy is visible before the first look at a shared object. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	}
}

static __always_inline void quiesce_leave(struct cpu *cpu)
{
	if (--cpu->busy_depth == 0)
		__atomic_store_n(&cpu->busy, cpu->busy + 1, __ATOMIC_RELEASE);
}

/* Objects that wait for their grace period. */
uint32_t quiesce_waiting(void);
