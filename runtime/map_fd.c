/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects in maps: what a handle stands for when it is a map's value (bpf/map.h, map_fd_ops). */
#include "runtime/rt_int.h"

static int prog_get(void *rt, struct bpf_map *map, uint32_t handle, void **obj)
{
	void *prog;
	int err = rt_handle_get(rt, handle, RT_PROG, &prog);

	if (!err)
		err = bpf_prog_array_check(map, prog);
	if (err)
		return err;
	bpf_prog_ref(prog);
	*obj = prog;
	return 0;
}

static void prog_put(void *rt, struct bpf_map *map, void *obj)
{
	(void)rt;
	(void)map;
	bpf_prog_put(obj);
}

static uint32_t prog_id(void *obj)
{
	return ((struct bpf_prog *)obj)->id;
}

static int inner_get(void *rt, struct bpf_map *map, uint32_t handle, void **obj)
{
	struct bpf_map *inner;
	void *found;
	int err = rt_handle_get(rt, handle, RT_MAP, &found);

	if (err)
		return err;
	inner = found;
	if (!inner->ops->inner_fits || !inner->ops->inner_fits(map->inner, inner))
		return -EINVAL;
	bpf_map_ref(inner);
	*obj = inner;
	return 0;
}

static void inner_put(void *rt, struct bpf_map *map, void *obj)
{
	(void)rt;
	(void)map;
	bpf_map_put(obj);
}

static uint32_t inner_id(void *obj)
{
	return ((struct bpf_map *)obj)->id;
}

static const struct map_fd_ops prog_fd_ops = { prog_get, prog_put, prog_id };
static const struct map_fd_ops inner_fd_ops = { inner_get, inner_put, inner_id };

const struct map_fd_ops *rt_fd_ops(const struct map_type *row)
{
	if (row->features & MAP_FEAT_INNER)
		return &inner_fd_ops;
	return row->type == BPF_MAP_TYPE_PROG_ARRAY ? &prog_fd_ops : NULL;
}
