/* SPDX-License-Identifier: BSD-2-Clause */
/* Array, per-CPU array, prog array: element operations by program and by bpf(2). */
#include "test.h"

#include "bpf/prog.h"
#include "hal_host.h"
#include "include/hal.h"
#include "support_map.h"

static struct bpf_map *array(uint32_t value_size, uint32_t max, uint32_t flags)
{
	struct bpf_map *map;

	return map_new(&map, BPF_MAP_TYPE_ARRAY, 4, value_size, max, flags) ? NULL : map;
}

TEST(array_values_start_as_zero_and_keep_what_is_put)
{
	struct bpf_map *map = array(12, 5, 0);
	uint8_t value[12], got[12];

	for (uint32_t i = 0; i < 5; i++) {
		CHECK_EQ(bpf_map_sys_lookup(map, &i, got, 0), 0);
		memset(value, 0, sizeof(value));
		CHECK_MEM(got, value, sizeof(value));
		memset(value, 0x10 + (int)i, sizeof(value));
		CHECK_EQ(map->ops->update(map, &i, value, BPF_ANY), 0);
	}
	for (uint32_t i = 0; i < 5; i++) {
		uint8_t *slot = map->ops->lookup(map, &i);

		memset(value, 0x10 + (int)i, sizeof(value));
		CHECK_MEM(slot, value, sizeof(value));
		CHECK_EQ((uintptr_t)slot % 8, 0);
	}
	map_end(map);
}

TEST(array_errors)
{
	struct bpf_map *map = array(8, 4, 0);
	uint32_t in = 3, out = 4, far = 0xffffffff;
	uint64_t value = 1;

	CHECK(map->ops->lookup(map, &in));
	CHECK(!map->ops->lookup(map, &out));
	CHECK(!map->ops->lookup(map, &far));
	CHECK_EQ(bpf_map_sys_lookup(map, &out, &value, 0), -ENOENT);
	CHECK_EQ(bpf_map_sys_lookup(map, &in, &value, 1), -EINVAL);
	CHECK_EQ(bpf_map_sys_lookup(map, &in, &value, BPF_F_LOCK), -EINVAL);
	CHECK_EQ(bpf_map_sys_lookup(map, NULL, &value, 0), -EFAULT);
	CHECK_EQ(bpf_map_sys_update(map, &out, &value, 0), -E2BIG);
	CHECK_EQ(bpf_map_sys_update(map, &in, &value, BPF_NOEXIST), -EEXIST);
	CHECK_EQ(bpf_map_sys_update(map, &in, &value, BPF_EXIST), 0);
	CHECK_EQ(bpf_map_sys_update(map, &in, &value, 3), -EINVAL);
	CHECK_EQ(bpf_map_sys_update(map, &in, &value, 1ull << 40), -EINVAL);
	CHECK_EQ(bpf_map_sys_update(map, &in, &value, BPF_F_LOCK), -EINVAL);
	CHECK_EQ(map->ops->update(map, &in, &value, BPF_F_LOCK), -EINVAL);
	CHECK_EQ(bpf_map_sys_delete(map, &in), -EINVAL);
	CHECK_EQ(bpf_map_sys_lookup_delete(map, &in, &value, 0), -ENOTSUPP);
	map_end(map);
}

TEST(array_keys_in_order)
{
	struct bpf_map *map = array(8, 3, 0);
	uint32_t key, next;

	CHECK_EQ(bpf_map_sys_next_key(map, NULL, &next), 0);
	CHECK_EQ(next, 0);
	key = 1;
	CHECK_EQ(bpf_map_sys_next_key(map, &key, &next), 0);
	CHECK_EQ(next, 2);
	key = 2;
	CHECK_EQ(bpf_map_sys_next_key(map, &key, &next), -ENOENT);
	key = 77;
	CHECK_EQ(bpf_map_sys_next_key(map, &key, &next), 0);
	CHECK_EQ(next, 0);
	map_end(map);
}

