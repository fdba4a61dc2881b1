/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The handlers of all instructions, included into the body of a function by each mode. In scope:
 * regs[11], fn, rc, pc, w and (fast mode) h. The including file defines
 *   NEXT(n)              go on n elements further
 *   STEP(distance)       move pc by a signed distance
 *   LOAD(type, addr)     value at addr, of the width of type
 *   STORE(type, addr, v)
 *   ATOMIC(type, addr)   a pointer for an atomic access
 *   WIDE                 value of a wide immediate
 *   CALL_HELPER()        R0 = helper(R1 .. R5)
 *   CALL_LOCAL()         R0 = function(R1 .. R5)
 *   AT                   index of the instruction
 */

/* Operands; the layouts are drawn in interp_int.h. */
#define LO	regs[(uint32_t)w]
#define HI	regs[w >> 32]
#define MID	regs[(uint8_t)(w >> 32)]
#define LOW8	regs[(uint8_t)w]
#define IMM_S	((uint64_t)((int64_t)w >> 32))
#define IMM_U	((uint32_t)(w >> 32))
#define OFF_TOP ((uint64_t)((int64_t)w >> 48))
#define OFF_JK	((uint64_t)(int64_t)(int16_t)(w >> 16))

/*
 * Result of an operation that also read LO. Hiding that w is the same makes the compiler use it as
 * an index in both accesses, where it would rather extract the index into a register first.
 */
#define SET_LO(type, expr)                                                                         \
	do {                                                                                       \
		type result = (type)(expr);                                                        \
		__asm__("" : "+r"(w));                                                             \
		LO = result;                                                                       \
	} while (0)

#define JUMP(distance)                                                                             \
	do {                                                                                       \
		STEP(distance);                                                                    \
		NEXT(1);                                                                           \
	} while (0)

#define BINARY(name, expr64, expr32)                                                               \
	op_##name##64_K:                                                                           \
	{                                                                                          \
		uint64_t a = LO, b = IMM_S;                                                        \
		SET_LO(uint64_t, expr64);                                                          \
		NEXT(1);                                                                           \
	}                                                                                          \
	op_##name##64_X:                                                                           \
	{                                                                                          \
		uint64_t a = LO, b = HI;                                                           \
		SET_LO(uint64_t, expr64);                                                          \
		NEXT(1);                                                                           \
	}                                                                                          \
	op_##name##32_K:                                                                           \
	{                                                                                          \
		uint32_t a = (uint32_t)LO, b = IMM_U;                                              \
		SET_LO(uint32_t, expr32);                                                          \
		NEXT(1);                                                                           \
	}                                                                                          \
	op_##name##32_X:                                                                           \
	{                                                                                          \
		uint32_t a = (uint32_t)LO, b = (uint32_t)HI;                                       \
		SET_LO(uint32_t, expr32);                                                          \
		NEXT(1);                                                                           \
	}

BINARY(ADD, a + b, a + b)
BINARY(SUB, a - b, a - b)
BINARY(MUL, a *b, a *b)
BINARY(OR, a | b, a | b)
BINARY(AND, a &b, a &b)
BINARY(XOR, a ^ b, a ^ b)
BINARY(LSH, a << (b & 63), a << (b & 31))
BINARY(RSH, a >> (b & 63), a >> (b & 31))
BINARY(ARSH, (uint64_t)((int64_t)a >> (b & 63)), (uint32_t)((int32_t)a >> (b & 31)))
BINARY(DIV, b ? a / b : 0, b ? a / b : 0)
BINARY(MOD, b ? a % b : a, b ? a % b : a)
BINARY(SDIV, interp_sdiv64(a, b), interp_sdiv32(a, b))
BINARY(SMOD, interp_smod64(a, b), interp_smod32(a, b))

