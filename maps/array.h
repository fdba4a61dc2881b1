/* SPDX-License-Identifier: BSD-2-Clause */
/* What array, per-CPU array and the arrays of objects share: 32-bit index keys. */
#pragma once

#include "bpf/map.h"

static __always_inline uint32_t array_index(const void *key)
{
	uint32_t index;

	__builtin_memcpy(&index, key, sizeof(index));
	return index;
}

/* All ones up to the next power of two: index & mask is index for every good one. */
uint32_t array_mask(uint32_t max_entries);

/* Operations in the sense of struct bpf_map_ops. */
int array_alloc_check(const union bpf_attr *attr);
int array_delete(struct bpf_map *map, const void *key); /* -EINVAL: elements always exist */
int array_get_next_key(struct bpf_map *map, const void *key, void *next_key);
int array_check_btf(const struct bpf_map *map, const struct bpf_btf *btf, uint32_t key_id,
		    uint32_t value_id);
bool array_inner_fits(const struct bpf_map *meta, const struct bpf_map *inner);
