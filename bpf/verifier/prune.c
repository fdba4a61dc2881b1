/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which states are explored: branches that wait, checkpoints kept at prune points, and the decision
 * that a state needs no exploring since a checkpoint covers it.
 *
 * Loops through callbacks. A helper may call its callback any number of times, so a path comes back
 * to the call while its checkpoint is still being explored. There a checkpoint that covers the
 * state by ranges ends the path. What such a checkpoint learned of reads and precision is not
 * complete, so states inside the loop compare by ranges too as long as the loop's entry is open
 * (loop_entry).
 */
#include <string.h>

#include "bpf/verifier/env.h"

/* ---- loops ---- */

static struct vstate *loop_entry_of(struct vstate *st)
{
	struct vstate *top = st->loop_entry;

	while (top && top->loop_entry && top->loop_entry != top)
		top = top->loop_entry;
	while (st && st->loop_entry != top) { /* shorten the way for the next one */
		struct vstate *next = st->loop_entry;

		st->loop_entry = top;
		st = next;
	}
	return top;
}

void v_loop_update(struct vstate *cur, struct vstate *hdr)
{
	struct vstate *cur_top = loop_entry_of(cur), *hdr_top = loop_entry_of(hdr);

	if (!cur_top)
		cur_top = cur;
	if (!hdr_top)
		hdr_top = hdr;
	if (hdr_top->branches && hdr_top->dfs_depth <= cur_top->dfs_depth) {
		cur->loop_entry = hdr;
		hdr->used_as_loop_entry = 1;
	}
}

/* ---- branches ---- */

void v_branch_done(struct verifier_env *env, struct vstate *st)
{
	(void)env;
	while (st) {
		if (--st->branches)
			return;
		if (st->parent && st->loop_entry)
			v_loop_update(st->parent, st->loop_entry);
		st = st->parent;
	}
}

struct vstate *v_push_branch(struct verifier_env *env, uint32_t insn_idx, uint32_t prev_idx,
			     int *err)
{
	struct vpending *p;

	if (env->pending_cnt >= VERIFY_PENDING_MAX) {
		*err = v_reject(env, VR_TOO_COMPLEX, "The sequence of %u jumps is too complex.",
				env->pending_cnt);
		return NULL;
	}
	p = v_alloc(env, sizeof(*p));
	if (!p || vstate_copy(env, &p->st, env->cur)) {
		if (p) {
			vstate_free_parts(env, &p->st);
			v_free(env, p, sizeof(*p));
		}
		*err = v_reject(env, VR_NO_MEMORY, "out of memory");
		return NULL;
	}
	p->insn_idx = insn_idx;
	p->prev_idx = prev_idx;
	p->log_mark = env->log ? bpf_log_mark(env->log) : 0;
	p->st.parent = env->cur->parent;
	p->st.branches = 1;
	if (p->st.parent)
		p->st.parent->branches++;
	p->next = env->pending;
	env->pending = p;
	env->pending_cnt++;
	return &p->st;
}

/* ---- what a covering checkpoint teaches the path that ends at it ---- */

static void inherit_reads(struct verifier_env *env, const struct vstate *old)
{
	for (uint32_t f = 0; f <= old->curframe; f++) {
		const struct vframe *o = old->frame[f];

		for (uint32_t r = 0; r < BPF_REG_10; r++)
			if (o->reg_read & (1u << r))
				v_mark_reg_read(env, f, r);
		for (uint64_t m = o->slot_read; m; m &= m - 1)
			v_mark_slot_read(env, f, (uint32_t)__builtin_ctzll(m));
	}
}

static int inherit_precision(struct verifier_env *env, const struct vstate *old)
{
	struct vprecise_set set = { .frame = old->curframe };
	bool any = false;

	for (uint32_t f = 0; f <= old->curframe; f++) {
		const struct vframe *o = old->frame[f];

		for (uint32_t r = 0; r < BPF_REG_10; r++) {
			if (o->r[r].type != VT_SCALAR || !o->r[r].precise ||
			    !(o->reg_read & (1u << r)))
				continue;
			set.regs[f] = (uint16_t)(set.regs[f] | (1u << r));
			any = true;
		}
		for (uint32_t s = 0; s < o->slot_cnt; s++) {
			if (!vslot_is_spilled_reg(&o->slot[s]) ||
			    o->slot[s].reg.type != VT_SCALAR || !o->slot[s].reg.precise ||
			    !(o->slot_read & BIT(s)))
				continue;
			set.slots[f] |= BIT(s);
			any = true;
		}
	}
	return any ? v_mark_precise_set(env, &set) : 0;
}

