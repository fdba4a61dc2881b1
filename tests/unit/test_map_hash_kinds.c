/* SPDX-License-Identifier: BSD-2-Clause */
/* Per-CPU hash, LRU hashes, maps of maps. */
#include "test.h"

#include "hal_host.h"
#include "include/hal.h"
#include "maps/hash.h"
#include "support_map.h"

static struct bpf_map *make(enum bpf_map_type type, uint32_t key_size, uint32_t value_size,
			    uint32_t max, uint32_t flags)
{
	struct bpf_map *map;

	return map_new(&map, type, key_size, value_size, max, flags) ? NULL : map;
}

/* ---- per CPU -----------------------------------------------------------------------------------
 */

static void percpu_values(enum bpf_map_type type, uint32_t flags, uint32_t key_size)
{
	struct bpf_map *map = make(type, key_size, 12, 10, flags);
	uint8_t key[16] = { 5 };
	uint64_t one[2] = { 0, 0 }, all[8];

	CHECK(map);
	CHECK_EQ(bpf_map_sys_value_size(map), 64);
	hal_host_set_cpu(2);
	one[0] = 0x22;
	one[1] = 0xffffffff00000033; /* only the low half belongs to the value */
	CHECK_EQ(map->ops->update(map, key, one, BPF_NOEXIST), 0);
	/* The other CPUs' values of a new element are zero. */
	CHECK_EQ(bpf_map_sys_lookup(map, key, all, 0), 0);
	for (int i = 0; i < 8; i++)
		CHECK_EQ(all[i], i == 4 ? 0x22 : i == 5 ? 0x33 : 0);
	hal_host_set_cpu(0);
	one[0] = 0x11;
	CHECK_EQ(map->ops->update(map, key, one, BPF_EXIST), 0);
	for (unsigned int cpu = 0; cpu < 4; cpu++) {
		hal_host_set_cpu(cpu);
		CHECK_EQ(*(uint64_t *)map->ops->lookup(map, key), cpu == 0   ? 0x11
								  : cpu == 2 ? 0x22
									     : 0);
		CHECK(map->ops->lookup(map, key) == map->ops->lookup_percpu(map, key, cpu));
		CHECK(map->ops->owns_value(map, (uintptr_t)map->ops->lookup(map, key), 12));
		CHECK(!map->ops->owns_value(map, (uintptr_t)map->ops->lookup(map, key), 13));
	}
	CHECK(!map->ops->lookup_percpu(map, key, 4));
	for (uint64_t i = 0; i < 8; i++)
		all[i] = 100 + i;
	CHECK_EQ(bpf_map_sys_update(map, key, all, 0), 0);
	CHECK_EQ(*(uint64_t *)map->ops->lookup_percpu(map, key, 3), 106);
	memset(all, 0, sizeof(all));
	CHECK_EQ(bpf_map_sys_lookup_delete(map, key, all, 0), 0);
	CHECK_EQ(all[6], 106);
	CHECK_EQ(all[7], 107);
	CHECK(!map->ops->lookup(map, key));
	CHECK(!map->ops->lookup_percpu(map, key, 0));
	/* The element is used again: nothing of its past shows. */
	for (uint8_t n = 0; n < 20; n++) {
		key[0] = n;
		CHECK_EQ(map->ops->update(map, key, one, 0), 0);
		CHECK_EQ(bpf_map_sys_lookup(map, key, all, 0), 0);
		CHECK_EQ(all[0], 0);
		CHECK_EQ(all[6], 0x11); /* CPU 3 */
		CHECK_EQ(map->ops->delete(map, key), 0);
	}
	CHECK_EQ(bpf_map_sys_update(map, key, all, BPF_F_LOCK), -EINVAL);
	CHECK_EQ(map->ops->update(map, key, all, 3), -EINVAL);
	map_end(map);
}

TEST(percpu_hash_values)
{
	static const uint32_t sizes[] = { 3, 4, 8, 16 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		percpu_values(BPF_MAP_TYPE_PERCPU_HASH, 0, sizes[i]);
		percpu_values(BPF_MAP_TYPE_PERCPU_HASH, BPF_F_NO_PREALLOC, sizes[i]);
		percpu_values(BPF_MAP_TYPE_LRU_PERCPU_HASH, 0, sizes[i]);
		percpu_values(BPF_MAP_TYPE_LRU_PERCPU_HASH, BPF_F_NO_COMMON_LRU, sizes[i]);
	}
}

