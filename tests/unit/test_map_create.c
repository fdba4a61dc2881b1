/* SPDX-License-Identifier: BSD-2-Clause */
/* Creation: which attributes are refused, in what order, with which error; nothing is left over. */
#include "test.h"

#include "bpf/btf.h"
#include "hal_host.h"
#include "support_map.h"

static int create(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t max,
		  uint32_t flags)
{
	struct bpf_map *map = NULL;
	int err = map_new(&map, type, key, value, max, flags);

	if (!err)
		map_end(map);
	else if (map)
		TEST_FAIL("out was touched");
	return err;
}

#define ARRAY(...) create(BPF_MAP_TYPE_ARRAY, __VA_ARGS__)
#define PCPU(...)  create(BPF_MAP_TYPE_PERCPU_ARRAY, __VA_ARGS__)
#define HASH(...)  create(BPF_MAP_TYPE_HASH, __VA_ARGS__)
#define PROGS(...) create(BPF_MAP_TYPE_PROG_ARRAY, __VA_ARGS__)

TEST(create_array_sizes)
{
	CHECK_EQ(ARRAY(4, 8, 1, 0), 0);
	CHECK_EQ(ARRAY(4, 1, 1, 0), 0);
	CHECK_EQ(ARRAY(4, 8, 0, 0), -EINVAL);
	CHECK_EQ(ARRAY(8, 8, 1, 0), -EINVAL);
	CHECK_EQ(ARRAY(0, 8, 1, 0), -EINVAL);
	CHECK_EQ(ARRAY(4, 0, 1, 0), -EINVAL);
	CHECK_EQ(ARRAY(4, 0x80000000u, 1, 0), -E2BIG);
	CHECK_EQ(ARRAY(4, 4096, 0xffffffffu, 0), -ENOMEM);
	CHECK_EQ(PCPU(4, 32 << 10, 1, 0), 0);
	CHECK_EQ(PCPU(4, (32 << 10) + 1, 1, 0), -E2BIG);
	CHECK_EQ(PROGS(4, 4, 8, 0), 0);
	CHECK_EQ(PROGS(4, 8, 8, 0), -EINVAL);
}

TEST(create_hash_sizes)
{
	CHECK_EQ(HASH(1, 1, 1, 0), 0);
	CHECK_EQ(HASH(0, 8, 1, 0), -EINVAL);
	CHECK_EQ(HASH(8, 0, 1, 0), -EINVAL);
	CHECK_EQ(HASH(8, 8, 0, 0), -EINVAL);
	CHECK_EQ(HASH(8, 4 << 20, 1, 0), -E2BIG);
	CHECK_EQ(HASH(4 << 20, 8, 1, BPF_F_NO_PREALLOC), -E2BIG);
	CHECK_EQ(HASH(0xffffffffu, 0xffffffffu, 1, 0), -E2BIG);
	CHECK_EQ(HASH(8, 8, (1u << 27) + 1, BPF_F_NO_PREALLOC), -E2BIG);
	CHECK_EQ(HASH(8, 8, 0xffffffffu, 0), -E2BIG);
	CHECK_EQ(HASH(8, 8, 1u << 27, 0), -ENOMEM);
}

TEST(create_flags)
{
	CHECK_EQ(ARRAY(4, 8, 1, BPF_F_MMAPABLE), 0);
	CHECK_EQ(ARRAY(4, 8, 1, BPF_F_INNER_MAP), 0);
	CHECK_EQ(ARRAY(4, 8, 1, BPF_F_NO_PREALLOC), -EINVAL);
	CHECK_EQ(ARRAY(4, 8, 1, 1u << 31), -EINVAL);
	CHECK_EQ(PCPU(4, 8, 1, BPF_F_MMAPABLE), -EINVAL);
	CHECK_EQ(PCPU(4, 8, 1, BPF_F_INNER_MAP), -EINVAL);
	CHECK_EQ(HASH(4, 8, 1, BPF_F_MMAPABLE), -EINVAL);
	CHECK_EQ(HASH(4, 8, 1, BPF_F_NO_COMMON_LRU), -EINVAL);
	CHECK_EQ(HASH(4, 8, 1, BPF_F_ZERO_SEED), 0);
	CHECK_EQ(PROGS(4, 4, 1, BPF_F_RDONLY_PROG), -EINVAL);
	CHECK_EQ(ARRAY(4, 8, 1, BPF_F_RDONLY), 0);
	CHECK_EQ(ARRAY(4, 8, 1, BPF_F_RDONLY | BPF_F_WRONLY), -EINVAL);
	CHECK_EQ(ARRAY(4, 8, 1, BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG), -EINVAL);
	CHECK_EQ(create(BPF_MAP_TYPE_UNSPEC, 4, 8, 1, 0), -EINVAL);
	CHECK_EQ(create(BPF_MAP_TYPE_SOCKMAP, 4, 8, 1, 0), -EINVAL);
	CHECK_EQ(create(0x7fffffff, 4, 8, 1, 0), -EINVAL);
}