static int covered_by(struct verifier_env *env, struct vvisited *v, uint32_t insn_idx)
{
	int err = 0;

	v->hits++;
	inherit_reads(env, &v->st);
	if (env->insn[insn_idx].jump_point)
		err = v_history_note(env, env->cur);
	if (!err)
		err = inherit_precision(env, &v->st);
	env->verdict->pruned++;
	return err ? err : 1;
}

/* ---- checkpoints ---- */

/* Cheap test before the full one: the registers of the innermost frame are the same. */
static bool may_loop(const struct vstate *old, const struct vstate *cur)
{
	const struct vframe *o, *c;

	if (old->curframe != cur->curframe)
		return false;
	o = cur_frame(old);
	c = cur_frame(cur);
	for (uint32_t r = 0; r < BPF_REG_10; r++)
		if (o->r[r].type != c->r[r].type || o->r[r].off != c->r[r].off ||
		    memcmp(&o->r[r].v, &c->r[r].v, sizeof(o->r[r].v)))
			return false;
	return true;
}

static int report_infinite_loop(struct verifier_env *env, const struct vstate *old,
				uint32_t insn_idx)
{
	v_log(env, "cur state:");
	v_log_state(env, env->cur, true);
	v_log(env, "old state:");
	v_log_state(env, old, true);
	return v_reject(env, VR_INFINITE_LOOP, "infinite loop detected at insn %u", insn_idx);
}

/* Checkpoint still being explored: a loop. 1 covered, 0 no, -errno refused. */
static int visit_open(struct verifier_env *env, struct vvisited *v, uint32_t insn_idx, bool force,
		      bool *add)
{
	if (env->insn[insn_idx].calls_callback) {
		if (vstate_covers(env, &v->st, env->cur, VCMP_RANGE_WITHIN)) {
			v_loop_update(env->cur, &v->st);
			return covered_by(env, v, insn_idx);
		}
	} else if (may_loop(&v->st, env->cur) &&
		   v->st.callback_unroll == env->cur->callback_unroll &&
		   vstate_covers(env, &v->st, env->cur, VCMP_EXACT)) {
		return report_infinite_loop(env, &v->st, insn_idx);
	}
	/* A loop that counts: few checkpoints, since none will cover the next round. */
	if (!force && env->jumps - env->prev_jumps < 20 &&
	    env->verdict->processed - env->prev_insns < 100)
		*add = false;
	return 0;
}

static int visit_closed(struct verifier_env *env, struct vvisited *v, uint32_t insn_idx)
{
	struct vstate *entry = loop_entry_of(&v->st);
	bool by_range = entry && entry->branches;

	if (!vstate_covers(env, &v->st, env->cur, by_range ? VCMP_RANGE_WITHIN : VCMP_NOT_EXACT))
		return 0;
	if (by_range)
		v_loop_update(env->cur, entry);
	return covered_by(env, v, insn_idx);
}

static void free_visited(struct verifier_env *env, struct vvisited *v)
{
	vstate_free_parts(env, &v->st);
	v_free(env, v, sizeof(*v));
	env->states_now--;
}

/* A checkpoint that never covers anything is not worth comparing with. */
static bool worn_out(const struct verifier_env *env, const struct vvisited *v, uint32_t insn_idx)
{
	uint32_t n = env->insn[insn_idx].force_checkpoint && v->st.branches ? 64 : 3;

	return v->misses > v->hits * n + n;
}

static void drop_visited(struct verifier_env *env, struct vvisited **link)
{
	struct vvisited *v = *link;

	*link = v->next;
	if (!v->st.branches && !v->st.used_as_loop_entry) {
		free_visited(env, v);
		return;
	}
	v->next = env->dropped; /* still a parent, or asked about as a loop's entry */
	env->dropped = v;
}

