/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/helper.h"

#include "bpf/helpers.h"
#include "bpf/value_lock.h"
#include "include/barebpf_helpers.h"

#define HELPER_ARGS(a1, a2, a3, a4, a5) { a1, a2, a3, a4, a5 }

/* In id order, which the unit tests check. */
static const struct bpf_helper helpers[] = {
#define HELPER(name_, RET, ARGS, FLAGS, PROGS, MAPS, INLINE)                                       \
	{ .id = (uint32_t)BPF_FUNC_##name_,                                                        \
	  .name = #name_,                                                                          \
	  .fn = helper_##name_,                                                                    \
	  .ret = (RET),                                                                            \
	  .arg = HELPER_ARGS ARGS,                                                                 \
	  .flags = (FLAGS),                                                                        \
	  .progs = (PROGS),                                                                        \
	  .maps = (MAPS),                                                                          \
	  .inl = HELPER_INLINE_##INLINE },
#include "bpf/helpers.def"
};

const struct bpf_helper *bpf_helper_get(uint32_t id)
{
	uint32_t lo = 0, hi = ARRAY_SIZE(helpers);

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (helpers[mid].id == id)
			return &helpers[mid];
		if (helpers[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

const struct bpf_helper *bpf_helper_at(uint32_t index)
{
	return index < ARRAY_SIZE(helpers) ? &helpers[index] : NULL;
}

bool helper_hold(struct run_ctx *rc, enum run_held_kind kind, struct bpf_map *map, void *ptr)
{
	if (rc->held_nr == RUN_HELD_MAX)
		return false;
	rc->held[rc->held_nr] = (struct run_held){ .kind = kind, .map = map, .ptr = ptr };
	/* An abort may come at any point: the entry is whole before it counts. */
	__asm__ volatile("" ::: "memory");
	rc->held_nr++;
	return true;
}

bool helper_unhold(struct run_ctx *rc, enum run_held_kind kind, const void *ptr)
{
	for (uint32_t i = rc->held_nr; i-- > 0;) {
		if (rc->held[i].kind != kind || rc->held[i].ptr != ptr)
			continue;
		rc->held[i] = rc->held[rc->held_nr - 1];
		__asm__ volatile("" ::: "memory");
		rc->held_nr--;
		return true;
	}
	return false;
}

void helper_release_held(struct run_ctx *rc)
{
	while (rc->held_nr) {
		const struct run_held *held = &rc->held[--rc->held_nr];

		if (held->kind == RUN_HELD_SPIN_LOCK)
			value_unlock(held->ptr);
		else if (held->kind == RUN_HELD_RINGBUF)
			bpf_ringbuf_commit(held->ptr, 0, true);
	}
}
