/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/support_map.h"

#include <string.h>

#include "bpf/btf.h"
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
/* ---- BTF: a small one built here, as libbpf would send it --------------------------------------
 */

#define INFO(kind, vlen) ((uint32_t)(kind) << 24 | (vlen))
static const char strings[] = "\0int\0bpf_spin_lock\0val\0bpf_timer\0v\0a\0l\0t\0u64\0.bss";
enum {
	S_INT = 1,
	S_LOCK = 5,
	S_VAL = 19,
	S_TIMER = 23,
	S_V = 33,
	S_A = 35,
	S_L = 37,
	S_T = 39,
	S_U64 = 41,
	S_BSS = 45
};

/* 1 int  2 u64  3 spin lock  4 array[2] of u64  5 timer  6 {u64 a; lock l; int v}  7 {lock, u64}
 * 8 var  9 datasec .bss */
/* clang-format off */
static const uint32_t types[] = {
	S_INT,	 INFO(BTF_KIND_INT, 0),	    4,	BTF_INT_SIGNED << 24 | 32,
	S_U64,	 INFO(BTF_KIND_INT, 0),	    8,	64,
	S_LOCK,	 INFO(BTF_KIND_STRUCT, 1),  4,	S_VAL, 1, 0,
	0,	 INFO(BTF_KIND_ARRAY, 0),   0,	2, 1, 2,
	S_TIMER, INFO(BTF_KIND_STRUCT, 1),  16, S_VAL, 4, 0,
	S_V,	 INFO(BTF_KIND_STRUCT, 3),  16, S_A, 2, 0, S_L, 3, 64, S_V, 1, 96,
	S_V,	 INFO(BTF_KIND_STRUCT, 2),  24, S_T, 5, 0, S_A, 2, 128,
	S_A,	 INFO(BTF_KIND_VAR, 0),	    2,	BTF_VAR_GLOBAL_ALLOCATED,
	S_BSS,	 INFO(BTF_KIND_DATASEC, 1), 8,	8, 0, 8,
};
/* clang-format on */

int map_test_btf(struct bpf_btf **btf)
{
	struct {
		struct btf_header h;
		uint8_t rest[sizeof(types) + sizeof(strings)];
	} __packed image = { .h = { .magic = BTF_MAGIC,
				    .version = BTF_VERSION,
				    .hdr_len = sizeof(struct btf_header),
				    .type_len = sizeof(types),
				    .str_off = sizeof(types),
				    .str_len = sizeof(strings) } };

	memcpy(image.rest, types, sizeof(types));
	memcpy(image.rest + sizeof(types), strings, sizeof(strings));
	return btf_load(&image, sizeof(image), NULL, btf);
}

int map_new_btf(struct bpf_map **out, struct bpf_btf *btf, enum bpf_map_type type,
		uint32_t key_size, uint32_t value_size, uint32_t max_entries, uint32_t flags,
		uint32_t key_id, uint32_t value_id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key_size;
	attr.value_size = value_size;
	attr.max_entries = max_entries;
	attr.map_flags = flags;
	attr.btf_key_type_id = key_id;
	attr.btf_value_type_id = value_id;
	return map_new_attr(out, &attr, NULL, btf);
}
