/* SPDX-License-Identifier: BSD-2-Clause */
/* What call.c, callback.c and dynptr.c share: one helper call being checked. */
#pragma once

#include "bpf/verifier/env.h"

struct vcall {
	const struct bpf_helper *h;
	struct bpf_map *map; /* of the map argument */
	uint32_t map_id;
	uint32_t mem_size;   /* of the memory that the call returns */
	uint32_t release_id; /* reference that the call gives back */
	uint32_t callback;   /* function passed */
	struct bpf_map *timer_map;
	uint32_t dynptr_ref; /* dynptr_data: what the memory belongs to */
};

/* size bytes at reg, read or written by the helper. raw: written wholly, not read. */
int v_helper_mem(struct verifier_env *env, struct vcall *c, uint32_t reg, uint32_t size,
		 enum vaccess t, bool zero_ok, bool raw) __must_check;
/* Argument n (register n + 1). */
int v_check_arg(struct verifier_env *env, struct vcall *c, uint32_t n) __must_check;
int v_check_dynptr_arg(struct verifier_env *env, struct vcall *c, uint32_t reg,
		       enum helper_arg a) __must_check;
/* The callback is explored as if the helper called it at this point, any number of times. */
int v_push_callback(struct verifier_env *env, struct vcall *c) __must_check;
