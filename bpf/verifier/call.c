/* SPDX-License-Identifier: BSD-2-Clause */
/* Helper calls: every rule comes from the helper's row. */
#include <string.h>

#include "bpf/ctx.h"
#include "bpf/verifier/call.h"

/* ---- the call ---- */

static int check_allowed(struct verifier_env *env, uint32_t id, const struct bpf_helper *h)
{
	enum bpf_prog_type type = env->prog->type;

	if (!h)
		return v_reject(env, VR_UNKNOWN_FUNC, "invalid func unknown#%u", id);
	if (type < 32 && !(h->progs & (1u << type)))
		return v_reject(env, VR_FUNC_NOT_ALLOWED,
				"program of this type cannot use helper bpf_%s#%u (unknown func)",
				h->name, id);
	if ((h->flags & HELPER_NO_TRACING) &&
	    ((HELPER_PROGS_TRACING | HELPER_PROGS_SOCKET) & (1u << type)))
		return v_reject(env, VR_FUNC_NOT_ALLOWED, "%s progs cannot use bpf_%s yet",
				env->type->name, h->name);
	if ((h->flags & HELPER_GPL) && !env->prog->gpl)
		return v_reject(env, VR_GPL,
				"cannot call GPL-restricted function from non-GPL "
				"compatible program");
	if (env->cur->lock_map && !(h->flags & (HELPER_UNLOCK | HELPER_LOCK | HELPER_ANY_CONTEXT)))
		return v_reject(env, VR_HELD_LOCK,
				"function calls are not allowed while holding a lock");
	return 0;
}

static int check_map_type(struct verifier_env *env, const struct vcall *c)
{
	if (!c->map || !c->h->maps)
		return 0;
	if (c->map->type < 64 && (c->h->maps & (1ull << c->map->type)))
		return 0;
	return v_reject(env, VR_MAP_FUNC, "cannot pass map_type %u into func bpf_%s#%u",
			c->map->type, c->h->name, c->h->id);
}

static int set_return(struct verifier_env *env, struct vcall *c)
{
	struct vreg *r0 = &cur_regs(env->cur)[BPF_REG_0];

	v_mark_reg_written(cur_frame(env->cur), BPF_REG_0);
	switch (c->h->ret) {
	case RET_VOID:
		vreg_set_none(r0);
		return 0;
	case RET_PTR_TO_MAP_VALUE_OR_NULL:
	case RET_PTR_TO_MAP_VALUE:
		vreg_set_none(r0);
		r0->type = VT_MAP_VALUE;
		r0->v = scalar_const(0);
		r0->map = c->map;
		r0->id = ++env->next_id;
		if (c->h->ret == RET_PTR_TO_MAP_VALUE_OR_NULL)
			r0->flags = VF_MAYBE_NULL;
		return 0;
	case RET_PTR_TO_MEM_OR_NULL:
	case RET_PTR_TO_DYNPTR_MEM_OR_NULL:
		vreg_set_none(r0);
		r0->type = VT_MEM;
		r0->flags = VF_MAYBE_NULL;
		r0->v = scalar_const(0);
		r0->mem_size = c->mem_size;
		if (c->h->flags & HELPER_ACQUIRES) {
			r0->flags |= VF_RINGBUF;
			if (v_ref_acquire(env, env->insn_idx, &r0->ref_id))
				return env->verdict->err;
			r0->id = r0->ref_id;
		} else {
			r0->id = ++env->next_id;
			r0->ref_id = c->dynptr_ref;
			if (c->h->ret == RET_PTR_TO_DYNPTR_MEM_OR_NULL)
				r0->flags |= VF_DYNPTR_DATA;
		}
		return 0;
	default:
		vreg_set_unknown(r0);
		if (c->h->id == BPF_FUNC_get_smp_processor_id)
			r0->v = scalar_urange(0, env->cpus - 1);
		return 0;
	}
}

void v_clobber_caller_saved(struct verifier_env *env, uint32_t call_insn)
{
	struct vframe *f = cur_frame(env->cur);

	for (uint32_t r = BPF_REG_0; r <= BPF_REG_5; r++) {
		uint8_t was = f->r[r].type;

		vreg_set_none(&f->r[r]);
		if (was != VT_NONE) {
			f->r[r].lost_type = was;
			f->r[r].lost_at = call_insn + 1;
		}
		v_mark_reg_written(f, r);
	}
}

static void forget_one(struct verifier_env *env, struct vreg *r)
{
	uint8_t was = r->type;

	if (!vreg_is_pkt(r) && r->type != VT_PACKET_END)
		return;
	vreg_set_none(r);
	r->type = VT_SCALAR;
	r->lost_type = was;
	r->lost_at = env->insn_idx + 1;
}

void v_forget_packet(struct verifier_env *env)
{
	struct vstate *st = env->cur;

	for (uint32_t f = 0; f <= st->curframe; f++) {
		for (uint32_t r = 0; r < BPF_REG_10; r++)
			forget_one(env, &st->frame[f]->r[r]);
		for (uint32_t s = 0; s < st->frame[f]->slot_cnt; s++)
			if (vslot_is_spilled_reg(&st->frame[f]->slot[s]))
				forget_one(env, &st->frame[f]->slot[s].reg);
	}
}

/* A tail call with a constant index can become a direct jump. */
static int note_tail_call(struct verifier_env *env)
{
	struct bpf_insn_aux *aux = &env->aux[env->insn_idx];
	const struct vreg *index = &cur_regs(env->cur)[BPF_REG_3];
	bool known = vreg_is_const(index);
	int err = v_check_refs_at_exit(env);

	if (err)
		return v_reject(env, VR_LEAKED_REF, "tail_call would lead to reference leak");
	if (known && !env->insn[env->insn_idx].key_seen) {
		aux->flags |= AUX_CONST_KEY;
		aux->const_key = (uint32_t)index->v.t.value;
	} else if (!known || aux->const_key != (uint32_t)index->v.t.value) {
		aux->flags = (uint16_t)(aux->flags & ~AUX_CONST_KEY);
	}
	env->insn[env->insn_idx].key_seen = 1;
	return known ? v_mark_precise(env, BPF_REG_3) : 0;
}

int v_check_helper_call(struct verifier_env *env, const struct bpf_insn *insn)
{
	struct vcall c = { .h = bpf_helper_get((uint32_t)insn->imm) };
	int err = check_allowed(env, (uint32_t)insn->imm, c.h);

	for (uint32_t n = 0; !err && n < 5; n++)
		err = v_check_arg(env, &c, n);
	if (!err)
		err = check_map_type(env, &c);
	if (!err && c.h->id == BPF_FUNC_tail_call)
		err = note_tail_call(env);
	if (!err && (c.h->flags & HELPER_CALLBACK))
		err = v_push_callback(env, &c);
	if (!err && c.release_id)
		err = v_ref_release(env, c.release_id);
	if (err)
		return err;
	v_clobber_caller_saved(env, env->insn_idx);
	if (c.h->flags & HELPER_CHANGES_PKT)
		v_forget_packet(env);
	return set_return(env, &c);
}
