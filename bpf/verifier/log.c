/* SPDX-License-Identifier: BSD-2-Clause */
/* The log: instructions, states, refusals with source line and remedy. */
#include <stdarg.h>
#include <string.h>

#include "bpf/btf.h"
#include "bpf/disasm.h"
#include "bpf/verifier/env.h"
#include "lib/fmt.h"

struct reason {
	int err;
	const char *remedy;
};
static const struct reason reasons[VR_NR] = {
#define REASON(id, e, text) [VR_##id] = { .err = (e), .remedy = text },
#include "bpf/verifier/reasons.def"
#undef REASON
};

#define V_LINE 512

static void v_text(struct verifier_env *env, const char *text)
{
	if (env->log)
		bpf_log_printf(env->log, "%s", text);
}

void v_log(struct verifier_env *env, const char *fmt, ...)
{
	char line[V_LINE];
	va_list ap;

	if (!env->log || !env->log->level)
		return;
	va_start(ap, fmt);
	fmt_vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	bpf_log_printf(env->log, "%s\n", line);
}

/* "; file.c:12 the source text" of the line that instruction idx was compiled from. */
void v_log_source_line(struct verifier_env *env, uint32_t idx)
{
	const struct bpf_prog *p = env->prog;
	const struct bpf_line_info *li = NULL;
	const char *file, *line;

	for (uint32_t i = 0; p->btf && i < p->line_info_cnt; i++) {
		if (p->line_info[i].insn_off > idx)
			break;
		li = &p->line_info[i];
	}
	if (!li || env->last_line == li)
		return;
	env->last_line = li;
	line = btf_name(p->btf, li->line_off);
	file = btf_name(p->btf, li->file_name_off);
	while (line && (*line == ' ' || *line == '\t'))
		line++;
	if (line && *line)
		bpf_log_printf(env->log, "; %s @ %s:%u\n", line,
			       file && strrchr(file, '/') ? strrchr(file, '/') + 1
			       : file			  ? file
							  : "",
			       BPF_LINE_INFO_LINE_NUM(li->line_col));
}

int v_reject(struct verifier_env *env, enum verify_reason why, const char *fmt, ...)
{
	struct verify_verdict *v = env->verdict;
	char line[V_LINE];
	va_list ap;

	if (v->err) /* the first one counts */
		return v->err;
	v->err = -reasons[why].err;
	v->insn = env->insn_idx;
	v->reason = why;
	if (env->log && env->log->level) {
		va_start(ap, fmt);
		fmt_vsnprintf(line, sizeof(line), fmt, ap);
		va_end(ap);
		bpf_log_printf(env->log, "%s\n", line);
		env->last_line = NULL;
		v_log_source_line(env, env->insn_idx);
		if (reasons[why].remedy[0])
			bpf_log_printf(env->log, "hint: %s\n", reasons[why].remedy);
	}
	return v->err;
}

void v_log_insn(struct verifier_env *env, uint32_t idx)
{
	char text[DISASM_MAX];

	bpf_disasm(env->prog, &env->prog->insns[idx], idx + 1 < env->prog->insn_cnt, text,
		   sizeof(text));
	bpf_log_printf(env->log, "%u: %s\n", idx, text);
}

/* ---- states ---- */

static const char *type_name(uint8_t type)
{
	static const char *const name[VT_TYPE_NR] = {
		[VT_NONE] = "?",
		[VT_SCALAR] = "scalar",
		[VT_CTX] = "ctx",
		[VT_MAP] = "map_ptr",
		[VT_MAP_VALUE] = "map_value",
		[VT_MAP_KEY] = "map_key",
		[VT_STACK] = "fp",
		[VT_PACKET] = "pkt",
		[VT_PACKET_META] = "pkt_meta",
		[VT_PACKET_END] = "pkt_end",
		[VT_MEM] = "mem",
		[VT_FUNC] = "func",
	};

	return type < VT_TYPE_NR ? name[type] : "?";
}

const char *v_type_name(const struct vreg *r)
{
	bool null = r->flags & VF_MAYBE_NULL;

	if (r->type == VT_MEM && (r->flags & VF_RINGBUF))
		return null ? "ringbuf_mem_or_null" : "ringbuf_mem";
	if (r->type == VT_MEM && (r->flags & VF_RDONLY))
		return null ? "rdonly_mem_or_null" : "rdonly_mem";
	if (null && r->type == VT_MAP_VALUE)
		return "map_value_or_null";
	if (null && r->type == VT_MEM)
		return "mem_or_null";
	if (null && r->type == VT_CTX)
		return "ctx_or_null";
	return type_name(r->type);
}

