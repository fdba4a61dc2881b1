/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What BTF says of functions: func_info and line_info records checked against the program,
 * signatures of global functions, which are verified once for all callers.
 */
#include <string.h>

#include "bpf/btf.h"
#include "bpf/ctx.h"
#include "bpf/verifier/env.h"

static const struct btf_type *func_of(const struct verifier_env *env, uint32_t subprog)
{
	if (!env->prog->btf || subprog >= env->prog->func_info_cnt)
		return NULL;
	return btf_type_get(env->prog->btf, env->prog->func_info[subprog].type_id);
}

static const struct btf_type *proto_of(const struct verifier_env *env, uint32_t subprog)
{
	const struct btf_type *f = func_of(env, subprog);

	return f ? btf_type_get(env->prog->btf, f->type) : NULL;
}

static const char *name_of(const struct verifier_env *env, uint32_t subprog)
{
	const struct btf_type *f = func_of(env, subprog);
	const char *n = f ? btf_name(env->prog->btf, f->name_off) : NULL;

	return n ? n : "";
}

/* ---- records ---- */

static int check_func_info(struct verifier_env *env)
{
	const struct bpf_prog *p = env->prog;

	if (!p->func_info_cnt)
		return 0;
	if (p->func_info_cnt != env->subprog_cnt)
		return v_reject(env, VR_FUNC_INFO,
				"number of funcs in func_info doesn't match number of subprogs");
	for (uint32_t i = 0; i < p->func_info_cnt; i++) {
		const struct btf_type *t = btf_type_get(p->btf, p->func_info[i].type_id), *proto;

		if (p->func_info[i].insn_off != env->subprog[i].start)
			return v_reject(env, VR_FUNC_INFO,
					"func_info BTF section doesn't match subprog layout in BPF "
					"program");
		if (!t || BTF_INFO_KIND(t->info) != BTF_KIND_FUNC)
			return v_reject(env, VR_FUNC_INFO, "invalid type id %u in func info",
					p->func_info[i].type_id);
		proto = btf_type_get(p->btf, t->type);
		if (!proto || BTF_INFO_KIND(proto->info) != BTF_KIND_FUNC_PROTO)
			return v_reject(env, VR_FUNC_INFO, "invalid func proto of type id %u",
					p->func_info[i].type_id);
		env->global[i] = i && BTF_INFO_VLEN(t->info) == BTF_FUNC_GLOBAL;
	}
	return 0;
}

static int check_line_info(struct verifier_env *env)
{
	const struct bpf_prog *p = env->prog;
	uint32_t prev = 0, sub = 0;

	for (uint32_t i = 0; i < p->line_info_cnt; i++) {
		const struct bpf_line_info *li = &p->line_info[i];

		if ((i && li->insn_off <= prev) || li->insn_off >= p->insn_cnt)
			return v_reject(env, VR_LINE_INFO,
					"Invalid line_info[%u].insn_off:%u (prev_offset:%u "
					"prog->len:%u)",
					i, li->insn_off, prev, p->insn_cnt);
		if (!p->insns[li->insn_off].code)
			return v_reject(env, VR_LINE_INFO,
					"Invalid insn code at line_info[%u].insn_off", i);
		if (!btf_name(p->btf, li->line_off) || !btf_name(p->btf, li->file_name_off))
			return v_reject(env, VR_LINE_INFO,
					"Invalid line_info[%u].line_off or .file_name_off", i);
		if (sub < env->subprog_cnt) {
			if (li->insn_off == env->subprog[sub].start) {
				env->subprog[sub++].linfo_idx = (uint16_t)i;
			} else if (env->subprog[sub].start < li->insn_off) {
				return v_reject(env, VR_LINE_INFO,
						"missing bpf_line_info for func#%u", sub);
			}
		}
		prev = li->insn_off;
	}
	if (p->line_info_cnt && sub != env->subprog_cnt)
		return v_reject(env, VR_LINE_INFO,
				"missing bpf_line_info for %u funcs starting from "
				"func#%u",
				env->subprog_cnt - sub, sub);
	return 0;
}

int v_check_info(struct verifier_env *env)
{
	int err = check_func_info(env);

	return err ? err : check_line_info(env);
}

/* ---- arguments of global functions ---- */

