/* SPDX-License-Identifier: BSD-2-Clause */
/* References that must be given back, and the one spin lock that may be held. */
#include "bpf/verifier/env.h"

int v_ref_acquire(struct verifier_env *env, uint32_t insn, uint32_t *id)
{
	struct vstate *st = env->cur;

	if (st->ref_cnt == VREFS_MAX)
		return v_reject(env, VR_LEAKED_REF, "more than %u references are held", VREFS_MAX);
	*id = ++env->next_id;
	st->ref[st->ref_cnt++] = (struct vref){ .id = *id, .insn = insn, .frame = st->curframe };
	return 0;
}

static void invalidate(struct vreg *r, uint32_t id, uint32_t insn)
{
	uint8_t was = r->type;

	if (r->ref_id != id)
		return;
	vreg_set_unknown(r); /* an address that is no longer good for anything: a number */
	r->lost_type = was;
	r->lost_at = insn + 1;
}

int v_ref_release(struct verifier_env *env, uint32_t id)
{
	struct vstate *st = env->cur;
	uint32_t i = 0;

	while (i < st->ref_cnt && st->ref[i].id != id)
		i++;
	if (i == st->ref_cnt)
		return v_reject(env, VR_BAD_RELEASE, "release of a reference that is not held");
	if (cur_frame(st)->in_callback && st->ref[i].frame != st->curframe)
		return v_reject(env, VR_BAD_RELEASE,
				"Cannot release caller references in callbacks");
	st->ref[i] = st->ref[--st->ref_cnt];
	for (uint32_t f = 0; f <= st->curframe; f++) {
		for (uint32_t r = 0; r < BPF_REG_10; r++)
			invalidate(&st->frame[f]->r[r], id, env->insn_idx);
		for (uint32_t s = 0; s < st->frame[f]->slot_cnt; s++) {
			struct vslot *slot = &st->frame[f]->slot[s];

			if (!vslot_is_spilled_reg(slot) || slot->reg.ref_id != id)
				continue;
			for (uint32_t b = 0; b < SLOT_BYTES; b++)
				slot->type[b] = SLOT_MISC;
			vreg_set_none(&slot->reg);
		}
	}
	return 0;
}

int v_check_refs_at_exit(struct verifier_env *env)
{
	const struct vstate *st = env->cur;
	bool callback = cur_frame(st)->in_callback;

	if (st->curframe && !callback)
		return 0;
	for (uint32_t i = 0; i < st->ref_cnt; i++) {
		if (callback && st->ref[i].frame != st->curframe)
			continue;
		return v_reject(env, VR_LEAKED_REF, "Unreleased reference id=%u alloc_insn=%u",
				st->ref[i].id, st->ref[i].insn);
	}
	return 0;
}

int v_check_lock(struct verifier_env *env, uint32_t reg, bool take)
{
	struct vstate *st = env->cur;
	const struct vreg *r = &cur_regs(st)[reg];
	struct bpf_map *map = r->map;

	if (!scalar_is_const(&r->v))
		return v_reject(env, VR_LOCK,
				"R%u doesn't have constant offset. bpf_spin_lock has to be at the "
				"constant offset",
				reg);
	if (!map->btf)
		return v_reject(env, VR_LOCK,
				"map '%s' has to have BTF in order to use bpf_spin_lock",
				map->name);
	if (!map->has_lock)
		return v_reject(env, VR_LOCK, "map '%s' has no valid bpf_spin_lock", map->name);
	if ((int64_t)r->v.t.value + r->off != map->lock_off)
		return v_reject(env, VR_LOCK,
				"off %lld doesn't point to 'struct bpf_spin_lock' that is at %d",
				(long long)((int64_t)r->v.t.value + r->off), map->lock_off);
	if (take) {
		if (st->lock_map)
			return v_reject(env, VR_LOCK, "Locking two bpf_spin_locks are not allowed");
		st->lock_map = map;
		st->lock_id = r->id;
		return 0;
	}
	if (!st->lock_map)
		return v_reject(env, VR_LOCK, "bpf_spin_unlock without taking a lock");
	if (st->lock_map != map || st->lock_id != r->id)
		return v_reject(env, VR_LOCK, "bpf_spin_unlock of different lock");
	st->lock_map = NULL;
	st->lock_id = 0;
	return 0;
}
