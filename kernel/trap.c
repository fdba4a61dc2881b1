/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/trap.h"

#include "bpf/run_ctx.h"
#include "boot/early_mmu.h"
#include "include/err.h"
#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/panic.h"
#include "kernel/run.h"
#include "mm/xlat.h"

#define ESR_EC(esr)  ((unsigned int)((esr) >> 26) & 0x3f)
#define ESR_FSC(esr) ((unsigned int)(esr) & 0x3f)
#define ESR_WNR	     BIT(6)
#define ESR_FNV	     BIT(10)
#define ESR_ISV	     BIT(24)
#define ESR_SAS(esr) ((unsigned int)((esr) >> 22) & 3)

/* Exception classes, ESR_EL1.EC. */
enum {
	EC_UNKNOWN = 0x00,
	EC_FP = 0x07,
	EC_PAUTH = 0x09,
	EC_BTI = 0x0d,
	EC_STATE = 0x0e,
	EC_SVC = 0x15,
	EC_SYSREG = 0x18,
	EC_PAC_FAIL = 0x1c,
	EC_IABORT = 0x21,
	EC_PC_ALIGN = 0x22,
	EC_DABORT = 0x25,
	EC_SP_ALIGN = 0x26,
	EC_SERROR = 0x2f,
	EC_BRK = 0x3c,
};

static const char *const class_names[64] = {
	[EC_UNKNOWN] = "undefined instruction",
	[EC_FP] = "FP register access trapped",
	[EC_PAUTH] = "pointer authentication trapped",
	[EC_BTI] = "branch target without BTI",
	[EC_STATE] = "illegal execution state",
	[EC_SVC] = "SVC",
	[EC_SYSREG] = "system register access trapped",
	[EC_PAC_FAIL] = "pointer authentication failed",
	[EC_PC_ALIGN] = "PC not aligned",
	[EC_SP_ALIGN] = "SP not aligned",
	[EC_SERROR] = "SError",
	[EC_BRK] = "BRK",
};

/* xFSC of instruction and data aborts. The low two bits are the level where it has one. */
static const char *abort_name(uint64_t esr)
{
	static const char *const fault[16] = {
		[0] = "address size fault",
		[1] = "not mapped",
		[2] = "access flag fault",
		[3] = "permission fault",
		[4] = "external abort",
		[5] = "external abort on a table walk",
		[8] = "alignment fault",
		[12] = "TLB conflict",
		[13] = "lockdown or unsupported exclusive access",
	};
	const char *name = fault[ESR_FSC(esr) >> 2];

	return name ? name : "unknown fault";
}

const char *trap_cause(uint64_t esr)
{
	unsigned int ec = ESR_EC(esr);

	if (ec == EC_IABORT || ec == EC_DABORT)
		return abort_name(esr);
	return class_names[ec] ? class_names[ec] : "unknown exception";
}

bool trap_has_address(uint64_t esr)
{
	unsigned int ec = ESR_EC(esr);

	if (ec == EC_PC_ALIGN)
		return true;
	/* FnV only has a meaning for external aborts. */
	return (ec == EC_IABORT || ec == EC_DABORT) && (ESR_FSC(esr) != 0x10 || !(esr & ESR_FNV));
}

/* ---- fix-ups --------------------------------------------------------------------------------- */

struct fixup {
	uint64_t from_pc;
	uint64_t to_pc;
};
extern const struct fixup __extable_start[], __extable_end[];

/* A handful of entries: no need to sort. */
static bool fixup_apply(struct trap_frame *f)
{
	if (ESR_EC(f->esr) != EC_DABORT)
		return false;
	for (const struct fixup *x = __extable_start; x < __extable_end; x++) {
		if (x->from_pc == f->pc) {
			f->pc = x->to_pc;
			return true;
		}
	}
	return false;
}

/*
 * HVC and SMC are undefined where there is no level above that could serve them. The caller gets
 * what a firmware without that service says (SMC Calling Convention: NOT_SUPPORTED).
 */
static bool conduit_apply(struct trap_frame *f)
{
	uint32_t insn;

	if (ESR_EC(f->esr) != EC_UNKNOWN || f->pc < (uint64_t)__text_start ||
	    f->pc >= (uint64_t)__text_end)
		return false;
	insn = *(const uint32_t *)f->pc & ~(0xffffu << 5);
	if (insn != 0xd4000002 && insn != 0xd4000003)
		return false;
	f->x[0] = (uint64_t)-1;
	f->pc += 4;
	return true;
}

/* ---- faults of programs ---------------------------------------------------------------------- */

static void run_end_fill(struct run_ctx *rc, const struct trap_frame *f)
{
	bool data = ESR_EC(f->esr) == EC_DABORT;

	rc->end = (struct run_end){
		.why = f->overflow ? RUN_END_STACK : RUN_END_FAULT,
		.insn = ~0u,
		.addr = trap_has_address(f->esr) ? f->far : 0,
		.size = data && (f->esr & ESR_ISV) ? 1u << ESR_SAS(f->esr) : 0,
		.write = data && (f->esr & ESR_WNR) ? 1 : 0,
		.esr = f->esr,
		.pc = f->pc,
		.prog = rc->prog,
	};
}

static void handle_sync(struct trap_frame *f)
{
	struct cpu *cpu = this_cpu();

	if (fixup_apply(f)) {
		cpu->faults++;
		return;
	}
	if (conduit_apply(f))
		return;
	/* A fault of an interrupt handler is not the program's that it has interrupted; a handler
	 * that runs a program of its own has made that the current run. */
	if (cpu->run && run_owns_fault(cpu->run)) {
		cpu->faults++;
		run_end_fill(cpu->run, f);
		run_abort_from_trap(cpu->run, f);
		return;
	}
	panic_trap(f, f->overflow ? "stack overflow" : trap_cause(f->esr));
}

/* From vectors.S, interrupts masked. */
void trap_handle(struct trap_frame *f);
void trap_handle(struct trap_frame *f)
{
	switch (f->kind & 3) {
	case TRAP_SYNC:
		if (f->kind == 4) {
			handle_sync(f);
			return;
		}
		break;
	case TRAP_IRQ:
	case TRAP_FIQ:
		if (f->kind < 8 && !f->overflow) {
			irq_handle(f);
			return;
		}
		break;
	case TRAP_SERROR:
		panic_trap(f, "SError (asynchronous abort)");
	}
	panic_trap(f, f->overflow ? "stack overflow" : "exception from a state that cannot be");
}
