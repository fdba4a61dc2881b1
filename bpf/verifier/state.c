/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "bpf/verifier/env.h"
#include "include/hal.h"

void *v_alloc(struct verifier_env *env, size_t bytes)
{
	void *p = hal_alloc(bytes);

	if (!p)
		return NULL;
	env->mem_bytes += bytes;
	if (env->mem_bytes > env->mem_peak)
		env->mem_peak = env->mem_bytes;
	return p;
}

void *v_realloc(struct verifier_env *env, void *p, size_t old_bytes, size_t bytes)
{
	void *q = v_alloc(env, bytes);

	if (!q)
		return NULL;
	if (p) {
		memcpy(q, p, MIN(old_bytes, bytes));
		v_free(env, p, old_bytes);
	}
	return q;
}

void v_free(struct verifier_env *env, void *p, size_t bytes)
{
	if (!p)
		return;
	env->mem_bytes -= bytes;
	hal_free(p);
}

/* ---- registers ---- */

void vreg_set_none(struct vreg *r)
{
	memset(r, 0, sizeof(*r));
	r->v = scalar_unknown();
}

void vreg_set_unknown(struct vreg *r)
{
	vreg_set_none(r);
	r->type = VT_SCALAR;
}

void vreg_set_const(struct vreg *r, uint64_t v)
{
	memset(r, 0, sizeof(*r));
	r->type = VT_SCALAR;
	r->v = scalar_const(v);
}

/* ---- frames ---- */

struct vframe *vframe_new(struct verifier_env *env, uint32_t callsite, uint32_t subprog)
{
	struct vframe *f = v_alloc(env, sizeof(*f));

	if (!f)
		return NULL;
	for (unsigned int i = 0; i < MAX_BPF_REG; i++)
		vreg_set_none(&f->r[i]);
	f->instance = ++env->next_id;
	f->callsite = callsite;
	f->subprog = subprog;
	/* What an earlier frame at this depth read is not this frame's: reads end here. */
	f->reg_written = UINT16_MAX;
	f->slot_written = UINT64_MAX;
	return f;
}

void vframe_free(struct verifier_env *env, struct vframe *f)
{
	if (!f)
		return;
	v_free(env, f->slot, f->slot_cnt * sizeof(*f->slot));
	v_free(env, f, sizeof(*f));
}

int vframe_grow(struct verifier_env *env, struct vframe *f, uint32_t cnt)
{
	struct vslot *s;

	if (cnt <= f->slot_cnt)
		return 0;
	s = v_realloc(env, f->slot, f->slot_cnt * sizeof(*s), cnt * sizeof(*s));
	if (!s)
		return -ENOMEM;
	f->slot = s;
	f->slot_cnt = cnt;
	return 0;
}

static struct vframe *vframe_copy(struct verifier_env *env, const struct vframe *src)
{
	struct vframe *f = v_alloc(env, sizeof(*f));

	if (!f)
		return NULL;
	*f = *src;
	f->slot = NULL;
	f->slot_cnt = 0;
	if (src->slot_cnt) {
		if (vframe_grow(env, f, src->slot_cnt)) {
			v_free(env, f, sizeof(*f));
			return NULL;
		}
		memcpy(f->slot, src->slot, src->slot_cnt * sizeof(*f->slot));
	}
	return f;
}

/* ---- states ---- */

int vstate_copy(struct verifier_env *env, struct vstate *dst, const struct vstate *src)
{
	memset(dst, 0, sizeof(*dst));
	dst->curframe = src->curframe;
	dst->first_idx = src->first_idx;
	dst->last_idx = src->last_idx;
	dst->insn_idx = src->insn_idx;
	dst->ref_cnt = src->ref_cnt;
	memcpy(dst->ref, src->ref, src->ref_cnt * sizeof(src->ref[0]));
	dst->lock_id = src->lock_id;
	dst->lock_map = src->lock_map;
	dst->callback_unroll = src->callback_unroll;
	dst->loop_entry = src->loop_entry;
	dst->used_as_loop_entry = src->used_as_loop_entry;
	dst->dfs_depth = src->dfs_depth;
	if (src->hist_cnt) {
		dst->hist = v_alloc(env, src->hist_cnt * sizeof(*dst->hist));
		if (!dst->hist)
			return -ENOMEM;
		dst->hist_cnt = dst->hist_cap = src->hist_cnt;
		memcpy(dst->hist, src->hist, src->hist_cnt * sizeof(*dst->hist));
	}
	for (uint32_t i = 0; i <= src->curframe; i++) {
		dst->frame[i] = vframe_copy(env, src->frame[i]);
		if (!dst->frame[i])
			return -ENOMEM;
	}
	return 0;
}

void vstate_free_parts(struct verifier_env *env, struct vstate *st)
{
	for (uint32_t i = 0; i < BPF_FRAMES_MAX; i++) {
		vframe_free(env, st->frame[i]);
		st->frame[i] = NULL;
	}
	v_free(env, st->hist, st->hist_cap * sizeof(*st->hist));
	st->hist = NULL;
	st->hist_cnt = st->hist_cap = 0;
}
