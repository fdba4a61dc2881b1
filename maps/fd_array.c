/* SPDX-License-Identifier: BSD-2-Clause */
#include "maps/fd_array.h"

#include "maps/array.h"
#include "maps/map_int.h"

struct fd_array {
	struct bpf_map map;
	uint32_t max, mask;
	size_t area_bytes;
	void *slots[];
};

static struct fd_array *to_fd_array(struct bpf_map *map)
{
	return container_of(map, struct fd_array, map);
}

int fd_array_alloc_check(const union bpf_attr *attr)
{
	return attr->value_size == sizeof(uint32_t) ? array_alloc_check(attr) : -EINVAL;
}

int fd_array_alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	struct fd_array *a;
	size_t bytes;

	if (!map_area_bytes(sizeof(*a), attr->max_entries, sizeof(void *), &bytes))
		return -ENOMEM;
	a = hal_map_alloc(bytes);
	if (!a)
		return -ENOMEM;
	map_init(&a->map, attr);
	a->max = attr->max_entries;
	a->mask = array_mask(attr->max_entries);
	a->area_bytes = bytes;
	*out = &a->map;
	return 0;
}

static void *replace(struct fd_array *a, uint32_t index, void *obj)
{
	return __atomic_exchange_n(&a->slots[index], obj, __ATOMIC_ACQ_REL);
}

void fd_array_clear(struct bpf_map *map)
{
	struct fd_array *a = to_fd_array(map);

	for (uint32_t i = 0; i < a->max; i++) {
		void *old = a->slots[i] ? replace(a, i, NULL) : NULL;

		if (old)
			map->fd_ops->put(map->rt, map, old);
	}
}

void fd_array_free(struct bpf_map *map)
{
	struct fd_array *a = to_fd_array(map);

	fd_array_clear(map);
	hal_map_free(a, a->area_bytes);
}

void *fd_array_lookup(struct bpf_map *map, const void *key)
{
	struct fd_array *a = to_fd_array(map);
	uint32_t index = array_index(key);

	if (unlikely(index >= a->max))
		return NULL;
	return (void *)map_load_dep((uintptr_t *)&a->slots[index & a->mask]);
}

int fd_array_sys_lookup(struct bpf_map *map, const void *key, void *value, uint64_t flags)
{
	void *obj = fd_array_lookup(map, key);
	uint32_t id;

	(void)flags;
	if (!obj)
		return -ENOENT;
	id = map->fd_ops->id(obj);
	__builtin_memcpy(value, &id, sizeof(id));
	return 0;
}

int fd_array_sys_update(struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	struct fd_array *a = to_fd_array(map);
	uint32_t index = array_index(key), handle;
	void *obj, *old;
	int err;

	if (flags != BPF_ANY)
		return -EINVAL;
	if (index >= a->max)
		return -E2BIG;
	__builtin_memcpy(&handle, value, sizeof(handle));
	err = map->fd_ops->get(map->rt, map, handle, &obj);
	if (err)
		return err;
	old = replace(a, index, obj);
	if (old)
		map->fd_ops->put(map->rt, map, old);
	return 0;
}

int fd_array_delete(struct bpf_map *map, const void *key)
{
	struct fd_array *a = to_fd_array(map);
	uint32_t index = array_index(key);
	void *old;

	if (index >= a->max)
		return -E2BIG;
	old = replace(a, index, NULL);
	if (!old)
		return -ENOENT;
	map->fd_ops->put(map->rt, map, old);
	return 0;
}

void fd_array_gen_lookup(struct bpf_map *map, struct map_lookup *l)
{
	struct fd_array *a = to_fd_array(map);

	*l = (struct map_lookup){ .kind = MAP_LOOKUP_INDEX_MAP,
				  .base = (uintptr_t)a->slots,
				  .max = a->max,
				  .mask = a->mask,
				  .stride = sizeof(void *) };
}

uint64_t fd_array_mem_usage(struct bpf_map *map)
{
	return map_area_charge(to_fd_array(map)->area_bytes);
}
