/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Liveness. A read of a register or slot is told to every checkpoint on the path back to the write
 * that it reads from: a checkpoint then knows what its continuations look at, and states that
 * differ only elsewhere are the same to it.
 */
#include "bpf/verifier/env.h"

void v_mark_reg_read(struct verifier_env *env, uint32_t frame, uint32_t reg)
{
	uint16_t bit = (uint16_t)(1u << reg);
	struct vstate *st = env->cur;

	while (!(st->frame[frame]->reg_written & bit)) {
		st = st->parent;
		if (!st || frame > st->curframe || (st->frame[frame]->reg_read & bit))
			return;
		st->frame[frame]->reg_read = (uint16_t)(st->frame[frame]->reg_read | bit);
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
