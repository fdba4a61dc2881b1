/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The element commands of bpf(2): flags and permissions in Linux's order, then the type's
 * operation. Values are in syscall shape: all CPUs of a per-CPU map, handles or ids of a map of
 * objects.
 */
#include "bpf/map.h"
#include "maps/map_int.h"

size_t bpf_map_sys_value_size(const struct bpf_map *map)
{
	if (map->type_row->features & MAP_FEAT_PERCPU)
		return (size_t)map->value_stride * hal_cpu_count();
	if (map->type_row->features & MAP_FEAT_FD_VALUE)
		return sizeof(uint32_t);
	return map->value_size;
}

static int may_write(const struct bpf_map *map)
{
	return __atomic_load_n(&map->frozen, __ATOMIC_ACQUIRE) ? -EPERM : 0;
}

/*
 * Writers are counted before they look at `frozen`, and freezing looks at the count after it set
 * `frozen`: one of the two sees the other.
 */
static int write_begin(struct bpf_map *map)
{
	int err;

	__atomic_fetch_add(&map->writers, 1, __ATOMIC_SEQ_CST);
	err = may_write(map);
	if (err)
		__atomic_fetch_sub(&map->writers, 1, __ATOMIC_RELEASE);
	return err;
}

static void write_end(struct bpf_map *map)
{
	__atomic_fetch_sub(&map->writers, 1, __ATOMIC_RELEASE);
}

static int lock_flag_ok(const struct bpf_map *map, uint64_t flags)
{
	return (flags & BPF_F_LOCK) && !map->has_lock ? -EINVAL : 0;
}

/* Keys: a buffer exactly where the type has keys. */
static int key_ok(const struct bpf_map *map, const void *key)
{
	if (map->key_size)
		return key ? 0 : -EFAULT;
	return key ? -EINVAL : 0;
}

/* ---- one element ----------------------------------------------------------------------------- */

static int lookup_value(struct bpf_map *map, const void *key, void *value, uint64_t flags)
{
	const struct bpf_map_ops *ops = map->ops;
	void *found;

	if (ops->sys_lookup)
		return ops->sys_lookup(map, key, value, flags);
	if (ops->peek)
		return ops->peek(map, value);
	if (!ops->lookup)
		return -ENOTSUPP;
	found = ops->lookup(map, key);
	if (!found)
		return -ENOENT;
	map_copy_out(map, value, found, flags);
	return 0;
}

static int update_value(struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	const struct bpf_map_ops *ops = map->ops;

	if (ops->sys_update)
		return ops->sys_update(map, key, value, flags);
	if (ops->push)
		return ops->push(map, value, flags);
	if (!ops->update)
		return -ENOTSUPP;
	return ops->update(map, key, value, flags);
}

static int delete_elem(struct bpf_map *map, const void *key)
{
	return map->ops->delete ? map->ops->delete(map, key) : -ENOTSUPP;
}

