/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When an old state covers a new one: whatever the program may do from the new state it may also do
 * from the old one, and that was found safe. What was never read since does not count; scalars
 * whose exact value never mattered (precise.c) may be anything.
 */
#include <string.h>

#include "bpf/verifier/env.h"

/* ---- ids: the same relations between registers, not the same numbers ---- */

static bool ids_correspond(struct verifier_env *env, uint32_t old, uint32_t cur)
{
	if (!old != !cur)
		return false;
	if (!old)
		return true;
	for (uint32_t i = 0; i < env->idmap_cnt; i++) {
		if (env->idmap[i].old == old)
			return env->idmap[i].cur == cur;
		if (env->idmap[i].cur == cur)
			return false;
	}
	if (env->idmap_cnt == VIDMAP_MAX)
		return false;
	env->idmap[env->idmap_cnt++] = (struct vidpair){ old, cur };
	return true;
}

/* A scalar without id corresponds to one with an id of its own: links may be fewer, not more. */
static bool scalar_ids_correspond(struct verifier_env *env, uint32_t old, uint32_t cur)
{
	old = old ? old : --env->idmap_tmp;
	cur = cur ? cur : --env->idmap_tmp;
	return ids_correspond(env, old, cur);
}

/* ---- registers ---- */

static bool same_but_ids(const struct vreg *old, const struct vreg *cur)
{
	return old->type == cur->type && old->flags == cur->flags && old->off == cur->off &&
	       old->aux == cur->aux && !memcmp(&old->v, &cur->v, sizeof(old->v));
}

static bool regs_exact(struct verifier_env *env, const struct vreg *old, const struct vreg *cur)
{
	return same_but_ids(old, cur) && ids_correspond(env, old->id, cur->id) &&
	       ids_correspond(env, old->ref_id, cur->ref_id);
}

static bool scalars_cover(struct verifier_env *env, const struct vreg *old, const struct vreg *cur,
			  enum vcmp_how how)
{
	if (!old->precise && how == VCMP_NOT_EXACT)
		return true;
	if (old->link_off != cur->link_off || !scalar_ids_correspond(env, old->id, cur->id))
		return false;
	return scalar_contains(&old->v, &cur->v);
}

/* Pointers into a block: the old offsets contain the new ones. */
static bool pointers_cover(struct verifier_env *env, const struct vreg *old, const struct vreg *cur)
{
	return old->flags == cur->flags && old->off == cur->off && old->aux == cur->aux &&
	       scalar_contains(&old->v, &cur->v) && ids_correspond(env, old->id, cur->id) &&
	       ids_correspond(env, old->ref_id, cur->ref_id);
}

static bool packets_cover(struct verifier_env *env, const struct vreg *old, const struct vreg *cur)
{
	return cur->range >= old->range && old->off == cur->off &&
	       ids_correspond(env, old->id, cur->id) && scalar_contains(&old->v, &cur->v);
}

static bool reg_covers(struct verifier_env *env, const struct vreg *old, const struct vreg *cur,
		       bool read, enum vcmp_how how)
{
	if (how == VCMP_EXACT)
		return regs_exact(env, old, cur);
	if (how == VCMP_NOT_EXACT && !read)
		return true;
	if (old->type == VT_NONE && (how == VCMP_NOT_EXACT || cur->type == VT_NONE))
		return true;
	if (old->type != cur->type)
		return false;
	switch (old->type) {
	case VT_SCALAR:
		return scalars_cover(env, old, cur, how);
	case VT_MAP_VALUE:
	case VT_MAP_KEY:
	case VT_MEM:
		return pointers_cover(env, old, cur);
	case VT_PACKET:
	case VT_PACKET_META:
		return packets_cover(env, old, cur);
	default:
		return regs_exact(env, old, cur);
	}
}

/* ---- stack ---- */

