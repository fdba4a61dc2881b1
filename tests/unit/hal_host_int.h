/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the pieces of the host's hal; tests include hal_host.h. */
#pragma once

#include "tests/unit/hal_host.h"

/* Parts of test_reset. */
void hal_host_mem_reset(void);
void hal_host_time_reset(void);
void hal_host_board_reset(void);

/* The signal handler of real time found interrupts masked: run the timers at hal_irq_restore. */
void hal_host_timers_pending(void);