enum garg { GARG_NUMBER, GARG_CTX, GARG_MEM, GARG_BAD };

static bool is_ctx_struct(enum ctx_kind kind, const char *name)
{
	static const char *const want[CTX_KIND_NR] = {
		[CTX_XDP] = "xdp_md",
		[CTX_SKB] = "__sk_buff",
		[CTX_PERF_EVENT] = "bpf_perf_event_data",
		[CTX_RAW_TP] = "bpf_raw_tracepoint_args",
		[CTX_RAW_TP_W] = "bpf_raw_tracepoint_args",
	};

	return want[kind] && name && !strcmp(name, want[kind]);
}

/* A decl tag "arg:ctx" / "arg:nonnull" on parameter n of function id. */
static bool arg_tagged(const struct bpf_btf *btf, uint32_t func_id, uint32_t n, const char *tag)
{
	for (uint32_t i = 1; i < btf->type_cnt; i++) {
		const struct btf_type *t = btf->types[i];
		const char *name;

		if (BTF_INFO_KIND(t->info) != BTF_KIND_DECL_TAG || t->type != func_id)
			continue;
		name = btf_name(btf, t->name_off);
		if (name && !strcmp(name, tag) &&
		    ((const struct btf_decl_tag *)(t + 1))->component_idx == (int)n)
			return true;
	}
	return false;
}

static enum garg classify(const struct verifier_env *env, uint32_t subprog, uint32_t n,
			  uint32_t type_id, uint32_t *mem_size, bool *nonnull)
{
	const struct bpf_btf *btf = env->prog->btf;
	uint32_t func_id = env->prog->func_info[subprog].type_id;
	const struct btf_type *t = btf_skip_modifiers(btf, type_id, NULL), *to;
	int64_t size;

	*nonnull = arg_tagged(btf, func_id, n, "arg:nonnull");
	if (!t)
		return GARG_BAD;
	if (arg_tagged(btf, func_id, n, "arg:ctx"))
		return GARG_CTX;
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return GARG_NUMBER;
	case BTF_KIND_PTR:
		break;
	default:
		return GARG_BAD;
	}
	to = btf_skip_modifiers(btf, t->type, NULL);
	if (to && BTF_INFO_KIND(to->info) == BTF_KIND_STRUCT &&
	    is_ctx_struct(env->type->ctx, btf_name(btf, to->name_off)))
		return GARG_CTX;
	size = t->type ? btf_type_size(btf, t->type) : -EINVAL;
	if (size <= 0 || size > INT32_MAX)
		return GARG_BAD;
	*mem_size = (uint32_t)size;
	return GARG_MEM;
}

static int for_each_arg(struct verifier_env *env, uint32_t subprog,
			int (*fn)(struct verifier_env *env, uint32_t subprog, uint32_t n,
				  enum garg kind, uint32_t mem_size, bool nonnull))
{
	const struct btf_type *proto = proto_of(env, subprog);
	const struct btf_param *p;
	uint32_t cnt;

	if (!proto)
		return v_reject(env, VR_FUNC_INFO, "missing btf func_info");
	cnt = BTF_INFO_VLEN(proto->info);
	p = (const struct btf_param *)(proto + 1);
	if (cnt > 5)
		return v_reject(env, VR_GLOBAL_ARGS,
				"Global function %s() with %u > 5 args. Buggy compiler.",
				name_of(env, subprog), cnt);
	for (uint32_t n = 0; n < cnt; n++) {
		uint32_t size = 0;
		bool nonnull = false;
		enum garg kind = classify(env, subprog, n, p[n].type, &size, &nonnull);
		int err;

		if (kind == GARG_BAD)
			return v_reject(env, VR_GLOBAL_ARGS,
					"Arg#%u type in %s() is not supported yet.", n,
					name_of(env, subprog));
		err = fn(env, subprog, n, kind, size, nonnull);
		if (err)
			return err;
	}
	return 0;
}