int bpf_map_sys_lookup(struct bpf_map *map, const void *key, void *value, uint64_t flags)
{
	int err;

	if (flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	err = lock_flag_ok(map, flags);
	if (!err)
		err = key_ok(map, key);
	return err ? err : lookup_value(map, key, value, flags);
}

int bpf_map_sys_update(struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	int err = write_begin(map);

	if (err)
		return err;
	err = lock_flag_ok(map, flags);
	if (!err)
		err = key_ok(map, key);
	if (!err)
		err = update_value(map, key, value, flags);
	write_end(map);
	return err;
}

int bpf_map_sys_delete(struct bpf_map *map, const void *key)
{
	int err = write_begin(map);

	if (err)
		return err;
	err = key_ok(map, key);
	if (!err)
		err = delete_elem(map, key);
	write_end(map);
	return err;
}

int bpf_map_sys_lookup_delete(struct bpf_map *map, const void *key, void *value, uint64_t flags)
{
	int err;

	if (flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	err = write_begin(map);
	if (err)
		return err;
	if (flags && map->ops->pop)
		err = -EINVAL;
	if (!err)
		err = lock_flag_ok(map, flags);
	if (!err)
		err = key_ok(map, key);
	if (!err && map->ops->sys_lookup_delete)
		err = map->ops->sys_lookup_delete(map, key, value, flags);
	else if (!err)
		err = map->ops->pop ? map->ops->pop(map, value) : -ENOTSUPP;
	write_end(map);
	return err;
}

int bpf_map_sys_next_key(struct bpf_map *map, const void *key, void *next_key)
{
	if (!map->key_size && key)
		return -EINVAL;
	return map->ops->get_next_key ? map->ops->get_next_key(map, key, next_key) : -ENOTSUPP;
}

int bpf_map_freeze(struct bpf_map *map)
{
	int err;

	if (map_has_fields(map))
		return -ENOTSUPP;
	err = may_write(map);
	if (err)
		return err;
	__atomic_store_n(&map->frozen, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&map->writers, __ATOMIC_SEQ_CST)) {
		__atomic_store_n(&map->frozen, 0, __ATOMIC_RELEASE);
		return -EBUSY;
	}
	return 0;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void *nth(void *base, uint32_t n, size_t bytes)
{
	return (char *)base + (size_t)n * bytes;
}

/* Over get_next_key; the cursor is the last key that was given out. */
static int generic_lookup_batch(struct bpf_map *map, const void *in, void *out, void *keys,
				void *values, uint32_t *count, uint64_t flags)
{
	size_t value_bytes = bpf_map_sys_value_size(map);
	uint32_t want = *count, got = 0;
	const void *prev = in;
	int err = 0;

	while (got < want) {
		void *key = nth(keys, got, map->key_size);

		err = map->ops->get_next_key(map, prev, key);
		if (err)
			break;
		err = lookup_value(map, key, nth(values, got, value_bytes), flags);
		if (err == -ENOENT) {
			/* Empty slot, or gone since: its key is where we go on from. */
			__builtin_memcpy(out, key, map->key_size);
			prev = out;
			err = 0;
			continue;
		}
		if (err)
			break;
		prev = key;
		got++;
	}
	*count = got;
	if (got && prev != out)
		__builtin_memcpy(out, prev, map->key_size);
	return err;
}

static int update_batch(struct bpf_map *map, void *keys, void *values, uint32_t *count,
			uint64_t flags)
{
	size_t value_bytes = bpf_map_sys_value_size(map);
	uint32_t want = *count, done;
	int err = 0;

	for (done = 0; done < want && !err; done += !err)
		err = update_value(map, nth(keys, done, map->key_size),
				   nth(values, done, value_bytes), flags);
	*count = done;
	return err;
}

static int delete_batch(struct bpf_map *map, void *keys, uint32_t *count)
{
	uint32_t want = *count, done;
	int err = 0;

	for (done = 0; done < want && !err; done += !err)
		err = delete_elem(map, nth(keys, done, map->key_size));
	*count = done;
	return err;
}

/* Does the type have this form? Linux has no lookup-and-delete or delete of arrays. */
static bool batch_form_exists(const struct bpf_map *map, enum bpf_cmd cmd)
{
	bool array = map->type_row->features & MAP_FEAT_KEYS_ONLY_U32;

	if (!(map->type_row->features & MAP_FEAT_BATCH))
		return false;
	switch (cmd) {
	case BPF_MAP_LOOKUP_BATCH:
	case BPF_MAP_UPDATE_BATCH:
		return true;
	case BPF_MAP_LOOKUP_AND_DELETE_BATCH:
		return map->ops->sys_lookup_batch;
	default:
		return !array;
	}
}

static int run_batch(struct bpf_map *map, enum bpf_cmd cmd, const void *in, void *out, void *keys,
		     void *values, uint32_t *count, uint64_t elem_flags)
{
	switch (cmd) {
	case BPF_MAP_LOOKUP_BATCH:
	case BPF_MAP_LOOKUP_AND_DELETE_BATCH:
		if (map->ops->sys_lookup_batch)
			return map->ops->sys_lookup_batch(map, in, out, keys, values, count,
							  elem_flags, cmd != BPF_MAP_LOOKUP_BATCH);
		return generic_lookup_batch(map, in, out, keys, values, count, elem_flags);
	case BPF_MAP_UPDATE_BATCH:
		return update_batch(map, keys, values, count, elem_flags);
	default:
		return delete_batch(map, keys, count);
	}
}

int bpf_map_sys_batch(struct bpf_map *map, enum bpf_cmd cmd, const void *in, void *out, void *keys,
		      void *values, uint32_t *count, uint64_t elem_flags, uint64_t flags)
{
	bool writes = cmd != BPF_MAP_LOOKUP_BATCH;
	int err = 0;

	if (writes)
		err = write_begin(map);
	if (err)
		return err;
	if (!batch_form_exists(map, cmd))
		err = -ENOTSUPP;
	else if ((elem_flags & ~(uint64_t)BPF_F_LOCK) || lock_flag_ok(map, elem_flags))
		err = -EINVAL;
	else if (map->ops->sys_lookup_batch && flags)
		err = -EINVAL;
	else if (*count)
		err = run_batch(map, cmd, in, out, keys, values, count, elem_flags);
	if (writes)
		write_end(map);
	return err;
}
