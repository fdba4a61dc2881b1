/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds patterns of interp_fuse.def in decoded code. A fused element replaces the handler and the
 * operands of the pattern's first instruction only; a branch into the pattern finds the later ones
 * as they were.
 */
#include "bpf/interp_int.h"

/* Fused form of a binary operation after a move, by the operation's row; 0: none. */
static const uint16_t after_move[ISA_ID_NR] = {
#define BOTH(op)                                                                                   \
	[ISA_##op##64_K] = INTERP_MOV_##op##64_K, [ISA_##op##64_X] = INTERP_MOV_##op##64_X,        \
	[ISA_##op##32_K] = INTERP_MOV_##op##32_K, [ISA_##op##32_X] = INTERP_MOV_##op##32_X
	BOTH(ADD), BOTH(SUB), BOTH(MUL),  BOTH(OR),  BOTH(AND),
	BOTH(LSH), BOTH(RSH), BOTH(ARSH), BOTH(XOR),
#undef BOTH
};

/* Fused form of a load after an addition, by the load's row. */
static const uint16_t after_add[ISA_ID_NR] = {
	[ISA_LDX_B] = INTERP_ADD_LDX_B,
	[ISA_LDX_H] = INTERP_ADD_LDX_H,
	[ISA_LDX_W] = INTERP_ADD_LDX_W,
	[ISA_LDX_DW] = INTERP_ADD_LDX_DW,
};

static void set(struct interp_code *code, uint32_t at, uint32_t id, uint64_t word)
{
	code->ops[at].handler = interp_fast_handlers()[id];
	code->ops[at].word = word;
}

/* dst = src; dst op= K or X  */
static void fuse_move(struct interp_code *code, const struct bpf_insn *insns, uint32_t at)
{
	const struct bpf_insn *mov = &insns[at], *op = &insns[at + 1];
	uint16_t id = after_move[code->ids[at + 1]];
	const struct isa_row *row = isa_row_get(code->ids[at + 1]);
	bool narrow = code->ids[at] == ISA_MOV32_X;
	/* The second operand as it is before the move. */
	uint32_t src2 = op->src_reg == mov->dst_reg ? mov->src_reg : op->src_reg;

	if (!id || op->dst_reg != mov->dst_reg || !(row->flags & ISA_F_32) == narrow)
		return;
	if (row->form == FORM_DST_IMM)
		set(code, at, id,
		    (uint64_t)(uint32_t)op->imm << 32 | (uint32_t)mov->src_reg << 8 | mov->dst_reg);
	else
		set(code, at, id,
		    (uint64_t)src2 << 48 | (uint64_t)mov->src_reg << 32 | mov->dst_reg);
}

/* dst += src; dst = *(dst + off) */
static void fuse_add_load(struct interp_code *code, const struct bpf_insn *insns, uint32_t at)
{
	const struct bpf_insn *add = &insns[at], *load = &insns[at + 1];
	uint16_t id = after_add[code->ids[at + 1]];

	if (!id || load->src_reg != add->dst_reg || load->dst_reg != add->dst_reg)
		return;
	set(code, at, id,
	    (uint64_t)(uint16_t)load->off << 48 | (uint64_t)add->src_reg << 32 | add->dst_reg);
}

/* A jump on equality with 0 needs no constant, which leaves room to keep the register apart. */
static void fuse_zero_test(struct interp_code *code, const struct bpf_insn *insn, uint32_t at)
{
	uint64_t word = (uint64_t)(uint32_t)(int32_t)insn->off << 32 | insn->dst_reg;

	if (!insn->imm)
		set(code, at, code->ids[at] == ISA_JEQ_K ? INTERP_JEQ_0 : INTERP_JNE_0, word);
}

void interp_fuse(struct interp_code *code, const struct bpf_insn *insns)
{
	for (uint32_t i = 0; i < code->cnt; i++) {
		bool pair = i + 1 < code->cnt && code->ids[i + 1] < ISA_ID_NR;

		switch (code->ids[i]) {
		case ISA_MOV64_X:
		case ISA_MOV32_X:
			if (pair)
				fuse_move(code, insns, i);
			break;
		case ISA_ADD64_X:
			if (pair)
				fuse_add_load(code, insns, i);
			break;
		case ISA_JEQ_K:
		case ISA_JNE_K:
			fuse_zero_test(code, &insns[i], i);
			break;
		default:
			break;
		}
	}
}
