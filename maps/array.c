/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays: max_entries values of value_stride bytes in one piece of map memory.
 *
 *	not mappable: [struct array_map, to 64][value 0][value 1]...
 *	mappable:     [struct array_map, to a page][value 0][value 1]...   (whole pages of values)
 */
#include "maps/array.h"

#include "bpf/btf.h"
#include "maps/map_int.h"

struct array_map {
	struct bpf_map map;
	uint32_t max, mask; /* index < max, then index & mask: also on a mispredicted path */
	uint8_t *values;
	size_t area_bytes, values_bytes;
};

static struct array_map *to_array(struct bpf_map *map)
{
	return container_of(map, struct array_map, map);
}

int array_alloc_check(const union bpf_attr *attr)
{
	bool percpu = attr->map_type == BPF_MAP_TYPE_PERCPU_ARRAY;

	if (!attr->max_entries || attr->key_size != 4 || !attr->value_size)
		return -EINVAL;
	if (percpu && (attr->map_flags & BPF_F_NUMA_NODE) && attr->numa_node != ~0u)
		return -EINVAL;
	if (attr->value_size > INT32_MAX)
		return -E2BIG;
	if (percpu && ROUND_UP((uint64_t)attr->value_size, 8) > MAP_PERCPU_VALUE_MAX)
		return -E2BIG;
	return 0;
}

uint32_t array_mask(uint32_t max_entries)
{
	return max_entries > 1u << 31 ? ~0u : map_roundup_pow2(max_entries) - 1;
}

static int array_alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	bool mappable = attr->map_flags & BPF_F_MMAPABLE;
	uint64_t stride = ROUND_UP((uint64_t)attr->value_size, 8);
	size_t head = ROUND_UP(sizeof(struct array_map), mappable ? MAP_PAGE_BYTES : 64);
	struct array_map *a;
	size_t bytes;

	if (!map_area_bytes(head, attr->max_entries, stride, &bytes))
		return -ENOMEM;
	if (mappable)
		bytes = ROUND_UP(bytes, MAP_PAGE_BYTES);
	a = hal_map_alloc(bytes);
	if (!a)
		return -ENOMEM;
	map_init(&a->map, attr);
	a->max = attr->max_entries;
	a->mask = array_mask(attr->max_entries);
	a->values = (uint8_t *)a + head;
	a->area_bytes = bytes;
	a->values_bytes = bytes - head;
	*out = &a->map;
	return 0;
}

static void array_free(struct bpf_map *map)
{
	struct array_map *a = to_array(map);

	hal_map_free(a, a->area_bytes);
}

static void *array_lookup(struct bpf_map *map, const void *key)
{
	struct array_map *a = to_array(map);
	uint32_t index = array_index(key);

	if (unlikely(index >= a->max))
		return NULL;
	return a->values + (uint64_t)(index & a->mask) * map->value_stride;
}

static int array_update(struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	uint8_t *slot;

	if ((flags & ~(uint64_t)BPF_F_LOCK) > BPF_EXIST)
		return -EINVAL;
	slot = array_lookup(map, key);
	if (!slot)
		return -E2BIG;
	if (flags & BPF_NOEXIST)
		return -EEXIST;
	if (likely(!map_has_fields(map))) {
		if (flags & BPF_F_LOCK)
			return -EINVAL;
		map_copy_plain(map, slot, value);
		return 0;
	}
	if ((flags & BPF_F_LOCK) && !map->has_lock)
		return -EINVAL;
	bpf_map_copy_value(map, slot, value, flags & BPF_F_LOCK ? slot : NULL);
	/* As in Linux, a new value has no timer. */
	if (map->has_timer && !(flags & BPF_F_LOCK))
		map_drop_timer(map, slot);
	return 0;
}

int array_delete(struct bpf_map *map, const void *key)
{
	(void)map;
	(void)key;
	return -EINVAL;
}

int array_get_next_key(struct bpf_map *map, const void *key, void *next_key)
{
	uint32_t index = key ? array_index(key) : ~0u;

	if (index >= map->max_entries)
		index = 0;
	else if (index == map->max_entries - 1)
		return -ENOENT;
	else
		index++;
	__builtin_memcpy(next_key, &index, sizeof(index));
	return 0;
}

