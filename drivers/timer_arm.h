/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The EL1 virtual timer (Arm ARM, chapter "The Generic Timer"): a counter common to all cores and
 * one comparator a core. Its interrupt is a level that lasts while the deadline has passed; set a
 * later deadline or stop the timer to end it. CNTVOFF_EL2 must be equal (zero) on all cores.
 *
 * Conversions hold for 580 years of ticks at 1 GHz and saturate beyond.
 */
#pragma once

#include "include/base.h"

struct timer_arm {
	uint64_t freq_hz;
	uint64_t ns_per_tick; /* 32.32 fixed point */
	uint64_t ticks_per_ns;
};

/*
 * Read the counter's rate from CNTFRQ_EL0; fallback_hz stands in if the firmware left it 0. Stops
 * the calling core's timer. 0, or -EINVAL if neither gives a rate between 1 MHz and 4 GHz.
 */
int timer_arm_init(struct timer_arm *t, uint64_t fallback_hz) __must_check;
/* Ticks since some moment before boot. Not reordered with what comes before it. Context: any. */
uint64_t timer_arm_now(void);
uint64_t timer_arm_ticks_to_ns(const struct timer_arm *t, uint64_t ticks);
/* Rounds up: a deadline is never early. */
uint64_t timer_arm_ns_to_ticks(const struct timer_arm *t, uint64_t ns);
/* Interrupt the calling core when the counter reaches deadline. */
void timer_arm_set_deadline(uint64_t deadline_ticks);
/* No interrupt on the calling core until the next deadline. */
void timer_arm_stop(void);
