/* SPDX-License-Identifier: BSD-2-Clause */
/* Entry, the walk over all paths, and the results. */
#include <string.h>

#include "bpf/ctx.h"
#include "bpf/isa.h"
#include "bpf/verifier/env.h"
#include "include/hal.h"

/* ---- one instruction ---- */

static int step_jump(struct verifier_env *env, const struct bpf_insn *insn, uint32_t *next,
		     bool *done)
{
	uint8_t op = BPF_OP(insn->code);

	env->jumps++;
	switch (op) {
	case BPF_CALL:
		if (insn->src_reg == BPF_PSEUDO_CALL)
			return v_check_func_call(env, insn, next);
		if (insn->src_reg)
			return v_reject(env, VR_UNKNOWN_FUNC,
					"calling kernel function is not allowed");
		return v_check_helper_call(env, insn);
	case BPF_JA:
		*next = (uint32_t)isa_target(insn, env->insn_idx);
		return 0;
	case BPF_EXIT:
		return v_check_exit(env, next, done);
	default:
		return v_check_cond_jump(env, insn, next);
	}
}

static int step(struct verifier_env *env, const struct bpf_insn *insn, uint32_t *next, bool *done)
{
	const char *why;

	if (!isa_find(insn, env->insn_idx + 1 < env->prog->insn_cnt, &why))
		return v_reject(env, VR_RESERVED_FIELD, "%s", why);
	switch (BPF_CLASS(insn->code)) {
	case BPF_ALU:
	case BPF_ALU64:
		return v_check_alu(env, insn);
	case BPF_LDX:
		return v_check_load(env, insn);
	case BPF_ST:
		return v_check_store(env, insn);
	case BPF_STX:
		return BPF_MODE(insn->code) == BPF_ATOMIC ? v_check_atomic(env, insn)
							  : v_check_store(env, insn);
	case BPF_LD:
		if (BPF_MODE(insn->code) != BPF_IMM)
			return v_check_ld_abs(env, insn);
		*next = env->insn_idx + 2;
		env->aux[env->insn_idx + 1].flags |= AUX_REACHED;
		return v_check_ldimm64(env, insn);
	default:
		return step_jump(env, insn, next, done);
	}
}

/* ---- all paths ---- */

static void log_position(struct verifier_env *env)
{
	if (!env->log || !(env->log->level & (BPF_LOG_LEVEL1 | BPF_LOG_LEVEL2)))
		return;
	if ((env->log->level & BPF_LOG_LEVEL2) && env->insn[env->insn_idx].prune_point) {
		bpf_log_printf(env->log, "%u:", env->insn_idx);
		v_log_state(env, env->cur, false);
	}
	v_log_source_line(env, env->insn_idx);
	v_log_insn(env, env->insn_idx);
}

/* The current path is over: take up the branch that was put aside last. false: none is left. */
static bool next_path(struct verifier_env *env)
{
	struct vpending *p = env->pending;

	if (env->cur) {
		v_branch_done(env, env->cur);
		vstate_free_parts(env, env->cur);
		v_free(env, env->cur, sizeof(*env->cur));
		env->cur = NULL;
	}
	if (!p)
		return false;
	env->cur = v_alloc(env, sizeof(*env->cur));
	if (!env->cur) {
		(void)v_reject(env, VR_NO_MEMORY, "out of memory");
		return false;
	}
	*env->cur = p->st;
	env->insn_idx = p->insn_idx;
	env->prev_idx = p->prev_idx;
	env->pending = p->next;
	env->pending_cnt--;
	/* At level 1 a path that turned out good leaves no text. */
	if (env->log && !(env->log->level & BPF_LOG_LEVEL2))
		bpf_log_reset_to(env->log, p->log_mark);
	env->last_line = NULL;
	v_free(env, p, sizeof(*p));
	if (env->log && (env->log->level & BPF_LOG_LEVEL2)) {
		bpf_log_printf(env->log, "\nfrom %u to %u:", env->prev_idx, env->insn_idx);
		v_log_state(env, env->cur, false);
	}
	return true;
}

