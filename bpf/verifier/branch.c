/* SPDX-License-Identifier: BSD-2-Clause */
/* Conditional jumps: what they decide and what each side learns. */
#include <string.h>

#include "bpf/isa.h"
#include "bpf/verifier/env.h"

#define PACKET_OFF_MAX 0xffff

/* Every register of a state, spilled ones too. */
typedef void (*vreg_visit)(struct vreg *r, void *arg);

static void each_reg(struct vstate *st, vreg_visit fn, void *arg)
{
	for (uint32_t f = 0; f <= st->curframe; f++) {
		for (uint32_t r = 0; r < BPF_REG_10; r++)
			fn(&st->frame[f]->r[r], arg);
		for (uint32_t s = 0; s < st->frame[f]->slot_cnt; s++)
			if (vslot_is_spilled_reg(&st->frame[f]->slot[s]))
				fn(&st->frame[f]->slot[s].reg, arg);
	}
}

static enum scalar_cmp cmp_of(uint8_t op)
{
	switch (op) {
	case BPF_JEQ:
		return SCALAR_EQ;
	case BPF_JNE:
		return SCALAR_NE;
	case BPF_JGT:
		return SCALAR_GT;
	case BPF_JGE:
		return SCALAR_GE;
	case BPF_JLT:
		return SCALAR_LT;
	case BPF_JLE:
		return SCALAR_LE;
	case BPF_JSGT:
		return SCALAR_SGT;
	case BPF_JSGE:
		return SCALAR_SGE;
	case BPF_JSLT:
		return SCALAR_SLT;
	case BPF_JSLE:
		return SCALAR_SLE;
	default:
		return SCALAR_SET;
	}
}

/* ---- numbers ---- */

/*
 * 1 taken, 0 not taken, -1 both possible; then the narrowed operands of both sides are in out:
 * taken a, b, not taken a, b.
 */
static int decide_numbers(enum scalar_cmp cmp, const struct vreg *a, const struct vreg *b,
			  bool half, struct scalar out[4])
{
	int d = scalar_decide(cmp, &a->v, &b->v, half);
	bool yes, no;

	if (d >= 0)
		return d;
	out[0] = out[2] = a->v;
	out[1] = out[3] = b->v;
	yes = scalar_refine(cmp, &out[0], &out[1], half);
	no = scalar_refine(scalar_cmp_invert(cmp), &out[2], &out[3], half);
	if (!yes && no)
		return 0;
	if (yes && !no)
		return 1;
	if (!yes) /* cannot be reached at all: any answer is right */
		return 0;
	return -1;
}

/* ---- linked scalars ---- */

struct links {
	uint32_t id[2];
	struct vlinked l[VLINKED_MAX];
	uint32_t cnt;
};

static void add_link(struct links *ls, struct vreg *r, uint32_t frameno, bool is_slot,
		     uint32_t index)
{
	if (r->type != VT_SCALAR || !r->id || (r->id != ls->id[0] && r->id != ls->id[1]))
		return;
	if (ls->cnt == VLINKED_MAX) { /* no room to remember: no longer linked */
		r->id = 0;
		r->link_off = 0;
		return;
	}
	ls->l[ls->cnt++] = (struct vlinked){ (uint8_t)frameno, is_slot, (uint8_t)index };
}

static void collect_links(struct vstate *st, struct links *ls)
{
	for (uint32_t f = st->curframe + 1; f-- > 0;) {
		struct vframe *fr = st->frame[f];

		for (uint32_t r = 0; r < BPF_REG_10; r++)
			add_link(ls, &fr->r[r], f, false, r);
		for (uint32_t s = 0; s < fr->slot_cnt; s++)
			if (vslot_is_full_spill(&fr->slot[s]))
				add_link(ls, &fr->slot[s].reg, f, true, s);
			else if (vslot_is_spilled_reg(&fr->slot[s]))
				add_link(ls, &fr->slot[s].reg, f, true, s);
	}
}

/* What is known of one is known of all that it is linked with, up to their constant distance. */
static void sync_links(struct vstate *st, const struct links *ls, const struct vreg *known)
{
	struct vreg k = *known;

	if (k.type != VT_SCALAR || !k.id)
		return;
	for (uint32_t i = 0; i < ls->cnt; i++) {
		const struct vlinked *l = &ls->l[i];
		struct vreg *r = l->is_slot ? &st->frame[l->frameno]->slot[l->index].reg
					    : &st->frame[l->frameno]->r[l->index];
		struct scalar dist;

		if (r == known || r->type != VT_SCALAR || r->id != k.id)
			continue;
		if (r->link_off == k.link_off) {
			r->v = k.v;
			continue;
		}
		dist = scalar_const((uint64_t)((int64_t)r->link_off - k.link_off));
		r->v = scalar_binop(SCALAR_ADD, &k.v, &dist);
	}
}

/* ---- packet bounds ---- */

