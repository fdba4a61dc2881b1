/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Map helpers. What a map type cannot do has a NULL operation; the verifier and the checked
 * interpreter refuse such a call by the row, an unverified one gets Linux's error.
 */
#include "bpf/helpers.h"
#include "bpf/interp.h"

HELPER_DEF(map_lookup_elem)
{
	return (uintptr_t)helper_map(r1)->ops->lookup(helper_map(r1), helper_ptr(r2));
}

HELPER_DEF(map_lookup_percpu_elem)
{
	struct bpf_map *map = helper_map(r1);

	if (!map->ops->lookup_percpu || r3 >= hal_cpu_count())
		return 0;
	return (uintptr_t)map->ops->lookup_percpu(map, helper_ptr(r2), (unsigned int)r3);
}

HELPER_DEF(map_update_elem)
{
	struct bpf_map *map = helper_map(r1);

	if (!map->ops->update)
		return helper_ret(-EOPNOTSUPP);
	return helper_ret(map->ops->update(map, helper_ptr(r2), helper_ptr(r3), r4));
}

HELPER_DEF(map_delete_elem)
{
	struct bpf_map *map = helper_map(r1);

	if (!map->ops->delete)
		return helper_ret(-EOPNOTSUPP);
	return helper_ret(map->ops->delete(map, helper_ptr(r2)));
}

HELPER_DEF(map_push_elem)
{
	struct bpf_map *map = helper_map(r1);

	if (!map->ops->push)
		return helper_ret(-EOPNOTSUPP);
	return helper_ret(map->ops->push(map, helper_ptr(r2), r3));
}

HELPER_DEF(map_pop_elem)
{
	struct bpf_map *map = helper_map(r1);

	if (!map->ops->pop)
		return helper_ret(-EOPNOTSUPP);
	return helper_ret(map->ops->pop(map, helper_ptr(r2)));
}

HELPER_DEF(map_peek_elem)
{
	struct bpf_map *map = helper_map(r1);

	if (!map->ops->peek)
		return helper_ret(-EOPNOTSUPP);
	return helper_ret(map->ops->peek(map, helper_ptr(r2)));
}

struct for_each_arg {
	struct bpf_map *map;
	uint64_t callback, ctx;
};

static uint64_t for_each_call(void *arg, const void *key, void *value)
{
	const struct for_each_arg *each = arg;
	struct run_ctx *rc = hal_run_current();
	uint64_t ret;

	/* The key lies in the map's element, beside the value. */
	interp_region_push(rc, (uintptr_t)key, each->map->key_size, false);
	ret = bpf_call_function(each->callback, (uintptr_t)each->map, (uintptr_t)key,
				(uintptr_t)value, each->ctx, 0);
	interp_region_pop(rc);
	return ret;
}

HELPER_DEF(for_each_map_elem)
{
	struct for_each_arg each = { helper_map(r1), r2, r3 };

	if (r4)
		return helper_ret(-EINVAL);
	if (!each.map->ops->for_each)
		return helper_ret(-EINVAL);
	return helper_ret(each.map->ops->for_each(each.map, for_each_call, &each));
}
