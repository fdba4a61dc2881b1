/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Inside the interpreter. The decoded form has one element per instruction, at the same index, so
 * that branch distances stay what they are and an index names the same place everywhere. An element
 * is the address of the code that executes it and one word with its operands. Both are loaded
 * together at the end of the element before, so a handler starts with its operands in a register.
 *
 *	word    63            48 47      40 39      32 31     16 15      8 7       0
 *	ALU_K   [            immediate              ] [          dst               ]
 *	ALU_X   [               src                 ] [          dst               ]
 *	JK      [            immediate              ] [  off   ]          [  dst   ]
 *	MEM_L   [     off      ]           [  dst   ] [          src               ]
 *	MEM_S   [     off      ]           [  src   ] [          dst               ]
 *	JUMP    [            distance               ]
 *	MOV_K   [            immediate              ]          [  src   ] [  dst   ]
 *	MOV_X   [    src 2     ]           [ src 1  ] [          dst               ]
 *	ADDR    [    address: helper function, struct interp_func                  ]
 *
 * A wide immediate's value is the word of its second element. A fused element does the work of its
 * own and the following instructions; those keep their own elements, for jumps to them.
 */
#pragma once

#include "include/base.h"
#include "bpf/helper.h"
#include "bpf/interp.h"
#include "bpf/isa.h"
#include "bpf/prog.h"

struct interp_op {
	const void *handler;
	uint64_t word;
};

struct interp_func {
	const struct interp_op *entry;
	struct bpf_prog *prog;
	uint32_t start;	      /* first instruction */
	uint16_t frame_bytes; /* stack to set aside */
	uint16_t clear_bytes; /* of it, how much to clear at entry, counted from the top */
};

struct interp_code {
	uint32_t cnt;
	uint32_t func_cnt;
	struct interp_func *funcs; /* [0] is the program's entry */
	uint8_t *ids;		   /* enum isa_id of each instruction; INTERP_BAD: cannot run */
	struct interp_op ops[];	   /* cnt + 1: the last one ends the run */
};

/* Elements that are no rows of isa.def: those that cannot run, the tail call, fused ones. */
enum interp_id {
	INTERP_BAD = ISA_ID_NR,
	INTERP_TAIL_CALL,
	INTERP_JEQ_0, /* 64-bit register against constant 0 */
	INTERP_JNE_0,
#define INTERP_FUSED(name) INTERP_##name,
#include "bpf/interp_fuse.def"
	INTERP_ID_NR,
};
_Static_assert(INTERP_ID_NR < 65536, "ids are 16 bits in the fuser");

/* Value of a register that holds a bpf function (PSEUDO_FUNC): odd, which no machine code is. */
static inline uint64_t interp_func_value(const struct interp_func *fn)
{
	return (uintptr_t)fn | 1;
}

/* Operand word of a row's instruction, but for those whose word is an address. */
uint64_t interp_pack(const struct isa_row *row, const struct bpf_insn *insn);

/* Addresses of the fast handlers, by isa or interp id. */
const void *const *interp_fast_handlers(void);

/* Put fused elements where the program has a pattern of interp_fuse.def. */
void interp_fuse(struct interp_code *code, const struct bpf_insn *insns);

/*
 * Run one function to its exit. args: R1 .. R5. The caller has counted it in rc->depth.
 */
uint64_t interp_exec_fast(const struct interp_func *fn, const uint64_t *args, struct run_ctx *rc);
uint64_t interp_exec_checked(const struct interp_func *fn, const uint64_t *args,
			     struct run_ctx *rc);

/* Count a frame, or end the run with RUN_END_STACK. at: the calling instruction, ~0 unknown. */
void interp_frame_enter(struct run_ctx *rc, uint32_t at);

/* End the run. */
void interp_end(struct run_ctx *rc, enum run_end_why why, uint32_t at) __attribute__((noreturn));

/*
 * LD_ABS and LD_IND: `size` bytes, big endian, at packet offset off of ctx, which must be the
 * run's. False: the load fails, and with it the program. Negative offsets as in Linux: SKF_NET_OFF
 * and SKF_LL_OFF bases.
 */
bool interp_packet_load(struct run_ctx *rc, uint64_t ctx, int32_t off, uint32_t size,
			uint64_t *value);

/*
 * The program that a tail call goes on with, or NULL: the call fails and the caller goes on. Counts
 * it.
 */
const struct interp_func *interp_tail_call(struct run_ctx *rc, uint64_t map, uint64_t index);
