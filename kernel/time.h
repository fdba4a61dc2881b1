/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock and one-shot timers, on the EL1 virtual timer. hal_ktime_ns and hal_timer_* (see
 * include/hal.h) are implemented here.
 */
#pragma once

#include "include/base.h"

struct board_info;

/* Start the clock at 0. Before anything that looks at the time. Boot core. */
void time_init(void);
/* Take the timer's interrupt: boot core once, then each core for itself. 0 or -errno. */
int time_init_irq(const struct board_info *board) __must_check;
void time_init_cpu(void);

uint64_t time_counter_hz(void);
/* Spin for at least ns. Context: any. */
void time_delay_ns(uint64_t ns);
