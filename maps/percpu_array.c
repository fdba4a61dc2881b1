/* SPDX-License-Identifier: BSD-2-Clause */
/* Per-CPU arrays: each CPU has its own copy of all values, in per-CPU memory. */
#include "maps/array.h"
#include "maps/map_int.h"

struct percpu_array {
	struct bpf_map map;
	uint32_t max, mask;
	void *base;   /* hal_percpu */
	size_t bytes; /* of one CPU's values */
};

static struct percpu_array *to_percpu(struct bpf_map *map)
{
	return container_of(map, struct percpu_array, map);
}

static int percpu_array_alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	struct percpu_array *a;
	size_t bytes;

	if (!map_area_bytes(0, attr->max_entries, ROUND_UP((uint64_t)attr->value_size, 8), &bytes))
		return -ENOMEM;
	a = hal_map_alloc(sizeof(*a));
	if (!a)
		return -ENOMEM;
	map_init(&a->map, attr);
	a->max = attr->max_entries;
	a->mask = array_mask(attr->max_entries);
	a->bytes = bytes;
	a->base = hal_percpu_alloc(bytes, 8);
	if (!a->base) {
		hal_map_free(a, sizeof(*a));
		return -ENOMEM;
	}
	*out = &a->map;
	return 0;
}

static void percpu_array_free(struct bpf_map *map)
{
	struct percpu_array *a = to_percpu(map);

	hal_percpu_free(a->base, a->bytes);
	hal_map_free(a, sizeof(*a));
}

static void *slot(struct percpu_array *a, uint32_t index, unsigned int cpu)
{
	return (uint8_t *)hal_percpu_ptr(a->base, cpu) +
	       (uint64_t)(index & a->mask) * a->map.value_stride;
}

static void *percpu_array_lookup(struct bpf_map *map, const void *key)
{
	struct percpu_array *a = to_percpu(map);
	uint32_t index = array_index(key);

	return likely(index < a->max) ? slot(a, index, hal_cpu_id()) : NULL;
}

static void *percpu_array_lookup_percpu(struct bpf_map *map, const void *key, unsigned int cpu)
{
	struct percpu_array *a = to_percpu(map);
	uint32_t index = array_index(key);

	return index < a->max && cpu < hal_cpu_count() ? slot(a, index, cpu) : NULL;
}

static int check_update(struct percpu_array *a, uint32_t index, uint64_t flags)
{
	if (flags > BPF_EXIST)
		return -EINVAL;
	if (index >= a->max)
		return -E2BIG;
	return flags == BPF_NOEXIST ? -EEXIST : 0;
}

static int percpu_array_update(struct bpf_map *map, const void *key, const void *value,
			       uint64_t flags)
{
	struct percpu_array *a = to_percpu(map);
	uint32_t index = array_index(key);
	int err = check_update(a, index, flags);

	if (!err)
		map_copy_plain(map, slot(a, index, hal_cpu_id()), value);
	return err;
}

static int percpu_array_sys_lookup(struct bpf_map *map, const void *key, void *value,
				   uint64_t flags)
{
	struct percpu_array *a = to_percpu(map);
	uint32_t index = array_index(key);

	(void)flags;
	if (index >= a->max)
		return -ENOENT;
	for (unsigned int cpu = 0; cpu < hal_cpu_count(); cpu++)
		__builtin_memcpy((uint8_t *)value + (size_t)cpu * map->value_stride,
				 slot(a, index, cpu), map->value_stride);
	return 0;
}

static int percpu_array_sys_update(struct bpf_map *map, const void *key, const void *value,
				   uint64_t flags)
{
	struct percpu_array *a = to_percpu(map);
	uint32_t index = array_index(key);
	int err = check_update(a, index, flags);

	for (unsigned int cpu = 0; !err && cpu < hal_cpu_count(); cpu++)
		map_copy_plain(map, slot(a, index, cpu),
			       (const uint8_t *)value + (size_t)cpu * map->value_stride);
	return err;
}

static long percpu_array_for_each(struct bpf_map *map,
				  uint64_t (*fn)(void *arg, const void *key, void *value),
				  void *arg)
{
	struct percpu_array *a = to_percpu(map);
	unsigned int cpu = hal_cpu_id();
	long calls = 0;

	for (uint32_t i = 0; i < a->max; i++) {
		uint32_t key = i;

		calls++;
		if (fn(arg, &key, slot(a, i, cpu)))
			break;
	}
	return calls;
}

static bool percpu_array_owns_value(struct bpf_map *map, uintptr_t addr, size_t size)
{
	struct percpu_array *a = to_percpu(map);

	for (unsigned int cpu = 0; cpu < hal_cpu_count(); cpu++) {
		if (map_values_cover(map, (uintptr_t)hal_percpu_ptr(a->base, cpu), a->max,
				     map->value_stride, addr, size))
			return true;
	}
	return false;
}

static void percpu_array_gen_lookup(struct bpf_map *map, struct map_lookup *l)
{
	struct percpu_array *a = to_percpu(map);

	*l = (struct map_lookup){ .kind = MAP_LOOKUP_INDEX_PERCPU,
				  .base = (uintptr_t)a->base,
				  .max = a->max,
				  .mask = a->mask,
				  .stride = map->value_stride };
}

static uint64_t percpu_array_mem_usage(struct bpf_map *map)
{
	struct percpu_array *a = to_percpu(map);

	return map_area_charge(sizeof(*a)) + (uint64_t)a->bytes * hal_cpu_count();
}

const struct bpf_map_ops percpu_array_map_ops = {
	.alloc_check = array_alloc_check,
	.check_btf = array_check_btf,
	.alloc = percpu_array_alloc,
	.free = percpu_array_free,
	.lookup = percpu_array_lookup,
	.lookup_percpu = percpu_array_lookup_percpu,
	.update = percpu_array_update,
	.delete = array_delete,
	.for_each = percpu_array_for_each,
	.get_next_key = array_get_next_key,
	.sys_lookup = percpu_array_sys_lookup,
	.sys_update = percpu_array_sys_update,
	.owns_value = percpu_array_owns_value,
	.gen_lookup = percpu_array_gen_lookup,
	.mem_usage = percpu_array_mem_usage,
	.inner_fits = array_inner_fits,
};
