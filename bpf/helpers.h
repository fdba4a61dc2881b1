/* SPDX-License-Identifier: BSD-2-Clause */
/* Prototypes of the helper functions, one a row of bpf/helpers.def; see there. Context: run. */
#pragma once

#include "bpf/helper.h"
#include "include/err.h"
#include "include/hal.h"

#define HELPER(name, ...)                                                                          \
	uint64_t helper_##name(uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4, uint64_t r5);
#include "bpf/helpers.def"

/*
 * Head of a helper's definition: five register values, those that it has no use for included.
 *	HELPER_DEF(ktime_get_ns)
 *	{
 *		return hal_ktime_ns();
 *	}
 */
#define HELPER_DEF(name)                                                                           \
	uint64_t helper_##name(                                                                    \
		uint64_t r1 __attribute__((unused)), uint64_t r2 __attribute__((unused)),          \
		uint64_t r3 __attribute__((unused)), uint64_t r4 __attribute__((unused)),          \
		uint64_t r5 __attribute__((unused)))

/* A negative error number as R0 has it. */
static inline uint64_t helper_ret(int64_t ret)
{
	return (uint64_t)ret;
}

static inline struct bpf_map *helper_map(uint64_t r)
{
	return (struct bpf_map *)(uintptr_t)r;
}

static inline void *helper_ptr(uint64_t r)
{
	return (void *)(uintptr_t)r;
}

/* Remember what the run must give back when it is aborted; false: no room. */
bool helper_hold(struct run_ctx *rc, enum run_held_kind kind, struct bpf_map *map, void *ptr);
/* Forget it; false: it was not held. */
bool helper_unhold(struct run_ctx *rc, enum run_held_kind kind, const void *ptr);
/*
 * Give back what a run still holds after it was ended: locks are released, records discarded.
 * Interrupts are already as they were before the run.
 */
void helper_release_held(struct run_ctx *rc);
