/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands on maps: making them and their elements. Element work itself is maps/'s. */
#include "runtime/cmd.h"

/* ---- BPF_MAP_CREATE -------------------------------------------------------------------------- */

/*
 * What Linux checks before it looks at any fd. Same order; the map type's own check of attr comes
 * last, so that a bad attr is reported before a bad inner map or BTF.
 */
static int create_check(const union bpf_attr *attr, const struct map_type **row, uint8_t *perms)
{
	char name[BPF_OBJ_NAME_LEN];
	int err;

	/* Kernel structures as values: there is no struct_ops here. */
	if (attr->btf_vmlinux_value_type_id)
		return -EINVAL;
	if (attr->btf_key_type_id && !attr->btf_value_type_id)
		return -EINVAL;
	if (attr->map_extra && attr->map_type != BPF_MAP_TYPE_BLOOM_FILTER)
		return -EINVAL;
	err = rt_perms_of_flags(attr->map_flags, perms);
	if (err)
		return err;
	/* One node. */
	if ((attr->map_flags & BPF_F_NUMA_NODE) && attr->numa_node)
		return -EINVAL;
	*row = bpf_map_type_get((enum bpf_map_type)attr->map_type);
	if (!*row)
		return -EINVAL;
	if ((*row)->ops->alloc_check) {
		err = (*row)->ops->alloc_check(attr);
		if (err)
			return err;
	}
	/* No network device to offload to. */
	if (attr->map_ifindex)
		return -EINVAL;
	return cmd_obj_name(name, attr->map_name);
}

/* Objects that attr names by handle; NULL where it names none. No references are taken. */
static int create_resolve(struct rt *rt, const union bpf_attr *attr, const struct map_type *row,
			  struct bpf_map **inner, struct bpf_btf **btf)
{
	void *obj;
	int err;

	*inner = NULL;
	*btf = NULL;
	if (row->features & MAP_FEAT_INNER) {
		err = rt_handle_get(rt, attr->inner_map_fd, RT_MAP, &obj);
		if (err)
			return err;
		*inner = obj;
	}
	if (attr->btf_key_type_id || attr->btf_value_type_id) {
		err = rt_handle_get(rt, attr->btf_fd, RT_BTF, &obj);
		if (err)
			return err;
		*btf = obj;
	}
	return 0;
}

