/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other cores: starting them, calling them, stopping them.
 *
 * A secondary core does three things: it takes interrupts, it runs functions that are handed to its
 * thread (hal_cpu_call), and it waits. Until it is started it stays where the firmware parked it.
 */
#pragma once

#include "include/base.h"

/* Software-generated interrupts. */
enum smp_sgi {
	SMP_SGI_CALL, /* run what is in the call slots, in irq context */
	SMP_SGI_WAKE, /* look for work in the thread */
	SMP_SGI_STOP, /* stop for good: some CPU panics */
};

/*
 * Learn the CPUs from board_info and make their memory (per-CPU area, stacks), so that
 * hal_cpu_count() is final. Boot core, once, before per-CPU memory is handed out. A CPU without
 * memory is left out, with a line in the log.
 */
void smp_init(void);

/* Start all of them and wait for each to come online; those that do not are logged. Boot core. */
void smp_start(void);

/* Bit n: CPU n takes interrupts and calls. */
uint32_t smp_online_mask(void);

/*
 * Call fn(arg) on another CPU in irq context; with wait, return when it is done. 0, -EINVAL (no
 * such CPU or the caller's own), -ENODEV (not online). fn must be short. Context: thread,
 * interrupts open (two CPUs that call each other with interrupts masked wait for ever).
 */
int smp_call(unsigned int cpu, void (*fn)(void *arg), void *arg, bool wait) __must_check;
/* The same on every other online CPU; returns when all are done. */
void smp_call_others(void (*fn)(void *arg), void *arg);

/* Make every other CPU execute an ISB: code written before this call is fetched afterwards. */
void smp_sync_code(void);

/* The thread of this CPU does the work that others have handed to it, if any. */
void smp_run_work(void);
/*
 * Wait for an interrupt, unless work is there already: handed to this CPU, or in has_work's eyes
 * (may be NULL; called with interrupts masked, so that what it looks at does not change before the
 * wait). Thread, interrupts open.
 */
void smp_wait(bool (*has_work)(void));

/* Stop the other CPUs, as far as they still listen. For panics and for the end. Context: any. */
void smp_stop_others(void);
