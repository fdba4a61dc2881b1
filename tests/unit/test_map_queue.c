/* SPDX-License-Identifier: BSD-2-Clause */
/* Queue, stack, Bloom filter. */
#include "test.h"

#include "hal_host.h"
#include "include/hal.h"
#include "maps/map_lock.h"
#include "support_map.h"

static struct bpf_map *make(enum bpf_map_type type, uint32_t value_size, uint32_t max)
{
	struct bpf_map *map;

	return map_new(&map, type, 0, value_size, max, 0) ? NULL : map;
}

TEST(queue_checks)
{
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_QUEUE, 4, 8, 4, 0), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_QUEUE, 0, 0, 4, 0), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_STACK, 0, 8, 0, 0), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_STACK, 0, (4 << 20) + 1, 1, 0), -E2BIG);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_STACK, 0, 8, 1, BPF_F_NO_PREALLOC), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_QUEUE, 0, 4 << 20, 0xffffffff, 0), -ENOMEM);
}

static void order(enum bpf_map_type type)
{
	struct bpf_map *map = make(type, 12, 5);
	uint8_t value[12], want[12];
	uint32_t first = 0, next = 0; /* values in it: first .. next - 1 for a queue */

	for (int step = 0; step < 400; step++) {
		bool push = hal_random_u64() % 2;
		uint32_t used = next - first;
		int err;

		memset(value, (int)next, 12);
		if (push) {
			err = map->ops->push(map, value, BPF_ANY);
			CHECK_EQ(err, used == 5 ? -E2BIG : 0);
			next += !err;
			continue;
		}
		memset(want, type == BPF_MAP_TYPE_QUEUE ? (int)first : (int)next - 1, 12);
		if (!used)
			memset(want, 0, 12);
		memset(value, 0xee, 12);
		CHECK_EQ(map->ops->peek(map, value), used ? 0 : -ENOENT);
		CHECK_MEM(value, want, 12);
		memset(value, 0xee, 12);
		CHECK_EQ(map->ops->pop(map, value), used ? 0 : -ENOENT);
		CHECK_MEM(value, want, 12);
		if (used && type == BPF_MAP_TYPE_QUEUE)
			first++;
		else if (used)
			next--;
	}
	map_end(map);
}

TEST(queue_and_stack_order)
{
	order(BPF_MAP_TYPE_QUEUE);
	order(BPF_MAP_TYPE_STACK);
}

TEST(queue_full_with_exist_drops_the_oldest)
{
	static const enum bpf_map_type types[] = { BPF_MAP_TYPE_QUEUE, BPF_MAP_TYPE_STACK };

	for (size_t t = 0; t < 2; t++) {
		struct bpf_map *map = make(types[t], 8, 3);
		uint64_t value;

		for (value = 0; value < 7; value++)
			CHECK_EQ(map->ops->push(map, &value, BPF_EXIST), 0);
		for (uint64_t i = 0; i < 3; i++) {
			CHECK_EQ(map->ops->pop(map, &value), 0);
			CHECK_EQ(value, t == 0 ? 4 + i : 6 - i);
		}
		CHECK_EQ(map->ops->push(map, &value, BPF_NOEXIST), -EINVAL);
		CHECK_EQ(map->ops->push(map, &value, BPF_F_LOCK), -EINVAL);
		CHECK_EQ(map->ops->push(map, &value, 1ull << 33), -EINVAL);
		map_end(map);
	}
}

TEST(queue_by_syscall)
{
	struct bpf_map *map = make(BPF_MAP_TYPE_QUEUE, 8, 3);
	uint64_t value = 41, key = 0;

	CHECK_EQ(bpf_map_sys_update(map, NULL, &value, 0), 0);
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), -EINVAL);
	value = 0;
	CHECK_EQ(bpf_map_sys_lookup(map, NULL, &value, 0), 0);
	CHECK_EQ(value, 41);
	CHECK_EQ(bpf_map_sys_lookup_delete(map, NULL, &value, BPF_F_LOCK), -EINVAL);
	CHECK_EQ(bpf_map_sys_lookup_delete(map, NULL, &value, 0), 0);
	CHECK_EQ(bpf_map_sys_lookup(map, NULL, &value, 0), -ENOENT);
	CHECK_EQ(bpf_map_sys_delete(map, NULL), -EINVAL);
	CHECK_EQ(bpf_map_sys_next_key(map, NULL, &key), -EINVAL);
	map_end(map);
}

