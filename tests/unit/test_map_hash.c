/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash maps: element operations, both ways of allocation, iteration, batches, key flooding. */
#include "test.h"

#include "hal_host.h"
#include "include/hal.h"
#include "maps/hash.h"
#include "support_map.h"

static const uint32_t both[] = { 0, BPF_F_NO_PREALLOC };

static struct bpf_map *hash(uint32_t key_size, uint32_t value_size, uint32_t max, uint32_t flags)
{
	struct bpf_map *map;

	return map_new(&map, BPF_MAP_TYPE_HASH, key_size, value_size, max, flags) ? NULL : map;
}

/* Key number n of a size; differs from others in the first or the last bytes. */
static void make_key(uint8_t *key, uint32_t size, uint32_t n)
{
	memset(key, 0x5a, size);
	if (n & 1)
		memcpy(key, &n, MIN(size, 4u));
	else
		memcpy(key + size - MIN(size, 4u), &n, MIN(size, 4u));
}

static void round_trip(uint32_t key_size, uint32_t value_size, uint32_t flags)
{
	uint32_t n = key_size == 1 ? 100 : 300;
	struct bpf_map *map = hash(key_size, value_size, n, flags);
	uint8_t key[64], value[64], got[64];

	CHECK(map);
	for (uint32_t i = 0; i < n; i++) {
		make_key(key, key_size, i);
		memset(value, (int)i, value_size);
		CHECK_EQ(map->ops->update(map, key, value, BPF_NOEXIST), 0);
		CHECK_EQ(map->ops->update(map, key, value, BPF_NOEXIST), -EEXIST);
	}
	for (uint32_t i = 0; i < n; i++) {
		make_key(key, key_size, i);
		memset(value, (int)i, value_size);
		CHECK(map->ops->lookup(map, key));
		CHECK_MEM(map->ops->lookup(map, key), value, value_size);
		CHECK_EQ(bpf_map_sys_lookup(map, key, got, 0), 0);
		CHECK_MEM(got, value, value_size);
		memset(value, (int)i + 1, value_size);
		CHECK_EQ(map->ops->update(map, key, value, BPF_EXIST), 0);
		CHECK_MEM(map->ops->lookup(map, key), value, value_size);
	}
	for (uint32_t i = 0; i < n; i += 3) {
		make_key(key, key_size, i);
		CHECK_EQ(map->ops->delete(map, key), 0);
		CHECK_EQ(map->ops->delete(map, key), -ENOENT);
		CHECK_EQ(map->ops->update(map, key, value, BPF_EXIST), -ENOENT);
	}
	for (uint32_t i = 0; i < n; i++) {
		make_key(key, key_size, i);
		CHECK_EQ(!map->ops->lookup(map, key), i % 3 == 0);
	}
	CHECK_EQ(hal_host_irq_depth(), 0);
	map_end(map);
}

TEST(hash_all_key_sizes)
{
	for (size_t f = 0; f < ARRAY_SIZE(both); f++) {
		for (uint32_t size = 1; size <= 33; size++)
			round_trip(size, 8, both[f]);
		round_trip(64, 8, both[f]);
	}
}

TEST(hash_value_sizes)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 64 };

	for (size_t f = 0; f < ARRAY_SIZE(both); f++) {
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			round_trip(8, sizes[i], both[f]);
	}
}

TEST(hash_holds_exactly_max_entries)
{
	for (size_t f = 0; f < ARRAY_SIZE(both); f++) {
		for (uint32_t max = 1; max < 40; max += 3) {
			struct bpf_map *map = hash(4, 16, max, both[f]);
			uint64_t value[2] = { 1, 2 };
			uint32_t key;

			for (key = 0; key < max; key++) {
				hal_host_set_cpu(key % 4);
				CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
			}
			for (unsigned int cpu = 0; cpu < 4; cpu++) {
				uint32_t first = 0;

				hal_host_set_cpu(cpu);
				CHECK_EQ(map->ops->update(map, &key, value, 0), -E2BIG);
				/* Replacing needs no room. */
				CHECK_EQ(map->ops->update(map, &first, value, 0), 0);
				CHECK_EQ(map->ops->update(map, &first, value, BPF_EXIST), 0);
			}
			/* What one CPU deletes the others can use. */
			for (unsigned int i = 0; i < 50; i++) {
				uint32_t old = i, fresh = i + max;

				hal_host_set_cpu(i % 4);
				CHECK_EQ(map->ops->delete(map, &old), 0);
				hal_host_set_cpu((i / 4) % 4);
				CHECK_EQ(map->ops->update(map, &fresh, value, 0), 0);
				fresh++;
				CHECK_EQ(map->ops->update(map, &fresh, value, 0), -E2BIG);
			}
			map_end(map);
		}
	}
}