static void log_scalar(struct verifier_env *env, const struct vreg *r)
{
	const struct scalar *v = &r->v;
	const char *sep = "";

#define FIELD(cond, fmt, ...)                                                                      \
	do {                                                                                       \
		if (cond) {                                                                        \
			bpf_log_printf(env->log, "%s" fmt, sep, __VA_ARGS__);                      \
			sep = ",";                                                                 \
		}                                                                                  \
	} while (0)
	bpf_log_printf(env->log, "(");
	FIELD(r->id, "id=%u", r->id);
	FIELD(r->link_off, "off=%d", r->link_off);
	FIELD(v->smin != INT64_MIN, "smin=%lld", (long long)v->smin);
	FIELD(v->smax != INT64_MAX, "smax=%lld", (long long)v->smax);
	FIELD(v->umin, "umin=%llu", (unsigned long long)v->umin);
	FIELD(v->umax != UINT64_MAX, "umax=%llu", (unsigned long long)v->umax);
	FIELD(v->hsmin != INT32_MIN && v->hsmin != v->smin, "smin32=%d", v->hsmin);
	FIELD(v->hsmax != INT32_MAX && v->hsmax != v->smax, "smax32=%d", v->hsmax);
	FIELD(v->humin && v->humin != v->umin, "umin32=%u", v->humin);
	FIELD(v->humax != UINT32_MAX && v->humax != v->umax, "umax32=%u", v->humax);
	FIELD(~v->t.mask, "var_off=(0x%llx; 0x%llx)", (unsigned long long)v->t.value,
	      (unsigned long long)v->t.mask);
	bpf_log_printf(env->log, ")");
}

static void log_pointer(struct verifier_env *env, const struct vreg *r)
{
	const char *sep = "";

	if (r->type == VT_STACK && scalar_is_const(&r->v)) {
		bpf_log_printf(env->log, "%d", r->off + (int32_t)r->v.t.value);
		return;
	}
	bpf_log_printf(env->log, "(");
	FIELD(r->id, "id=%u", r->id);
	FIELD(r->ref_id, "ref_obj_id=%u", r->ref_id);
	FIELD(r->off, "off=%d", r->off);
	FIELD(vreg_is_pkt(r), "r=%u", r->range);
	FIELD((r->type == VT_MAP || r->type == VT_MAP_VALUE || r->type == VT_MAP_KEY) && r->map,
	      "map=%s", r->map->name);
	FIELD(r->type == VT_MAP_VALUE && r->map, "ks=%u,vs=%u", r->map->key_size,
	      r->map->value_size);
	FIELD(r->type == VT_MEM, "sz=%u", r->mem_size);
	FIELD(!scalar_is_const(&r->v), "smin=%lld,smax=%lld,var_off=(0x%llx; 0x%llx)",
	      (long long)r->v.smin, (long long)r->v.smax, (unsigned long long)r->v.t.value,
	      (unsigned long long)r->v.t.mask);
	FIELD(scalar_is_const(&r->v) && r->v.t.value, "imm=%lld", (long long)r->v.t.value);
	bpf_log_printf(env->log, ")");
#undef FIELD
}

void v_log_reg(struct verifier_env *env, const struct vreg *r)
{
	if (vreg_is_const(r)) {
		bpf_log_printf(env->log, "%s%lld", r->precise ? "P" : "", (long long)r->v.t.value);
		return;
	}
	bpf_log_printf(env->log, "%s%s", r->precise ? "P" : "", v_type_name(r));
	if (r->type == VT_SCALAR)
		log_scalar(env, r);
	else if (r->type != VT_NONE)
		log_pointer(env, r);
}

static void log_slot(struct verifier_env *env, const struct vframe *f, uint32_t i)
{
	static const char letter[] = { '?', 'r', 'm', '0', 'd' };
	const struct vslot *s = &f->slot[i];
	char types[SLOT_BYTES + 1];
	bool used = false;

	for (uint32_t b = 0; b < SLOT_BYTES; b++) {
		types[b] = letter[s->type[SLOT_BYTES - 1 - b]];
		used |= s->type[b] != SLOT_INVALID;
	}
	types[SLOT_BYTES] = 0;
	if (!used)
		return;
	bpf_log_printf(env->log, " fp-%u=", (i + 1) * SLOT_BYTES);
	if (vslot_is_full_spill(s))
		v_log_reg(env, &s->reg);
	else
		v_text(env, types);
}

void v_log_state(struct verifier_env *env, const struct vstate *st, bool all)
{
	const struct vframe *f = cur_frame(st);

	if (!env->log || !env->log->level)
		return;
	if (st->curframe)
		bpf_log_printf(env->log, " frame%u:", st->curframe);
	for (uint32_t r = 0; r < MAX_BPF_REG; r++) {
		if (f->r[r].type == VT_NONE)
			continue;
		bpf_log_printf(env->log, " R%u=", r);
		v_log_reg(env, &f->r[r]);
	}
	for (uint32_t i = 0; i < f->slot_cnt; i++)
		log_slot(env, f, i);
	for (uint32_t i = 0; all && i < st->ref_cnt; i++)
		bpf_log_printf(env->log, "%s%u", i ? "," : " refs=", st->ref[i].id);
	bpf_log_printf(env->log, "\n");
}
