/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the program: static calls, global calls, callbacks, and the ways back. */
#include "bpf/ctx.h"
#include "bpf/verifier/call.h"

/* ---- into a function ---- */

static int push_frame(struct verifier_env *env, struct vstate *st, uint32_t callsite,
		      uint32_t subprog)
{
	struct vframe *f;
	struct vreg *fp;

	if (st->curframe + 1 >= BPF_FRAMES_MAX)
		return v_reject(env, VR_CALL_DEPTH, "the call stack of %u frames is too deep",
				st->curframe + 2);
	f = vframe_new(env, callsite, subprog);
	if (!f)
		return v_reject(env, VR_NO_MEMORY, "out of memory");
	st->frame[++st->curframe] = f;
	fp = &f->r[BPF_REG_10];
	fp->type = VT_STACK;
	fp->v = scalar_const(0);
	fp->frameno = st->curframe;
	return 0;
}

static int call_global(struct verifier_env *env, uint32_t subprog, uint32_t *next)
{
	int err;

	if (env->cur->lock_map)
		return v_reject(env, VR_HELD_LOCK,
				"global function calls are not allowed while holding a lock, use "
				"static function instead");
	err = v_check_global_call_args(env, subprog);
	if (err)
		return err;
	env->global_called[subprog] = true;
	v_clobber_caller_saved(env, env->insn_idx);
	vreg_set_unknown(&cur_regs(env->cur)[BPF_REG_0]);
	if (env->changes_pkt[subprog])
		v_forget_packet(env);
	*next = env->insn_idx + 1;
	return 0;
}

int v_check_func_call(struct verifier_env *env, const struct bpf_insn *insn, uint32_t *next)
{
	struct vframe *caller = cur_frame(env->cur), *callee;
	int sub = v_subprog_at(env, (uint32_t)((int64_t)env->insn_idx + insn->imm + 1));
	int err;

	if (sub < 0)
		return v_reject(env, VR_INTERNAL, "call to no function");
	if (env->global[sub])
		return call_global(env, (uint32_t)sub, next);
	err = push_frame(env, env->cur, env->insn_idx, (uint32_t)sub);
	if (err)
		return err;
	callee = cur_frame(env->cur);
	/* Arguments: read of the caller when the callee reads them (live.c). */
	callee->reg_written = (uint16_t)(callee->reg_written & ~VARG_REGS);
	callee->caller_written = caller->reg_written;
	for (uint32_t r = BPF_REG_1; r <= BPF_REG_5; r++)
		callee->r[r] = caller->r[r];
	env->cur->curframe--;
	v_clobber_caller_saved(env, env->insn_idx);
	env->cur->curframe++;
	*next = env->subprog[sub].start;
	return 0;
}

/* ---- callbacks ---- */

static void set_unknown_value(struct vreg *r, uint8_t type, struct bpf_map *map)
{
	vreg_set_none(r);
	r->type = type;
	r->v = scalar_const(0);
	r->map = map;
}

/* Registers of the callback at its start, from those of the call. */
static void callback_args(const struct vcall *c, const struct vreg *caller, struct vframe *f)
{
	switch (c->h->id) {
	case BPF_FUNC_loop:
		vreg_set_unknown(&f->r[BPF_REG_1]);
		f->r[BPF_REG_2] = caller[BPF_REG_3];
		f->callback_ret_max = 1;
		break;
	case BPF_FUNC_for_each_map_elem:
		set_unknown_value(&f->r[BPF_REG_1], VT_MAP, c->map);
		set_unknown_value(&f->r[BPF_REG_2], VT_MAP_KEY, c->map);
		set_unknown_value(&f->r[BPF_REG_3], VT_MAP_VALUE, c->map);
		f->r[BPF_REG_4] = caller[BPF_REG_3];
		f->callback_ret_max = 1;
		break;
	default: /* timer_set_callback */
		set_unknown_value(&f->r[BPF_REG_1], VT_MAP, c->timer_map);
		set_unknown_value(&f->r[BPF_REG_2], VT_MAP_KEY, c->timer_map);
		set_unknown_value(&f->r[BPF_REG_3], VT_MAP_VALUE, c->timer_map);
		f->callback_ret_max = 0;
		break;
	}
}

