/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/map_shape.h"

enum shape {
	SHAPE_PERCPU = 1,     /* one 8-byte aligned slot per CPU */
	SHAPE_FD_VALUE = 2,   /* an fd goes in */
	SHAPE_FD_ONLY = 4,    /* values are 4 bytes whatever value_size says */
	SHAPE_FD_KEY = 8,     /* the key is an fd */
	SHAPE_PROG_TAIL = 16, /* a program's fd may follow the first 4 bytes */
	SHAPE_KEY_CURSOR = 32,
};

static const uint8_t shapes[] = {
	[BPF_MAP_TYPE_PROG_ARRAY] = SHAPE_FD_VALUE | SHAPE_FD_ONLY,
	[BPF_MAP_TYPE_PERF_EVENT_ARRAY] = SHAPE_FD_VALUE | SHAPE_FD_ONLY,
	[BPF_MAP_TYPE_CGROUP_ARRAY] = SHAPE_FD_VALUE | SHAPE_FD_ONLY,
	[BPF_MAP_TYPE_ARRAY_OF_MAPS] = SHAPE_FD_VALUE | SHAPE_FD_ONLY,
	[BPF_MAP_TYPE_HASH_OF_MAPS] = SHAPE_FD_VALUE | SHAPE_FD_ONLY,
	[BPF_MAP_TYPE_SOCKMAP] = SHAPE_FD_VALUE,
	[BPF_MAP_TYPE_SOCKHASH] = SHAPE_FD_VALUE,
	[BPF_MAP_TYPE_XSKMAP] = SHAPE_FD_VALUE,
	[BPF_MAP_TYPE_REUSEPORT_SOCKARRAY] = SHAPE_FD_VALUE,
	[BPF_MAP_TYPE_PERCPU_HASH] = SHAPE_PERCPU,
	[BPF_MAP_TYPE_PERCPU_ARRAY] = SHAPE_PERCPU,
	[BPF_MAP_TYPE_LRU_PERCPU_HASH] = SHAPE_PERCPU,
	[BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE] = SHAPE_PERCPU,
	[BPF_MAP_TYPE_DEVMAP] = SHAPE_PROG_TAIL,
	[BPF_MAP_TYPE_DEVMAP_HASH] = SHAPE_PROG_TAIL,
	[BPF_MAP_TYPE_CPUMAP] = SHAPE_PROG_TAIL,
	[BPF_MAP_TYPE_SK_STORAGE] = SHAPE_FD_KEY,
	[BPF_MAP_TYPE_INODE_STORAGE] = SHAPE_FD_KEY,
	[BPF_MAP_TYPE_TASK_STORAGE] = SHAPE_FD_KEY,
	[BPF_MAP_TYPE_CGRP_STORAGE] = SHAPE_FD_KEY,
	[BPF_MAP_TYPE_LPM_TRIE] = SHAPE_KEY_CURSOR,
};

static bool has(const struct bpf_obj_info *map, enum shape shape)
{
	return map->type < ARRAY_SIZE(shapes) && shapes[map->type] & shape;
}

uint64_t map_value_bytes(const struct bpf_obj_info *map, uint32_t cpus)
{
	if (has(map, SHAPE_PERCPU))
		return ROUND_UP((uint64_t)map->value_size, 8) * cpus;
	return has(map, SHAPE_FD_ONLY) ? 4 : map->value_size;
}

uint32_t map_cursor_bytes(const struct bpf_obj_info *map)
{
	return has(map, SHAPE_KEY_CURSOR) ? map->key_size : 4;
}

bool map_key_is_fd(const struct bpf_obj_info *map)
{
	return has(map, SHAPE_FD_KEY);
}

bool map_value_is_fd(const struct bpf_obj_info *map)
{
	return has(map, SHAPE_FD_VALUE);
}

bool map_value_has_prog(const struct bpf_obj_info *map)
{
	return has(map, SHAPE_PROG_TAIL) && map->value_size >= 8;
}
