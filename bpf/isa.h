/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The instruction set as data: bpf/isa.def has one row per opcode (RFC 9669, plus load-acquire and
 * store-release). isa_check, the interpreter's pre-decoder, the disassembler, the verifier, the
 * JIT's selection table and the conformance tests are all made from the rows.
 *
 * Row: ISA(ID, code, sel, form, group, flags, text)
 *   ID     unique name, e.g. ADD64_K; enumerates as ISA_ADD64_K
 *   code   the opcode byte
 *   sel    what else selects the row: SEL_NONE, SEL_OFF(n), SEL_IMM(n), SEL_SRC(n) (sign-extending
 *          moves and signed division by off; atomics and endianness by imm; calls, ldimm64 by src)
 *   form   which fields are used, all others must be zero (enum isa_form)
 *   group  conformance group (base32 base64 divmul32 divmul64 atomic32 atomic64 packet callx)
 *   flags  enum isa_flags
 *   text   pattern of the disassembly in the kernel's style: "r%d += %k"
 */
#pragma once

#include "include/base.h"
#include "include/uapi_new.h"

enum isa_flags {
	ISA_F_ALU = 1 << 0,
	ISA_F_32 = 1 << 1,   /* defines a 32-bit result: upper half becomes zero */
	ISA_F_JUMP = 1 << 2, /* has a branch target */
	ISA_F_COND = 1 << 3,
	ISA_F_LOAD = 1 << 4,
	ISA_F_STORE = 1 << 5,
	ISA_F_ATOMIC = 1 << 6,
	ISA_F_FETCH = 1 << 7, /* atomic that writes a register */
	ISA_F_SEXT = 1 << 8,  /* sign-extending load or move */
	ISA_F_CALL = 1 << 9,
	ISA_F_EXIT = 1 << 10,
	ISA_F_WIDE = 1 << 11, /* takes two slots */
	ISA_F_READS_DST = 1 << 12,
	ISA_F_WRITES_DST = 1 << 13,
	ISA_F_READS_SRC = 1 << 14,
	ISA_F_TARGET_IMM = 1 << 15, /* the branch target is in imm (gotol) */
};

/*
 * What is wrong with one encoding, or NULL: static text in Linux's words where Linux has any
 * ("BPF_ALU uses reserved fields", "unknown opcode %02x" becomes "unknown opcode"). Judges one
 * instruction (and, for a wide one, its second slot), not control flow.
 */
struct isa_row {
	uint8_t id, code, form, group;
	uint32_t flags;
	const char *name, *text;
};
/* The row of an instruction whose fields are all legal, else NULL and *why. Context: any. */
const struct isa_row *isa_find(const struct bpf_insn *insn, bool have_next, const char **why);

/* A whole array: every encoding legal, wide ones complete. 0 or -EINVAL, *bad and *why set. */
int isa_check(const struct bpf_insn *insns, uint32_t cnt, uint32_t *bad,
	      const char **why) __must_check;

/* Access size in bytes of a load, store or atomic. */
uint32_t isa_access_size(const struct bpf_insn *insn);
/* Index of the branch target (jumps and pseudo calls), from the instruction's own index. */
int64_t isa_target(const struct bpf_insn *insn, uint32_t idx);
