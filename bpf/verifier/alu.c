/* SPDX-License-Identifier: BSD-2-Clause */
/* Registers: reading, writing, arithmetic on numbers and pointers. */
#include <string.h>

#include "bpf/verifier/env.h"

/* Offsets of pointers stay below this, so that sums of a few never wrap. */
#define OFFSET_LIMIT (1ll << 29)

int v_check_reg_read(struct verifier_env *env, uint32_t reg)
{
	struct vreg *r = &cur_regs(env->cur)[reg];

	if (r->type == VT_NONE) {
		if (r->lost_at)
			v_log(env, "R%u was %s until insn %u", reg,
			      r->lost_type == VT_NONE ? "set" : "a pointer", r->lost_at - 1);
		return v_reject(env, VR_UNINIT_REG, "R%u !read_ok", reg);
	}
	if (reg != BPF_REG_10)
		v_mark_reg_read(env, env->cur->curframe, reg);
	return 0;
}

int v_check_reg_write(struct verifier_env *env, uint32_t reg)
{
	if (reg == BPF_REG_10)
		return v_reject(env, VR_FRAME_POINTER, "frame pointer is read only");
	v_mark_reg_written(cur_frame(env->cur), reg);
	return 0;
}

/* A number now; remember what it was, for messages. */
static void lose_type(struct verifier_env *env, struct vreg *r)
{
	uint8_t was = r->type;

	vreg_set_unknown(r);
	if (was > VT_SCALAR) {
		r->lost_type = was;
		r->lost_at = env->insn_idx + 1;
	}
}

void v_link_scalar(struct verifier_env *env, struct vreg *r)
{
	if (r->type != VT_SCALAR || scalar_is_const(&r->v))
		return;
	if (!r->id) {
		r->id = ++env->next_id;
		r->link_off = 0;
	}
}

/* ---- pointers ---- */

static int check_offset_sane(struct verifier_env *env, const struct vreg *p, const struct vreg *n)
{
	const char *what = v_type_name(p);

	if (scalar_is_const(&n->v)) {
		int64_t v = (int64_t)n->v.t.value;

		if (v >= OFFSET_LIMIT || v <= -OFFSET_LIMIT)
			return v_reject(env, VR_PTR_BOUNDS,
					"math between %s pointer and %lld is not allowed", what,
					(long long)v);
	}
	if (n->v.smin == INT64_MIN)
		return v_reject(env, VR_PTR_UNBOUNDED,
				"math between %s pointer and register with unbounded min value is "
				"not allowed",
				what);
	if (n->v.smin >= OFFSET_LIMIT || n->v.smin <= -OFFSET_LIMIT)
		return v_reject(env, VR_PTR_BOUNDS, "value %lld makes %s pointer be out of bounds",
				(long long)n->v.smin, what);
	return 0;
}

/* After the move: the pointer's own offset. */
static int check_pointer_sane(struct verifier_env *env, const struct vreg *p)
{
	const char *what = v_type_name(p);

	if (p->off >= OFFSET_LIMIT || p->off <= -OFFSET_LIMIT)
		return v_reject(env, VR_PTR_BOUNDS, "%s pointer offset %d is not allowed", what,
				p->off);
	return check_offset_sane(env, p, p);
}

static int check_arith_allowed(struct verifier_env *env, uint32_t reg, const struct vreg *p,
			       const struct vreg *n, uint8_t op)
{
	bool zero = scalar_is_const(&n->v) && n->v.t.value == 0 && op == BPF_ADD;

	if (p->flags & VF_MAYBE_NULL)
		return v_reject(env, VR_PTR_ARITH,
				"R%u pointer arithmetic on %s prohibited, null-check it first", reg,
				v_type_name(p));
	if ((p->type == VT_MAP && !zero) || p->type == VT_PACKET_END || p->type == VT_FUNC)
		return v_reject(env, VR_PTR_ARITH, "R%u pointer arithmetic on %s prohibited", reg,
				v_type_name(p));
	return 0;
}

static void move_by_number(struct verifier_env *env, struct vreg *dst, const struct vreg *p,
			   const struct vreg *n, bool sub)
{
	int64_t c = (int64_t)n->v.t.value, off = sub ? p->off - c : p->off + c;
	struct scalar num = n->v;

	if (scalar_is_const(&n->v) && c > -OFFSET_LIMIT && c < OFFSET_LIMIT && off >= INT32_MIN &&
	    off <= INT32_MAX) {
		if (dst != p)
			*dst = *p;
		dst->off = (int32_t)off;
		return;
	}
	if (dst != p)
		*dst = *p;
	dst->v = scalar_binop(sub ? SCALAR_SUB : SCALAR_ADD, &p->v, &num);
	if (vreg_is_pkt(dst)) {
		/* Another place in the packet: what was proven holds for places before it only. */
		dst->id = ++env->next_id;
		if (!sub || num.smin < 0)
			dst->range = 0;
	}
}

