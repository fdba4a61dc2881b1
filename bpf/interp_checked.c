/* SPDX-License-Identifier: BSD-2-Clause */
/* The checked mode: the same handlers, each access and call judged by interp_guard.c. */
#include <string.h>

#include "bpf/interp_arith.h"
#include "bpf/interp_guard.h"
#include "bpf/interp_int.h"
#include "include/hal.h"

/* How often a run with a time budget looks at the clock, in instructions; a power of two. */
#define CLOCK_EVERY 256

#define AT pc
/* Not cut to the width of type: a pointer field of the context gives the whole pointer. */
#define LOAD(type, addr)     guard_load(rc, (addr), sizeof(type), AT)
#define STORE(type, addr, x) guard_store(rc, (addr), sizeof(type), (x), AT)
#define ATOMIC(type, addr)   ((type *)guard_atomic(rc, (addr), sizeof(type), AT))
#define WIDE		     code->ops[pc + 1].word

#define NEXT(n)                                                                                    \
	do {                                                                                       \
		pc += (n);                                                                         \
		goto next;                                                                         \
	} while (0)

#define STEP(distance) (pc = (uint32_t)(pc + (distance)))

#define CALL_HELPER()                                                                              \
	do {                                                                                       \
		const struct bpf_helper *helper = bpf_helper_get(IMM_U);                           \
		uint64_t map = regs[1];                                                            \
		guard_call(rc, helper, regs, AT);                                                  \
		regs[0] = helper->fn(regs[1], regs[2], regs[3], regs[4], regs[5]);                 \
		guard_called(rc, helper, map, regs[0]);                                            \
	} while (0)

#define CALL_LOCAL()                                                                               \
	do {                                                                                       \
		const struct interp_func *callee = (const void *)(uintptr_t)code->ops[pc].word;    \
		interp_frame_enter(rc, AT);                                                        \
		regs[0] = interp_exec_checked(callee, regs + 1, rc);                               \
		rc->depth--;                                                                       \
		rc->prog = fn->prog;                                                               \
	} while (0)

static void count_insn(struct run_ctx *rc, uint32_t at)
{
	rc->insns++;
	if (rc->insns_max && rc->insns > rc->insns_max)
		interp_end(rc, RUN_END_BUDGET, at);
	if (rc->insns % CLOCK_EVERY == 0 && rc->deadline_ns && hal_ktime_ns() > rc->deadline_ns)
		interp_end(rc, RUN_END_BUDGET, at);
}

static uint64_t fetch_word(const struct interp_code *code, const struct bpf_prog *prog, uint32_t at)
{
	uint8_t id = code->ids[at];

	return id < ISA_ID_NR ? interp_pack(isa_row_get(id), &prog->insns[at]) : 0;
}

static uint64_t exec(const struct interp_func *fn, const uint64_t *args, uint8_t *frame,
		     struct run_ctx *rc)
{
	static const void *const handlers[] = {
#define ISA(id, code, sel, val, form, group, flags, text) [ISA_##id] = &&op_##id,
#include "bpf/isa.def"
		[INTERP_BAD] = &&op_BAD,
		[INTERP_TAIL_CALL] = &&guarded_tail_call,
	};
	uint64_t regs[MAX_BPF_REG] = { 0 };
	const struct interp_code *code;
	uint32_t pc;
	uint64_t w;

	memcpy(regs + 1, args, 5 * sizeof(regs[0]));
	regs[BPF_REG_10] = (uintptr_t)frame + BPF_STACK_MAX;
enter:
	memset(frame, 0, BPF_STACK_MAX);
	code = fn->prog->interp;
	pc = fn->start;
next:
	count_insn(rc, pc);
	w = fetch_word(code, fn->prog, pc);
	goto *handlers[code->ids[pc]];

guarded_tail_call:
	guard_tail_call(rc, regs, AT);
	goto op_TAIL_CALL;

#include "bpf/interp_handlers.inc"
}

uint64_t interp_exec_checked(const struct interp_func *fn, const uint64_t *args, struct run_ctx *rc)
{
	uint8_t frame[BPF_STACK_MAX] __aligned(16);
	uint64_t ret;

	interp_region_push(rc, (uintptr_t)frame, sizeof(frame), true);
	ret = exec(fn, args, frame, rc);
	interp_region_pop(rc);
	return ret;
}