static void array_attr(union bpf_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->map_type = BPF_MAP_TYPE_ARRAY;
	attr->key_size = 4;
	attr->value_size = 24;
	attr->max_entries = 2;
}

TEST(create_other_fields)
{
	union bpf_attr attr;
	struct bpf_map *map;

	array_attr(&attr);
	attr.map_extra = 1;
	CHECK_EQ(map_new_attr(&map, &attr, NULL, NULL), -EINVAL);
	array_attr(&attr);
	attr.map_flags = BPF_F_NUMA_NODE;
	attr.numa_node = 1;
	CHECK_EQ(map_new_attr(&map, &attr, NULL, NULL), -EINVAL);
	array_attr(&attr);
	attr.map_ifindex = 3;
	CHECK_EQ(map_new_attr(&map, &attr, NULL, NULL), -EINVAL);
	array_attr(&attr);
	attr.btf_key_type_id = 1;
	CHECK_EQ(map_new_attr(&map, &attr, NULL, NULL), -EINVAL);
	array_attr(&attr);
	attr.btf_value_type_id = 1;
	CHECK_EQ(map_new_attr(&map, &attr, NULL, NULL), -EBADF);
	array_attr(&attr);
	attr.btf_vmlinux_value_type_id = 1;
	CHECK_EQ(map_new_attr(&map, &attr, NULL, NULL), -EINVAL);
}

TEST(create_names)
{
	static const struct {
		const char *name;
		int err;
	} rows[] = {
		{ "", 0 },
		{ "a_Z.09", 0 },
		{ "fifteen_letters", 0 },
		{ "a b", -EINVAL },
		{ "a/b", -EINVAL },
		{ "\xc3\xa4", -EINVAL },
		{ "a-b", -EINVAL },
		{ "sixteen__letters", -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		union bpf_attr attr;
		struct bpf_map *map;
		int err;

		array_attr(&attr);
		memcpy(attr.map_name, rows[i].name, MIN(strlen(rows[i].name), (size_t)16));
		err = map_new_attr(&map, &attr, NULL, NULL);
		CHECK_EQ(err, rows[i].err);
		if (!err) {
			CHECK_STR(map->name, rows[i].name);
			map_end(map);
		}
	}
}

TEST(create_fills_common_fields)
{
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_HASH, 5, 13, 100, BPF_F_NO_PREALLOC), 0);
	CHECK_EQ(map->type, BPF_MAP_TYPE_HASH);
	CHECK_EQ(map->key_size, 5);
	CHECK_EQ(map->value_size, 13);
	CHECK_EQ(map->value_stride, 16);
	CHECK_EQ(map->max_entries, 100);
	CHECK_EQ(map->map_flags, BPF_F_NO_PREALLOC);
	CHECK_EQ(map->refs, 1);
	CHECK_EQ(map->urefs, 1);
	CHECK_EQ(map->lock_off, -1);
	CHECK_EQ(map->timer_off, -1);
	CHECK_STR(map->type_row->name, "hash");
	map_end(map);
}

/* ---- BTF (support_map.h has the types) ---------------------------------------------------------
 */

TEST(create_btf_ids)
{
	struct bpf_btf *btf;
	struct bpf_map *map;

	CHECK_EQ(map_test_btf(&btf), 0);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0, 1, 2), 0);
	CHECK(map->btf == btf);
	CHECK_EQ(map->btf_key_type_id, 1);
	CHECK_EQ(map->btf_value_type_id, 2);
	map_end(map);
	/* Sizes that do not fit, ids that do not exist, keys that are not 32-bit integers. */
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0, 1, 2), -EINVAL);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_HASH, 8, 8, 1, 0, 1, 2), -EINVAL);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_HASH, 4, 8, 1, 0, 1, 99), -EINVAL);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0, 3, 2), -EINVAL);
	/* No key type: only global data. */
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0, 0, 9), 0);
	map_end(map);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_ARRAY, 4, 8, 2, 0, 0, 9), -EINVAL);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0, 0, 2), -EINVAL);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_HASH, 4, 8, 1, 0, 0, 2), -EINVAL);
	btf_free(btf);
}