/* A timer's callback runs by itself, later: a path of its own with no caller. */
static int push_async(struct verifier_env *env, const struct vcall *c)
{
	int err = 0;
	struct vstate *st =
		v_push_branch(env, env->subprog[c->callback].start, env->insn_idx, &err);
	struct vframe *f;

	if (!st)
		return err;
	for (uint32_t i = 0; i <= st->curframe; i++) {
		vframe_free(env, st->frame[i]);
		st->frame[i] = NULL;
	}
	st->curframe = 0;
	st->ref_cnt = 0;
	st->lock_map = NULL;
	st->lock_id = 0;
	st->hist_cnt = 0;
	st->first_idx = env->subprog[c->callback].start;
	/* Nothing that it reads is the path's that set the timer. */
	if (st->parent)
		st->parent->branches--;
	st->parent = NULL;
	f = vframe_new(env, UINT32_MAX, c->callback);
	if (!f)
		return v_reject(env, VR_NO_MEMORY, "out of memory");
	st->frame[0] = f;
	f->r[BPF_REG_10].type = VT_STACK;
	f->r[BPF_REG_10].v = scalar_const(0);
	f->r[BPF_REG_10].frameno = 0;
	f->in_async = 1;
	callback_args(c, cur_regs(env->cur), f);
	env->pending->prev_idx = UINT32_MAX;
	return 0;
}

static int push_sync(struct verifier_env *env, const struct vcall *c)
{
	int err = 0;
	struct vstate *st =
		v_push_branch(env, env->subprog[c->callback].start, env->insn_idx, &err);
	struct vframe *f, *caller;

	if (!st)
		return err;
	err = push_frame(env, st, env->insn_idx, c->callback);
	if (err)
		return err;
	f = cur_frame(st);
	f->in_callback = 1;
	callback_args(c, cur_regs(env->cur), f);
	st->callback_unroll++;
	caller = st->frame[st->curframe - 1];
	caller->callback_depth++; /* its registers stay as they are: the way back leads to the call
				   */
	cur_frame(env->cur)->callback_depth = 0;
	return 0;
}

int v_push_callback(struct verifier_env *env, struct vcall *c)
{
	const struct vreg *r1 = &cur_regs(env->cur)[BPF_REG_1];
	int err;

	if (!c->callback)
		return v_reject(env, VR_CALLBACK, "no callback");
	if (c->h->id == BPF_FUNC_timer_set_callback)
		return push_async(env, c);
	if (c->h->id != BPF_FUNC_loop)
		return push_sync(env, c);
	/* How often the loop has run decides whether it runs again. */
	err = v_mark_precise(env, BPF_REG_1);
	if (err)
		return err;
	if (cur_frame(env->cur)->callback_depth < r1->v.umax)
		return push_sync(env, c);
	cur_frame(env->cur)->callback_depth = 0;
	return 0;
}

/* ---- out of a function ---- */

static bool same_callsites(const struct vstate *a, const struct vstate *b)
{
	if (a->curframe != b->curframe)
		return false;
	for (uint32_t f = 0; f <= a->curframe; f++)
		if (a->frame[f]->callsite != b->frame[f]->callsite)
			return false;
	return true;
}

/* The checkpoint at the call from which this round of the callback started. */
static struct vstate *previous_round(struct verifier_env *env, uint32_t callsite)
{
	for (struct vvisited *v = env->visited[callsite]; v; v = v->next)
		if (v->st.branches && same_callsites(&v->st, env->cur) &&
		    v->st.dfs_depth < env->cur->dfs_depth)
			return &v->st;
	return NULL;
}

static void widen_reg(const struct vreg *old, struct vreg *cur)
{
	if (old->type != VT_SCALAR || cur->type != VT_SCALAR || old->precise || cur->precise)
		return;
	if (!__builtin_memcmp(&old->v, &cur->v, sizeof(cur->v)) && old->id == cur->id)
		return;
	vreg_set_unknown(cur);
}

/*
 * A number that changes from round to round and never mattered may be anything: so that the rounds
 * become alike and end.
 */