TEST(array_mappable)
{
	struct bpf_map *map = array(12, 500, BPF_F_MMAPABLE);
	uint32_t key = 499;
	uintptr_t addr;
	size_t bytes;
	void *base;

	CHECK_EQ(map->ops->mmap_area(map, &base, &bytes), 0);
	CHECK_EQ((uintptr_t)base % 4096, 0);
	CHECK_EQ(bytes, 8192);
	CHECK(map->ops->lookup(map, &key) == (char *)base + 499 * 16);
	CHECK_EQ(map->ops->direct_value(map, 0, &addr), -ENOTSUPP);
	CHECK_EQ(map->ops->mem_usage(map), 12288);
	map_end(map);
	map = array(12, 500, 0);
	CHECK_EQ(map->ops->mmap_area(map, &base, &bytes), -EINVAL);
	CHECK_EQ(map->ops->mem_usage(map), test_leaked_bytes());
	map_end(map);
}

TEST(array_direct_value)
{
	struct bpf_map *map = array(100, 1, 0);
	uint32_t key = 0;
	uintptr_t addr;

	CHECK_EQ(map->ops->direct_value(map, 99, &addr), 0);
	CHECK_EQ(addr, (uintptr_t)map->ops->lookup(map, &key) + 99);
	CHECK_EQ(map->ops->direct_value(map, 100, &addr), -EINVAL);
	map_end(map);
}

/* What the JIT will make of the description gives the addresses that lookup gives. */
TEST(array_inline_lookup)
{
	struct bpf_map *map = array(20, 37, 0);
	struct map_lookup l;

	map->ops->gen_lookup(map, &l);
	CHECK_EQ(l.kind, MAP_LOOKUP_INDEX);
	CHECK_EQ(l.max, 37);
	CHECK_EQ(l.mask, 63);
	for (uint32_t i = 0; i < 37; i++)
		CHECK_EQ(l.base + (uint64_t)(i & l.mask) * l.stride,
			 (uintptr_t)map->ops->lookup(map, &i));
	map_end(map);
}

TEST(array_owns_value)
{
	struct bpf_map *map = array(12, 3, 0);
	uint32_t last = 2;
	uintptr_t at = (uintptr_t)map->ops->lookup(map, &last);

	CHECK(map->ops->owns_value(map, at, 12));
	CHECK(map->ops->owns_value(map, at + 11, 1));
	CHECK(!map->ops->owns_value(map, at + 11, 2));
	CHECK(!map->ops->owns_value(map, at + 12, 1)); /* padding between values */
	CHECK(!map->ops->owns_value(map, at + 16, 1));
	CHECK(!map->ops->owns_value(map, at - 33, 1));
	CHECK(!map->ops->owns_value(map, at, SIZE_MAX));
	CHECK(map->ops->owns_value(map, at - 32, 8));
	map_end(map);
}

static uint64_t count_to(void *arg, const void *key, void *value)
{
	uint32_t *stop_at = arg, index;

	memcpy(&index, key, 4);
	*(uint64_t *)value = index + 100;
	return index == *stop_at;
}

TEST(array_for_each)
{
	struct bpf_map *map = array(8, 6, 0);
	uint32_t stop = 99;

	CHECK_EQ(map->ops->for_each(map, count_to, &stop), 6);
	for (uint32_t i = 0; i < 6; i++)
		CHECK_EQ(*(uint64_t *)map->ops->lookup(map, &i), i + 100);
	stop = 2;
	CHECK_EQ(map->ops->for_each(map, count_to, &stop), 3);
	map_end(map);
}

TEST(array_batch)
{
	struct bpf_map *map = array(8, 10, 0);
	uint32_t keys[10], in, count;
	uint64_t values[10];

	for (uint32_t i = 0; i < 10; i++) {
		keys[i] = i;
		values[i] = i * i;
	}
	count = 10;
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_UPDATE_BATCH, NULL, NULL, keys, values, &count, 0,
				   0),
		 0);
	CHECK_EQ(count, 10);
	memset(values, 0xff, sizeof(values));
	count = 7;
	CHECK_EQ(
		bpf_map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, NULL, &in, keys, values, &count, 0, 0),
		0);
	CHECK_EQ(count, 7);
	CHECK_EQ(in, 6);
	CHECK_EQ(values[6], 36);
	count = 7;
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, &in, &in, keys, values, &count, 0, 0),
		 -ENOENT);
	CHECK_EQ(count, 3);
	CHECK_EQ(keys[2], 9);
	CHECK_EQ(values[2], 81);
	count = 1;
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_DELETE_BATCH, NULL, NULL, keys, NULL, &count, 0, 0),
		 -ENOTSUPP);
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_LOOKUP_AND_DELETE_BATCH, NULL, &in, keys, values,
				   &count, 0, 0),
		 -ENOTSUPP);
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_UPDATE_BATCH, NULL, NULL, keys, values, &count,
				   BPF_NOEXIST, 0),
		 -EINVAL);
	/* The failing element stops the batch and is not counted. */
	keys[2] = 10;
	count = 4;
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_UPDATE_BATCH, NULL, NULL, keys, values, &count, 0,
				   0),
		 -E2BIG);
	CHECK_EQ(count, 2);
	count = 0;
	CHECK_EQ(
		bpf_map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, NULL, &in, keys, values, &count, 0, 0),
		0);
	map_end(map);
}

