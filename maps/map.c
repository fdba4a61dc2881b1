/* SPDX-License-Identifier: BSD-2-Clause */
/* Making and freeing maps, and what values of all types have in common. */
#include "bpf/map.h"

#include "bpf/btf.h"
#include "bpf/timer.h"
#include "bpf/value_lock.h"
#include "maps/map_int.h"

/* ---- creation -------------------------------------------------------------------------------- */

void map_init(struct bpf_map *map, const union bpf_attr *attr)
{
	map->type = attr->map_type;
	map->key_size = attr->key_size;
	map->value_size = attr->value_size;
	map->max_entries = attr->max_entries;
	/* The two are properties of the handle that creation returns, not of the map. */
	map->map_flags = attr->map_flags & ~(uint32_t)(BPF_F_RDONLY | BPF_F_WRONLY);
	map->map_extra = attr->map_extra;
	map->ifindex = attr->map_ifindex;
	map->value_stride = (uint32_t)ROUND_UP((uint64_t)attr->value_size, 8);
	map->lock_off = map->timer_off = -1;
}

bool map_area_bytes(size_t a, uint64_t n, uint64_t size, size_t *bytes)
{
	uint64_t sum;

	if (__builtin_mul_overflow(n, size, &sum) || __builtin_add_overflow(sum, a, &sum) ||
	    sum > MAP_AREA_BYTES_MAX)
		return false;
	*bytes = (size_t)sum;
	return true;
}

static bool name_char_ok(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.';
}

static int check_name(const char name[BPF_OBJ_NAME_LEN])
{
	for (size_t i = 0; i < BPF_OBJ_NAME_LEN; i++) {
		if (!name[i])
			return 0;
		if (!name_char_ok(name[i]))
			return -EINVAL;
	}
	return -EINVAL;
}

/* The checks that do not depend on the type, in Linux's order. */
static int check_common(const union bpf_attr *attr)
{
	const uint32_t both = BPF_F_RDONLY | BPF_F_WRONLY;
	const uint32_t both_prog = BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG;

	if (attr->btf_vmlinux_value_type_id || (attr->btf_key_type_id && !attr->btf_value_type_id))
		return -EINVAL;
	if (attr->map_type != BPF_MAP_TYPE_BLOOM_FILTER && attr->map_extra)
		return -EINVAL;
	if ((attr->map_flags & both) == both || (attr->map_flags & both_prog) == both_prog)
		return -EINVAL;
	/* One memory node, number 0; -1 is "none given". */
	if ((attr->map_flags & BPF_F_NUMA_NODE) && attr->numa_node && attr->numa_node != ~0u)
		return -EINVAL;
	return 0;
}

/* May the type have what was found in its value? */
static int check_fields(const struct map_type *row, struct bpf_map *map)
{
	if (!map_has_fields(map))
		return 0;
	if (map->map_flags & (BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG))
		return -EACCES;
	if (map->has_lock && !(row->features & MAP_FEAT_LOCK))
		return -EOPNOTSUPP;
	if (map->has_timer && !(row->features & MAP_FEAT_TIMER))
		return -EOPNOTSUPP;
	return 0;
}

static void find_fields(struct bpf_map *map, const struct bpf_btf *btf, uint32_t value_id)
{
	const uint32_t lock_bytes = sizeof(struct bpf_spin_lock);
	const uint32_t timer_bytes = sizeof(struct bpf_timer);
	int off;

	off = btf_find_field(btf, value_id, "bpf_spin_lock", lock_bytes, 4);
	if (off >= 0 && (uint64_t)off + lock_bytes <= map->value_size) {
		map->has_lock = 1;
		map->lock_off = off;
	}
	off = btf_find_field(btf, value_id, "bpf_timer", timer_bytes, 8);
	if (off >= 0 && (uint64_t)off + timer_bytes <= map->value_size) {
		map->has_timer = 1;
		map->timer_off = off;
	}
}