static void forget_precision(struct vstate *st)
{
	for (uint32_t f = 0; f <= st->curframe; f++) {
		for (uint32_t r = 0; r < BPF_REG_10; r++)
			st->frame[f]->r[r].precise = 0;
		for (uint32_t s = 0; s < st->frame[f]->slot_cnt; s++)
			st->frame[f]->slot[s].reg.precise = 0;
	}
}

static void forget_writes(struct vstate *st)
{
	for (uint32_t f = 0; f <= st->curframe; f++) {
		st->frame[f]->reg_written = st->frame[f]->reg_read = 0;
		st->frame[f]->slot_written = st->frame[f]->slot_read = 0;
	}
}

/* The current state becomes a checkpoint, its parent from here on. */
static int add_checkpoint(struct verifier_env *env, uint32_t insn_idx)
{
	struct vstate *cur = env->cur;
	struct vvisited *v = v_alloc(env, sizeof(*v));

	if (!v)
		return v_reject(env, VR_NO_MEMORY, "out of memory");
	forget_precision(cur);
	if (vstate_copy(env, &v->st, cur)) {
		vstate_free_parts(env, &v->st);
		v_free(env, v, sizeof(*v));
		return v_reject(env, VR_NO_MEMORY, "out of memory");
	}
	env->verdict->states_total++;
	if (++env->states_now > env->verdict->states_peak)
		env->verdict->states_peak = env->states_now;
	env->prev_jumps = env->jumps;
	env->prev_insns = env->verdict->processed;
	v->st.insn_idx = insn_idx;
	v->st.parent = cur->parent;
	v->st.branches = 1;
	v->next = env->visited[insn_idx];
	env->visited[insn_idx] = v;
	for (uint32_t f = 0; f <= cur->curframe; f++) {
		v->st.frame[f]->reg_read = 0;
		v->st.frame[f]->slot_read = 0;
	}
	cur->parent = &v->st;
	cur->first_idx = insn_idx;
	cur->loop_entry = NULL;
	cur->used_as_loop_entry = 0;
	cur->dfs_depth = v->st.dfs_depth + 1;
	cur->hist_cnt = 0;
	env->hist_noted = false;
	forget_writes(cur);
	return 0;
}

int v_is_visited(struct verifier_env *env, uint32_t insn_idx)
{
	bool force =
		env->test_freq || env->insn[insn_idx].force_checkpoint || env->cur->hist_cnt > 40;
	bool add = force;
	int r;

	if (env->jumps - env->prev_jumps >= 2 && env->verdict->processed - env->prev_insns >= 8)
		add = true;
	env->cur->last_idx = env->prev_idx;
	for (struct vvisited **link = &env->visited[insn_idx]; *link;) {
		struct vvisited *v = *link;

		if (v->st.branches)
			r = visit_open(env, v, insn_idx, force, &add);
		else
			r = visit_closed(env, v, insn_idx);
		if (r)
			return r;
		if (add)
			v->misses++;
		if (worn_out(env, v, insn_idx))
			drop_visited(env, link);
		else
			link = &v->next;
	}
	return add ? add_checkpoint(env, insn_idx) : 0;
}

void v_free_states(struct verifier_env *env)
{
	while (env->pending) {
		struct vpending *p = env->pending;

		env->pending = p->next;
		vstate_free_parts(env, &p->st);
		v_free(env, p, sizeof(*p));
	}
	if (env->cur) {
		vstate_free_parts(env, env->cur);
		v_free(env, env->cur, sizeof(*env->cur));
		env->cur = NULL;
	}
	for (uint32_t i = 0; env->visited && i < env->prog->insn_cnt; i++) {
		while (env->visited[i]) {
			struct vvisited *v = env->visited[i];

			env->visited[i] = v->next;
			free_visited(env, v);
		}
	}
	while (env->dropped) {
		struct vvisited *v = env->dropped;

		env->dropped = v->next;
		free_visited(env, v);
	}
}