TEST(hash_small_values_change_in_place_large_ones_by_replacement)
{
	uint32_t key = 1;
	uint64_t value[2] = { 1, 2 };
	struct bpf_map *map = hash(4, 8, 4, 0);
	uint64_t *before;

	CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
	before = map->ops->lookup(map, &key);
	value[0] = 9;
	CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
	CHECK(map->ops->lookup(map, &key) == before);
	CHECK_EQ(*before, 9);
	map_end(map);
	map = hash(4, 16, 4, 0);
	CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
	before = map->ops->lookup(map, &key);
	value[0] = 10;
	CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
	CHECK(map->ops->lookup(map, &key) != before);
	CHECK_EQ(before[0], 9); /* who holds the old value still reads it whole */
	map_end(map);
}

TEST(hash_flags)
{
	struct bpf_map *map = hash(4, 8, 4, 0);
	uint32_t key = 1;
	uint64_t value = 1;

	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 3), -EINVAL);
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, BPF_F_LOCK), -EINVAL);
	CHECK_EQ(map->ops->update(map, &key, &value, BPF_F_LOCK), -EINVAL);
	CHECK_EQ(map->ops->update(map, &key, &value, 1ull << 63), -EINVAL);
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, BPF_EXIST), -ENOENT);
	CHECK_EQ(bpf_map_sys_lookup_delete(map, &key, &value, 0), -ENOENT);
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, BPF_NOEXIST), 0);
	value = 0;
	CHECK_EQ(bpf_map_sys_lookup_delete(map, &key, &value, 1), -EINVAL);
	CHECK_EQ(bpf_map_sys_lookup_delete(map, &key, &value, 0), 0);
	CHECK_EQ(value, 1);
	CHECK_EQ(bpf_map_sys_lookup(map, &key, &value, 0), -ENOENT);
	map_end(map);
}

/* A writer that interrupts another one on its CPU is told so; other CPUs are not affected. */
TEST(hash_update_inside_an_update_is_busy)
{
	struct bpf_map *map = hash(4, 8, 4, 0);
	struct hash_map *h = to_hash(map);
	struct hash_hold hold;
	uint32_t key = 1, other = 2;
	uint64_t value = 1;

	CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	CHECK_EQ(hash_enter(h, &hold), 0);
	hash_lock(h, &hold, hash_bucket_off(h, hash_key(h, &key, 4)));
	CHECK_EQ(map->ops->update(map, &key, &value, 0), -EBUSY);
	CHECK_EQ(map->ops->update(map, &other, &value, 0), -EBUSY);
	CHECK_EQ(map->ops->delete(map, &key), -EBUSY);
	CHECK_EQ(*(uint64_t *)map->ops->lookup(map, &key), 1); /* readers need no lock */
	CHECK_EQ(hal_host_irq_depth(), 1);
	hash_unlock(&hold);
	hal_host_set_cpu(1);
	CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	hal_host_set_cpu(0);
	hash_leave(&hold);
	CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	map_end(map);
}

/* ---- iteration ---------------------------------------------------------------------------------
 */

static void fill(struct bpf_map *map, uint32_t n)
{
	for (uint32_t key = 0; key < n; key++) {
		uint64_t value = key * 10;

		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	}
}

TEST(hash_keys_in_order)
{
	struct bpf_map *map = hash(4, 8, 64, 0);
	uint32_t key = 0, next, n = 0;
	bool seen[50] = { false };

	CHECK_EQ(bpf_map_sys_next_key(map, NULL, &next), -ENOENT);
	fill(map, 50);
	for (int err = bpf_map_sys_next_key(map, NULL, &next); !err;
	     err = bpf_map_sys_next_key(map, &key, &next)) {
		CHECK(next < 50);
		CHECK(!seen[next]);
		seen[next] = true;
		key = next;
		n++;
	}
	CHECK_EQ(n, 50);
	/* A key that is not there: the first one. */
	key = 1000;
	CHECK_EQ(bpf_map_sys_next_key(map, &key, &next), 0);
	CHECK_EQ(bpf_map_sys_next_key(map, NULL, &key), 0);
	CHECK_EQ(key, next);
	map_end(map);
}