/* One instruction of the current path. *over: the path ends here. */
static int visit_insn(struct verifier_env *env, bool *over)
{
	const struct bpf_insn *insn;
	uint32_t next;
	int err;

	if (env->insn_idx >= env->prog->insn_cnt)
		return v_reject(env, VR_INTERNAL, "invalid insn idx %u", env->insn_idx);
	if (++env->verdict->processed > VERIFY_INSNS_MAX)
		return v_reject(env, VR_TOO_LARGE, "BPF program is too large. Processed %u insn",
				env->verdict->processed);
	insn = &env->prog->insns[env->insn_idx];
	env->hist_noted = false;
	if (env->insn[env->insn_idx].prune_point) {
		err = v_is_visited(env, env->insn_idx);
		if (err < 0)
			return err;
		if (err) {
			if (env->log && (env->log->level & BPF_LOG_LEVEL2))
				v_log(env, "%u: safe", env->insn_idx);
			*over = true;
			return 0;
		}
	}
	if (env->insn[env->insn_idx].jump_point) {
		err = v_history_note(env, env->cur);
		if (err)
			return err;
	}
	log_position(env);
	env->aux[env->insn_idx].flags |= AUX_REACHED;
	next = env->insn_idx + 1;
	err = step(env, insn, &next, over);
	if (err)
		return err;
	env->prev_idx = env->insn_idx;
	env->insn_idx = next;
	return 0;
}

static int walk_paths(struct verifier_env *env)
{
	int err = 0;

	while (!err) {
		bool over = false;

		err = visit_insn(env, &over);
		if (!err && over && !next_path(env))
			return env->verdict->err;
	}
	return err;
}

/* ---- one function from its start ---- */

static int start_state(struct verifier_env *env, uint32_t subprog)
{
	struct vframe *f;

	env->cur = v_alloc(env, sizeof(*env->cur));
	f = env->cur ? vframe_new(env, UINT32_MAX, subprog) : NULL;
	if (!f)
		return v_reject(env, VR_NO_MEMORY, "out of memory");
	env->cur->frame[0] = f;
	env->cur->branches = 1;
	env->cur->first_idx = env->subprog[subprog].start;
	f->r[BPF_REG_10].type = VT_STACK;
	f->r[BPF_REG_10].v = scalar_const(0);
	env->insn_idx = env->subprog[subprog].start;
	env->prev_idx = UINT32_MAX;
	env->last_line = NULL;
	if (subprog)
		return v_prepare_global_args(env, subprog);
	f->r[BPF_REG_1].type = VT_CTX;
	f->r[BPF_REG_1].v = scalar_const(0);
	return 0;
}

static int verify_function(struct verifier_env *env, uint32_t subprog)
{
	uint64_t mark = env->log ? bpf_log_mark(env->log) : 0;
	int err;

	env->prev_jumps = env->jumps;
	env->prev_insns = env->verdict->processed;
	err = start_state(env, subprog);
	if (!err)
		err = walk_paths(env);
	v_free_states(env);
	if (!err && env->log && !(env->log->level & BPF_LOG_LEVEL2))
		bpf_log_reset_to(env->log, mark);
	return err;
}

static int verify_functions(struct verifier_env *env)
{
	bool again = true;
	int err = verify_function(env, 0);

	/* Global functions that are called, each once; they may call further ones. */
	while (!err && again) {
		again = false;
		for (uint32_t i = 1; !err && i < env->subprog_cnt; i++) {
			if (!env->global[i] || !env->global_called[i] || env->global_done[i])
				continue;
			env->global_done[i] = true;
			again = true;
			v_log(env, "Validating func#%u...", i);
			err = verify_function(env, i);
			if (!err)
				v_log(env, "Func#%u is safe for any args that match its prototype",
				      i);
		}
	}
	return err;
}

/* ---- results ---- */

static void finish_aux(struct verifier_env *env)
{
	for (uint32_t i = 0; i < env->prog->insn_cnt; i++) {
		const struct vinsn *vi = &env->insn[i];
		struct bpf_insn_aux *aux = &env->aux[i];

		aux->orig_idx = i;
		if (vi->taken && !vi->fall)
			aux->flags |= AUX_JUMP_ALWAYS;
		if (vi->fall && !vi->taken)
			aux->flags |= AUX_JUMP_NEVER;
		if (vi->prune_point)
			aux->flags |= AUX_PRUNE_POINT;
	}
}