static void widen(const struct vstate *old, struct vstate *cur)
{
	for (uint32_t f = 0; f <= cur->curframe; f++) {
		const struct vframe *o = old->frame[f];
		struct vframe *c = cur->frame[f];

		for (uint32_t r = 0; r < BPF_REG_10; r++)
			widen_reg(&o->r[r], &c->r[r]);
		for (uint32_t s = 0; s < MIN(o->slot_cnt, c->slot_cnt); s++)
			if (vslot_is_full_spill(&o->slot[s]) && vslot_is_full_spill(&c->slot[s]))
				widen_reg(&o->slot[s].reg, &c->slot[s].reg);
	}
}

static int check_callback_return(struct verifier_env *env, const struct vframe *callee)
{
	const struct vreg *r0 = &callee->r[BPF_REG_0];
	int err;

	if (r0->type != VT_SCALAR)
		return v_reject(env, VR_RETURN_TYPE, "R0 not a scalar value");
	err = v_check_reg_read(env, BPF_REG_0);
	if (!err)
		err = v_mark_precise(env, BPF_REG_0);
	if (err)
		return err;
	if (r0->v.smin < 0 || r0->v.smax > callee->callback_ret_max) {
		v_log_reg(env, r0);
		return v_reject(env, VR_CALLBACK_RET,
				"At callback return the register R0 has smin=%lld smax=%lld should "
				"have been in [0, %u]",
				(long long)r0->v.smin, (long long)r0->v.smax,
				callee->callback_ret_max);
	}
	return 0;
}

static int return_to_caller(struct verifier_env *env, uint32_t *next)
{
	struct vstate *st = env->cur, *prev;
	struct vframe *callee = cur_frame(st), *caller = st->frame[st->curframe - 1];
	struct vreg *r0 = &callee->r[BPF_REG_0];
	uint32_t callsite = callee->callsite;
	bool callback = callee->in_callback;
	int err = 0;

	if (r0->type == VT_STACK)
		return v_reject(env, VR_RETURN_TYPE, "cannot return stack pointer to the caller");
	if (callback) {
		err = check_callback_return(env, callee);
	} else {
		if (r0->type != VT_NONE)
			err = v_check_reg_read(env, BPF_REG_0);
		caller->r[BPF_REG_0] = *r0;
		v_mark_reg_written(caller, BPF_REG_0);
	}
	if (err)
		return err;
	vframe_free(env, callee);
	st->frame[st->curframe--] = NULL;
	*next = callback ? callsite : callsite + 1;
	if (!callback)
		return 0;
	prev = previous_round(env, callsite);
	if (prev)
		widen(prev, st);
	return 0;
}

static int check_main_return(struct verifier_env *env)
{
	const struct vframe *f = cur_frame(env->cur);
	const struct vreg *r0 = &f->r[BPF_REG_0];
	int64_t lo = env->type->ret_min, hi = env->type->ret_max;
	int err = v_check_reg_read(env, BPF_REG_0);

	if (err)
		return err;
	if (f->in_async)
		lo = hi = 0;
	else if (f->subprog && r0->type != VT_SCALAR)
		return v_reject(env, VR_RETURN_TYPE,
				"At subprogram exit the register R0 is not a scalar value (%s)",
				v_type_name(r0));
	else if (f->subprog || !env->type->ret_checked)
		return 0;
	if (r0->type != VT_SCALAR)
		return v_reject(env, VR_RETURN_TYPE,
				"At %s exit the register R0 is not a known value (%s)",
				f->in_async ? "async callback" : "program", v_type_name(r0));
	err = v_mark_precise(env, BPF_REG_0);
	if (err)
		return err;
	if (r0->v.smin < lo || r0->v.smax > hi)
		return v_reject(env, VR_RETURN_RANGE,
				"At %s exit the register R0 has smin=%lld smax=%lld should have "
				"been in [%lld, %lld]",
				f->in_async ? "async callback" : "program", (long long)r0->v.smin,
				(long long)r0->v.smax, (long long)lo, (long long)hi);
	return 0;
}

int v_check_exit(struct verifier_env *env, uint32_t *next, bool *done)
{
	int err;

	if (env->cur->lock_map && !env->cur->curframe)
		return v_reject(env, VR_LOCK, "bpf_spin_unlock is missing");
	err = v_check_refs_at_exit(env);
	if (err)
		return err;
	if (env->cur->curframe) {
		*done = false;
		return return_to_caller(env, next);
	}
	*done = true;
	return check_main_return(env);
}