static uint64_t delete_each(void *arg, const void *key, void *value)
{
	struct bpf_map *map = arg;
	uint32_t own;

	memcpy(&own, key, 4);
	if (*(uint64_t *)value != own * 10)
		return 1;
	map->ops->delete(map, &own);
	return 0;
}

TEST(hash_for_each_may_delete)
{
	for (size_t f = 0; f < ARRAY_SIZE(both); f++) {
		struct bpf_map *map = hash(4, 8, 200, both[f]);
		uint32_t next;

		fill(map, 200);
		CHECK_EQ(map->ops->for_each(map, delete_each, map), 200);
		CHECK_EQ(bpf_map_sys_next_key(map, NULL, &next), -ENOENT);
		fill(map, 200);
		map_end(map);
	}
}

static void batch_walk(struct bpf_map *map, uint32_t room, enum bpf_cmd cmd)
{
	uint32_t keys[64], cursor, count, n = 0, sum = 0;
	uint64_t values[64];
	const void *in = NULL;
	int err;

	do {
		count = room;
		err = bpf_map_sys_batch(map, cmd, in, &cursor, keys, values, &count, 0, 0);
		CHECK(!err || err == -ENOENT);
		CHECK(count <= room);
		for (uint32_t i = 0; i < count; i++) {
			CHECK_EQ(values[i], keys[i] * 10);
			sum += keys[i];
		}
		n += count;
		in = &cursor;
	} while (!err);
	CHECK_EQ(n, 60);
	CHECK_EQ(sum, 59 * 60 / 2);
}

TEST(hash_batch)
{
	for (size_t f = 0; f < ARRAY_SIZE(both); f++) {
		struct bpf_map *map = hash(4, 8, 64, both[f]);
		uint32_t keys[2] = { 3, 99 }, count, cursor = 64;

		fill(map, 60);
		batch_walk(map, 64, BPF_MAP_LOOKUP_BATCH);
		batch_walk(map, 16, BPF_MAP_LOOKUP_BATCH);
		count = 5;
		CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, &cursor, &cursor, keys, keys,
					   &count, 0, 0),
			 -ENOENT);
		CHECK_EQ(count, 0);
		CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, NULL, &cursor, keys, keys,
					   &count, 0, 0),
			 0); /* count 0: nothing asked */
		count = 1;
		CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, NULL, &cursor, keys, keys,
					   &count, 0, 1),
			 -EINVAL);
		count = 2;
		CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_DELETE_BATCH, NULL, NULL, keys, NULL,
					   &count, 0, 0),
			 -ENOENT);
		CHECK_EQ(count, 1);
		fill(map, 60);
		batch_walk(map, 16, BPF_MAP_LOOKUP_AND_DELETE_BATCH);
		CHECK_EQ(bpf_map_sys_next_key(map, NULL, keys), -ENOENT);
		map_end(map);
	}
}

