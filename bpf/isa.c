/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/isa.h"

#include "include/err.h"

static const struct isa_row isa_rows[ISA_ID_NR] = {
#define ISA(id_, code_, sel_, val_, form_, group_, flags_, text_)                                  \
	[ISA_##id_] = { .id = ISA_##id_,                                                           \
			.code = (code_),                                                           \
			.form = (form_),                                                           \
			.group = (group_),                                                         \
			.sel = (sel_),                                                             \
			.val = (val_),                                                             \
			.flags = (flags_),                                                         \
			.name = #id_,                                                              \
			.text = (text_) },
#include "bpf/isa.def"
};

_Static_assert(ISA_ID_NR < 256, "row numbers are bytes");

/* First row of an opcode byte plus one; 0: no such opcode. */
static const uint8_t isa_first[256] = {
#define ISA_ALT(...)
#define ISA(id_, code_, ...) [code_] = ISA_##id_ + 1,
#include "bpf/isa.def"
};

const struct isa_row *isa_row_get(enum isa_id id)
{
	return &isa_rows[id];
}

bool isa_known_opcode(uint8_t code)
{
	return isa_first[code] != 0;
}

static bool row_selected(const struct isa_row *row, const struct bpf_insn *insn)
{
	switch (row->sel) {
	case SEL_OFF:
		return insn->off == row->val;
	case SEL_IMM:
		return insn->imm == row->val;
	case SEL_SRC:
		return insn->src_reg == row->val;
	default:
		return true;
	}
}

/* Fields that may hold something: those in use, and the one that selected the row. */
static unsigned int fields_used(const struct isa_row *row)
{
	static const uint8_t selects[] = {
		[SEL_NONE] = 0, [SEL_OFF] = FORM_OFF, [SEL_IMM] = FORM_IMM, [SEL_SRC] = FORM_SRC
	};

	return row->form | selects[row->sel];
}

static const char *reserved_text_alu(uint8_t op)
{
	switch (op) {
	case BPF_NEG:
		return "BPF_NEG uses reserved fields";
	case BPF_END:
		return "BPF_END uses reserved fields";
	case BPF_MOV:
		return "BPF_MOV uses reserved fields";
	default:
		return "BPF_ALU uses reserved fields";
	}
}

static const char *reserved_text_jump(uint8_t op)
{
	switch (op) {
	case BPF_CALL:
		return "BPF_CALL uses reserved fields";
	case BPF_JA:
		return "BPF_JA uses reserved fields";
	case BPF_EXIT:
		return "BPF_EXIT uses reserved fields";
	default:
		return "BPF_JMP/JMP32 uses reserved fields";
	}
}

static const char *reserved_text(uint8_t code)
{
	switch (BPF_CLASS(code)) {
	case BPF_ALU:
	case BPF_ALU64:
		return reserved_text_alu(BPF_OP(code));
	case BPF_JMP:
	case BPF_JMP32:
		return reserved_text_jump(BPF_OP(code));
	case BPF_LDX:
		return "BPF_LDX uses reserved fields";
	case BPF_ST:
		return "BPF_ST uses reserved fields";
	case BPF_STX:
		return BPF_MODE(code) == BPF_ATOMIC ? "BPF_ATOMIC uses reserved fields"
						    : "BPF_STX uses reserved fields";
	default:
		return BPF_MODE(code) == BPF_IMM ? "BPF_LD_IMM64 uses reserved fields"
						 : "BPF_LD_[ABS|IND] uses reserved fields";
	}
}

/* No row of a known opcode has the selecting value. */
static const char *selector_text(uint8_t code)
{
	switch (BPF_CLASS(code)) {
	case BPF_LD:
		return "unrecognized bpf_ld_imm64 insn";
	case BPF_STX:
		return "BPF_ATOMIC uses invalid atomic opcode";
	default:
		return reserved_text(code);
	}
}

static const char *fields_check(const struct isa_row *row, const struct bpf_insn *insn)
{
	unsigned int used = fields_used(row);

	if ((!(used & FORM_DST) && insn->dst_reg) || (!(used & FORM_SRC) && insn->src_reg) ||
	    (!(used & FORM_OFF) && insn->off) || (!(used & FORM_IMM) && insn->imm))
		return reserved_text(insn->code);
	if (row->form & FORM_DST && insn->dst_reg > BPF_REG_10)
		return "invalid destination register";
	if (row->form & FORM_SRC && insn->src_reg > BPF_REG_10)
		return "invalid source register";
	return NULL;
}

static const char *wide_check(const struct bpf_insn *insn, bool have_next)
{
	if (!have_next || insn[1].code || insn[1].dst_reg || insn[1].src_reg || insn[1].off)
		return "invalid bpf_ld_imm64 insn";
	return NULL;
}

const struct isa_row *isa_find(const struct bpf_insn *insn, bool have_next, const char **why)
{
	unsigned int first = isa_first[insn->code];
	const struct isa_row *row;

	if (!first) {
		*why = "unknown opcode";
		return NULL;
	}
	row = &isa_rows[first - 1];
	while (!row_selected(row, insn)) {
		row++;
		if (row == isa_rows + ISA_ID_NR || row->code != insn->code) {
			*why = selector_text(insn->code);
			return NULL;
		}
	}
	*why = fields_check(row, insn);
	if (!*why && row->flags & ISA_F_WIDE)
		*why = wide_check(insn, have_next);
	return *why ? NULL : row;
}

int isa_check(const struct bpf_insn *insns, uint32_t cnt, uint32_t *bad, const char **why)
{
	for (uint32_t i = 0; i < cnt; i++) {
		const char *text;
		const struct isa_row *row = isa_find(insns + i, i + 1 < cnt, &text);

		if (!row) {
			*bad = i;
			*why = text;
			return -EINVAL;
		}
		if (row->flags & ISA_F_WIDE)
			i++;
	}
	return 0;
}

int isa_check_opcodes(const struct bpf_insn *insns, uint32_t cnt, uint32_t *bad, const char **why)
{
	for (uint32_t i = 0; i < cnt; i++) {
		bool wide = insns[i].code == (BPF_LD | BPF_IMM | BPF_DW);
		const char *text = isa_first[insns[i].code] ? NULL : "unknown opcode";

		if (wide)
			text = wide_check(insns + i, i + 1 < cnt);
		if (text) {
			*bad = i;
			*why = text;
			return -EINVAL;
		}
		i += wide;
	}
	return 0;
}

uint32_t isa_access_size(const struct bpf_insn *insn)
{
	switch (BPF_SIZE(insn->code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

int64_t isa_target(const struct bpf_insn *insn, uint32_t idx)
{
	bool far = insn->code == (BPF_JMP32 | BPF_JA) || insn->code == (BPF_JMP | BPF_CALL) ||
		   insn->code == (BPF_LD | BPF_IMM | BPF_DW);

	return (int64_t)idx + 1 + (far ? insn->imm : insn->off);
}