int array_check_btf(const struct bpf_map *map, const struct bpf_btf *btf, uint32_t key_id,
		    uint32_t value_id)
{
	const struct btf_type *type;
	uint32_t bits;

	if (!key_id) {
		/* Global data: one value, described by the section. */
		type = btf_type_get(btf, value_id);
		if (map->type != BPF_MAP_TYPE_ARRAY || map->max_entries != 1 || !type ||
		    BTF_INFO_KIND(type->info) != BTF_KIND_DATASEC)
			return -EINVAL;
		return 0;
	}
	type = btf_skip_modifiers(btf, key_id, NULL);
	if (!type || BTF_INFO_KIND(type->info) != BTF_KIND_INT)
		return -EINVAL;
	__builtin_memcpy(&bits, type + 1, sizeof(bits));
	return BTF_INT_BITS(bits) == 32 && !BTF_INT_OFFSET(bits) ? 0 : -EINVAL;
}

static long array_for_each(struct bpf_map *map,
			   uint64_t (*fn)(void *arg, const void *key, void *value), void *arg)
{
	struct array_map *a = to_array(map);
	long calls = 0;

	for (uint32_t i = 0; i < a->max; i++) {
		uint32_t key = i;

		calls++;
		if (fn(arg, &key, a->values + (uint64_t)i * map->value_stride))
			break;
	}
	return calls;
}

static int array_direct_value(struct bpf_map *map, uint32_t off, uintptr_t *addr)
{
	if (map->max_entries != 1)
		return -ENOTSUPP;
	if (off >= map->value_size)
		return -EINVAL;
	*addr = (uintptr_t)to_array(map)->values + off;
	return 0;
}

static int array_mmap_area(struct bpf_map *map, void **base, size_t *bytes)
{
	struct array_map *a = to_array(map);

	if (!(map->map_flags & BPF_F_MMAPABLE))
		return -EINVAL;
	*base = a->values;
	*bytes = a->values_bytes;
	return 0;
}

static bool array_owns_value(struct bpf_map *map, uintptr_t addr, size_t size)
{
	struct array_map *a = to_array(map);

	return map_values_cover(map, (uintptr_t)a->values, a->max, map->value_stride, addr, size);
}

static uintptr_t array_value_at(struct bpf_map *map, uintptr_t addr)
{
	struct array_map *a = to_array(map);
	uintptr_t first = (uintptr_t)a->values;

	if (addr < first || (addr - first) / map->value_stride >= a->max)
		return 0;
	return first + (addr - first) / map->value_stride * map->value_stride;
}

static const void *array_key_of(struct bpf_map *map, const void *value, uint32_t *index)
{
	*index = (uint32_t)(((uintptr_t)value - (uintptr_t)to_array(map)->values) /
			    map->value_stride);
	return index;
}

/* Timers end with the last handle. */
static void array_release_uref(struct bpf_map *map)
{
	struct array_map *a = to_array(map);

	for (uint32_t i = 0; map->has_timer && i < a->max; i++)
		map_drop_timer(map, a->values + (uint64_t)i * map->value_stride);
}

static void array_gen_lookup(struct bpf_map *map, struct map_lookup *l)
{
	struct array_map *a = to_array(map);

	*l = (struct map_lookup){ .kind = MAP_LOOKUP_INDEX,
				  .base = (uintptr_t)a->values,
				  .max = a->max,
				  .mask = a->mask,
				  .stride = map->value_stride };
}

static uint64_t array_mem_usage(struct bpf_map *map)
{
	return map_area_charge(to_array(map)->area_bytes);
}

bool array_inner_fits(const struct bpf_map *meta, const struct bpf_map *inner)
{
	if (!map_meta_equal(meta, inner))
		return false;
	return (meta->map_flags & BPF_F_INNER_MAP) || meta->max_entries == inner->max_entries;
}

const struct bpf_map_ops array_map_ops = {
	.alloc_check = array_alloc_check,
	.check_btf = array_check_btf,
	.alloc = array_alloc,
	.free = array_free,
	.release_uref = array_release_uref,
	.lookup = array_lookup,
	.update = array_update,
	.delete = array_delete,
	.for_each = array_for_each,
	.get_next_key = array_get_next_key,
	.direct_value = array_direct_value,
	.mmap_area = array_mmap_area,
	.owns_value = array_owns_value,
	.value_at = array_value_at,
	.key_of = array_key_of,
	.gen_lookup = array_gen_lookup,
	.mem_usage = array_mem_usage,
	.inner_fits = array_inner_fits,
};
