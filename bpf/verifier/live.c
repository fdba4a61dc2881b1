/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Liveness. A read of a register or slot is told to every checkpoint on the path back to the write
 * that it reads from: a checkpoint then knows what its continuations look at, and states that
 * differ only elsewhere are the same to it.
 */
#include "bpf/verifier/env.h"

static bool has_frame(const struct vstate *st, uint32_t frame, const struct vframe *f)
{
	return frame <= st->curframe && st->frame[frame]->instance == f->instance;
}

void v_mark_reg_read(struct verifier_env *env, uint32_t frame, uint32_t reg)
{
	uint16_t bit = (uint16_t)(1u << reg);
	struct vstate *st = env->cur, *p;
	struct vframe *f = st->frame[frame];

	if (f->reg_written & bit)
		return;
	while ((p = st->parent)) {
		/* Called since p: an argument is the caller's register. */
		while (!has_frame(p, frame, f)) {
			if (!frame || !(bit & VARG_REGS) || (f->caller_written & bit))
				return;
			f = st->frame[--frame];
		}
		f = p->frame[frame];
		if (f->reg_read & bit)
			return;
		f->reg_read = (uint16_t)(f->reg_read | bit);
		if (f->reg_written & bit)
			return;
		st = p;
	}
}

void v_mark_slot_read(struct verifier_env *env, uint32_t frame, uint32_t slot)
{
	uint64_t bit = BIT(slot);
	struct vstate *st = env->cur;

	while (!(st->frame[frame]->slot_written & bit)) {
		st = st->parent;
		if (!st || frame > st->curframe || (st->frame[frame]->slot_read & bit))
			return;
		st->frame[frame]->slot_read |= bit;
	}
}