TEST(create_finds_lock)
{
	struct bpf_btf *btf;
	struct bpf_map *map;

	CHECK_EQ(map_test_btf(&btf), 0);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_HASH, 4, 16, 8, 0, 1, 6), 0);
	CHECK_EQ(map->has_lock, 1);
	CHECK_EQ(map->lock_off, 8);
	CHECK_EQ(map->has_timer, 0);
	CHECK_EQ(bpf_map_freeze(map), -ENOTSUPP);
	map_end(map);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_ARRAY, 4, 16, 8, BPF_F_RDONLY_PROG, 1, 6),
		 -EACCES);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 16, 8, 0, 1, 6), -EOPNOTSUPP);
	btf_free(btf);
}

static void lock_ops(struct bpf_map *map)
{
	uint32_t key = 1;
	uint64_t value[2] = { 0x1111, 0xffffffff00000007 | 0x2200000000 }, got[2];
	uint32_t *lock;

	CHECK_EQ(bpf_map_sys_update(map, &key, value, BPF_F_LOCK), 0);
	CHECK_EQ(bpf_map_sys_lookup(map, &key, got, BPF_F_LOCK), 0);
	CHECK_EQ(got[0], 0x1111);
	CHECK_EQ(got[1], value[1] & 0xffffffff00000000); /* the lock word reads 0 */
	lock = (uint32_t *)map->ops->lookup(map, &key) + 2;
	CHECK_EQ(*lock, 0);
	/* A held lock is left alone by plain reads and writes. */
	*lock = 1;
	CHECK_EQ(bpf_map_sys_lookup(map, &key, got, 0), 0);
	CHECK_EQ((uint32_t)got[1], 0);
	CHECK(bpf_map_owns_lock(map, (uintptr_t)lock));
	CHECK(!bpf_map_owns_lock(map, (uintptr_t)lock + 4));
	CHECK(!map->ops->owns_value(map, (uintptr_t)lock, 4));
	CHECK(!map->ops->owns_value(map, (uintptr_t)(lock - 2), 12));
	CHECK(map->ops->owns_value(map, (uintptr_t)(lock - 2), 8));
	CHECK(map->ops->owns_value(map, (uintptr_t)(lock + 1), 4));
	CHECK_EQ(*lock, 1);
	*lock = 0;
	CHECK_EQ(bpf_map_sys_update(map, &key, value, 8), -EINVAL);
	CHECK_EQ(bpf_map_sys_update(map, &key, value, BPF_F_LOCK | 3), -EINVAL);
	CHECK_EQ(bpf_map_sys_update(map, &key, value, BPF_F_LOCK | BPF_NOEXIST), -EEXIST);
	CHECK_EQ(hal_host_irq_depth(), 0);
}

TEST(lock_in_values)
{
	struct bpf_btf *btf;
	struct bpf_map *map;

	CHECK_EQ(map_test_btf(&btf), 0);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_ARRAY, 4, 16, 8, 0, 1, 6), 0);
	lock_ops(map);
	map_end(map);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_HASH, 4, 16, 8, 0, 1, 6), 0);
	lock_ops(map);
	map_end(map);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_HASH, 4, 16, 8, BPF_F_NO_PREALLOC, 1, 6), 0);
	lock_ops(map);
	map_end(map);
	btf_free(btf);
}

/* The n-th allocation fails, for every n: an error, no map, no memory kept. */
TEST(create_out_of_memory)
{
	static const struct {
		enum bpf_map_type type;
		uint32_t key, value, max, flags;
	} rows[] = {
		{ BPF_MAP_TYPE_ARRAY, 4, 8, 100, 0 },
		{ BPF_MAP_TYPE_ARRAY, 4, 8, 100, BPF_F_MMAPABLE },
		{ BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 100, 0 },
		{ BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 100, 0 },
		{ BPF_MAP_TYPE_HASH, 8, 8, 100, 0 },
		{ BPF_MAP_TYPE_HASH, 8, 8, 100, BPF_F_NO_PREALLOC },
		{ BPF_MAP_TYPE_PERCPU_HASH, 8, 8, 100, 0 },
		{ BPF_MAP_TYPE_PERCPU_HASH, 8, 8, 100, BPF_F_NO_PREALLOC },
		{ BPF_MAP_TYPE_LRU_HASH, 8, 8, 100, 0 },
		{ BPF_MAP_TYPE_LRU_PERCPU_HASH, 8, 8, 100, BPF_F_NO_COMMON_LRU },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bool hit = true;

		for (unsigned long n = 1; hit; n++) {
			int err;

			hal_host_fail_alloc(n, false);
			err = create(rows[i].type, rows[i].key, rows[i].value, rows[i].max,
				     rows[i].flags);
			hit = hal_host_fail_hit();
			CHECK_EQ(err, hit ? -ENOMEM : 0);
			CHECK_EQ(test_leaked_bytes(), 0);
			CHECK(n < 100);
		}
	}
}
