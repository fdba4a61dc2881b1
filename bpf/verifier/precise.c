/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Precision. Most scalars' exact values do not matter to safety. Where one does (an offset, a size,
 * a decided branch), the instructions that led here are followed backwards, from this state through
 * its parents, to the registers and stack slots that the value was made from; in each checkpoint on
 * the way those are marked precise, and count when states are compared.
 */
#include <string.h>

#include "bpf/verifier/env.h"

#define ARG_REGS    0x3eu /* R1-R5 */
#define CALLER_REGS 0x3fu /* R0-R5 */

/* ---- history ---- */

int v_history_note(struct verifier_env *env, struct vstate *st)
{
	struct vhist *h;

	if (env->hist_noted && st == env->cur && st->hist_cnt)
		return 0;
	if (st->hist_cnt == st->hist_cap) {
		uint32_t cap = st->hist_cap ? st->hist_cap * 2 : 8;

		h = v_realloc(env, st->hist, st->hist_cap * sizeof(*h), cap * sizeof(*h));
		if (!h)
			return v_reject(env, VR_NO_MEMORY, "out of memory");
		st->hist = h;
		st->hist_cap = cap;
	}
	h = &st->hist[st->hist_cnt++];
	memset(h, 0, sizeof(*h));
	h->idx = env->insn_idx;
	h->prev_idx = env->prev_idx;
	if (st == env->cur)
		env->hist_noted = true;
	return 0;
}

int v_history_stack(struct verifier_env *env, struct vstate *st, uint32_t frameno, uint32_t slot)
{
	int err = v_history_note(env, st);

	if (err)
		return err;
	st->hist[st->hist_cnt - 1].stack_access = 1;
	st->hist[st->hist_cnt - 1].frameno = (uint8_t)frameno;
	st->hist[st->hist_cnt - 1].slot = (uint8_t)slot;
	return 0;
}

int v_history_linked(struct verifier_env *env, struct vstate *st, const struct vlinked *linked,
		     uint32_t cnt)
{
	int err = v_history_note(env, st);

	if (err)
		return err;
	memcpy(st->hist[st->hist_cnt - 1].linked, linked, cnt * sizeof(*linked));
	st->hist[st->hist_cnt - 1].linked_cnt = (uint8_t)cnt;
	return 0;
}

/* ---- going back ---- */

static bool set_is_empty(const struct vprecise_set *s)
{
	for (uint32_t f = 0; f <= s->frame; f++)
		if (s->regs[f] || s->slots[f])
			return false;
	return true;
}

static bool reg_wanted(const struct vprecise_set *s, uint32_t reg)
{
	return s->regs[s->frame] & (1u << reg);
}

static void want_reg(struct vprecise_set *s, uint32_t reg)
{
	if (reg != BPF_REG_10)
		s->regs[s->frame] = (uint16_t)(s->regs[s->frame] | (1u << reg));
}

static void drop_reg(struct vprecise_set *s, uint32_t reg)
{
	s->regs[s->frame] = (uint16_t)(s->regs[s->frame] & ~(1u << reg));
}

/* Registers narrowed together by a branch: if one matters, all do. */
static void spread_to_linked(struct vprecise_set *s, const struct vhist *h)
{
	bool any = false;

	if (!h || h->linked_cnt < 2)
		return;
	for (uint32_t i = 0; i < h->linked_cnt; i++) {
		const struct vlinked *l = &h->linked[i];

		any |= l->is_slot ? (s->slots[l->frameno] & BIT(l->index)) != 0
				  : (s->regs[l->frameno] & (1u << l->index)) != 0;
	}
	for (uint32_t i = 0; any && i < h->linked_cnt; i++) {
		const struct vlinked *l = &h->linked[i];

		if (l->is_slot)
			s->slots[l->frameno] |= BIT(l->index);
		else
			s->regs[l->frameno] = (uint16_t)(s->regs[l->frameno] | (1u << l->index));
	}
}

static void back_alu(struct vprecise_set *s, const struct bpf_insn *insn)
{
	uint8_t op = BPF_OP(insn->code);

	if (!reg_wanted(s, insn->dst_reg) || op == BPF_END || op == BPF_NEG)
		return;
	if (op == BPF_MOV)
		drop_reg(s, insn->dst_reg);
	if (BPF_SRC(insn->code) == BPF_X)
		want_reg(s, insn->src_reg);
}

/* Results of these are worked out again from the outside by each caller of the walk. */
enum { BACK_GO_ON = 0, BACK_GIVE_UP = 1 };