/* They belong to the handle, so the map does not keep them. */
TEST(array_handle_flags)
{
	struct bpf_map *map = array(8, 2, BPF_F_RDONLY | BPF_F_RDONLY_PROG);

	CHECK_EQ(map->map_flags, BPF_F_RDONLY_PROG);
	map_end(map);
}

TEST(array_frozen)
{
	struct bpf_map *map = array(8, 2, 0);
	uint32_t key = 0;
	uint64_t value = 1;

	map->writers = 1; /* a write is under way */
	CHECK_EQ(bpf_map_freeze(map), -EBUSY);
	map->writers = 0;
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), 0);
	CHECK_EQ(bpf_map_freeze(map), 0);
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), -EPERM);
	CHECK_EQ(bpf_map_freeze(map), -EPERM);
	CHECK_EQ(bpf_map_sys_lookup(map, &key, &value, 0), 0);
	CHECK_EQ(map->writers, 0);
	/* Programs still write. */
	CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	map_end(map);
}

TEST(array_as_inner_map)
{
	struct bpf_map *a = array(8, 4, 0), *same = array(8, 4, 0), *longer = array(8, 5, 0);
	struct bpf_map *wider = array(12, 4, 0);
	struct bpf_map *any = array(8, 4, BPF_F_INNER_MAP), *any5 = array(8, 5, BPF_F_INNER_MAP);

	CHECK(a->ops->inner_fits(a, same));
	CHECK(!a->ops->inner_fits(a, longer));
	CHECK(!a->ops->inner_fits(a, wider));
	CHECK(!a->ops->inner_fits(a, any));
	CHECK(any->ops->inner_fits(any, any5));
	map_end(a);
	map_end(same);
	map_end(longer);
	map_end(wider);
	map_end(any);
	map_end(any5);
}

/* ---- per CPU -----------------------------------------------------------------------------------
 */

TEST(percpu_array_values)
{
	struct bpf_map *map;
	uint32_t key = 2, far = 3;
	uint64_t all[4], one = 7;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 5, 3, 0), 0);
	CHECK_EQ(bpf_map_sys_value_size(map), 32);
	for (unsigned int cpu = 0; cpu < 4; cpu++) {
		hal_host_set_cpu(cpu);
		one = 0x1100000000 + cpu;
		CHECK_EQ(map->ops->update(map, &key, &one, 0), 0);
		CHECK_EQ(*(uint64_t *)map->ops->lookup(map, &key), 0x1100000000 + cpu);
	}
	CHECK_EQ(bpf_map_sys_lookup(map, &key, all, 0), 0);
	for (unsigned int cpu = 0; cpu < 4; cpu++) {
		CHECK_EQ(all[cpu], 0x1100000000 + cpu);
		CHECK_EQ(*(uint32_t *)map->ops->lookup_percpu(map, &key, cpu), cpu);
		all[cpu] = cpu * 3;
	}
	CHECK(!map->ops->lookup_percpu(map, &key, 4));
	CHECK(!map->ops->lookup_percpu(map, &far, 0));
	CHECK_EQ(bpf_map_sys_update(map, &key, all, 0), 0);
	hal_host_set_cpu(3);
	CHECK_EQ(*(uint32_t *)map->ops->lookup(map, &key), 9);
	CHECK(!map->ops->lookup(map, &far));
	CHECK_EQ(bpf_map_sys_update(map, &far, all, 0), -E2BIG);
	CHECK_EQ(bpf_map_sys_update(map, &key, all, BPF_NOEXIST), -EEXIST);
	CHECK_EQ(bpf_map_sys_update(map, &key, all, BPF_F_LOCK), -EINVAL);
	CHECK_EQ(map->ops->update(map, &key, all, 4), -EINVAL);
	CHECK_EQ(bpf_map_sys_lookup(map, &far, all, 0), -ENOENT);
	CHECK_EQ(bpf_map_sys_delete(map, &key), -EINVAL);
	map_end(map);
}