#define UNARY(name, expr)                                                                          \
	op_##name:                                                                                 \
	{                                                                                          \
		uint64_t a = LO;                                                                   \
		SET_LO(uint64_t, expr);                                                            \
		NEXT(1);                                                                           \
	}
UNARY(NEG64, -a)
UNARY(NEG32, (uint32_t)-a)
UNARY(LE16, (uint16_t)a)
UNARY(LE32, (uint32_t)a)
UNARY(LE64, a)
UNARY(BE16, __builtin_bswap16((uint16_t)a))
UNARY(BE32, __builtin_bswap32((uint32_t)a))
UNARY(BE64, __builtin_bswap64(a))
UNARY(BSWAP16, __builtin_bswap16((uint16_t)a))
UNARY(BSWAP32, __builtin_bswap32((uint32_t)a))
UNARY(BSWAP64, __builtin_bswap64(a))

#define MOVE(name, type, expr)                                                                     \
	op_##name:                                                                                 \
	{                                                                                          \
		type value = (type)(expr);                                                         \
		LO = value;                                                                        \
		NEXT(1);                                                                           \
	}
MOVE(MOV64_K, uint64_t, IMM_S)
MOVE(MOV64_X, uint64_t, HI)
MOVE(MOV32_K, uint32_t, IMM_U)
MOVE(MOV32_X, uint32_t, HI)
MOVE(MOVSX64_8, uint64_t, (int8_t)HI)
MOVE(MOVSX64_16, uint64_t, (int16_t)HI)
MOVE(MOVSX64_32, uint64_t, (int32_t)HI)
MOVE(MOVSX32_8, uint32_t, (int8_t)HI)
MOVE(MOVSX32_16, uint32_t, (int16_t)HI)

op_LD_IMM64 : op_LD_MAP_FD : op_LD_MAP_VALUE : op_LD_FUNC : LO = WIDE;
NEXT(2);

#define COND(name, cmp, type64, type32)                                                            \
	op_##name##_K : if ((type64)LOW8 cmp(type64) IMM_S) JUMP(OFF_JK);                          \
	NEXT(1);                                                                                   \
	op_##name##_X : if ((type64)LO cmp(type64) MID) JUMP(OFF_TOP);                             \
	NEXT(1);                                                                                   \
	op_##name##32_K : if ((type32)LOW8 cmp(type32) IMM_U) JUMP(OFF_JK);                        \
	NEXT(1);                                                                                   \
	op_##name##32_X : if ((type32)LO cmp(type32) MID) JUMP(OFF_TOP);                           \
	NEXT(1);
COND(JEQ, ==, uint64_t, uint32_t)
COND(JNE, !=, uint64_t, uint32_t)
COND(JGT, >, uint64_t, uint32_t)
COND(JGE, >=, uint64_t, uint32_t)
COND(JLT, <, uint64_t, uint32_t)
COND(JLE, <=, uint64_t, uint32_t)
COND(JSGT, >, int64_t, int32_t)
COND(JSGE, >=, int64_t, int32_t)
COND(JSLT, <, int64_t, int32_t)
COND(JSLE, <=, int64_t, int32_t)
COND(JSET, &, uint64_t, uint32_t)

op_JA : op_JA32 : JUMP(IMM_S);

op_CALL_HELPER : CALL_HELPER();
NEXT(1);

op_CALL_LOCAL : CALL_LOCAL();
NEXT(1);

op_EXIT : return regs[0];

#define MEMORY(name, type)                                                                         \
	op_LDX_##name : MID = LOAD(type, LO + OFF_TOP);                                            \
	NEXT(1);                                                                                   \
	op_STX_##name : STORE(type, LO + OFF_TOP, (type)MID);                                      \
	NEXT(1);                                                                                   \
	op_ST_##name : STORE(type, LOW8 + OFF_JK, (type)IMM_S);                                    \
	NEXT(1);                                                                                   \
	op_LOAD_ACQ_##name : MID = __atomic_load_n(ATOMIC(type, LO + OFF_TOP), __ATOMIC_ACQUIRE);  \
	NEXT(1);                                                                                   \
	op_STORE_REL_##name                                                                        \
	    : __atomic_store_n(ATOMIC(type, LO + OFF_TOP), (type)MID, __ATOMIC_RELEASE);           \
	NEXT(1);