static int check_btf(const struct map_type *row, struct bpf_map *map, const struct bpf_btf *btf,
		     const union bpf_attr *attr)
{
	uint32_t key_id = attr->btf_key_type_id, value_id = attr->btf_value_type_id;
	int err;

	if (key_id) {
		if (btf_type_size(btf, key_id) != (int64_t)map->key_size)
			return -EINVAL;
	} else if (!row->ops->check_btf) {
		return -EINVAL; /* any key type will do, but there has to be one */
	}
	if (btf_type_size(btf, value_id) != (int64_t)map->value_size)
		return -EINVAL;
	find_fields(map, btf, value_id);
	err = check_fields(row, map);
	if (!err && row->ops->check_btf)
		err = row->ops->check_btf(map, btf, key_id, value_id);
	if (err)
		return err;
	map->btf_key_type_id = key_id;
	map->btf_value_type_id = value_id;
	return 0;
}

int map_check_no_btf(const struct bpf_map *map, const struct bpf_btf *btf, uint32_t key_id,
		     uint32_t value_id)
{
	(void)map;
	(void)btf;
	(void)key_id;
	(void)value_id;
	return -ENOTSUPP;
}

/* A copy of the shape of inner, for programs to be verified against. */
static int make_template(const struct bpf_map *inner, struct bpf_map **out)
{
	struct bpf_map *meta;

	if (!inner)
		return -EBADF;
	if (inner->inner)
		return -EINVAL;
	if (!inner->ops->inner_fits)
		return -ENOTSUPP;
	meta = hal_alloc(sizeof(*meta));
	if (!meta)
		return -ENOMEM;
	meta->ops = inner->ops;
	meta->type_row = inner->type_row;
	meta->type = inner->type;
	meta->key_size = inner->key_size;
	meta->value_size = inner->value_size;
	meta->value_stride = inner->value_stride;
	meta->max_entries = inner->max_entries;
	meta->map_flags = inner->map_flags;
	meta->map_extra = inner->map_extra;
	meta->has_lock = inner->has_lock;
	meta->has_timer = inner->has_timer;
	meta->lock_off = inner->lock_off;
	meta->timer_off = inner->timer_off;
	meta->inner_meta = 1;
	*out = meta;
	return 0;
}

static int finish_map(const struct map_type *row, struct bpf_map *map, const union bpf_attr *attr,
		      struct bpf_btf *btf)
{
	int err = check_name(attr->map_name);

	if (err)
		return err;
	__builtin_memcpy(map->name, attr->map_name, sizeof(map->name));
	if (!attr->btf_key_type_id && !attr->btf_value_type_id)
		return 0;
	if (!btf)
		return -EBADF;
	err = check_btf(row, map, btf, attr);
	if (!err)
		map->btf = btf;
	return err;
}

int bpf_map_create(const union bpf_attr *attr, struct bpf_map *inner, struct bpf_btf *btf, void *rt,
		   const struct map_fd_ops *fd_ops, struct bpf_map **out)
{
	const struct map_type *row;
	struct bpf_map *map, *meta = NULL;
	int err = check_common(attr);

	if (err)
		return err;
	row = bpf_map_type_get(attr->map_type);
	if (!row || (attr->map_flags & ~row->flags_ok))
		return -EINVAL;
	if ((row->features & MAP_FEAT_FD_VALUE) && !fd_ops)
		return -EINVAL;
	err = row->ops->alloc_check(attr);
	if (err)
		return err;
	if (attr->map_ifindex)
		return -EINVAL; /* no device takes maps over */
	if (row->features & MAP_FEAT_INNER) {
		err = make_template(inner, &meta);
		if (err)
			return err;
	}
	err = row->ops->alloc(attr, &map);
	if (err) {
		hal_free(meta);
		return err;
	}
	if (!map->ops)
		map->ops = row->ops;
	map->type_row = row;
	map->inner = meta;
	map->fd_ops = fd_ops;
	map->rt = rt;
	map->refs = map->urefs = 1;
	err = finish_map(row, map, attr, btf);
	if (err) {
		bpf_map_destroy(map);
		return err;
	}
	*out = map;
	return 0;
}

void bpf_map_destroy(struct bpf_map *map)
{
	struct bpf_map *meta = map->inner;

	if (map->inner_meta)
		hal_free(map);
	else
		map->ops->free(map);
	hal_free(meta);
}