TEST(percpu_array_inline_lookup)
{
	struct bpf_map *map;
	struct map_lookup l;
	uint32_t key = 5;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 12, 9, 0), 0);
	map->ops->gen_lookup(map, &l);
	CHECK_EQ(l.kind, MAP_LOOKUP_INDEX_PERCPU);
	for (unsigned int cpu = 0; cpu < 4; cpu++) {
		uintptr_t at = l.base + (uint64_t)key * l.stride + cpu * HAL_HOST_PERCPU_STRIDE;

		hal_host_set_cpu(cpu);
		CHECK_EQ(at, (uintptr_t)map->ops->lookup(map, &key));
		CHECK(map->ops->owns_value(map, at, 12));
		CHECK(!map->ops->owns_value(map, at + 4, 12));
	}
	CHECK_EQ(map->ops->mem_usage(map), 4096 + 9 * 16 * 4);
	map_end(map);
}

/* ---- prog array --------------------------------------------------------------------------------
 */

TEST(prog_array_holds_references)
{
	struct bpf_map *map;
	uint32_t key = 1, far = 4, value = 3, id = 0;

	memset(map_test_objs, 0, sizeof(map_test_objs));
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0), 0);
	CHECK_EQ(bpf_map_sys_lookup(map, &key, &id, 0), -ENOENT);
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, BPF_NOEXIST), -EINVAL);
	CHECK_EQ(bpf_map_sys_update(map, &far, &value, 0), -E2BIG);
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), 0);
	CHECK_EQ(map_test_objs[2].refs, 1);
	CHECK_EQ(bpf_map_sys_lookup(map, &key, &id, 0), 0);
	CHECK_EQ(id, 1003);
	CHECK(map->ops->lookup(map, &key) == &map_test_objs[2]);
	CHECK(!map->ops->lookup(map, &far));
	value = 99;
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), -EBADF);
	CHECK_EQ(map_test_objs[2].refs, 1);
	value = 4;
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), 0);
	CHECK_EQ(map_test_objs[2].refs, 0);
	CHECK_EQ(map_test_objs[3].refs, 1);
	CHECK_EQ(bpf_map_sys_delete(map, &far), -E2BIG);
	CHECK_EQ(bpf_map_sys_delete(map, &key), 0);
	CHECK_EQ(bpf_map_sys_delete(map, &key), -ENOENT);
	CHECK_EQ(map_test_objs[3].refs, 0);
	for (key = 0; key < 4; key++)
		CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), 0);
	CHECK_EQ(map_test_objs[3].refs, 4);
	map->ops->release_uref(map);
	CHECK_EQ(map_test_objs[3].refs, 0);
	key = 0;
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), 0);
	map_end(map);
	CHECK_EQ(map_test_objs[3].refs, 0);
}

TEST(prog_array_owner)
{
	struct bpf_map *map;
	struct bpf_prog xdp, cls;

	memset(&xdp, 0, sizeof(xdp));
	memset(&cls, 0, sizeof(cls));
	xdp.type = BPF_PROG_TYPE_XDP;
	cls.type = BPF_PROG_TYPE_SCHED_CLS;
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0), 0);
	CHECK_EQ(map->owner_type, 0);
	CHECK_EQ(bpf_prog_array_check(map, &xdp), 0);
	CHECK_EQ(map->owner_type, BPF_PROG_TYPE_XDP);
	CHECK_EQ(bpf_prog_array_check(map, &cls), -EINVAL);
	CHECK_EQ(bpf_prog_array_check(map, &xdp), 0);
	xdp.flags = BPF_F_XDP_HAS_FRAGS;
	CHECK_EQ(bpf_prog_array_check(map, &xdp), -EINVAL);
	map_end(map);
}
