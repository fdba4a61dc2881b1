/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fast mode: no checks. The time budget ends it from outside: an address in this file's one
 * large function (section .text.bpf_interp) holds no lock and may be aborted at any instruction.
 */
#include <string.h>

#include "bpf/interp_arith.h"
#include "bpf/interp_int.h"

/* Any alignment: programs may be told that unaligned access is fine, and here it is. */
#define PLACE(type, addr) (((struct { type v; } __packed *)(uintptr_t)(addr))->v)

#define LOAD(type, addr)     PLACE(type, addr)
#define STORE(type, addr, x) (PLACE(type, addr) = (x))
#define ATOMIC(type, addr)   ((type *)(uintptr_t)(addr))
#define WIDE		     pc[1].word
#define AT		     ((uint32_t)(pc - fn->prog->interp->ops))

/*
 * One instruction loads the next element's handler and operands and steps pc. The compiler does not
 * find it by itself (a pair load with write-back).
 */
#ifdef __aarch64__
#define FETCH(n)                                                                                   \
	__asm__("ldp %0, %1, [%2, #%c3]!" : "=r"(h), "=r"(w), "+r"(pc) : "i"((n) * 16) : "memory")
#else
#define FETCH(n)                                                                                   \
	do {                                                                                       \
		pc += (n);                                                                         \
		h = pc->handler;                                                                   \
		w = pc->word;                                                                      \
	} while (0)
#endif
#define NEXT(n)                                                                                    \
	do {                                                                                       \
		FETCH(n);                                                                          \
		goto *h;                                                                           \
	} while (0)

#define STEP(distance) (pc += (int64_t)(distance))

#define CALL_HELPER()                                                                              \
	regs[0] = ((bpf_helper_fn)(uintptr_t)w)(regs[1], regs[2], regs[3], regs[4], regs[5])
#define CALL_LOCAL()                                                                               \
	do {                                                                                       \
		interp_frame_enter(rc, AT);                                                        \
		regs[0] =                                                                          \
			interp_exec_fast((const struct interp_func *)(uintptr_t)w, regs + 1, rc);  \
		rc->depth--;                                                                       \
		rc->prog = fn->prog;                                                               \
	} while (0)

#define FUSED_BINARY(name, expr64, expr32)                                                         \
	op_MOV_##name##64_K:                                                                       \
	{                                                                                          \
		uint64_t a = regs[(uint8_t)(w >> 8)], b = IMM_S;                                   \
		LOW8 = (expr64);                                                                   \
		NEXT(2);                                                                           \
	}                                                                                          \
	op_MOV_##name##64_X:                                                                       \
	{                                                                                          \
		uint64_t a = MID, b = regs[w >> 48];                                               \
		SET_LO(uint64_t, expr64);                                                          \
		NEXT(2);                                                                           \
	}                                                                                          \
	op_MOV_##name##32_K:                                                                       \
	{                                                                                          \
		uint32_t a = (uint32_t)regs[(uint8_t)(w >> 8)], b = IMM_U;                         \
		LOW8 = (uint32_t)(expr32);                                                         \
		NEXT(2);                                                                           \
	}                                                                                          \
	op_MOV_##name##32_X:                                                                       \
	{                                                                                          \
		uint32_t a = (uint32_t)MID, b = (uint32_t)regs[w >> 48];                           \
		SET_LO(uint32_t, expr32);                                                          \
		NEXT(2);                                                                           \
	}
#define FUSED_LOAD(name, type)                                                                     \
	op_ADD_LDX_##name : SET_LO(uint64_t, LOAD(type, LO + MID + OFF_TOP));                      \
	NEXT(2);

/*
 * Merging equal ends of handlers would undo threaded dispatch; gcc's coalescing of variables ends
 * in a copy of w in every handler.
 */
#define OPTIONS optimize("no-gcse", "no-crossjumping", "no-tree-coalesce-vars")
__attribute__((section(".text.bpf_interp"), OPTIONS)) uint64_t
interp_exec_fast(const struct interp_func *fn, const uint64_t *args, struct run_ctx *rc)
{
	static const void *const handlers[INTERP_ID_NR] = {
#define ISA(id, code, sel, val, form, group, flags, text) [ISA_##id] = &&op_##id,
#include "bpf/isa.def"
		[INTERP_BAD] = &&op_BAD,
		[INTERP_TAIL_CALL] = &&op_TAIL_CALL,
		[INTERP_JEQ_0] = &&op_JEQ_0,
		[INTERP_JNE_0] = &&op_JNE_0,
#define INTERP_FUSED(name) [INTERP_##name] = &&op_##name,
#include "bpf/interp_fuse.def"
	};
	const struct interp_op *pc;
	const void *h;
	uint64_t w;
	uint64_t file[MAX_BPF_REG], *regs = file;
	uint8_t *frame;

	if (unlikely(!fn))
		return (uintptr_t)handlers;
	/* Else its address is computed anew in every handler. */
	__asm__("" : "+r"(regs));
	for (int i = 1; i <= 5; i++)
		regs[i] = args[i - 1];
	frame = __builtin_alloca(fn->frame_bytes);
	regs[BPF_REG_10] = (uintptr_t)frame + fn->frame_bytes;
enter:
	if (fn->clear_bytes)
		memset((uint8_t *)(uintptr_t)regs[BPF_REG_10] - fn->clear_bytes, 0,
		       fn->clear_bytes);
	pc = fn->entry - 1;
	NEXT(1);

#include "bpf/interp_handlers.inc"

op_JEQ_0:
	if (!LO)
		JUMP(IMM_S);
	NEXT(1);
op_JNE_0:
	if (LO)
		JUMP(IMM_S);
	NEXT(1);
	FUSED_BINARY(ADD, a + b, a + b)
	FUSED_BINARY(SUB, a - b, a - b)
	FUSED_BINARY(MUL, a * b, a * b)
	FUSED_BINARY(OR, a | b, a | b)
	FUSED_BINARY(AND, a & b, a & b)
	FUSED_BINARY(XOR, a ^ b, a ^ b)
	FUSED_BINARY(LSH, a << (b & 63), a << (b & 31))
	FUSED_BINARY(RSH, a >> (b & 63), a >> (b & 31))
	FUSED_BINARY(ARSH, (uint64_t)((int64_t)a >> (b & 63)), (uint32_t)((int32_t)a >> (b & 31)))
	FUSED_LOAD(B, uint8_t)
	FUSED_LOAD(H, uint16_t)
	FUSED_LOAD(W, uint32_t)
	FUSED_LOAD(DW, uint64_t)
}

const void *const *interp_fast_handlers(void)
{
	return (const void *const *)(uintptr_t)interp_exec_fast(NULL, NULL, NULL);
}
