/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/run.h"

#include "bpf/run_ctx.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/cpu.h"
#include "kernel/quiesce.h"
#include "kernel/trap.h"

/* run_enter.S */
int run_call(uint64_t *saved_sp, uint64_t (*fn)(void *), void *arg, uint64_t *ret);
void run_abort_return(void);
void run_abort_jump(uint64_t saved_sp) __attribute__((noreturn));

struct run_ctx *hal_run_current(void)
{
	return this_cpu()->run;
}

int hal_run_enter(struct run_ctx *rc, uint64_t (*fn)(void *arg), void *arg, uint64_t *ret)
{
	struct cpu *cpu = this_cpu();
	unsigned long daif;
	int err;

	__asm__ volatile("mrs %0, daif" : "=r"(daif));
	rc->outer = cpu->run;
	rc->machine[RUN_MACHINE_IRQ] = cpu->in_irq;
	rc->machine[RUN_MACHINE_DAIF] = daif;
	quiesce_enter(cpu);
	WRITE_ONCE(cpu->run, rc);
	err = run_call(&rc->machine[RUN_MACHINE_SP], fn, arg, ret);
	WRITE_ONCE(cpu->run, rc->outer);
	if (err) {
		/* The end may have come from an interrupt handler, or with interrupts masked. */
		cpu->in_irq = (uint32_t)rc->machine[RUN_MACHINE_IRQ];
		cpu_irq_restore(daif);
	}
	quiesce_leave(cpu);
	return err;
}

void hal_run_abort(struct run_ctx *rc)
{
	run_abort_jump(rc->machine[RUN_MACHINE_SP]);
}

bool run_owns_fault(const struct run_ctx *rc)
{
	return this_cpu()->in_irq == rc->machine[RUN_MACHINE_IRQ];
}

void run_abort_from_trap(struct run_ctx *rc, struct trap_frame *frame)
{
	frame->pc = (uint64_t)run_abort_return;
	frame->sp = rc->machine[RUN_MACHINE_SP];
	/* EL1h, flags clear; interrupts stay masked until hal_run_enter restores them. */
	frame->pstate = 0x3c5;
}
