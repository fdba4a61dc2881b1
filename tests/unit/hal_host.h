/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a unit test may ask of the host's include/hal.h (tests/unit/hal_*.c), beyond that contract.
 * Everything is put back by test_reset(), which main() of test.h calls before each test; the
 * account of test_leaked_bytes() is checked after each test.
 *
 * Defaults: 4 CPUs, all online, the caller is CPU 0; the clock is at 1 s, moves by 1 ns at each
 * reading and otherwise only when told; random numbers come from a fixed seed; nothing fails.
 */
#pragma once

#include "include/base.h"

#define HAL_HOST_CPUS_MAX 8
/* Address of a CPU's copy of per-CPU memory minus that of the CPU before; what the board keeps per
 * core in TPIDR_EL1 is `cpu * HAL_HOST_PERCPU_STRIDE` here. */
#define HAL_HOST_PERCPU_STRIDE (2ul << 20)

/* ---- fault injection and accounting ---------------------------------------------------------- */

/*
 * The n-th allocation from now (1: the next one) returns NULL; with `rest` all later ones too.
 * 0: none fails. Counts hal_alloc, hal_alloc_atomic, hal_map_alloc,
 * hal_map_alloc_mirror and hal_percpu_alloc.
 *
 *	for (unsigned long n = 1;; n++) {
 *		hal_host_fail_alloc(n, false);
 *		err = thing_new(&thing);
 *		if (!hal_host_fail_hit())
 *			break;
 *		CHECK_EQ(err, -ENOMEM);
 *		CHECK_EQ(test_leaked_bytes(), 0);
 *	}
 */
void hal_host_fail_alloc(unsigned long n, bool rest);
/* Did an allocation fail since hal_host_fail_alloc? */
bool hal_host_fail_hit(void);
/* Allocations since test_reset, whether they failed or not. */
unsigned long hal_host_allocs(void);
/* Bytes that hal_alloc_atomic may have in use at a time; default: no bound. */
void hal_host_set_atomic_reserve(size_t bytes);
/* Bytes in use: all kinds of hal memory, deferred frees run first. Prints nothing. */
size_t test_leaked_bytes(void);
void test_reset(void);

/* ---- CPUs -------------------------------------------------------------------------------------
 */

/* Number of CPUs, 1 .. HAL_HOST_CPUS_MAX. */
void hal_host_set_cpus(unsigned int nr);
/* The calling thread is this CPU from now on. */
void hal_host_set_cpu(unsigned int cpu);
void hal_host_set_online(unsigned int cpu, bool online);
/* Nesting depth of hal_irq_save on the calling thread. */
unsigned int hal_host_irq_depth(void);

/* ---- time -------------------------------------------------------------------------------------
 */

void hal_host_set_time_ns(uint64_t now_ns);
/* Move the clock; timers that fall due run in order, at their own time, with interrupts masked. */
void hal_host_advance_ns(uint64_t delta_ns);
/*
 * Use the machine's clock until test_reset: armed timers then fire from a signal, so they
 * interrupt a run that does not end by itself. Only the thread that called this is interrupted.
 */
void hal_host_use_real_time(void);
/* Timers armed now. */
unsigned int hal_host_timers_armed(void);

/* ---- words and chance -------------------------------------------------------------------------
 */

/* What hal_trace and hal_log wrote since test_reset (the newest 16 KiB), terminated. */
const char *hal_host_trace_text(void);
const char *hal_host_log_text(void);
void hal_host_set_seed(uint64_t seed);

/* ---- devices ----------------------------------------------------------------------------------
 */

/* Pins 0 to 6 are a program's, pin 7 the board's; false: there are none. */
void hal_host_set_gpio(bool present);
void hal_host_set_pin(unsigned int pin, bool high);
bool hal_host_pin_is_output(unsigned int pin);
/* What hal_line_write wrote since test_reset, terminated. */
const char *hal_host_line_text(void);