struct pkt_range {
	const struct vreg *p;
	uint32_t range;
};

static void widen_range(struct vreg *r, void *arg)
{
	const struct pkt_range *pr = arg;

	if (r->type == pr->p->type && r->id == pr->p->id && r->range < pr->range)
		r->range = pr->range;
}

/* In st, p <= end (open: p < end): the bytes before p (and p's own) are inside. */
static void learn_range(struct vstate *st, const struct vreg *p, bool open)
{
	struct vreg copy = *p;
	struct pkt_range pr = { .p = &copy };

	if (p->off < 0 || (p->off == 0 && open))
		return;
	if (p->v.umax > PACKET_OFF_MAX || p->v.umax + (uint64_t)p->off > PACKET_OFF_MAX)
		return;
	pr.range = (uint32_t)p->off + open;
	each_reg(st, widen_range, &pr);
}

static bool is_packet_start(const struct vreg *r)
{
	return r->type == VT_PACKET && !r->id && !r->off && scalar_is_const(&r->v) && !r->v.t.value;
}

/* data against data_end, or metadata against the packet's start. */
static bool is_bound(const struct vreg *p, const struct vreg *end)
{
	return (p->type == VT_PACKET && end->type == VT_PACKET_END) ||
	       (p->type == VT_PACKET_META && is_packet_start(end));
}

static void learn_packet(const struct bpf_insn *insn, const struct vreg *dst,
			 const struct vreg *src, struct vstate *fall, struct vstate *taken)
{
	uint8_t op = BPF_OP(insn->code);
	const struct vreg *p = dst;

	if (BPF_SRC(insn->code) != BPF_X || BPF_CLASS(insn->code) != BPF_JMP)
		return;
	if (!is_bound(dst, src)) {
		if (!is_bound(src, dst))
			return;
		p = src; /* end OP p: the same as p with the mirrored operation */
		op = op == BPF_JGT   ? BPF_JLT
		     : op == BPF_JLT ? BPF_JGT
		     : op == BPF_JGE ? BPF_JLE
		     : op == BPF_JLE ? BPF_JGE
				     : op;
	}
	switch (op) {
	case BPF_JGT:
		learn_range(fall, p, false);
		break;
	case BPF_JGE:
		learn_range(fall, p, true);
		break;
	case BPF_JLT:
		learn_range(taken, p, true);
		break;
	case BPF_JLE:
		learn_range(taken, p, false);
		break;
	}
}

/* ---- NULL ---- */

static void set_not_null(struct vreg *r)
{
	r->flags = (uint8_t)(r->flags & ~VF_MAYBE_NULL);
	if (r->type == VT_MAP_VALUE && r->map->inner) { /* the value is a map itself */
		r->type = VT_MAP;
		r->map = r->map->inner;
	}
}

struct null_mark {
	uint32_t id;
	bool is_null;
};

static void mark_null(struct vreg *r, void *arg)
{
	const struct null_mark *m = arg;

	if (!(r->flags & VF_MAYBE_NULL) || r->id != m->id)
		return;
	if (m->is_null)
		vreg_set_const(r, 0);
	else
		set_not_null(r);
}

static void drop_ref(struct vstate *st, uint32_t id)
{
	for (uint32_t i = 0; i < st->ref_cnt; i++) {
		if (st->ref[i].id != id)
			continue;
		st->ref[i] = st->ref[--st->ref_cnt];
		return;
	}
}

/* The pointer r of st (and its copies) is NULL, or is not. */
static void learn_null(struct vstate *st, uint32_t reg, bool is_null)
{
	struct vreg *r = &cur_regs(st)[reg];
	struct null_mark m = { .id = r->id, .is_null = is_null };
	uint32_t ref = r->ref_id;

	if (is_null && ref) /* nothing was acquired */
		drop_ref(st, ref);
	each_reg(st, mark_null, &m);
}

static bool is_not_null(const struct vreg *r)
{
	return !(r->flags & VF_MAYBE_NULL) && (r->type == VT_MAP_VALUE || r->type == VT_MAP_KEY ||
					       r->type == VT_MEM || r->type == VT_MAP);
}

/* A valid pointer against 0: decided. */
static int decide_pointers(const struct vreg *a, const struct vreg *b, uint8_t op)
{
	const struct vreg *p = vreg_is_ptr(a) ? a : b, *n = p == a ? b : a;

	if (!vreg_is_const(n) || n->v.t.value || !is_not_null(p))
		return -1;
	return op == BPF_JEQ ? 0 : op == BPF_JNE ? 1 : -1;
}