/* The whole slot as one scalar, where it is one: a full spill, or bytes of unknown value. */
static const struct vreg *slot_as_scalar(const struct vslot *s, struct vreg *unknown)
{
	if (vslot_is_full_spill(s))
		return s->reg.type == VT_SCALAR ? &s->reg : NULL;
	for (unsigned int i = 0; i < SLOT_BYTES; i++)
		if (s->type[i] != SLOT_MISC && s->type[i] != SLOT_INVALID)
			return NULL;
	vreg_set_unknown(unknown);
	return unknown;
}

static bool slot_bytes_match(const struct vslot *old, const struct vslot *cur, bool *spill)
{
	*spill = vslot_is_spilled_reg(old);
	for (unsigned int i = 0; i < SLOT_BYTES; i++) {
		uint8_t o = old->type[i], c = cur->type[i];

		/* Bytes never written or unknown: reading them gave any value at all. */
		if (o == SLOT_INVALID || o == SLOT_MISC)
			continue;
		if (o != c)
			return false;
	}
	return true;
}

static bool slot_covers(struct verifier_env *env, const struct vslot *old, const struct vslot *cur,
			bool read, enum vcmp_how how)
{
	struct vreg unknown_old, unknown_cur;
	const struct vreg *o, *c;
	bool spill;

	if (how == VCMP_EXACT && memcmp(old->type, cur->type, sizeof(old->type)))
		return false;
	if (how == VCMP_NOT_EXACT && !read)
		return true;
	o = slot_as_scalar(old, &unknown_old);
	c = slot_as_scalar(cur, &unknown_cur);
	if (o && c)
		return reg_covers(env, o, c, true, how);
	if (!slot_bytes_match(old, cur, &spill))
		return false;
	if (!spill)
		return true;
	return reg_covers(env, &old->reg, &cur->reg, true, how);
}

static bool stack_covers(struct verifier_env *env, const struct vframe *old,
			 const struct vframe *cur, enum vcmp_how how)
{
	static const struct vslot empty;

	for (uint32_t i = 0; i < MAX(old->slot_cnt, cur->slot_cnt); i++) {
		const struct vslot *o = i < old->slot_cnt ? &old->slot[i] : &empty;
		const struct vslot *c = i < cur->slot_cnt ? &cur->slot[i] : &empty;
		bool read = old->slot_read & BIT(i);

		if (i >= old->slot_cnt && how == VCMP_NOT_EXACT)
			break;
		if (!slot_covers(env, o, c, read, how))
			return false;
	}
	return true;
}

/* ---- states ---- */

static bool refs_cover(struct verifier_env *env, const struct vstate *old, const struct vstate *cur)
{
	if (old->ref_cnt != cur->ref_cnt || old->lock_map != cur->lock_map ||
	    !ids_correspond(env, old->lock_id, cur->lock_id))
		return false;
	for (uint32_t i = 0; i < old->ref_cnt; i++)
		if (!ids_correspond(env, old->ref[i].id, cur->ref[i].id))
			return false;
	return true;
}

bool vstate_covers(struct verifier_env *env, struct vstate *old, struct vstate *cur,
		   enum vcmp_how how)
{
	if (old->curframe != cur->curframe)
		return false;
	env->idmap_cnt = 0;
	env->idmap_tmp = UINT32_MAX;
	if (!refs_cover(env, old, cur))
		return false;
	for (uint32_t i = 0; i <= old->curframe; i++) {
		struct vframe *o = old->frame[i], *c = cur->frame[i];

		if (o->callsite != c->callsite || o->in_callback != c->in_callback)
			return false;
		/* Fewer rounds were left to the old one: it does not speak for more. */
		if (o->callback_depth > c->callback_depth)
			return false;
		for (uint32_t r = 0; r < BPF_REG_10; r++)
			if (!reg_covers(env, &o->r[r], &c->r[r], o->reg_read & (1u << r), how))
				return false;
		if (!stack_covers(env, o, c, how))
			return false;
	}
	return true;
}
