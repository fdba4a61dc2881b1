/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/support_map.h"

#include <string.h>

#include "include/hal.h"

struct map_test_obj map_test_objs[8];

static int obj_get(void *rt, struct bpf_map *map, uint32_t handle, void **obj)
{
	(void)rt;
	(void)map;
	if (!handle || handle > ARRAY_SIZE(map_test_objs))
		return -EBADF;
	map_test_objs[handle - 1].id = 1000 + handle;
	map_test_objs[handle - 1].refs++;
	*obj = &map_test_objs[handle - 1];
	return 0;
}

static void obj_put(void *rt, struct bpf_map *map, void *obj)
{
	(void)rt;
	(void)map;
	((struct map_test_obj *)obj)->refs--;
}

static uint32_t obj_id(void *obj)
{
	return ((struct map_test_obj *)obj)->id;
}

const struct map_fd_ops map_test_fd_ops = { .get = obj_get, .put = obj_put, .id = obj_id };

int map_new_attr(struct bpf_map **out, const union bpf_attr *attr, struct bpf_map *inner,
		 struct bpf_btf *btf)
{
	return bpf_map_create(attr, inner, btf, NULL, &map_test_fd_ops, out);
}

int map_new(struct bpf_map **out, enum bpf_map_type type, uint32_t key_size, uint32_t value_size,
	    uint32_t max_entries, uint32_t flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key_size;
	attr.value_size = value_size;
	attr.max_entries = max_entries;
	attr.map_flags = flags;
	return map_new_attr(out, &attr, NULL, NULL);
}

void map_end(struct bpf_map *map)
{
	bpf_map_destroy(map);
	hal_quiesce_flush(true);
}