MEMORY(B, uint8_t)
MEMORY(H, uint16_t)
MEMORY(W, uint32_t)
MEMORY(DW, uint64_t)

#define MEMORY_SEXT(name, type)                                                                    \
	op_LDSX_##name : MID = (uint64_t)(int64_t)(type)LOAD(type, LO + OFF_TOP);                  \
	NEXT(1);
MEMORY_SEXT(B, int8_t)
MEMORY_SEXT(H, int16_t)
MEMORY_SEXT(W, int32_t)

/*
 * Atomics without a result are relaxed, those with one are fully ordered, as in Linux: nothing
 * passes them in either direction, for which a load-exclusive and store-exclusive pair alone is not
 * enough.
 */
#define FULL_BARRIER() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define ATOMIC_OP(name, op, type)                                                                  \
	op_ATOMIC_##name                                                                           \
	    : __atomic_fetch_##op(ATOMIC(type, LO + OFF_TOP), (type)MID, __ATOMIC_RELAXED);        \
	NEXT(1);                                                                                   \
	op_ATOMIC_FETCH_##name                                                                     \
	    : MID = __atomic_fetch_##op(ATOMIC(type, LO + OFF_TOP), (type)MID, __ATOMIC_SEQ_CST);  \
	FULL_BARRIER();                                                                            \
	NEXT(1);
#define ATOMICS(size, type)                                                                        \
	ATOMIC_OP(ADD_##size, add, type)                                                           \
	ATOMIC_OP(OR_##size, or, type)                                                             \
	ATOMIC_OP(AND_##size, and, type)                                                           \
	ATOMIC_OP(XOR_##size, xor, type)                                                           \
	op_ATOMIC_XCHG_##size                                                                      \
	    : MID = __atomic_exchange_n(ATOMIC(type, LO + OFF_TOP), (type)MID, __ATOMIC_SEQ_CST);  \
	FULL_BARRIER();                                                                            \
	NEXT(1);                                                                                   \
	op_ATOMIC_CMPXCHG_##size:                                                                  \
	{                                                                                          \
		type old = (type)regs[0];                                                          \
		__atomic_compare_exchange_n(ATOMIC(type, LO + OFF_TOP), &old, (type)MID, false,    \
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                   \
		FULL_BARRIER();                                                                    \
		regs[0] = old;                                                                     \
		NEXT(1);                                                                           \
	}
ATOMICS(W, uint32_t)
ATOMICS(DW, uint64_t)

#define PACKET(name, bytes)                                                                        \
	op_LD_ABS_##name                                                                           \
	    : if (!interp_packet_load(rc, regs[6], (int32_t)IMM_U, bytes, &regs[0])) return 0;     \
	NEXT(1);                                                                                   \
	op_LD_IND_##name : if (!interp_packet_load(rc, regs[6], (int32_t)(IMM_U + (uint32_t)LO),   \
						   bytes, &regs[0])) return 0;                     \
	NEXT(1);
PACKET(B, 1)
PACKET(H, 2)
PACKET(W, 4)

op_TAIL_CALL:
{
	const struct interp_func *target = interp_tail_call(rc, regs[2], regs[3]);

	if (!target)
		NEXT(1);
	fn = target;
	rc->prog = fn->prog;
	goto enter;
}

/* Kinds that xlate resolves away, calls that this board does not have, poisoned code. */
op_CALL_KFUNC : op_LD_BTF_ID : op_LD_MAP_IDX : op_LD_MAP_IDX_VALUE : op_BAD
    : interp_end(rc, RUN_END_BAD_INSN, AT);