bool map_meta_equal(const struct bpf_map *meta, const struct bpf_map *inner)
{
	return meta->type == inner->type && meta->key_size == inner->key_size &&
	       meta->value_size == inner->value_size && meta->map_flags == inner->map_flags &&
	       meta->lock_off == inner->lock_off && meta->timer_off == inner->timer_off;
}

/* ---- values ---------------------------------------------------------------------------------- */

struct span {
	uint32_t off, bytes;
};

/* The fields that copies leave alone, in order of offset; returns how many. */
static unsigned int special_fields(const struct bpf_map *map, struct span f[2])
{
	unsigned int n = 0;

	if (map->has_lock)
		f[n++] = (struct span){ (uint32_t)map->lock_off, sizeof(struct bpf_spin_lock) };
	if (map->has_timer)
		f[n++] = (struct span){ (uint32_t)map->timer_off, sizeof(struct bpf_timer) };
	if (n == 2 && f[0].off > f[1].off) {
		struct span t = f[0];

		f[0] = f[1];
		f[1] = t;
	}
	return n;
}

static void copy_around_fields(const struct bpf_map *map, char *dst, const char *src)
{
	struct span f[2];
	unsigned int n = special_fields(map, f);
	uint32_t at = 0;

	for (unsigned int i = 0; i < n; i++) {
		__builtin_memcpy(dst + at, src + at, f[i].off - at);
		at = f[i].off + f[i].bytes;
	}
	__builtin_memcpy(dst + at, src + at, map->value_size - at);
}

void map_clear_fields(const struct bpf_map *map, void *value)
{
	struct span f[2];
	unsigned int n = special_fields(map, f);

	for (unsigned int i = 0; i < n; i++)
		__builtin_memset((char *)value + f[i].off, 0, f[i].bytes);
}

void map_drop_timer(const struct bpf_map *map, void *value)
{
	bpf_timer_cancel_and_free((struct bpf_timer *)(void *)((char *)value + map->timer_off));
}

void bpf_map_copy_value(struct bpf_map *map, void *dst, const void *src, void *lock_in)
{
	uint32_t *lock = NULL;
	unsigned long irq = 0;

	if (lock_in && map->has_lock) {
		lock = (uint32_t *)(void *)((char *)lock_in + map->lock_off);
		irq = hal_irq_save();
		value_lock(lock);
	}
	copy_around_fields(map, dst, src);
	if (lock) {
		value_unlock(lock);
		hal_irq_restore(irq);
	}
}

void map_copy_out(struct bpf_map *map, void *dst, void *value, uint64_t flags)
{
	if (!map_has_fields(map)) {
		__builtin_memcpy(dst, value, map->value_size);
		return;
	}
	bpf_map_copy_value(map, dst, value, flags & BPF_F_LOCK ? value : NULL);
	map_clear_fields(map, dst);
}

bool map_value_covers(const struct bpf_map *map, uintptr_t value, uintptr_t addr, size_t size)
{
	struct span f[2];
	unsigned int n = special_fields(map, f);
	uintptr_t off = addr - value;

	if (addr < value || size > map->value_size || off > map->value_size - size)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		if (off < f[i].off + f[i].bytes && off + size > f[i].off)
			return false;
	}
	return true;
}

static bool owns_field(struct bpf_map *map, uintptr_t addr, int32_t off)
{
	uintptr_t value = off >= 0 && map->ops->value_at ? map->ops->value_at(map, addr) : 0;

	return value && addr == value + (uintptr_t)off;
}

bool bpf_map_owns_lock(struct bpf_map *map, uintptr_t addr)
{
	return owns_field(map, addr, map->lock_off);
}

bool bpf_map_owns_timer(struct bpf_map *map, uintptr_t addr)
{
	return owns_field(map, addr, map->timer_off);
}

bool map_values_cover(const struct bpf_map *map, uintptr_t base, uint64_t n, uint64_t stride,
		      uintptr_t addr, size_t size)
{
	if (addr < base || (addr - base) / stride >= n)
		return false;
	return map_value_covers(map, base + (addr - base) / stride * stride, addr, size);
}