static void learn_pointers(const struct bpf_insn *insn, struct vstate *fall, struct vstate *taken)
{
	struct vreg *dst = &cur_regs(fall)[insn->dst_reg], *src;
	uint8_t op = BPF_OP(insn->code);
	struct vstate *eq = op == BPF_JEQ ? taken : fall;

	if (BPF_CLASS(insn->code) != BPF_JMP)
		return;
	if ((op == BPF_JEQ || op == BPF_JNE) && BPF_SRC(insn->code) == BPF_K && !insn->imm &&
	    (dst->flags & VF_MAYBE_NULL)) {
		struct vstate *ne = eq == taken ? fall : taken;

		learn_null(eq, insn->dst_reg, true);
		learn_null(ne, insn->dst_reg, false);
		return;
	}
	if (BPF_SRC(insn->code) != BPF_X)
		return;
	src = &cur_regs(fall)[insn->src_reg];
	if ((op == BPF_JEQ || op == BPF_JNE) && vreg_is_ptr(src) && vreg_is_ptr(dst) &&
	    (src->flags & VF_MAYBE_NULL) != (dst->flags & VF_MAYBE_NULL)) {
		/* equal to a valid pointer: valid too */
		bool src_valid = !(src->flags & VF_MAYBE_NULL);

		if (is_not_null(src_valid ? src : dst))
			learn_null(eq, src_valid ? insn->dst_reg : insn->src_reg, false);
		return;
	}
	learn_packet(insn, dst, src, fall, taken);
}

/* ---- the jump ---- */

/* Which sides some path goes: the other is dead code, or the jump always taken. */
static void note_jump(struct verifier_env *env, bool taken, bool fall)
{
	struct vinsn *vi = &env->insn[env->insn_idx];

	vi->taken |= taken;
	vi->fall |= fall;
}

static int decided(struct verifier_env *env, const struct bpf_insn *insn, int taken, uint32_t *next)
{
	int err = v_mark_precise(env, insn->dst_reg);

	if (!err && BPF_SRC(insn->code) == BPF_X)
		err = v_mark_precise(env, insn->src_reg);
	if (err)
		return err;
	note_jump(env, taken, !taken);
	*next = taken ? (uint32_t)isa_target(insn, env->insn_idx) : env->insn_idx + 1;
	return 0;
}

static int split(struct verifier_env *env, const struct bpf_insn *insn, bool numbers,
		 const struct scalar out[4], uint32_t *next)
{
	struct vreg *regs = cur_regs(env->cur), *tregs;
	bool x = BPF_SRC(insn->code) == BPF_X;
	struct links ls = {
		.id = { regs[insn->dst_reg].type == VT_SCALAR ? regs[insn->dst_reg].id : 0,
			x && regs[insn->src_reg].type == VT_SCALAR ? regs[insn->src_reg].id : 0 }
	};
	struct vstate *taken;
	int err = 0;

	if (ls.id[0] || ls.id[1])
		collect_links(env->cur, &ls);
	if (ls.cnt > 1)
		err = v_history_linked(env, env->cur, ls.l, ls.cnt);
	if (err)
		return err;
	note_jump(env, true, true);
	taken = v_push_branch(env, (uint32_t)isa_target(insn, env->insn_idx), env->insn_idx, &err);
	if (!taken)
		return err;
	tregs = cur_regs(taken);
	if (numbers) {
		tregs[insn->dst_reg].v = out[0];
		regs[insn->dst_reg].v = out[2];
		if (x && insn->src_reg != insn->dst_reg) {
			tregs[insn->src_reg].v = out[1];
			regs[insn->src_reg].v = out[3];
			sync_links(taken, &ls, &tregs[insn->src_reg]);
			sync_links(env->cur, &ls, &regs[insn->src_reg]);
		}
		sync_links(taken, &ls, &tregs[insn->dst_reg]);
		sync_links(env->cur, &ls, &regs[insn->dst_reg]);
	} else {
		learn_pointers(insn, env->cur, taken);
	}
	*next = env->insn_idx + 1;
	return 0;
}

int v_check_cond_jump(struct verifier_env *env, const struct bpf_insn *insn, uint32_t *next)
{
	struct vreg *regs = cur_regs(env->cur), imm;
	bool x = BPF_SRC(insn->code) == BPF_X, half = BPF_CLASS(insn->code) == BPF_JMP32;
	const struct vreg *dst = &regs[insn->dst_reg], *src = &imm;
	struct scalar out[4];
	bool numbers;
	int err = x ? v_check_reg_read(env, insn->src_reg) : 0, d;

	if (!err)
		err = v_check_reg_read(env, insn->dst_reg);
	if (err)
		return err;
	if (x)
		src = &regs[insn->src_reg];
	else
		vreg_set_const(&imm, (uint64_t)(int64_t)insn->imm);
	numbers = dst->type == VT_SCALAR && src->type == VT_SCALAR;
	if (numbers)
		d = decide_numbers(cmp_of(BPF_OP(insn->code)), dst, src, half, out);
	else
		d = half ? -1 : decide_pointers(dst, src, BPF_OP(insn->code));
	if (d >= 0)
		return decided(env, insn, d, next);
	return split(env, insn, numbers, out, next);
}
