/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF_MAP_TYPE_PERCPU_HASH: a program reads and writes its CPU's value, bpf(2) those of all. */
#include "maps/hash_write.h"

#define LOOKUP(suffix, key_bytes)                                                                  \
	static void *lookup_##suffix(struct bpf_map *map, const void *key)                         \
	{                                                                                          \
		struct hash_map *h = to_hash(map);                                                 \
		struct hash_elem *e = hash_find(h, key, key_bytes);                                \
                                                                                                   \
		return e ? hash_percpu_value(h, e, hal_cpu_id()) : NULL;                           \
	}

LOOKUP(4, 4)
LOOKUP(8, 8)
LOOKUP(any, map->key_size)

static void *lookup_percpu(struct bpf_map *map, const void *key, unsigned int cpu)
{
	struct hash_map *h = to_hash(map);
	struct hash_elem *e = cpu < h->ncpu ? hash_find(h, key, map->key_size) : NULL;

	return e ? hash_percpu_value(h, e, cpu) : NULL;
}

static int update(struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	if (flags > BPF_EXIST)
		return -EINVAL;
	return hash_update_with(to_hash(map), key, value, flags, map->key_size, HASH_PERCPU, false,
				false);
}

static int sys_update(struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	if (flags > BPF_EXIST)
		return -EINVAL;
	return hash_update_with(to_hash(map), key, value, flags, map->key_size, HASH_PERCPU, true,
				false);
}

static int delete(struct bpf_map *map, const void *key)
{
	return hash_delete_with(to_hash(map), key, map->key_size, HASH_PERCPU);
}

extern const struct bpf_map_ops percpu_hash_map_ops;
static const struct bpf_map_ops ops_4, ops_8;

static int alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	const struct bpf_map_ops *ops = attr->key_size == 4   ? &ops_4
					: attr->key_size == 8 ? &ops_8
							      : &percpu_hash_map_ops;

	return hash_alloc(attr, HASH_PERCPU, ops, out);
}

#define OPS(suffix)                                                                                \
	{                                                                                          \
		.alloc_check = hash_alloc_check,                                                   \
		.alloc = alloc,                                                                    \
		.free = hash_free,                                                                 \
		.lookup = lookup_##suffix,                                                         \
		.lookup_percpu = lookup_percpu,                                                    \
		.update = update,                                                                  \
		.delete = delete,                                                                  \
		.for_each = hash_for_each,                                                         \
		.get_next_key = hash_get_next_key,                                                 \
		.sys_lookup = hash_sys_lookup,                                                     \
		.sys_update = sys_update,                                                          \
		.sys_lookup_delete = hash_sys_lookup_delete,                                       \
		.sys_lookup_batch = hash_sys_lookup_batch,                                         \
		.owns_value = hash_owns_value,                                                     \
		.gen_lookup = hash_gen_lookup,                                                     \
		.mem_usage = hash_mem_usage,                                                       \
		.inner_fits = map_meta_equal,                                                      \
	}

static const struct bpf_map_ops ops_4 = OPS(4);
static const struct bpf_map_ops ops_8 = OPS(8);
const struct bpf_map_ops percpu_hash_map_ops = OPS(any);