TEST(hash_batch_without_room_for_a_bucket)
{
	struct bpf_map *map = hash(4, 8, 1, 0);
	struct bpf_map *many = hash(4, 8, 64, 0);
	struct hash_map *h = to_hash(many);
	uint32_t keys[2], cursor, count = 1, n = 0;
	uint64_t values[2];

	/* Two keys that share a bucket. */
	for (uint32_t key = 0; n < 2; key++) {
		uint64_t value = 1;

		if (hash_bucket_off(h, hash_key(h, &key, 4)))
			continue;
		CHECK_EQ(many->ops->update(many, &key, &value, 0), 0);
		n++;
	}
	CHECK_EQ(bpf_map_sys_batch(many, BPF_MAP_LOOKUP_BATCH, NULL, &cursor, keys, values, &count,
				   0, 0),
		 -ENOSPC);
	CHECK_EQ(count, 0);
	count = 2;
	CHECK_EQ(bpf_map_sys_batch(many, BPF_MAP_LOOKUP_BATCH, NULL, &cursor, keys, values, &count,
				   0, 0),
		 -ENOENT);
	CHECK_EQ(count, 2);
	map_end(many);
	map_end(map);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

TEST(hash_memory_is_charged_to_the_byte)
{
	struct bpf_map *map = hash(8, 8, 1000, 0);
	uint64_t key = 0, value = 0;

	CHECK_EQ(test_leaked_bytes(), map->ops->mem_usage(map));
	map_end(map);
	map = hash(8, 8, 1000, BPF_F_NO_PREALLOC);
	CHECK_EQ(test_leaked_bytes(), map->ops->mem_usage(map));
	for (key = 0; key < 1000; key++)
		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	CHECK_EQ(test_leaked_bytes(), map->ops->mem_usage(map));
	for (key = 0; key < 1000; key++)
		CHECK_EQ(map->ops->delete(map, &key), 0);
	hal_quiesce_flush(true);
	CHECK_EQ(test_leaked_bytes(), map->ops->mem_usage(map));
	map_end(map);
}

TEST(hash_heap_elements_go_back_after_a_grace_period)
{
	struct bpf_map *map = hash(8, 8, 1000, BPF_F_NO_PREALLOC);
	uint64_t empty = map->ops->mem_usage(map), key, value = 0, *held;

	for (key = 0; key < 1000; key++)
		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	key = 0;
	held = map->ops->lookup(map, &key);
	for (key = 0; key < 1000; key++)
		CHECK_EQ(map->ops->delete(map, &key), 0);
	CHECK(map->ops->mem_usage(map) > empty + 900 * 24); /* not before it */
	CHECK_EQ(*held, 0);
	CHECK(map->ops->owns_value(map, (uintptr_t)held, 8));
	/* Deleted elements do not count against max_entries, and serve again. */
	for (key = 0; key < 1000; key++)
		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	CHECK_EQ(map->ops->update(map, &key, &value, 0), -E2BIG);
	for (unsigned int round = 0; round < 40; round++) {
		for (key = 0; key < 1000; key++)
			map->ops->delete(map, &key);
		hal_quiesce_flush(true);
		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
		CHECK_EQ(map->ops->delete(map, &key), 0);
		for (uint64_t k = 0; round < 39 && k < 1000; k++)
			CHECK_EQ(map->ops->update(map, &k, &value, 0), 0);
	}
	/* Some stay in reserve: at most one full list of each CPU. */
	hal_quiesce_flush(true);
	map_end(map);
}

TEST(hash_freed_while_elements_wait)
{
	struct bpf_map *map = hash(8, 8, 1000, BPF_F_NO_PREALLOC);
	uint64_t key, value = 0;

	for (key = 0; key < 1000; key++)
		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	for (key = 0; key < 900; key++)
		CHECK_EQ(map->ops->delete(map, &key), 0);
	bpf_map_destroy(map);
	CHECK_EQ(test_leaked_bytes(), 0); /* flushes */
}

TEST(hash_out_of_memory_in_update)
{
	struct bpf_map *map = hash(4, 16, 100, BPF_F_NO_PREALLOC);
	uint64_t value[2] = { 3, 4 };
	uint32_t key = 1, key2 = 2;

	hal_host_fail_alloc(1, true);
	CHECK_EQ(map->ops->update(map, &key, value, 0), -ENOMEM);
	CHECK(!map->ops->lookup(map, &key));
	hal_host_fail_alloc(0, false);
	CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
	/* Replacing needs no memory. */
	hal_host_fail_alloc(1, true);
	value[0] = 5;
	CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
	CHECK_EQ(*(uint64_t *)map->ops->lookup(map, &key), 5);
	CHECK_EQ(map->ops->update(map, &key2, value, 0), -ENOMEM);
	hal_host_fail_alloc(0, false);
	for (key = 0; key < 100; key++)
		CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
	CHECK_EQ(map->ops->update(map, &key, value, 0), -E2BIG);
	map_end(map);
}

TEST(hash_owns_value)
{
	for (size_t f = 0; f < ARRAY_SIZE(both); f++) {
		struct bpf_map *map = hash(4, 12, 20, both[f]);
		uint32_t key = 7;
		uint64_t value[2] = { 1, 2 };
		uintptr_t at;

		CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
		at = (uintptr_t)map->ops->lookup(map, &key);
		CHECK(map->ops->owns_value(map, at, 12));
		CHECK(!map->ops->owns_value(map, at, 13));
		CHECK(!map->ops->owns_value(map, at - 1, 1));
		CHECK(!map->ops->owns_value(map, (uintptr_t)map, 8));
		CHECK_EQ(map->ops->delete(map, &key), 0);
		CHECK(map->ops->owns_value(map, at, 12));
		map_end(map);
	}
}