TEST(percpu_hash_checks)
{
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_PERCPU_HASH, 4, (32 << 10) + 1, 1, 0), -E2BIG);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_LRU_HASH, 4, 8, 1, BPF_F_NO_PREALLOC), -ENOTSUPP);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_LRU_PERCPU_HASH, 4, 8, 1, BPF_F_NO_PREALLOC),
		 -ENOTSUPP);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 1, BPF_F_NO_COMMON_LRU), -EINVAL);
}

TEST(percpu_hash_batch)
{
	struct bpf_map *map = make(BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 16, 0);
	uint32_t keys[16], cursor, count = 16;
	uint64_t values[16][4];

	for (uint32_t k = 0; k < 16; k++) {
		keys[k] = k;
		for (uint32_t c = 0; c < 4; c++)
			values[k][c] = k * 10 + c;
	}
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_UPDATE_BATCH, NULL, NULL, keys, values, &count, 0,
				   0),
		 0);
	memset(values, 0, sizeof(values));
	count = 16;
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, NULL, &cursor, keys, values, &count,
				   0, 0),
		 -ENOENT);
	CHECK_EQ(count, 16);
	for (uint32_t i = 0; i < 16; i++) {
		for (uint32_t c = 0; c < 4; c++)
			CHECK_EQ(values[i][c], keys[i] * 10 + c);
	}
	map_end(map);
}

TEST(percpu_hash_inline_lookup)
{
	struct bpf_map *map = make(BPF_MAP_TYPE_PERCPU_HASH, 8, 8, 16, 0);
	struct map_lookup l;

	map->ops->gen_lookup(map, &l);
	CHECK_EQ(l.kind, MAP_LOOKUP_HASH);
	CHECK_EQ(l.hash.percpu, 1);
	map_end(map);
	map = make(BPF_MAP_TYPE_PERCPU_HASH, 8, 8, 16, BPF_F_NO_PREALLOC);
	map->ops->gen_lookup(map, &l);
	CHECK_EQ(l.kind, MAP_LOOKUP_CALL);
	map_end(map);
}

/* ---- LRU ---------------------------------------------------------------------------------------
 */

static uint32_t entries(struct bpf_map *map)
{
	uint32_t n = 0, key, next;

	for (int err = bpf_map_sys_next_key(map, NULL, &next); !err;
	     err = bpf_map_sys_next_key(map, &key, &next)) {
		key = next;
		n++;
	}
	return n;
}

TEST(lru_never_refuses_and_never_grows)
{
	static const uint32_t flags[] = { 0, BPF_F_NO_COMMON_LRU };

	for (size_t f = 0; f < ARRAY_SIZE(flags); f++) {
		for (uint32_t max = 1; max < 30; max += 7) {
			struct bpf_map *map = make(BPF_MAP_TYPE_LRU_HASH, 4, 16, max, flags[f]);
			uint64_t value[2] = { 1, 2 };

			for (uint32_t key = 0; key < 500; key++) {
				uint32_t old = key / 2;

				hal_host_set_cpu(key % 3);
				CHECK_EQ(map->ops->update(map, &key, value, BPF_NOEXIST), 0);
				CHECK(map->ops->lookup(map, &key));
				CHECK_EQ(map->ops->update(map, &key, value, BPF_EXIST), 0);
				if (key % 5 == 0)
					map->ops->delete(map, &old);
				CHECK(entries(map) <= map->max_entries);
			}
			map_end(map);
		}
	}
}

TEST(lru_full_map_stays_full)
{
	struct bpf_map *map = make(BPF_MAP_TYPE_LRU_HASH, 4, 8, 64, 0);
	uint64_t value = 0;

	for (uint32_t key = 0; key < 64; key++)
		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	CHECK_EQ(entries(map), 64);
	for (uint32_t key = 64; key < 1000; key++) {
		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
		CHECK_EQ(entries(map), 64);
	}
	map_end(map);
}