static int prepare_arg(struct verifier_env *env, uint32_t subprog, uint32_t n, enum garg kind,
		       uint32_t mem_size, bool nonnull)
{
	struct vreg *r = &cur_regs(env->cur)[n + 1];

	(void)subprog;
	if (kind == GARG_NUMBER) {
		vreg_set_unknown(r);
		return 0;
	}
	vreg_set_none(r);
	r->v = scalar_const(0);
	if (kind == GARG_CTX) {
		r->type = VT_CTX;
		return 0;
	}
	r->type = VT_MEM;
	r->mem_size = mem_size;
	if (!nonnull) {
		r->flags = VF_MAYBE_NULL;
		r->id = ++env->next_id;
	}
	return 0;
}

int v_prepare_global_args(struct verifier_env *env, uint32_t subprog)
{
	const struct btf_type *proto = proto_of(env, subprog), *ret;

	if (!proto)
		return v_reject(env, VR_FUNC_INFO, "missing btf func_info");
	ret = proto->type ? btf_skip_modifiers(env->prog->btf, proto->type, NULL) : NULL;
	if (!ret || (BTF_INFO_KIND(ret->info) != BTF_KIND_INT &&
		     BTF_INFO_KIND(ret->info) != BTF_KIND_ENUM &&
		     BTF_INFO_KIND(ret->info) != BTF_KIND_ENUM64))
		return v_reject(env, VR_GLOBAL_ARGS,
				"Global function %s() doesn't return scalar. Only those are "
				"supported.",
				name_of(env, subprog));
	return for_each_arg(env, subprog, prepare_arg);
}

/* A block of mem_size bytes that the function may read and write. */
static int check_mem_arg(struct verifier_env *env, uint32_t reg, uint32_t size, bool nonnull)
{
	struct vreg *r = &cur_regs(env->cur)[reg], saved = *r;
	int err;

	if (vreg_is_const(r) && !r->v.t.value && !nonnull)
		return 0;
	if ((r->flags & VF_MAYBE_NULL) && nonnull)
		return v_reject(env, VR_MAYBE_NULL, "R%u type=%s expected=fp", reg, v_type_name(r));
	r->flags = (uint8_t)(r->flags & ~VF_MAYBE_NULL);
	switch (r->type) {
	case VT_STACK:
		err = v_stack_range(env, reg, 0, size, false, VACC_READ | VACC_WRITE, false);
		break;
	case VT_MAP_VALUE:
		err = v_check_map_value(env, reg, 0, size, false, VACC_READ | VACC_WRITE);
		break;
	case VT_MEM:
		if (r->flags & VF_RDONLY)
			return v_reject(env, VR_RDONLY, "R%u cannot write into %s", reg,
					v_type_name(r));
		err = v_check_region(env, reg, r, 0, size, r->mem_size, false);
		break;
	case VT_PACKET:
	case VT_PACKET_META:
		if (env->type->pkt_access < 2)
			return v_reject(env, VR_PKT_ACCESS,
					"helper access to the packet is not allowed");
		err = v_check_packet(env, reg, 0, size, false);
		break;
	default:
		return v_reject(env, VR_ARG_TYPE, "R%u type=%s expected=fp", reg, v_type_name(r));
	}
	r = &cur_regs(env->cur)[reg];
	r->flags = saved.flags;
	return err;
}

static int check_call_arg(struct verifier_env *env, uint32_t subprog, uint32_t n, enum garg kind,
			  uint32_t mem_size, bool nonnull)
{
	uint32_t reg = n + 1;
	const struct vreg *r = &cur_regs(env->cur)[reg];
	int err = v_check_reg_read(env, reg);

	(void)subprog;
	if (err)
		return err;
	switch (kind) {
	case GARG_NUMBER:
		if (r->type != VT_SCALAR)
			return v_reject(env, VR_GLOBAL_ARGS, "R%u is not a scalar", reg);
		return 0;
	case GARG_CTX:
		if (r->type != VT_CTX || r->off || !scalar_is_const(&r->v) || r->v.t.value)
			return v_reject(env, VR_GLOBAL_ARGS, "arg#%u expects pointer to ctx", n);
		return 0;
	default:
		return check_mem_arg(env, reg, mem_size, nonnull);
	}
}

int v_check_global_call_args(struct verifier_env *env, uint32_t subprog)
{
	int err = for_each_arg(env, subprog, check_call_arg);

	if (err)
		v_log(env, "Caller passes invalid args into func#%u ('%s')", subprog,
		      name_of(env, subprog));
	return err;
}