/* dst = dst op src, one of them a pointer. swapped: the pointer is src. */
static int pointer_arith(struct verifier_env *env, const struct bpf_insn *insn, struct vreg *dst,
			 const struct vreg *p, const struct vreg *n, bool swapped)
{
	uint8_t op = BPF_OP(insn->code);
	uint32_t reg = insn->dst_reg;
	struct vreg ptr = *p, num = *n;
	int err;

	if (BPF_CLASS(insn->code) != BPF_ALU64) {
		if (op == BPF_SUB) { /* 32-bit difference: a number */
			lose_type(env, dst);
			dst->v = scalar_zext(&dst->v, 32);
			return 0;
		}
		return v_reject(env, VR_PTR_OP, "R%u 32-bit pointer arithmetic prohibited", reg);
	}
	err = check_arith_allowed(env, reg, &ptr, &num, op);
	if (!err)
		err = check_offset_sane(env, &ptr, &num);
	if (err)
		return err;
	switch (op) {
	case BPF_ADD:
		*dst = ptr;
		move_by_number(env, dst, &ptr, &num, false);
		break;
	case BPF_SUB:
		if (swapped)
			return v_reject(env, VR_PTR_SUB,
					"R%u tried to subtract pointer from scalar", reg);
		if (ptr.type == VT_STACK)
			return v_reject(env, VR_PTR_OP,
					"R%u subtraction from stack pointer prohibited", reg);
		*dst = ptr;
		move_by_number(env, dst, &ptr, &num, true);
		break;
	case BPF_AND:
	case BPF_OR:
	case BPF_XOR:
		return v_reject(env, VR_PTR_OP, "R%u bitwise operator %s on pointer prohibited",
				reg,
				op == BPF_AND  ? "&="
				: op == BPF_OR ? "|="
					       : "^=");
	default:
		return v_reject(env, VR_PTR_OP,
				"R%u pointer arithmetic with %s operator prohibited", reg,
				op == BPF_MUL	? "*="
				: op == BPF_DIV ? "/="
				: op == BPF_MOD ? "%="
				: op == BPF_LSH ? "<<="
						: ">>=");
	}
	return check_pointer_sane(env, dst);
}

/* ---- numbers ---- */

static enum scalar_op scalar_op_of(const struct bpf_insn *insn)
{
	switch (BPF_OP(insn->code)) {
	case BPF_ADD:
		return SCALAR_ADD;
	case BPF_SUB:
		return SCALAR_SUB;
	case BPF_MUL:
		return SCALAR_MUL;
	case BPF_DIV:
		return insn->off ? SCALAR_SDIV : SCALAR_UDIV;
	case BPF_MOD:
		return insn->off ? SCALAR_SMOD : SCALAR_UMOD;
	case BPF_AND:
		return SCALAR_AND;
	case BPF_OR:
		return SCALAR_OR;
	case BPF_XOR:
		return SCALAR_XOR;
	case BPF_LSH:
		return SCALAR_LSH;
	case BPF_RSH:
		return SCALAR_RSH;
	default:
		return SCALAR_ARSH;
	}
}

static void number_arith(const struct bpf_insn *insn, struct vreg *dst, const struct vreg *src)
{
	enum scalar_op op = scalar_op_of(insn);
	bool is64 = BPF_CLASS(insn->code) == BPF_ALU64;
	int64_t link = 0;
	bool keep_link;
	struct vreg r;

	/* x + c stays tied to x */
	keep_link = is64 && (op == SCALAR_ADD || op == SCALAR_SUB) && dst->id &&
		    scalar_is_const(&src->v);
	if (keep_link) {
		link = (int64_t)src->v.t.value;
		keep_link = link >= INT32_MIN / 2 && link <= INT32_MAX / 2;
		link = op == SCALAR_ADD ? dst->link_off + link : dst->link_off - link;
		keep_link = keep_link && link >= INT32_MIN && link <= INT32_MAX;
	}
	vreg_set_unknown(&r);
	if (op >= SCALAR_LSH && src->v.umax >= (is64 ? 64u : 32u)) {
		/* Masked at run time; a program that gets here has lost track of its count. */
		if (!is64)
			r.v = scalar_zext(&r.v, 32);
		*dst = r;
		return;
	}
	r.v = is64 ? scalar_binop(op, &dst->v, &src->v) : scalar_binop_half(op, &dst->v, &src->v);
	if (keep_link && !scalar_is_const(&r.v)) {
		r.id = dst->id;
		r.link_off = (int32_t)link;
	}
	*dst = r;
}