TEST(queue_inside_itself_is_busy)
{
	struct bpf_map *map = make(BPF_MAP_TYPE_QUEUE, 8, 3);
	struct map_lock *lock = (struct map_lock *)(map + 1);
	uint64_t value = 1;
	unsigned long irq;

	CHECK_EQ(map_lock(lock, &irq), 0);
	CHECK_EQ(map->ops->push(map, &value, 0), -EBUSY);
	CHECK_EQ(map->ops->pop(map, &value), -EBUSY);
	CHECK_EQ(value, 0);
	CHECK_EQ(hal_host_irq_depth(), 1);
	map_unlock(lock, irq);
	CHECK_EQ(map->ops->push(map, &value, 0), 0);
	map_end(map);
}

/* ---- Bloom filter ------------------------------------------------------------------------------
 */

static struct bpf_map *bloom(uint32_t value_size, uint32_t max, uint64_t extra, int *err)
{
	union bpf_attr attr;
	struct bpf_map *map = NULL;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_BLOOM_FILTER;
	attr.value_size = value_size;
	attr.max_entries = max;
	attr.map_extra = extra;
	*err = map_new_attr(&map, &attr, NULL, NULL);
	return map;
}

TEST(bloom_checks)
{
	struct bpf_map *map;
	int err;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_BLOOM_FILTER, 4, 8, 4, 0), -EINVAL);
	bloom(0, 4, 0, &err);
	CHECK_EQ(err, -EINVAL);
	bloom(8, 0, 0, &err);
	CHECK_EQ(err, -EINVAL);
	bloom(8, 4, 16, &err);
	CHECK_EQ(err, -EINVAL);
	bloom((4 << 20) + 1, 4, 0, &err);
	CHECK_EQ(err, -E2BIG);
	map = bloom(1, 1, 15, &err);
	CHECK_EQ(err, 0);
	CHECK_EQ(map->map_extra, 15);
	map_end(map);
}

/* Share of values found that were not added, in tenths of a percent. */
static uint32_t errors(uint32_t value_size, uint32_t n, uint64_t hashes, uint64_t step)
{
	struct bpf_map *map;
	uint8_t value[64] = { 0 };
	uint32_t wrong = 0;
	int err;

	map = bloom(value_size, n, hashes, &err);
	if (err)
		return ~0u;
	for (uint64_t i = 0; i < 3 * n; i++) {
		uint64_t x = i * step;

		memcpy(value, &x, MIN(value_size, 8u));
		if (i < n)
			err |= map->ops->push(map, value, BPF_ANY);
		else
			wrong += !map->ops->peek(map, value);
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t x = i * step;

		memcpy(value, &x, MIN(value_size, 8u));
		err |= map->ops->peek(map, value);
	}
	map_end(map);
	return err ? ~0u : wrong * 1000 / (2 * n);
}

TEST(bloom_finds_all_and_errs_rarely)
{
	/* With bits = 1.4 nk the error is at most (1 - e^(-1/1.4))^k: 3.5 % for k = 5. */
	CHECK(errors(8, 10000, 0, 1) <= 45);
	CHECK(errors(8, 10000, 5, 0x10001) <= 45);
	CHECK(errors(4, 10000, 5, 3) <= 45);
	CHECK(errors(20, 10000, 5, 1) <= 45);
	CHECK(errors(8, 10000, 10, 1ull << 40) <= 5);
	CHECK(errors(8, 10000, 1, 1) <= 550);
}

TEST(bloom_operations)
{
	struct bpf_map *map;
	uint32_t value = 7, other = 8;
	int err;

	map = bloom(4, 100, 3, &err);
	CHECK_EQ(bpf_map_sys_lookup(map, NULL, &value, 0), -ENOENT);
	CHECK_EQ(bpf_map_sys_update(map, NULL, &value, BPF_NOEXIST), -EINVAL);
	CHECK_EQ(bpf_map_sys_update(map, NULL, &value, 0), 0);
	CHECK_EQ(bpf_map_sys_lookup(map, NULL, &value, 0), 0);
	CHECK_EQ(bpf_map_sys_lookup(map, NULL, &other, 0), -ENOENT);
	CHECK_EQ(bpf_map_sys_delete(map, NULL), -EOPNOTSUPP);
	CHECK_EQ(bpf_map_sys_next_key(map, NULL, &other), -EOPNOTSUPP);
	CHECK_EQ(bpf_map_sys_lookup_delete(map, NULL, &value, 0), -ENOTSUPP);
	CHECK_EQ(map->ops->mem_usage(map), test_leaked_bytes());
	map_end(map);
}