int64_t cmd_map_create(struct rt *rt, struct bpf_call *call)
{
	union bpf_attr *attr = &call->attr.bpf;
	const struct map_type *row;
	struct bpf_map *inner, *map;
	struct bpf_btf *btf;
	uint8_t perms;
	bool token = attr->map_flags & BPF_F_TOKEN_FD;
	int err;

	attr->map_flags &= ~(uint32_t)BPF_F_TOKEN_FD;
	err = create_check(attr, &row, &perms);
	if (err)
		return err;
	if (token)
		return cmd_token_error(rt, (uint32_t)attr->map_token_fd);
	err = create_resolve(rt, attr, row, &inner, &btf);
	if (err)
		return err;
	err = rt_id_reserve(rt, RT_MAP);
	if (!err)
		err = rt_handle_reserve(rt);
	if (err)
		return err;
	err = bpf_map_create(attr, inner, btf, rt, rt_fd_ops(row), &map);
	if (err)
		return err;
	if (btf)
		rt_obj_ref(RT_BTF, btf);
	/* Of the handle, not of the map. */
	map->map_flags &= ~(uint32_t)(BPF_F_RDONLY | BPF_F_WRONLY);
	rt_id_publish(rt, RT_MAP, map);
	return rt_handle_return(rt, call, RT_MAP, map, perms);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* The key that a command needs: none for maps without keys, where a key given is -EINVAL. */
static int key_in(const struct bpf_call *call, const struct bpf_map *map, uint64_t p,
		  const void **key)
{
	if (!map->key_size) {
		*key = NULL;
		return p ? -EINVAL : 0;
	}
	*key = call_in(call, p, map->key_size);
	return *key ? 0 : -EFAULT;
}

static int lock_flag_check(const struct bpf_map *map, uint64_t flags)
{
	return (flags & BPF_F_LOCK) && !map->has_lock ? -EINVAL : 0;
}

/*
 * As Linux promises: when an update or deletion in a map of maps has returned, no program uses the
 * inner map that was replaced.
 */
static void wait_for_programs(const struct bpf_map *map)
{
	if (map->type_row->features & MAP_FEAT_INNER)
		hal_quiesce_wait();
}

int64_t cmd_map_lookup(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	struct bpf_map *map;
	const void *key;
	void *value;
	uint8_t perms;
	size_t size;
	int err;

	if (attr->flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	err = rt_map_get(rt, attr->map_fd, &map, &perms);
	if (err)
		return err;
	if (!(perms & RT_PERM_READ))
		return -EPERM;
	err = lock_flag_check(map, attr->flags);
	if (!err)
		err = key_in(call, map, attr->key, &key);
	if (err)
		return err;
	size = bpf_map_sys_value_size(map);
	/* A Bloom filter's value is the question. */
	if (map->type == BPF_MAP_TYPE_BLOOM_FILTER && !call_in(call, attr->value, size))
		return -EFAULT;
	err = cmd_out(call, attr->value, size, &value);
	if (err)
		return err;
	return bpf_map_sys_lookup(map, key, value, attr->flags);
}

int64_t cmd_map_update(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	struct bpf_map *map;
	const void *key, *value;
	uint8_t perms;
	int err;

	err = rt_map_get(rt, attr->map_fd, &map, &perms);
	if (err)
		return err;
	if (!(perms & RT_PERM_WRITE))
		return -EPERM;
	err = lock_flag_check(map, attr->flags);
	if (!err)
		err = key_in(call, map, attr->key, &key);
	if (err)
		return err;
	value = call_in(call, attr->value, bpf_map_sys_value_size(map));
	if (!value)
		return -EFAULT;
	err = bpf_map_sys_update(map, key, value, attr->flags);
	if (!err)
		wait_for_programs(map);
	return err;
}

int64_t cmd_map_delete(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	struct bpf_map *map;
	const void *key;
	uint8_t perms;
	int err;

	err = rt_map_get(rt, attr->map_fd, &map, &perms);
	if (err)
		return err;
	if (!(perms & RT_PERM_WRITE))
		return -EPERM;
	err = key_in(call, map, attr->key, &key);
	if (err)
		return err;
	err = bpf_map_sys_delete(map, key);
	if (!err)
		wait_for_programs(map);
	return err;
}

int64_t cmd_map_next_key(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	struct bpf_map *map;
	const void *key = NULL;
	void *next;
	uint8_t perms;
	int err;

	err = rt_map_get(rt, attr->map_fd, &map, &perms);
	if (err)
		return err;
	if (!(perms & RT_PERM_READ))
		return -EPERM;
	if (attr->key) {
		err = key_in(call, map, attr->key, &key);
		if (err)
			return err;
	}
	err = cmd_out(call, attr->next_key, map->key_size, &next);
	if (err)
		return err;
	/* The client may give one buffer for both; call_out can have moved it. */
	if (attr->key && map->key_size)
		key = call_in(call, attr->key, map->key_size);
	return bpf_map_sys_next_key(map, key, next);
}

int64_t cmd_map_lookup_delete(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	struct bpf_map *map;
	const void *key;
	void *value;
	uint8_t perms;
	size_t size;
	int err;

	if (attr->flags & ~(uint64_t)BPF_F_LOCK)
		return -EINVAL;
	err = rt_map_get(rt, attr->map_fd, &map, &perms);
	if (err)
		return err;
	if ((perms & RT_PERM_ALL) != RT_PERM_ALL)
		return -EPERM;
	if (attr->flags && !map->key_size)
		return -EINVAL;
	err = lock_flag_check(map, attr->flags);
	if (!err)
		err = key_in(call, map, attr->key, &key);
	if (err)
		return err;
	size = bpf_map_sys_value_size(map);
	err = cmd_out(call, attr->value, size, &value);
	if (err)
		return err;
	err = bpf_map_sys_lookup_delete(map, key, value, attr->flags);
	return err;
}

/* ---- batches --------------------------------------------------------------------------------- */

static uint64_t batch_cursor_bytes(const struct bpf_map *map)
{
	return map->type_row->features & MAP_FEAT_TOKEN_KEY ? map->key_size : sizeof(uint32_t);
}

static int batch_lookup(struct bpf_call *call, struct bpf_map *map)
{
	__typeof__(call->attr.bpf.batch) *batch = &call->attr.bpf.batch;
	uint64_t cursor_bytes = batch_cursor_bytes(map);
	uint64_t value_bytes = bpf_map_sys_value_size(map);
	/* No more can come than there are elements, whatever the client has room for. */
	uint32_t count = MIN(batch->count, map->max_entries);
	void *cursor, *keys, *values;
	const void *in = NULL;
	int err;

	if (batch->count && (!call_may_write(call, batch->out_batch, cursor_bytes) ||
			     !call_may_write(call, batch->keys, (uint64_t)count * map->key_size) ||
			     !call_may_write(call, batch->values, count * value_bytes)))
		return -EFAULT;
	cursor = call_out(call, batch->out_batch, count ? cursor_bytes : 0);
	keys = call_out(call, batch->keys, (uint64_t)count * map->key_size);
	values = call_out(call, batch->values, count * value_bytes);
	if (!cursor || !keys || !values)
		return -ENOMEM;
	if (batch->in_batch) {
		in = call_in(call, batch->in_batch, cursor_bytes);
		if (!in)
			return -EFAULT;
	}
	err = bpf_map_sys_batch(map, (enum bpf_cmd)call->cmd, in, cursor, keys, values, &count,
				batch->elem_flags, batch->flags);
	if (err && err != -ENOENT && err != -ENOSPC)
		count = 0;
	if (batch->count) {
		call_trim(call, batch->keys, (uint64_t)count * map->key_size);
		call_trim(call, batch->values, count * value_bytes);
		if (!count && err != -ENOSPC)
			call_trim(call, batch->out_batch, 0);
	}
	batch->count = count;
	return err;
}

static int batch_write(struct bpf_call *call, struct bpf_map *map)
{
	__typeof__(call->attr.bpf.batch) *batch = &call->attr.bpf.batch;
	uint64_t value_bytes = bpf_map_sys_value_size(map);
	const void *keys, *values = NULL;
	uint32_t count = batch->count;
	int err;

	keys = call_in(call, batch->keys, (uint64_t)count * map->key_size);
	if (!keys)
		return -EFAULT;
	if (call->cmd == BPF_MAP_UPDATE_BATCH) {
		values = call_in(call, batch->values, count * value_bytes);
		if (!values)
			return -EFAULT;
	}
	/* Only read: the maps' function has one signature for all four. */
	err = bpf_map_sys_batch(map, (enum bpf_cmd)call->cmd, NULL, NULL, (void *)(uintptr_t)keys,
				(void *)(uintptr_t)values, &count, batch->elem_flags, batch->flags);
	batch->count = count;
	return err;
}

int64_t cmd_map_batch(struct rt *rt, struct bpf_call *call)
{
	bool reads =
		call->cmd == BPF_MAP_LOOKUP_BATCH || call->cmd == BPF_MAP_LOOKUP_AND_DELETE_BATCH;
	bool writes = call->cmd != BPF_MAP_LOOKUP_BATCH;
	struct bpf_map *map;
	uint8_t perms;
	int err;

	err = rt_map_get(rt, call->attr.bpf.batch.map_fd, &map, &perms);
	if (err)
		return err;
	if ((reads && !(perms & RT_PERM_READ)) || (writes && !(perms & RT_PERM_WRITE)))
		return -EPERM;
	if (!(map->type_row->features & MAP_FEAT_BATCH))
		return -ENOTSUPP;
	err = reads ? batch_lookup(call, map) : batch_write(call, map);
	if (writes)
		wait_for_programs(map);
	return err;
}

int64_t cmd_map_freeze(struct rt *rt, struct bpf_call *call)
{
	struct bpf_map *map;
	uint8_t perms;
	int err;

	err = rt_map_get(rt, call->attr.bpf.map_fd, &map, &perms);
	if (err)
		return err;
	/* A locked or timed field must stay writable; Linux says so before it asks for permission.
	 */
	if (map->has_lock || map->has_timer)
		return -ENOTSUPP;
	if (!(perms & RT_PERM_WRITE))
		return -EPERM;
	return bpf_map_freeze(map);
}