/* dst op= src, both read already. src is a copy where it is an immediate. */
static int arith(struct verifier_env *env, const struct bpf_insn *insn, struct vreg *dst,
		 struct vreg *src)
{
	bool pd = vreg_is_ptr(dst), ps = vreg_is_ptr(src);
	int err;

	if (pd && ps) {
		if (BPF_OP(insn->code) != BPF_SUB)
			return v_reject(env, VR_PTR_OP, "R%u pointer %s pointer prohibited",
					insn->dst_reg,
					BPF_OP(insn->code) == BPF_ADD ? "+=" : "op=");
		lose_type(env, dst);
		return 0;
	}
	if (pd) {
		if (BPF_SRC(insn->code) == BPF_X) {
			err = v_mark_precise(env, insn->src_reg);
			if (err)
				return err;
		}
		return pointer_arith(env, insn, dst, dst, src, false);
	}
	if (ps) {
		err = v_mark_precise(env, insn->dst_reg);
		if (err)
			return err;
		return pointer_arith(env, insn, dst, src, dst, true);
	}
	number_arith(insn, dst, src);
	return 0;
}

/* ---- instructions ---- */

static int check_swap_or_neg(struct verifier_env *env, const struct bpf_insn *insn)
{
	struct vreg *dst = &cur_regs(env->cur)[insn->dst_reg];
	int err = v_check_reg_read(env, insn->dst_reg);
	struct scalar zero = scalar_const(0), v;
	bool is64 = BPF_CLASS(insn->code) == BPF_ALU64;

	if (err)
		return err;
	err = v_check_reg_write(env, insn->dst_reg);
	if (err)
		return err;
	if (vreg_is_ptr(dst))
		lose_type(env, dst);
	v = dst->v;
	vreg_set_unknown(dst);
	if (BPF_OP(insn->code) == BPF_NEG) {
		dst->v = is64 ? scalar_binop(SCALAR_SUB, &zero, &v)
			      : scalar_binop_half(SCALAR_SUB, &zero, &v);
		return 0;
	}
	if (!is64 && BPF_SRC(insn->code) == BPF_TO_LE) { /* little endian here: cut only */
		dst->v = scalar_zext(&v, (unsigned int)insn->imm);
		return 0;
	}
	if (scalar_is_const(&v)) {
		uint64_t x = __builtin_bswap64(v.t.value) >> (64 - insn->imm);

		dst->v = scalar_const(x);
	} else if (insn->imm < 64) {
		dst->v = scalar_urange(0, (1ull << insn->imm) - 1);
	}
	return 0;
}

static int move_reg(struct verifier_env *env, const struct bpf_insn *insn)
{
	struct vreg *regs = cur_regs(env->cur), *src = &regs[insn->src_reg],
		    *dst = &regs[insn->dst_reg];
	bool is64 = BPF_CLASS(insn->code) == BPF_ALU64, same;
	struct scalar v;

	if (is64 && !insn->off) {
		v_link_scalar(env, src);
		*dst = *src;
		return 0;
	}
	if (vreg_is_ptr(src)) { /* part of an address: a number */
		uint8_t was = src->type;

		vreg_set_unknown(dst);
		dst->lost_type = was;
		dst->lost_at = env->insn_idx + 1;
		if (!is64)
			dst->v = scalar_zext(&dst->v, 32);
		return 0;
	}
	if (is64)
		v = scalar_sext(&src->v, (unsigned int)insn->off);
	else
		v = insn->off ? scalar_sext_half(&src->v, (unsigned int)insn->off)
			      : scalar_zext(&src->v, 32);
	/* The value passes unchanged where the cut-off bits are known to be what is filled in. */
	same = !memcmp(&v, &src->v, sizeof(v));
	if (same)
		v_link_scalar(env, src);
	*dst = *src;
	dst->v = v;
	if (!same) {
		dst->id = 0;
		dst->link_off = 0;
		dst->precise = 0;
	}
	return 0;
}

