/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Array of maps, hash of maps. Their shape (map->inner) is that of the map given at creation;
 * runtime/ lets only maps in that have it. Programs may only look up.
 */
#include "maps/array.h"
#include "maps/fd_array.h"
#include "maps/hash_write.h"

const struct bpf_map_ops array_of_maps_map_ops = {
	.alloc_check = fd_array_alloc_check,
	.check_btf = map_check_no_btf,
	.alloc = fd_array_alloc,
	.free = fd_array_free,
	.lookup = fd_array_lookup,
	.delete = fd_array_delete,
	.get_next_key = array_get_next_key,
	.sys_lookup = fd_array_sys_lookup,
	.sys_update = fd_array_sys_update,
	.gen_lookup = fd_array_gen_lookup,
	.mem_usage = fd_array_mem_usage,
};

/* ---- hash of maps ---------------------------------------------------------------------------- */

extern const struct bpf_map_ops hash_of_maps_map_ops;

static int hash_of_maps_alloc_check(const union bpf_attr *attr)
{
	return attr->value_size == sizeof(uint32_t) ? hash_alloc_check(attr) : -EINVAL;
}

static int hash_of_maps_alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	return hash_alloc(attr, HASH_OF_MAPS, &hash_of_maps_map_ops, out);
}

static void *hash_of_maps_lookup(struct bpf_map *map, const void *key)
{
	struct hash_map *h = to_hash(map);
	struct hash_elem *e = hash_find(h, key, map->key_size);

	return e ? (void *)map_load_dep((uintptr_t *)hash_elem_value(h, e)) : NULL;
}

static int hash_of_maps_sys_update(struct bpf_map *map, const void *key, const void *value,
				   uint64_t flags)
{
	uint32_t handle;
	void *obj;
	int err;

	if (flags > BPF_EXIST)
		return -EINVAL;
	__builtin_memcpy(&handle, value, sizeof(handle));
	err = map->fd_ops->get(map->rt, map, handle, &obj);
	if (err)
		return err;
	/* obj becomes what was there before; on an error it stays ours. */
	err = hash_update_with(to_hash(map), key, &obj, flags, map->key_size, HASH_OF_MAPS, false,
			       false);
	if (obj)
		map->fd_ops->put(map->rt, map, obj);
	return err;
}

static int hash_of_maps_delete(struct bpf_map *map, const void *key)
{
	return hash_delete_with(to_hash(map), key, map->key_size, HASH_OF_MAPS);
}

const struct bpf_map_ops hash_of_maps_map_ops = {
	.alloc_check = hash_of_maps_alloc_check,
	.check_btf = map_check_no_btf,
	.alloc = hash_of_maps_alloc,
	.free = hash_free,
	.lookup = hash_of_maps_lookup,
	.delete = hash_of_maps_delete,
	.get_next_key = hash_get_next_key,
	.sys_lookup = hash_sys_lookup,
	.sys_update = hash_of_maps_sys_update,
	.sys_lookup_batch = hash_sys_lookup_batch,
	.gen_lookup = hash_gen_lookup,
	.mem_usage = hash_mem_usage,
};
