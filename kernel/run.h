/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs of programs as the machine sees them: where to go back to when one is ended from inside.
 * hal_run_enter, hal_run_abort and hal_run_current (include/hal.h) are implemented here.
 *
 * run_ctx.machine[]:
 *   [0]  stack pointer of the saved caller context (run_enter.S)
 *   [1]  depth of interrupt handlers when the run began
 *   [2]  PSTATE.DAIF when the run began
 */
#pragma once

#include "include/base.h"

struct run_ctx;
struct trap_frame;

#define RUN_MACHINE_SP	 0
#define RUN_MACHINE_IRQ	 1
#define RUN_MACHINE_DAIF 2

/* Did the fault that is being handled happen in this run, and not in an interrupt above it? */
bool run_owns_fault(const struct run_ctx *rc);

/* Change the frame so that its return leads to the caller of hal_run_enter. rc->end is set. */
void run_abort_from_trap(struct run_ctx *rc, struct trap_frame *frame);
