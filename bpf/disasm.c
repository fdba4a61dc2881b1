/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/disasm.h"

#include "bpf/helper.h"
#include "bpf/isa.h"
#include "bpf/map.h"
#include "bpf/xlate.h"
#include "lib/fmt.h"

struct out {
	char *buf;
	size_t size;
	size_t len; /* wanted so far; may pass size */
};

static void put_text(struct out *o, const char *fmt, ...) __printf_like(2, 3);

static void put_text(struct out *o, const char *fmt, ...)
{
	size_t room = o->len < o->size ? o->size - o->len : 0;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = fmt_vsnprintf(room ? o->buf + o->len : NULL, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		o->len += (size_t)n;
}

static void put_wide(struct out *o, const struct bpf_prog *prog, const struct bpf_insn *insn)
{
	unsigned long long value = isa_imm64(insn);
	uint32_t off;
	struct bpf_map *map;

	switch (insn->src_reg) {
	case 0:
		put_text(o, "0x%llx", value);
		return;
	case BPF_PSEUDO_MAP_FD:
		if (prog)
			put_text(o, "map[id:%u]", ((struct bpf_map *)(uintptr_t)value)->id);
		else
			put_text(o, "map[%d]", insn->imm);
		return;
	case BPF_PSEUDO_MAP_VALUE:
		map = prog ? xlate_value_map(prog, (uintptr_t)value, &off) : NULL;
		if (map)
			put_text(o, "map[id:%u][0]+%u", map->id, off);
		else if (prog)
			put_text(o, "0x%llx", value);
		else
			put_text(o, "map[%d][0]+%d", insn[0].imm, insn[1].imm);
		return;
	case BPF_PSEUDO_FUNC:
		put_text(o, "subprog[%+d]", insn->imm);
		return;
	case BPF_PSEUDO_MAP_IDX:
		put_text(o, "map[idx:%d]", insn->imm);
		return;
	case BPF_PSEUDO_MAP_IDX_VALUE:
		put_text(o, "map[idx:%d][0]+%d", insn[0].imm, insn[1].imm);
		return;
	default:
		put_text(o, "btf_id[%d]", insn->imm);
		return;
	}
}

static void put_helper(struct out *o, const struct bpf_insn *insn)
{
	const struct bpf_helper *helper = bpf_helper_get((uint32_t)insn->imm);

	if (helper)
		put_text(o, "bpf_%s#%d", helper->name, insn->imm);
	else
		put_text(o, "unknown#%d", insn->imm);
}

static void put_field(struct out *o, char letter, const struct bpf_prog *prog,
		      const struct isa_row *row, const struct bpf_insn *insn)
{
	switch (letter) {
	case 'd':
		put_text(o, "%d", insn->dst_reg);
		break;
	case 's':
		put_text(o, "%d", insn->src_reg);
		break;
	case 'k':
		put_text(o, "%d", insn->imm);
		break;
	case 'x':
		put_text(o, "0x%x", (unsigned int)insn->imm);
		break;
	case 'o':
		put_text(o, "%+d", insn->off);
		break;
	case 't':
		put_text(o, "%+d", row->flags & ISA_F_TARGET_IMM ? insn->imm : insn->off);
		break;
	case 'm':
		put_wide(o, prog, insn);
		break;
	case 'c':
		put_helper(o, insn);
		break;
	default: /* "%=": a remainder's sign */
		put_text(o, "%%%c", letter);
		break;
	}
}

int bpf_disasm(const struct bpf_prog *prog, const struct bpf_insn *insn, bool have_next, char *buf,
	       size_t size)
{
	struct out o = { .buf = buf, .size = size };
	const char *why;
	const struct isa_row *row = isa_find(insn, have_next, &why);

	put_text(&o, "(%02x) ", insn->code);
	if (!row) {
		put_text(&o, "dst %d src %d off %d imm %d: %s", insn->dst_reg, insn->src_reg,
			 insn->off, insn->imm, why);
		return (int)o.len;
	}
	for (const char *p = row->text; *p; p++) {
		if (*p == '%' && p[1])
			put_field(&o, *++p, prog, row, insn);
		else
			put_text(&o, "%c", *p);
	}
	return (int)o.len;
}