static int back_mem(struct vprecise_set *s, const struct bpf_insn *insn, const struct vhist *h)
{
	uint8_t class = BPF_CLASS(insn->code);

	if (class == BPF_LDX) {
		if (!reg_wanted(s, insn->dst_reg))
			return BACK_GO_ON;
		drop_reg(s, insn->dst_reg);
		if (h && h->stack_access) /* other memory holds nothing that we know */
			s->slots[h->frameno] |= BIT(h->slot);
		return BACK_GO_ON;
	}
	if (reg_wanted(s, insn->dst_reg)) /* a number as an address: from pointer subtraction */
		return BACK_GIVE_UP;
	if (BPF_MODE(insn->code) == BPF_ATOMIC && class == BPF_STX) {
		if (insn->imm == BPF_CMPXCHG)
			drop_reg(s, BPF_REG_0);
		else if (insn->imm & BPF_FETCH)
			drop_reg(s, insn->src_reg);
		return BACK_GO_ON;
	}
	if (!h || !h->stack_access || !(s->slots[h->frameno] & BIT(h->slot)))
		return BACK_GO_ON;
	s->slots[h->frameno] &= ~BIT(h->slot);
	if (class == BPF_STX)
		want_reg(s, insn->src_reg);
	return BACK_GO_ON;
}

static int leave_frame(struct vprecise_set *s, bool pass_args)
{
	uint16_t args = (uint16_t)(s->regs[s->frame] & ARG_REGS);

	if ((s->regs[s->frame] & ~ARG_REGS) || s->slots[s->frame] || s->frame == 0)
		return BACK_GIVE_UP;
	s->regs[s->frame] = 0;
	s->frame--;
	if (pass_args)
		s->regs[s->frame] = (uint16_t)(s->regs[s->frame] | args);
	return BACK_GO_ON;
}

/* next: the instruction after this one on the path. */
static int back_call(struct verifier_env *env, struct vprecise_set *s, uint32_t idx, int64_t next)
{
	const struct bpf_insn *insn = &env->prog->insns[idx];

	if (insn->src_reg == BPF_PSEUDO_CALL) {
		int sub = v_subprog_at(env, (uint32_t)((int64_t)idx + insn->imm + 1));

		if (sub >= 0 && !env->global[sub])
			return leave_frame(s, true);
		drop_reg(s, BPF_REG_0);
		return s->regs[s->frame] & ARG_REGS ? BACK_GIVE_UP : BACK_GO_ON;
	}
	if (env->insn[idx].calls_callback && (int64_t)idx != next - 1)
		return leave_frame(s, false); /* out of the callback: R1-R5 came from the helper */
	drop_reg(s, BPF_REG_0);
	return s->regs[s->frame] & ARG_REGS ? BACK_GIVE_UP : BACK_GO_ON;
}

static int back_exit(struct verifier_env *env, struct vprecise_set *s, int64_t next)
{
	bool r0 = false;

	if (next >= 0 && env->insn[next].calls_callback)
		s->regs[s->frame] = (uint16_t)(s->regs[s->frame] & ~ARG_REGS);
	if ((s->regs[s->frame] & ARG_REGS) || s->frame + 1 >= BPF_FRAMES_MAX)
		return BACK_GIVE_UP;
	if (next >= 1) {
		const struct bpf_insn *call = &env->prog->insns[next - 1];

		r0 = call->code == (BPF_JMP | BPF_CALL) && call->src_reg == BPF_PSEUDO_CALL &&
		     reg_wanted(s, BPF_REG_0);
	}
	drop_reg(s, BPF_REG_0);
	s->frame++;
	s->regs[s->frame] = 0;
	s->slots[s->frame] = 0;
	if (r0)
		want_reg(s, BPF_REG_0);
	return BACK_GO_ON;
}

static int back_insn(struct verifier_env *env, struct vprecise_set *s, uint32_t idx, int64_t next,
		     const struct vhist *h)
{
	const struct bpf_insn *insn = &env->prog->insns[idx];
	uint8_t mode = BPF_MODE(insn->code);
	int r = BACK_GO_ON;

	spread_to_linked(s, h);
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		back_alu(s, insn);
		break;
	case BPF_LDX:
	case BPF_ST:
	case BPF_STX:
		return back_mem(s, insn, h);
	case BPF_JMP:
	case BPF_JMP32:
		if (insn->code == (BPF_JMP | BPF_CALL))
			return back_call(env, s, idx, next);
		if (insn->code == (BPF_JMP | BPF_EXIT))
			return back_exit(env, s, next);
		if (BPF_SRC(insn->code) == BPF_X && BPF_OP(insn->code) != BPF_JA &&
		    (reg_wanted(s, insn->dst_reg) || reg_wanted(s, insn->src_reg))) {
			want_reg(s, insn->dst_reg);
			want_reg(s, insn->src_reg);
		}
		break;
	case BPF_LD:
		if (!reg_wanted(s, insn->dst_reg))
			break;
		drop_reg(s, insn->dst_reg);
		if (mode == BPF_ABS || mode == BPF_IND)
			r = BACK_GIVE_UP;
		break;
	}
	spread_to_linked(s, h);
	return r;
}

