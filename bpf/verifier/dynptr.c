/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynptrs: 16 bytes of stack that a helper fills in and helpers read. Two slots of type
 * SLOT_DYNPTR; the slot at the lower address holds what it is: reg.id its identity, reg.ref_id a
 * reference to give back.
 */
#include "bpf/verifier/call.h"

#define DYNPTR_BYTES 16

/* The frame and the two slots (low address first) of the argument. */
static int find_slots(struct verifier_env *env, uint32_t reg, struct vframe **f, uint32_t *low)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];
	int64_t off = r->off + (int64_t)r->v.t.value;

	if (!scalar_is_const(&r->v) || off % SLOT_BYTES)
		return v_reject(env, VR_DYNPTR, "R%u dynptr has to be at a constant offset", reg);
	if (off < -BPF_STACK_MAX || off > -DYNPTR_BYTES)
		return v_reject(env, VR_DYNPTR, "cannot pass in dynptr at an offset=%lld",
				(long long)off);
	*f = env->cur->frame[r->frameno];
	*low = (uint32_t)(-off) / SLOT_BYTES - 1;
	return 0;
}

static bool is_dynptr(const struct vframe *f, uint32_t low)
{
	return low < f->slot_cnt && low && f->slot[low].type[0] == SLOT_DYNPTR &&
	       f->slot[low - 1].type[0] == SLOT_DYNPTR && f->slot[low].reg.id &&
	       f->slot[low - 1].reg.id == 0;
}

static void set_slots(struct vframe *f, uint32_t low, uint8_t type)
{
	for (uint32_t b = 0; b < SLOT_BYTES; b++)
		f->slot[low].type[b] = f->slot[low - 1].type[b] = type;
	vreg_set_none(&f->slot[low].reg);
	vreg_set_none(&f->slot[low - 1].reg);
}

static int make(struct verifier_env *env, struct vcall *c, uint32_t reg)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];
	struct vframe *f;
	uint32_t low, id;
	int err = find_slots(env, reg, &f, &low);

	if (!err)
		err = v_stack_range(env, reg, 0, DYNPTR_BYTES, false, VACC_WRITE, true);
	if (err)
		return err;
	f = env->cur->frame[r->frameno];
	set_slots(f, low, SLOT_DYNPTR);
	f->slot[low].reg.id = ++env->next_id;
	if (c->h->flags & HELPER_ACQUIRES) {
		err = v_ref_acquire(env, env->insn_idx, &id);
		if (err)
			return err;
		f->slot[low].reg.ref_id = id;
	}
	f->slot_written |= BIT(low) | BIT(low - 1);
	return 0;
}

int v_check_dynptr_arg(struct verifier_env *env, struct vcall *c, uint32_t reg, enum helper_arg a)
{
	struct vframe *f;
	uint32_t low;
	int err;

	if (a == ARG_PTR_TO_UNINIT_DYNPTR)
		return make(env, c, reg);
	err = find_slots(env, reg, &f, &low);
	if (err)
		return err;
	if (!is_dynptr(f, low))
		return v_reject(env, VR_DYNPTR, "Expected an initialized dynptr as arg #%u", reg);
	v_mark_slot_read(env, cur_regs(env->cur)[reg].frameno, low);
	v_mark_slot_read(env, cur_regs(env->cur)[reg].frameno, low - 1);
	c->dynptr_ref = f->slot[low].reg.ref_id;
	if (a != ARG_PTR_TO_DYNPTR_RELEASE)
		return 0;
	if (!c->dynptr_ref)
		return v_reject(env, VR_BAD_RELEASE, "arg %u is an unacquired reference", reg);
	c->release_id = c->dynptr_ref;
	set_slots(f, low, SLOT_INVALID);
	return 0;
}
