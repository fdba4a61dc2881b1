/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instruction set as data: bpf/isa.def has one row per opcode (RFC 9669, plus load-acquire and
 * store-release). isa_check, the interpreter's pre-decoder, the disassembler, the verifier, the
 * JIT's selection table and the conformance tests are all made from the rows.
 *
 * Row: ISA(ID, code, sel, val, form, group, flags, text)
 *   ID        unique name, e.g. ADD64_K; enumerates as ISA_ADD64_K
 *   code      the opcode byte
 *   sel, val  which other field selects the row, and its value: SEL_NONE, SEL_OFF (sign-extending
 *             moves, signed division), SEL_IMM (atomics, byte order), SEL_SRC (calls, ldimm64)
 *   form      FORM_*: which fields are used; all others must be zero
 *   group     conformance group of RFC 9669, enum isa_group
 *   flags     enum isa_flags
 *   text      pattern of the disassembly in the kernel's style: "r%d += %k"
 */
#pragma once

#include "include/base.h"
#include "include/uapi_new.h"

enum isa_id {
#define ISA(id, code, sel, val, form, group, flags, text) ISA_##id,
#include "bpf/isa.def"
	ISA_ID_NR,
};

enum isa_sel { SEL_NONE, SEL_OFF, SEL_IMM, SEL_SRC };

/* Fields in use, as a mask. */
enum isa_form {
	FORM_NONE = 0,
	FORM_DST = 1,
	FORM_SRC = 2,
	FORM_OFF = 4,
	FORM_IMM = 8,
	FORM_DST_SRC = FORM_DST | FORM_SRC,
	FORM_DST_IMM = FORM_DST | FORM_IMM,
	FORM_SRC_IMM = FORM_SRC | FORM_IMM,
	FORM_OFF_IMM = FORM_OFF | FORM_IMM,
	FORM_DST_SRC_OFF = FORM_DST | FORM_SRC | FORM_OFF,
	FORM_DST_OFF_IMM = FORM_DST | FORM_OFF | FORM_IMM,
};

enum isa_group {
	GROUP_BASE32,
	GROUP_BASE64,
	GROUP_DIVMUL32,
	GROUP_DIVMUL64,
	GROUP_ATOMIC32,
	GROUP_ATOMIC64,
	GROUP_PACKET,
	GROUP_NR,
};

enum isa_flags {
	ISA_F_ALU = 1 << 0,
	ISA_F_32 = 1 << 1,   /* defines a 32-bit result: upper half becomes zero */
	ISA_F_JUMP = 1 << 2, /* has a branch target */
	ISA_F_COND = 1 << 3,
	ISA_F_LOAD = 1 << 4,
	ISA_F_STORE = 1 << 5,
	ISA_F_ATOMIC = 1 << 6,
	ISA_F_FETCH = 1 << 7, /* atomic that writes a register: src, or R0 for cmpxchg */
	ISA_F_SEXT = 1 << 8,  /* sign-extending load or move */
	ISA_F_CALL = 1 << 9,
	ISA_F_EXIT = 1 << 10,
	ISA_F_WIDE = 1 << 11, /* takes two slots */
	ISA_F_READS_DST = 1 << 12,
	ISA_F_WRITES_DST = 1 << 13,
	ISA_F_READS_SRC = 1 << 14,
	ISA_F_TARGET_IMM = 1 << 15, /* the branch target is in imm (gotol, pseudo calls) */
};

struct isa_row {
	uint8_t id, code, form, group; /* enum isa_id, enum isa_form, enum isa_group */
	uint8_t sel;		       /* enum isa_sel */
	int16_t val;
	uint32_t flags;
	const char *name, *text;
};

/* Row by number, id < ISA_ID_NR. */
const struct isa_row *isa_row_get(enum isa_id id);

/* true if any row has this opcode byte. */
bool isa_known_opcode(uint8_t code);

/*
 * The row of an instruction whose fields are all legal, else NULL and *why: static text in Linux's
 * words where Linux has any ("BPF_ALU uses reserved fields"; "unknown opcode"). Judges one
 * instruction (and, for a wide one, its second slot, insn[1], where have_next says that it
 * exists), not control flow. Context: any.
 */
const struct isa_row *isa_find(const struct bpf_insn *insn, bool have_next, const char **why);

/* A whole array: every encoding legal, wide ones complete. 0 or -EINVAL, *bad and *why set. */
int isa_check(const struct bpf_insn *insns, uint32_t cnt, uint32_t *bad,
	      const char **why) __must_check;

/*
 * Only what must hold in code that is never reached, too: opcodes exist, wide instructions are
 * complete. The verifier judges the fields of what it reaches. 0 or -EINVAL.
 */
int isa_check_opcodes(const struct bpf_insn *insns, uint32_t cnt, uint32_t *bad,
		      const char **why) __must_check;

/* Access size in bytes of a load, store or atomic. */
uint32_t isa_access_size(const struct bpf_insn *insn);
/* Index of the branch target (jumps and pseudo calls), from the instruction's own index. */
int64_t isa_target(const struct bpf_insn *insn, uint32_t idx);
/* The 64-bit immediate of a wide instruction. */
static inline uint64_t isa_imm64(const struct bpf_insn *insn)
{
	return (uint32_t)insn[0].imm | (uint64_t)(uint32_t)insn[1].imm << 32;
}
