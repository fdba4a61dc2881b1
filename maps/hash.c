/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF_MAP_TYPE_HASH; lookup, update and delete specialised for keys of 4, 8 and 16 bytes. */
#include "maps/hash_write.h"

/* BPF_F_LOCK: in place under the value's lock. And flags that do not exist. */
static int update_flags(struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	uint64_t plain = flags & ~(uint64_t)BPF_F_LOCK;

	if (plain > BPF_EXIST || !map->has_lock)
		return -EINVAL;
	return hash_update_with(to_hash(map), key, value, plain, map->key_size, 0, false, true);
}

#define SPECIALISE(suffix, key_bytes)                                                              \
	static void *lookup_##suffix(struct bpf_map *map, const void *key)                         \
	{                                                                                          \
		struct hash_map *h = to_hash(map);                                                 \
		struct hash_elem *e = hash_find(h, key, key_bytes);                                \
                                                                                                   \
		return e ? hash_elem_value(h, e) : NULL;                                           \
	}                                                                                          \
	static int update_##suffix(struct bpf_map *map, const void *key, const void *value,        \
				   uint64_t flags)                                                 \
	{                                                                                          \
		if (unlikely(flags > BPF_EXIST))                                                   \
			return update_flags(map, key, value, flags);                               \
		return hash_update_with(to_hash(map), key, value, flags, key_bytes, 0, false,      \
					false);                                                    \
	}                                                                                          \
	static int delete_##suffix(struct bpf_map *map, const void *key)                           \
	{                                                                                          \
		return hash_delete_with(to_hash(map), key, key_bytes, 0);                          \
	}

SPECIALISE(4, 4)
SPECIALISE(8, 8)
SPECIALISE(16, 16)
SPECIALISE(any, map->key_size)

extern const struct bpf_map_ops hash_map_ops;
static const struct bpf_map_ops ops_4, ops_8, ops_16;

static int plain_alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	const struct bpf_map_ops *ops = attr->key_size == 4    ? &ops_4
					: attr->key_size == 8  ? &ops_8
					: attr->key_size == 16 ? &ops_16
							       : &hash_map_ops;

	return hash_alloc(attr, 0, ops, out);
}

#define HASH_OPS(suffix)                                                                           \
	{                                                                                          \
		.alloc_check = hash_alloc_check,                                                   \
		.alloc = plain_alloc,                                                              \
		.free = hash_free,                                                                 \
		.lookup = lookup_##suffix,                                                         \
		.update = update_##suffix,                                                         \
		.delete = delete_##suffix,                                                         \
		.for_each = hash_for_each,                                                         \
		.get_next_key = hash_get_next_key,                                                 \
		.sys_lookup = hash_sys_lookup,                                                     \
		.sys_lookup_delete = hash_sys_lookup_delete,                                       \
		.sys_lookup_batch = hash_sys_lookup_batch,                                         \
		.owns_value = hash_owns_value,                                                     \
		.value_at = hash_value_at,                                                         \
		.key_of = hash_key_of,                                                             \
		.release_uref = hash_release_uref,                                                 \
		.gen_lookup = hash_gen_lookup,                                                     \
		.mem_usage = hash_mem_usage,                                                       \
		.inner_fits = map_meta_equal,                                                      \
	}

static const struct bpf_map_ops ops_4 = HASH_OPS(4);
static const struct bpf_map_ops ops_8 = HASH_OPS(8);
static const struct bpf_map_ops ops_16 = HASH_OPS(16);
const struct bpf_map_ops hash_map_ops = HASH_OPS(any);