static void log_stats(struct verifier_env *env)
{
	const struct verify_verdict *v = env->verdict;

	if (env->log && env->log->level)
		bpf_log_printf(
			env->log,
			"processed %u insns (limit %u) max_states_per_insn 0 total_states %u "
			"peak_states %u mark_read 0\n",
			v->processed, VERIFY_INSNS_MAX, v->states_total, v->states_peak);
}

/* The tables that live as long as the verification. */
struct tables {
	size_t insn, visited, idmap, flags;
};

static int alloc_tables(struct verifier_env *env, struct tables *t)
{
	uint32_t cnt = env->prog->insn_cnt;

	t->insn = cnt * sizeof(*env->insn);
	t->visited = cnt * sizeof(*env->visited);
	t->idmap = VIDMAP_MAX * sizeof(*env->idmap);
	t->flags = 4 * BPF_SUBPROGS_MAX * sizeof(bool);
	env->insn = v_alloc(env, t->insn);
	env->visited = v_alloc(env, t->visited);
	env->idmap = v_alloc(env, t->idmap);
	env->global = v_alloc(env, t->flags);
	if (!env->insn || !env->visited || !env->idmap || !env->global)
		return v_reject(env, VR_NO_MEMORY, "out of memory");
	env->global_called = env->global + BPF_SUBPROGS_MAX;
	env->global_done = env->global + 2 * BPF_SUBPROGS_MAX;
	env->changes_pkt = env->global + 3 * BPF_SUBPROGS_MAX;
	return 0;
}

static void free_tables(struct verifier_env *env, const struct tables *t)
{
	v_free(env, env->insn, t->insn);
	v_free(env, env->visited, t->visited);
	v_free(env, env->idmap, t->idmap);
	v_free(env, env->global, t->flags);
}

static int verify_all(struct verifier_env *env)
{
	int err = v_find_subprogs(env);

	if (!err)
		err = v_check_info(env);
	if (!err)
		err = v_check_cfg(env);
	if (!err) {
		v_find_packet_changes(env);
		err = verify_functions(env);
	}
	if (!err)
		err = v_check_stack_depth(env);
	return err;
}

static void setup_env(struct verifier_env *env, struct bpf_prog *prog, struct bpf_log *log,
		      struct verify_verdict *v)
{
	memset(v, 0, sizeof(*v));
	v->insn = UINT32_MAX;
	env->prog = prog;
	env->log = log && log->level ? log : NULL;
	env->verdict = v;
	env->type = prog_type_get(prog->type);
	env->cpus = hal_cpu_count();
	env->strict_align = prog->flags & BPF_F_STRICT_ALIGNMENT;
	env->any_align = prog->flags & BPF_F_ANY_ALIGNMENT;
	env->test_freq = prog->flags & BPF_F_TEST_STATE_FREQ;
	env->test_regs = prog->flags & BPF_F_TEST_REG_INVARIANTS;
}

int bpf_verify(struct bpf_prog *prog, struct bpf_log *log, struct verify_verdict *v)
{
	struct verifier_env *env = hal_alloc(sizeof(*env));
	struct tables t = { 0 };
	int err;

	if (!env) {
		memset(v, 0, sizeof(*v));
		return v->err = -ENOMEM;
	}
	setup_env(env, prog, log, v);
	env->aux = hal_alloc(prog->insn_cnt * sizeof(*env->aux));
	env->subprog = hal_alloc(BPF_SUBPROGS_MAX * sizeof(*env->subprog));
	if (!env->aux || !env->subprog || !env->type)
		err = v_reject(env, env->type ? VR_NO_MEMORY : VR_BAD_INSN,
			       env->type ? "out of memory" : "unknown program type");
	else
		err = alloc_tables(env, &t);
	if (!err)
		err = verify_all(env);
	v_free_states(env);
	log_stats(env);
	v->peak_bytes = env->mem_peak;
	if (!err) {
		finish_aux(env);
		prog->aux = env->aux;
		prog->subprogs = env->subprog;
		prog->subprog_cnt = env->subprog_cnt;
		prog->verified_insns = v->processed;
		prog->verified = 1;
	} else {
		hal_free(env->aux);
		hal_free(env->subprog);
	}
	free_tables(env, &t);
	hal_free(env);
	return err;
}