static int check_mov(struct verifier_env *env, const struct bpf_insn *insn)
{
	struct vreg *dst = &cur_regs(env->cur)[insn->dst_reg];
	int err = 0;

	if (BPF_SRC(insn->code) == BPF_X)
		err = v_check_reg_read(env, insn->src_reg);
	if (!err)
		err = v_check_reg_write(env, insn->dst_reg);
	if (err)
		return err;
	if (BPF_SRC(insn->code) == BPF_X)
		return move_reg(env, insn);
	if (BPF_CLASS(insn->code) == BPF_ALU64)
		vreg_set_const(dst, (uint64_t)(int64_t)insn->imm);
	else
		vreg_set_const(dst, (uint32_t)insn->imm);
	return 0;
}

int v_check_alu(struct verifier_env *env, const struct bpf_insn *insn)
{
	struct vreg *regs = cur_regs(env->cur), imm;
	uint8_t op = BPF_OP(insn->code);
	bool is_x = BPF_SRC(insn->code) == BPF_X;
	int32_t width = BPF_CLASS(insn->code) == BPF_ALU64 ? 64 : 32;
	int err;

	if (op == BPF_END || op == BPF_NEG)
		return check_swap_or_neg(env, insn);
	if (op == BPF_MOV)
		return check_mov(env, insn);
	err = is_x ? v_check_reg_read(env, insn->src_reg) : 0;
	if (!err)
		err = v_check_reg_read(env, insn->dst_reg);
	if (err)
		return err;
	if ((op == BPF_DIV || op == BPF_MOD) && !is_x && !insn->imm)
		return v_reject(env, VR_DIV_ZERO, "div by zero");
	if ((op == BPF_LSH || op == BPF_RSH || op == BPF_ARSH) && !is_x &&
	    (insn->imm < 0 || insn->imm >= width))
		return v_reject(env, VR_BAD_SHIFT, "invalid shift %d", insn->imm);
	err = v_check_reg_write(env, insn->dst_reg);
	if (err)
		return err;
	if (is_x) {
		imm = regs[insn->src_reg];
	} else {
		vreg_set_const(&imm,
			       width == 64 ? (uint64_t)(int64_t)insn->imm : (uint32_t)insn->imm);
	}
	return arith(env, insn, &regs[insn->dst_reg], &imm);
}

/* ---- 64-bit constants ---- */

static int load_map_value(struct verifier_env *env, struct vreg *dst, uint64_t addr)
{
	for (uint32_t i = 0; i < env->prog->map_cnt; i++) {
		struct bpf_map *map = env->prog->maps[i];
		uintptr_t base;

		if (!map->ops->direct_value || map->ops->direct_value(map, 0, &base))
			continue;
		if (addr < base || addr - base >= map->value_size)
			continue;
		vreg_set_none(dst);
		dst->type = VT_MAP_VALUE;
		dst->v = scalar_const(0);
		dst->map = map;
		dst->off = (int32_t)(addr - base);
		return 0;
	}
	return v_reject(env, VR_BAD_MAP_USE, "address is in no map of the program");
}

int v_check_ldimm64(struct verifier_env *env, const struct bpf_insn *insn)
{
	struct vreg *dst = &cur_regs(env->cur)[insn->dst_reg];
	uint64_t imm = (uint32_t)insn[0].imm | (uint64_t)(uint32_t)insn[1].imm << 32;
	int err = v_check_reg_write(env, insn->dst_reg), sub;

	if (err)
		return err;
	switch (insn->src_reg) {
	case 0:
		vreg_set_const(dst, imm);
		return 0;
	case BPF_PSEUDO_MAP_FD:
		vreg_set_none(dst);
		dst->type = VT_MAP;
		dst->v = scalar_const(0);
		dst->map = (struct bpf_map *)(uintptr_t)imm;
		env->aux[env->insn_idx].map = dst->map;
		return 0;
	case BPF_PSEUDO_MAP_VALUE:
		return load_map_value(env, dst, imm);
	case BPF_PSEUDO_FUNC:
		sub = v_subprog_at(env, (uint32_t)((int64_t)env->insn_idx + insn->imm + 1));
		if (sub <= 0)
			return v_reject(env, VR_CALLBACK, "invalid function reference");
		if (!env->prog->func_info_cnt)
			return v_reject(env, VR_FUNC_INFO, "missing btf func_info");
		if (env->global[sub])
			return v_reject(env, VR_CALLBACK, "callback function not static");
		vreg_set_none(dst);
		dst->type = VT_FUNC;
		dst->v = scalar_const(0);
		dst->subprog = (uint32_t)sub;
		return 0;
	default:
		return v_reject(env, VR_BAD_LDIMM64, "unrecognized bpf_ld_imm64 insn");
	}
}