TEST(lru_spares_what_was_used)
{
	struct bpf_map *map = make(BPF_MAP_TYPE_LRU_HASH, 4, 8, 64, 0);
	uint64_t value = 0;
	uint32_t key, kept = 0;

	for (key = 0; key < 64; key++)
		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	for (key = 0; key < 32; key++)
		CHECK(map->ops->lookup(map, &key));
	/* Reads by bpf(2) are no use. */
	for (key = 32; key < 64; key++)
		CHECK_EQ(bpf_map_sys_lookup(map, &key, &value, 0), 0);
	for (key = 100; key < 132; key++)
		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	for (key = 0; key < 32; key++)
		kept += bpf_map_sys_lookup(map, &key, &value, 0) == 0;
	CHECK_EQ(kept, 32);
	for (key = 32; key < 64; key++)
		CHECK_EQ(bpf_map_sys_lookup(map, &key, &value, 0), -ENOENT);
	map_end(map);
}

/* The most used key survives any number of newcomers, as long as it is used. */
TEST(lru_keeps_a_hot_key)
{
	struct bpf_map *map = make(BPF_MAP_TYPE_LRU_HASH, 8, 16, 16, 0);
	uint64_t value[2] = { 0, 0 }, hot = 1;

	CHECK_EQ(map->ops->update(map, &hot, value, 0), 0);
	for (uint64_t key = 1000; key < 3000; key++) {
		CHECK(map->ops->lookup(map, &hot));
		CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
	}
	map_end(map);
}

TEST(lru_flags)
{
	struct bpf_map *map = make(BPF_MAP_TYPE_LRU_HASH, 4, 8, 1, 0);
	uint32_t a = 1, b = 2;
	uint64_t value = 0;

	CHECK_EQ(map->ops->update(map, &a, &value, BPF_EXIST), -ENOENT);
	CHECK_EQ(map->ops->update(map, &a, &value, 3), -EINVAL);
	CHECK_EQ(map->ops->update(map, &a, &value, BPF_F_LOCK), -EINVAL);
	CHECK_EQ(map->ops->update(map, &a, &value, BPF_NOEXIST), 0);
	CHECK_EQ(map->ops->update(map, &a, &value, BPF_NOEXIST), -EEXIST);
	/* A refused update drops nothing. */
	CHECK_EQ(map->ops->update(map, &b, &value, BPF_EXIST), -ENOENT);
	CHECK(map->ops->lookup(map, &a));
	CHECK_EQ(map->ops->update(map, &b, &value, 0), 0);
	CHECK(!map->ops->lookup(map, &a));
	map_end(map);
}

TEST(lru_own_list_takes_max_entries_rounded_up)
{
	struct bpf_map *map = make(BPF_MAP_TYPE_LRU_HASH, 4, 8, 10, BPF_F_NO_COMMON_LRU);
	uint64_t value = 0;

	CHECK_EQ(map->max_entries, 12);
	/* One CPU alone fills its part, then drops its own. */
	hal_host_set_cpu(1);
	for (uint32_t key = 0; key < 100; key++)
		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	CHECK_EQ(entries(map), 3);
	map_end(map);
}

TEST(lru_inline_lookup_names_the_ref_byte)
{
	struct bpf_map *map = make(BPF_MAP_TYPE_LRU_HASH, 4, 8, 10, 0);
	struct map_lookup l;
	uint32_t key = 1;
	uint64_t value = 0;
	uint8_t *ref;

	map->ops->gen_lookup(map, &l);
	CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	ref = (uint8_t *)map->ops->lookup(map, &key) - l.hash.value_off + l.hash.ref_off;
	CHECK(l.hash.ref_off);
	CHECK_EQ(*ref, 1);
	map_end(map);
}

/* ---- maps of maps ------------------------------------------------------------------------------
 */

static struct bpf_map *outer(enum bpf_map_type type, struct bpf_map *inner, uint32_t flags)
{
	union bpf_attr attr;
	struct bpf_map *map;

	memset(&attr, 0, sizeof(attr));
	memset(map_test_objs, 0, sizeof(map_test_objs));
	attr.map_type = type;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 4;
	attr.map_flags = flags;
	return map_new_attr(&map, &attr, inner, NULL) ? NULL : map;
}

