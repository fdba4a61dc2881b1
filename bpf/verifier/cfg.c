/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shape of a program, before any state is looked at: its functions, that every jump stays
 * inside one, that every instruction can be reached, where states are compared (prune points).
 */
#include <string.h>

#include "bpf/isa.h"
#include "bpf/verifier/env.h"

static bool is_pseudo_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL;
}

static bool is_helper_call(const struct bpf_insn *insn)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == 0;
}

static bool is_ldimm64(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool is_pseudo_func(const struct bpf_insn *insn)
{
	return is_ldimm64(insn) && insn->src_reg == BPF_PSEUDO_FUNC;
}

static bool is_jump(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

static bool is_goto(const struct bpf_insn *insn)
{
	return is_jump(insn) && BPF_OP(insn->code) == BPF_JA;
}

static uint32_t insn_slots(const struct bpf_insn *insn)
{
	return is_ldimm64(insn) ? 2 : 1;
}

/* ---- functions ---- */

int v_subprog_at(const struct verifier_env *env, uint32_t insn)
{
	uint32_t lo = 0, hi = env->subprog_cnt;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (env->subprog[mid].start < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < env->subprog_cnt && env->subprog[lo].start == insn ? (int)lo : -1;
}

int v_subprog_of(const struct verifier_env *env, uint32_t insn)
{
	uint32_t i = 0;

	while (i + 1 < env->subprog_cnt && env->subprog[i + 1].start <= insn)
		i++;
	return (int)i;
}

static int add_subprog(struct verifier_env *env, int64_t start)
{
	uint32_t at = env->subprog_cnt;

	if (start < 0 || start >= env->prog->insn_cnt)
		return v_reject(env, VR_JUMP_RANGE, "call to invalid destination");
	if (v_subprog_at(env, (uint32_t)start) >= 0)
		return 0;
	if (env->subprog_cnt >= BPF_SUBPROGS_MAX)
		return v_reject(env, VR_TOO_MANY_SUBPROGS, "too many subprograms");
	while (at && env->subprog[at - 1].start > start) {
		env->subprog[at] = env->subprog[at - 1];
		at--;
	}
	memset(&env->subprog[at], 0, sizeof(env->subprog[at]));
	env->subprog[at].start = (uint32_t)start;
	env->subprog_cnt++;
	return 0;
}

int v_find_subprogs(struct verifier_env *env)
{
	const struct bpf_insn *insns = env->prog->insns;
	uint32_t cnt = env->prog->insn_cnt;
	int err = add_subprog(env, 0);

	for (uint32_t i = 0; !err && i < cnt; i += insn_slots(&insns[i])) {
		if (!is_pseudo_call(&insns[i]) && !is_pseudo_func(&insns[i]))
			continue;
		env->insn_idx = i;
		err = add_subprog(env, (int64_t)i + insns[i].imm + 1);
	}
	if (err)
		return err;
	for (uint32_t i = 0; i < env->subprog_cnt; i++)
		env->subprog[i].end = i + 1 < env->subprog_cnt ? env->subprog[i + 1].start : cnt;
	return 0;
}

/* Jumps stay in their function, functions end in a jump or exit; facts that need no states. */
static int check_subprog(struct verifier_env *env, struct bpf_subprog *sp)
{
	const struct bpf_insn *insns = env->prog->insns, *last = NULL;

	sp->is_leaf = 1;
	for (uint32_t i = sp->start; i < sp->end; i += insn_slots(&insns[i])) {
		const struct bpf_insn *insn = &insns[i];
		uint8_t class = BPF_CLASS(insn->code), mode = BPF_MODE(insn->code);
		int64_t target;

		last = insn;
		env->insn_idx = i;
		if (is_helper_call(insn) && insn->imm == BPF_FUNC_tail_call) {
			sp->has_tail_call = 1;
			env->prog->has_tail_call = 1;
		}
		if (insn->code == (BPF_JMP | BPF_CALL))
			sp->is_leaf = 0;
		if (class == BPF_LD && (mode == BPF_ABS || mode == BPF_IND))
			sp->has_ld_abs = 1;
		if (!is_jump(insn))
			continue;
		target = isa_target(insn, i);
		if (target < sp->start || target >= sp->end)
			return v_reject(env, VR_JUMP_RANGE,
					"jump out of range from insn %u to %lld", i,
					(long long)target);
	}
	if (!last || (last->code != (BPF_JMP | BPF_EXIT) && !is_goto(last)))
		return v_reject(env, VR_LAST_INSN, "last insn is not an exit or jmp");
	return 0;
}

/* ---- reachability: depth first over instructions ---- */

enum { DISCOVERED = 1, EXPLORED = 2 };

struct walk {
	struct verifier_env *env;
	uint8_t *state;
	uint32_t *stack;
	uint32_t depth;
};

/* Edge to `to`; branch: the target is a place where states meet. */
static int walk_edge(struct walk *w, uint32_t from, int64_t to, bool branch)
{
	struct verifier_env *env = w->env;

	env->insn_idx = from;
	if (to < 0 || to >= env->prog->insn_cnt)
		return v_reject(env, VR_JUMP_RANGE, "jump out of range from insn %u to %lld", from,
				(long long)to);
	if (branch)
		env->insn[to].prune_point = env->insn[to].jump_point = 1;
	if (w->state[to])
		return 0;
	w->state[to] = DISCOVERED;
	w->stack[w->depth++] = (uint32_t)to;
	return 0;
}

static int walk_call(struct walk *w, uint32_t i, bool into)
{
	struct verifier_env *env = w->env;
	const struct bpf_insn *insn = &env->prog->insns[i];
	uint32_t next = i + insn_slots(insn);
	int err = walk_edge(w, i, next, false);

	if (err)
		return err;
	env->insn[next].prune_point = env->insn[next].jump_point = 1;
	if (!into)
		return 0;
	env->insn[i].prune_point = 1;
	return walk_edge(w, i, (int64_t)i + insn->imm + 1, true);
}

static int walk_insn(struct walk *w, uint32_t i)
{
	struct verifier_env *env = w->env;
	const struct bpf_insn *insn = &env->prog->insns[i];
	const struct bpf_helper *h;
	int err;

	if (is_pseudo_func(insn))
		return walk_call(w, i, true);
	if (is_pseudo_call(insn))
		return walk_call(w, i, true);
	if (insn->code == (BPF_JMP | BPF_EXIT))
		return 0;
	if (is_helper_call(insn)) {
		h = bpf_helper_get((uint32_t)insn->imm);
		if (h && (h->flags & HELPER_CALLBACK)) {
			env->insn[i].prune_point = 1;
			env->insn[i].force_checkpoint = 1;
			env->insn[i].calls_callback = 1;
		}
		return walk_call(w, i, false);
	}
	if (is_goto(insn)) {
		err = walk_edge(w, i, isa_target(insn, i), false);
		if (err)
			return err;
		env->insn[isa_target(insn, i)].prune_point = 1;
		env->insn[isa_target(insn, i)].jump_point = 1;
		return 0;
	}
	if (is_jump(insn)) {
		env->insn[i].prune_point = 1;
		err = walk_edge(w, i, (int64_t)i + 1, false);
		return err ? err : walk_edge(w, i, isa_target(insn, i), true);
	}
	return walk_edge(w, i, (int64_t)i + insn_slots(insn), false);
}

static int walk_all(struct walk *w)
{
	struct verifier_env *env = w->env;
	int err;

	w->state[0] = DISCOVERED;
	w->stack[w->depth++] = 0;
	while (w->depth) {
		uint32_t i = w->stack[--w->depth];

		w->state[i] = EXPLORED;
		err = walk_insn(w, i);
		if (err)
			return err;
	}
	for (uint32_t i = 0; i < env->prog->insn_cnt; i++) {
		env->insn_idx = i;
		if (!w->state[i])
			return v_reject(env, VR_UNREACHABLE, "unreachable insn %u", i);
		if (is_ldimm64(&env->prog->insns[i])) {
			if (w->state[i + 1])
				return v_reject(env, VR_JUMP_RANGE,
						"jump into the middle of ldimm64 insn %u", i);
			i++;
		}
	}
	return 0;
}

int v_check_cfg(struct verifier_env *env)
{
	uint32_t cnt = env->prog->insn_cnt;
	struct walk w = { .env = env };
	int err = 0;

	for (uint32_t i = 0; !err && i < env->subprog_cnt; i++)
		err = check_subprog(env, &env->subprog[i]);
	if (err)
		return err;
	w.state = v_alloc(env, cnt);
	w.stack = v_alloc(env, cnt * sizeof(*w.stack));
	if (w.state && w.stack)
		err = walk_all(&w);
	else
		err = v_reject(env, VR_NO_MEMORY, "out of memory");
	v_free(env, w.state, cnt);
	v_free(env, w.stack, cnt * sizeof(*w.stack));
	return err;
}

/* ---- functions that move the packet ---- */

static bool insn_changes_packet(const struct verifier_env *env, uint32_t i)
{
	const struct bpf_insn *insn = &env->prog->insns[i];
	const struct bpf_helper *h;
	int sub;

	if (is_helper_call(insn)) {
		h = bpf_helper_get((uint32_t)insn->imm);
		return h && (h->flags & HELPER_CHANGES_PKT);
	}
	if (!is_pseudo_call(insn) && !is_pseudo_func(insn))
		return false;
	sub = v_subprog_at(env, (uint32_t)((int64_t)i + insn->imm + 1));
	return sub >= 0 && env->changes_pkt[sub];
}

void v_find_packet_changes(struct verifier_env *env)
{
	const struct bpf_insn *insns = env->prog->insns;
	bool more = true;

	while (more) {
		more = false;
		for (uint32_t s = 0; s < env->subprog_cnt; s++)
			for (uint32_t i = env->subprog[s].start;
			     !env->changes_pkt[s] && i < env->subprog[s].end;
			     i += insn_slots(&insns[i]))
				more |= env->changes_pkt[s] = insn_changes_packet(env, i);
	}
}

/* ---- stack depth along call chains, after verification ---- */

/* Longest chain of callers above each function. */
struct chain {
	uint32_t frames, bytes;
};

static uint32_t frame_bytes(const struct bpf_subprog *sp)
{
	return ROUND_UP(MAX((uint32_t)sp->stack_bytes, 1u), 16u);
}

static int check_chain(struct verifier_env *env, uint32_t callee, const struct chain *above)
{
	const struct bpf_subprog *sp = &env->subprog[callee];
	uint32_t bytes = above->bytes + frame_bytes(sp);

	if (above->frames + 1 > BPF_FRAMES_MAX)
		return v_reject(env, VR_CALL_DEPTH, "the call stack of %u frames is too deep !",
				above->frames + 1);
	if (bytes > BPF_STACK_MAX)
		return v_reject(env, VR_STACK_TOO_LARGE,
				"combined stack size of %u calls is %u. Too large",
				above->frames + 1, bytes);
	if (sp->has_tail_call && above->frames && above->bytes >= 256)
		return v_reject(env, VR_TAIL_CALL_STACK,
				"tail_calls are not allowed when call stack of previous frames is "
				"%u bytes. Too large",
				above->bytes);
	return 0;
}

/* Carry the chain of the function of insn i to the function that it calls. */
static int relax_call(struct verifier_env *env, struct chain *chain, uint32_t caller, uint32_t i,
		      bool *changed)
{
	int callee = v_subprog_at(env, (uint32_t)((int64_t)i + env->prog->insns[i].imm + 1));
	struct chain c = {
		.frames = chain[caller].frames + 1,
		.bytes = chain[caller].bytes + frame_bytes(&env->subprog[caller]),
	};

	if (c.frames <= chain[callee].frames && c.bytes <= chain[callee].bytes)
		return 0;
	chain[callee].frames = MAX(chain[callee].frames, c.frames);
	chain[callee].bytes = MAX(chain[callee].bytes, c.bytes);
	*changed = true;
	env->insn_idx = i;
	return check_chain(env, (uint32_t)callee, &chain[callee]);
}

/*
 * Chains grow by a frame a round, so that the limit on frames ends it, recursion too. Callbacks
 * count as called where they are passed.
 */
static int relax_all(struct verifier_env *env, struct chain *chain)
{
	const struct bpf_insn *insns = env->prog->insns;
	bool changed = true;
	int err = 0;

	while (changed) {
		changed = false;
		for (uint32_t s = 0; s < env->subprog_cnt; s++) {
			if (s && !chain[s].frames)
				continue;
			for (uint32_t i = env->subprog[s].start; i < env->subprog[s].end;
			     i += insn_slots(&insns[i])) {
				if (is_pseudo_call(&insns[i]) || is_pseudo_func(&insns[i]))
					err = relax_call(env, chain, s, i, &changed);
				if (err)
					return err;
			}
		}
	}
	return 0;
}

int v_check_stack_depth(struct verifier_env *env)
{
	size_t bytes = env->subprog_cnt * sizeof(struct chain);
	struct chain *chain = v_alloc(env, bytes);
	int err;

	if (!chain)
		return v_reject(env, VR_NO_MEMORY, "out of memory");
	env->insn_idx = 0;
	err = check_chain(env, 0, &chain[0]);
	if (!err)
		err = relax_all(env, chain);
	v_free(env, chain, bytes);
	return err;
}