/* The instruction before idx on the path of st, or -1 at the start of its segment. */
static int64_t step_back(const struct vstate *st, uint32_t idx, uint32_t *hist)
{
	uint32_t n = *hist;

	if (idx == st->first_idx && (n == 0 || (n == 1 && st->hist[0].idx == idx)))
		return -1;
	if (n && st->hist[n - 1].idx == idx) {
		*hist = n - 1;
		return st->hist[n - 1].prev_idx;
	}
	return idx ? (int64_t)idx - 1 : -1;
}

/* Mark in checkpoint st what is wanted; what is marked already, or is no scalar, needs no more. */
static void mark_in(struct vstate *st, struct vprecise_set *s)
{
	for (uint32_t f = 0; f <= s->frame && f <= st->curframe; f++) {
		struct vframe *fr = st->frame[f];

		for (uint32_t r = 0; r < BPF_REG_10; r++) {
			uint16_t bit = (uint16_t)(1u << r);

			if (!(s->regs[f] & bit))
				continue;
			if (fr->r[r].type != VT_SCALAR || fr->r[r].precise)
				s->regs[f] = (uint16_t)(s->regs[f] & ~bit);
			else
				fr->r[r].precise = 1;
		}
		for (uint64_t m = s->slots[f]; m; m &= m - 1) {
			uint32_t i = (uint32_t)__builtin_ctzll(m);

			if (i >= fr->slot_cnt || !vslot_is_full_spill(&fr->slot[i]) ||
			    fr->slot[i].reg.type != VT_SCALAR || fr->slot[i].reg.precise)
				s->slots[f] &= ~BIT(i);
			else
				fr->slot[i].reg.precise = 1;
		}
	}
}

/* The way back was lost: everything matters, in every checkpoint of the path. */
static void mark_all(struct vstate *st)
{
	for (; st; st = st->parent) {
		for (uint32_t f = 0; f <= st->curframe; f++) {
			struct vframe *fr = st->frame[f];

			for (uint32_t r = 0; r < BPF_REG_10; r++)
				fr->r[r].precise = fr->r[r].type == VT_SCALAR;
			for (uint32_t i = 0; i < fr->slot_cnt; i++)
				if (vslot_is_spilled_reg(&fr->slot[i]))
					fr->slot[i].reg.precise = fr->slot[i].reg.type == VT_SCALAR;
		}
	}
}

/* Backwards through one state's segment. BACK_GIVE_UP, or 0 at its start. */
static int back_segment(struct verifier_env *env, const struct vstate *st, struct vprecise_set *s,
			uint32_t last, int64_t *next, bool skip_first)
{
	uint32_t hist = st->hist_cnt;
	int64_t i = last;

	while (i >= 0) {
		const struct vhist *h =
			hist && st->hist[hist - 1].idx == (uint32_t)i ? &st->hist[hist - 1] : NULL;

		if (!skip_first && back_insn(env, s, (uint32_t)i, *next, h))
			return BACK_GIVE_UP;
		skip_first = false;
		if (set_is_empty(s))
			return 0;
		*next = i;
		i = step_back(st, (uint32_t)i, &hist);
	}
	return 0;
}

static void mark_back(struct verifier_env *env, struct vprecise_set *s, bool skip_first)
{
	struct vstate *st = env->cur;
	uint32_t last = env->insn_idx;
	int64_t next = -1;

	for (;;) {
		if (back_segment(env, st, s, last, &next, skip_first))
			break;
		if (set_is_empty(s))
			return;
		skip_first = false;
		st = st->parent;
		if (st) {
			if (s->frame > st->curframe)
				break;
			mark_in(st, s);
			if (set_is_empty(s))
				return;
			last = st->last_idx;
			next = st->insn_idx;
		}
		if (!st || last == UINT32_MAX) {
			/* The start of the program or of a global function: its arguments. */
			if (!(s->regs[0] & ~ARG_REGS) && !s->slots[0] && s->frame == 0)
				return;
			break;
		}
	}
	mark_all(env->cur);
}

int v_mark_precise(struct verifier_env *env, uint32_t reg)
{
	struct vprecise_set s = { .frame = env->cur->curframe };

	if (cur_regs(env->cur)[reg].type != VT_SCALAR)
		return 0;
	want_reg(&s, reg);
	mark_back(env, &s, true);
	return 0;
}

int v_mark_precise_set(struct verifier_env *env, struct vprecise_set *set)
{
	/* Called before the current instruction: the state is as the one before left it. */
	mark_back(env, set, true);
	return 0;
}