static void holds_maps(enum bpf_map_type type, uint32_t flags)
{
	struct bpf_map *inner = make(BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0);
	struct bpf_map *map = outer(type, inner, flags);
	bool array = type == BPF_MAP_TYPE_ARRAY_OF_MAPS;
	uint32_t key = 2, value = 1, id = 0, next;

	CHECK(map);
	CHECK(map->inner != inner);
	CHECK_EQ(map->inner->max_entries, 3);
	CHECK_EQ(map->inner->inner_meta, 1);
	map_end(inner);
	CHECK_EQ(bpf_map_sys_value_size(map), 4);
	CHECK(!map->ops->lookup(map, &key));
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), 0);
	CHECK_EQ(map_test_objs[0].refs, 1);
	CHECK(map->ops->lookup(map, &key) == &map_test_objs[0]);
	CHECK_EQ(bpf_map_sys_lookup(map, &key, &id, 0), 0);
	CHECK_EQ(id, 1001);
	value = 2;
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, BPF_NOEXIST), array ? -EINVAL : -EEXIST);
	CHECK_EQ(map_test_objs[1].refs, 0);
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), 0);
	CHECK_EQ(map_test_objs[0].refs, 0);
	CHECK_EQ(map_test_objs[1].refs, 1);
	value = 77;
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), -EBADF);
	CHECK_EQ(map_test_objs[1].refs, 1);
	CHECK_EQ(bpf_map_sys_next_key(map, NULL, &next), 0);
	CHECK_EQ(next, array ? 0 : 2);
	CHECK_EQ(bpf_map_sys_delete(map, &key), 0);
	CHECK_EQ(bpf_map_sys_delete(map, &key), -ENOENT);
	CHECK_EQ(map_test_objs[1].refs, 0);
	CHECK(!map->ops->lookup(map, &key));
	CHECK_EQ(bpf_map_sys_lookup_delete(map, &key, &value, 0), -ENOTSUPP);
	value = 3;
	for (key = 0; key < 4; key++)
		CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), 0);
	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), -E2BIG);
	CHECK_EQ(map_test_objs[2].refs, 4);
	map_end(map);
	CHECK_EQ(map_test_objs[2].refs, 0);
}

TEST(maps_in_maps)
{
	holds_maps(BPF_MAP_TYPE_ARRAY_OF_MAPS, 0);
	holds_maps(BPF_MAP_TYPE_HASH_OF_MAPS, 0);
	holds_maps(BPF_MAP_TYPE_HASH_OF_MAPS, BPF_F_NO_PREALLOC);
}

TEST(maps_in_maps_inner_checks)
{
	struct bpf_map *array = make(BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0);
	struct bpf_map *progs = make(BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 3, 0);
	struct bpf_map *map, *first = outer(BPF_MAP_TYPE_ARRAY_OF_MAPS, array, 0);
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_HASH_OF_MAPS;
	attr.key_size = attr.value_size = 4;
	attr.max_entries = 4;
	CHECK_EQ(map_new_attr(&map, &attr, NULL, NULL), -EBADF);
	CHECK_EQ(map_new_attr(&map, &attr, first, NULL), -EINVAL); /* two levels at most */
	CHECK_EQ(map_new_attr(&map, &attr, progs, NULL), -ENOTSUPP);
	attr.value_size = 8;
	CHECK_EQ(map_new_attr(&map, &attr, array, NULL), -EINVAL);
	map_end(first);
	map_end(progs);
	map_end(array);
}

TEST(maps_in_maps_out_of_memory)
{
	struct bpf_map *array = make(BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0);
	size_t base = test_leaked_bytes();
	bool hit = true;

	for (unsigned long n = 1; hit; n++) {
		struct bpf_map *map;

		hal_host_fail_alloc(n, false);
		map = outer(BPF_MAP_TYPE_HASH_OF_MAPS, array, BPF_F_NO_PREALLOC);
		hit = hal_host_fail_hit();
		CHECK_EQ(!map, hit);
		if (map)
			map_end(map);
		CHECK_EQ(test_leaked_bytes(), base);
	}
	map_end(array);
}

TEST(array_of_maps_inline_lookup)
{
	struct bpf_map *array = make(BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0);
	struct bpf_map *map = outer(BPF_MAP_TYPE_ARRAY_OF_MAPS, array, 0);
	struct map_lookup l;
	uint32_t key = 3, value = 1;

	CHECK_EQ(bpf_map_sys_update(map, &key, &value, 0), 0);
	map->ops->gen_lookup(map, &l);
	CHECK_EQ(l.kind, MAP_LOOKUP_INDEX_MAP);
	CHECK(*(void **)(l.base + 3 * l.stride) == &map_test_objs[0]);
	map_end(map);
	map = outer(BPF_MAP_TYPE_HASH_OF_MAPS, array, 0);
	map->ops->gen_lookup(map, &l);
	CHECK_EQ(l.kind, MAP_LOOKUP_HASH);
	CHECK_EQ(l.hash.deref, 1);
	map_end(map);
	map_end(array);
}
