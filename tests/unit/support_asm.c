/* SPDX-License-Identifier: BSD-2-Clause */
#include "support_asm.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/helper.h"
#include "bpf/isa.h"

#define LINES_MAX  4096
#define LABELS_MAX 256
#define LINE_LEN   128

struct label {
	char name[32];
	int at;
};

struct assembly {
	char lines[LINES_MAX][LINE_LEN];
	int line_nr;
	int at[LINES_MAX]; /* index of each line's instruction */
	struct label labels[LABELS_MAX];
	int label_nr;
};

static bool same_chars(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

static bool take_number(const char **p, int base, long long *value)
{
	char *end;

	if (base == 16) {
		bool minus = **p == '-';
		const char *digits = *p + minus;

		if (digits[0] != '0' || digits[1] != 'x')
			return false;
		*value = (long long)strtoull(digits, &end, 16);
		*value = minus ? -*value : *value;
	} else {
		if (!isdigit((unsigned char)**p) && **p != '-' && **p != '+')
			return false;
		*value = strtoll(*p, &end, 10);
		if (*end == 'x')
			return false;
	}
	*p = end;
	return true;
}

static bool take_reg(const char **p, int *reg)
{
	long long value;

	if (!take_number(p, 10, &value) || value < 0 || value > 15 || (*reg >= 0 && *reg != value))
		return false;
	*reg = (int)value;
	return true;
}

static bool take_helper(const char **p, struct bpf_insn *insn)
{
	const struct bpf_helper *helper;
	long long number;

	if (strncmp(*p, "bpf_", 4) == 0) {
		size_t len = strcspn(*p + 4, "# ");

		for (uint32_t i = 0; (helper = bpf_helper_at(i)) != NULL; i++) {
			if (strlen(helper->name) == len && !strncmp(helper->name, *p + 4, len)) {
				insn->imm = (int)helper->id;
				*p += strlen(*p);
				return true;
			}
		}
		return false;
	}
	if (!take_number(p, 10, &number))
		return false;
	insn->imm = (int)number;
	return true;
}

/* What a wide instruction loads; its row is already chosen by src. */
static bool take_wide(const char **p, const struct isa_row *row, struct bpf_insn *insn)
{
	int used = 0, a = 0, b = 0;
	long long value;

	switch (row->id) {
	case ISA_LD_IMM64:
		if (!take_number(p, 16, &value))
			return false;
		insn[0].imm = (int)value;
		insn[1].imm = (int)(value >> 32);
		return true;
	case ISA_LD_MAP_VALUE:
		if (sscanf(*p, "map[%d][0]+%d%n", &a, &b, &used) < 2 || !used)
			return false;
		break;
	case ISA_LD_MAP_FD:
		if (sscanf(*p, "map[%d]%n", &a, &used) < 1 || !used || (*p)[used])
			return false;
		break;
	case ISA_LD_FUNC:
		if (sscanf(*p, "subprog[%d]%n", &a, &used) < 1 || !used)
			return false;
		break;
	case ISA_LD_MAP_IDX:
		if (sscanf(*p, "map[idx:%d]%n", &a, &used) < 1 || !used || (*p)[used])
			return false;
		break;
	case ISA_LD_MAP_IDX_VALUE:
		if (sscanf(*p, "map[idx:%d][0]+%d%n", &a, &b, &used) < 2 || !used)
			return false;
		break;
	default:
		if (sscanf(*p, "btf_id[%d]%n", &a, &used) < 1 || !used)
			return false;
		break;
	}
	insn[0].imm = a;
	insn[1].imm = b;
	*p += used;
	return true;
}

/* One letter of a row's pattern. */
static bool take_field(const char **p, char letter, const struct isa_row *row,
		       struct bpf_insn *insn, int *dst, int *src)
{
	long long value;

	switch (letter) {
	case 'd':
		return take_reg(p, dst);
	case 's':
		return take_reg(p, src);
	case 'k':
		if (!take_number(p, 10, &value))
			return false;
		insn->imm = (int)value;
		return true;
	case 'x':
		if (!take_number(p, 16, &value))
			return false;
		insn->imm = (int)value;
		return true;
	case 'o':
		if (!take_number(p, 10, &value))
			return false;
		insn->off = (short)value;
		return true;
	case 't':
		if (!take_number(p, 10, &value))
			return false;
		if (row->flags & ISA_F_TARGET_IMM)
			insn->imm = (int)value;
		else
			insn->off = (short)value;
		return true;
	case 'm':
		return take_wide(p, row, insn);
	case 'c':
		return take_helper(p, insn);
	default:
		return same_chars(p, '%') && same_chars(p, letter);
	}
}

static bool match_row(const char *line, const struct isa_row *row, struct bpf_insn *insn)
{
	const char *p = line;
	int dst = -1, src = -1;

	memset(insn, 0, 2 * sizeof(*insn));
	insn->code = row->code;
	if (row->sel == SEL_IMM)
		insn->imm = row->val;
	else if (row->sel == SEL_OFF)
		insn->off = row->val;
	for (const char *t = row->text; *t; t++) {
		if (*t == '%' && t[1]) {
			if (!take_field(&p, *++t, row, insn, &dst, &src))
				return false;
		} else if (!same_chars(&p, *t)) {
			return false;
		}
	}
	if (*p)
		return false;
	insn->dst_reg = dst < 0 ? 0 : (unsigned int)dst & 15;
	insn->src_reg = row->sel == SEL_SRC ? (unsigned int)row->val & 15
			: src < 0	    ? 0
					    : (unsigned int)src & 15;
	return true;
}

static const struct isa_row *match(const char *line, struct bpf_insn *insn)
{
	for (int id = 0; id < ISA_ID_NR; id++) {
		if (match_row(line, isa_row_get((enum isa_id)id), insn))
			return isa_row_get((enum isa_id)id);
	}
	return NULL;
}

static const char *find_ref(const char *line, const char **name, const char **sep)
{
	static const char *const before[] = { "goto ", "gotol ", "call ", "subprog[" };

	for (size_t i = 0; i < 4; i++) {
		const char *at = strstr(line, before[i]);

		if (!at)
			continue;
		*name = at + strlen(before[i]);
		*sep = i == 3 ? "" : "pc";
		if (isalpha((unsigned char)**name) && strncmp(*name, "pc+", 3) &&
		    strncmp(*name, "pc-", 3) && strncmp(*name, "bpf_", 4) &&
		    strncmp(*name, "kernel-", 7))
			return at;
	}
	return NULL;
}

/* Replace a label by its distance. */
static bool resolve_label(const struct assembly *a, const char *line, int at, char *out)
{
	const char *name, *sep;
	size_t len;

	if (!find_ref(line, &name, &sep)) {
		snprintf(out, LINE_LEN, "%s", line);
		return true;
	}
	len = strcspn(name, "] ");
	for (int i = 0; i < a->label_nr; i++) {
		if (strlen(a->labels[i].name) == len && !strncmp(a->labels[i].name, name, len)) {
			snprintf(out, LINE_LEN, "%.*s%s%+d%s", (int)(name - line), line, sep,
				 a->labels[i].at - at - 1, name + len);
			return true;
		}
	}
	printf("# asm: no label in \"%s\"\n", line);
	return false;
}

static int line_slots(const char *line)
{
	struct bpf_insn pair[2];
	const struct isa_row *row;

	/* Not readable yet where it refers to a label; of those only this one is wide. */
	if (strstr(line, "subprog["))
		return 2;
	row = match(line, pair);
	return row && row->flags & ISA_F_WIDE ? 2 : 1;
}

/* Split into instructions, note labels. */
static bool split(struct assembly *a, const char *text)
{
	int at = 0;

	while (*text) {
		size_t len = strcspn(text, ";\n"), skip = strspn(text, " \t");
		const char *colon;

		if (text[skip] == '#') {
			text += strcspn(text, "\n");
			text += *text == '\n';
			continue;
		}
		if (skip < len) {
			char line[LINE_LEN];
			char *p = line, *end;

			snprintf(line, sizeof(line), "%.*s", (int)(len - skip), text + skip);
			for (end = line + strlen(line);
			     end > line && isspace((unsigned char)end[-1]);)
				*--end = '\0';
			while ((colon = strchr(p, ':')) && strcspn(p, "[") > (size_t)(colon - p)) {
				struct label *l = &a->labels[a->label_nr++];

				snprintf(l->name, sizeof(l->name), "%.*s", (int)(colon - p), p);
				l->at = at;
				p = p + (colon - p) + 1;
				p += strspn(p, " ");
			}
			if (*p) {
				snprintf(a->lines[a->line_nr], LINE_LEN, "%s", p);
				a->at[a->line_nr++] = at;
				at += line_slots(p);
			}
			if (a->line_nr == LINES_MAX || a->label_nr == LABELS_MAX)
				return false;
		}
		text += len;
		text += *text == ';' || *text == '\n';
	}
	return true;
}

int asm_text(const char *text, struct bpf_insn *insns, int room)
{
	struct assembly *a = calloc(1, sizeof(*a));
	int nr = 0;

	if (!a || !split(a, text))
		goto fail;
	for (int i = 0; i < a->line_nr; i++) {
		char line[2 * LINE_LEN];
		struct bpf_insn pair[2];
		const struct isa_row *row;
		int slots;

		if (!resolve_label(a, a->lines[i], a->at[i], line))
			goto fail;
		row = match(line, pair);
		if (!row) {
			printf("# asm: cannot read \"%s\"\n", line);
			goto fail;
		}
		slots = row->flags & ISA_F_WIDE ? 2 : 1;
		if (nr + slots > room)
			goto fail;
		memcpy(insns + nr, pair, (size_t)slots * sizeof(*insns));
		nr += slots;
	}
	free(a);
	return nr;
fail:
	free(a);
	return -1;
}
