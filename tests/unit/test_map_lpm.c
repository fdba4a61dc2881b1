/* SPDX-License-Identifier: BSD-2-Clause */
/* LPM trie: against a list of prefixes searched one by one. */
#include "test.h"

#include "hal_host.h"
#include "include/hal.h"
#include "support_map.h"

#define DATA_MAX 40

struct lpm_key {
	uint32_t plen;
	uint8_t data[DATA_MAX];
};

static struct bpf_map *lpm(uint32_t data_bytes, uint32_t value_size, uint32_t max)
{
	struct bpf_map *map;

	return map_new(&map, BPF_MAP_TYPE_LPM_TRIE, 4 + data_bytes, value_size, max,
		       BPF_F_NO_PREALLOC)
		       ? NULL
		       : map;
}

static struct lpm_key v4(uint32_t plen, uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
	struct lpm_key key = { plen, { a, b, c, d } };

	return key;
}

/* Value found for an address, or ~0. */
static uint64_t find(struct bpf_map *map, struct lpm_key key)
{
	uint64_t *value = map->ops->lookup(map, &key);

	return value ? *value : ~0ull;
}

TEST(lpm_checks)
{
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_LPM_TRIE, 8, 8, 4, 0), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_LPM_TRIE, 4, 8, 4, BPF_F_NO_PREALLOC), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_LPM_TRIE, 261, 8, 4, BPF_F_NO_PREALLOC), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_LPM_TRIE, 8, 0, 4, BPF_F_NO_PREALLOC), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_LPM_TRIE, 8, 8, 0, BPF_F_NO_PREALLOC), -EINVAL);
	map = lpm(256, 8, 1);
	CHECK(map);
	map_end(map);
}

TEST(lpm_longest_prefix_wins)
{
	struct bpf_map *map = lpm(4, 8, 8);
	struct lpm_key keys[] = { v4(8, 10, 0, 0, 0),	 v4(16, 10, 1, 0, 0), v4(12, 10, 160, 0, 0),
				  v4(16, 10, 200, 0, 0), v4(0, 0, 0, 0, 0),   v4(32, 10, 1, 2, 3) };

	CHECK_EQ(find(map, v4(32, 10, 1, 2, 3)), ~0);
	for (uint64_t i = 0; i < 6; i++)
		CHECK_EQ(map->ops->update(map, &keys[i], &i, BPF_NOEXIST), 0);
	CHECK_EQ(find(map, v4(32, 10, 1, 2, 3)), 5);
	CHECK_EQ(find(map, v4(32, 10, 1, 2, 4)), 1);
	CHECK_EQ(find(map, v4(32, 10, 2, 2, 4)), 0);
	CHECK_EQ(find(map, v4(32, 10, 161, 2, 4)), 2);
	CHECK_EQ(find(map, v4(32, 10, 200, 2, 4)), 3);
	CHECK_EQ(find(map, v4(32, 10, 201, 2, 4)), 0);
	CHECK_EQ(find(map, v4(32, 11, 1, 2, 3)), 4);
	/* A shorter question finds only shorter prefixes. */
	CHECK_EQ(find(map, v4(15, 10, 1, 2, 3)), 0);
	CHECK_EQ(find(map, v4(0, 10, 1, 2, 3)), 4);
	CHECK_EQ(find(map, v4(33, 10, 1, 2, 3)), ~0);
	map_end(map);
}

TEST(lpm_errors)
{
	struct bpf_map *map = lpm(4, 8, 2);
	struct lpm_key a = v4(8, 10, 0, 0, 0), b = v4(16, 10, 1, 0, 0), c = v4(24, 10, 1, 1, 0);
	struct lpm_key bad = v4(33, 10, 0, 0, 0);
	uint64_t value = 1;

	CHECK_EQ(map->ops->update(map, &bad, &value, 0), -EINVAL);
	CHECK_EQ(map->ops->update(map, &a, &value, 3), -EINVAL);
	CHECK_EQ(map->ops->update(map, &a, &value, BPF_EXIST), -ENOENT);
	CHECK_EQ(map->ops->update(map, &a, &value, BPF_NOEXIST), 0);
	CHECK_EQ(map->ops->update(map, &a, &value, BPF_NOEXIST), -EEXIST);
	CHECK_EQ(map->ops->update(map, &a, &value, BPF_EXIST), 0);
	CHECK_EQ(map->ops->update(map, &b, &value, 0), 0);
	CHECK_EQ(map->ops->update(map, &c, &value, 0), -ENOSPC);
	CHECK_EQ(map->ops->update(map, &a, &value, 0), 0); /* full, but there already */
	CHECK_EQ(map->ops->delete(map, &bad), -EINVAL);
	CHECK_EQ(map->ops->delete(map, &c), -ENOENT);
	CHECK_EQ(map->ops->delete(map, &a), 0);
	CHECK_EQ(map->ops->delete(map, &a), -ENOENT);
	CHECK_EQ(map->ops->update(map, &c, &value, 0), 0);
	CHECK_EQ(bpf_map_sys_lookup_delete(map, &c, &value, 0), -ENOTSUPP);
	map_end(map);
}

/* ---- model -------------------------------------------------------------------------------------
 */

#define ENTRIES 60

struct model {
	struct {
		struct lpm_key key;
		uint64_t value;
		bool used;
	} e[ENTRIES];
	uint32_t data_bytes;
};

static bool bit(const uint8_t *data, uint32_t n)
{
	return data[n / 8] >> (7 - n % 8) & 1;
}

static bool same_bits(const struct lpm_key *a, const struct lpm_key *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (bit(a->data, i) != bit(b->data, i))
			return false;
	}
	return true;
}

static int model_find(const struct model *m, const struct lpm_key *key, bool exact)
{
	int best = -1;

	for (int i = 0; i < ENTRIES; i++) {
		uint32_t plen = m->e[i].key.plen;

		if (!m->e[i].used || plen > key->plen || (exact && plen != key->plen) ||
		    !same_bits(&m->e[i].key, key, plen))
			continue;
		if (best < 0 || plen > m->e[best].key.plen)
			best = i;
	}
	return best;
}

/* Keys that share much: few values a byte, lengths of all kinds. */
static struct lpm_key random_key(uint32_t data_bytes)
{
	struct lpm_key key = { (uint32_t)(hal_random_u64() % (8 * data_bytes + 1)), { 0 } };

	for (uint32_t i = 0; i < data_bytes; i++)
		key.data[i] = hal_random_u64() % 4 ? 0 : (uint8_t)(1u << hal_random_u64() % 8);
	return key;
}

static void model_step(struct model *m, struct bpf_map *map)
{
	struct lpm_key key = random_key(m->data_bytes);
	int at = model_find(m, &key, true), best = model_find(m, &key, false), slot;
	uint64_t value[2] = { hal_random_u64(), 1 }, flags, *found;
	int err, want;

	for (slot = 0; slot < ENTRIES && m->e[slot].used; slot++)
		;
	switch (hal_random_u64() % 4) {
	case 0:
		err = map->ops->delete(map, &key);
		CHECK_EQ(err, at >= 0 ? 0 : -ENOENT);
		if (at >= 0)
			m->e[at].used = false;
		break;
	case 1:
		flags = hal_random_u64() % 3;
		err = map->ops->update(map, &key, value, flags);
		want = at >= 0 && flags == BPF_NOEXIST ? -EEXIST
		       : at < 0 && flags == BPF_EXIST  ? -ENOENT
		       : at < 0 && slot == ENTRIES     ? -ENOSPC
						       : 0;
		CHECK_EQ(err, want);
		if (!err) {
			slot = at >= 0 ? at : slot;
			m->e[slot].key = key;
			m->e[slot].value = value[0];
			m->e[slot].used = true;
		}
		break;
	default:
		found = map->ops->lookup(map, &key);
		CHECK_EQ(!found, best < 0);
		if (found)
			CHECK_EQ(*found, m->e[best].value);
		break;
	}
}

/* The keys that iteration gives are the model's, each once, longer before shorter where nested. */
static void model_iterate(const struct model *m, struct bpf_map *map)
{
	struct lpm_key seen[ENTRIES], next;
	int n = 0, want = 0;

	for (int i = 0; i < ENTRIES; i++)
		want += m->e[i].used;
	memset(&next, 0, sizeof(next));
	for (int err = bpf_map_sys_next_key(map, NULL, &next); !err;
	     err = bpf_map_sys_next_key(map, &seen[n - 1], &next)) {
		CHECK(n < want);
		CHECK(model_find(m, &next, true) >= 0);
		for (int i = 0; i < n; i++) {
			CHECK(seen[i].plen != next.plen || !same_bits(&seen[i], &next, next.plen));
			CHECK(!(seen[i].plen < next.plen &&
				same_bits(&seen[i], &next, seen[i].plen)));
		}
		seen[n++] = next;
	}
	CHECK_EQ(n, want);
}

TEST(lpm_model)
{
	static const uint32_t bytes[] = { 1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 17, 32 };
	static const uint32_t sizes[] = { 8, 16 };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(bytes); i++) {
		static struct model m;
		struct bpf_map *map = lpm(bytes[i / 2], sizes[i % 2], ENTRIES);
		size_t empty = map->ops->mem_usage(map);

		memset(&m, 0, sizeof(m));
		m.data_bytes = bytes[i / 2];
		for (int step = 0; step < 3000 && !test_failed_checks; step++) {
			model_step(&m, map);
			if (step % 500 == 0)
				model_iterate(&m, map);
			if (step % 777 == 0)
				hal_quiesce_flush(true);
		}
		CHECK(!test_failed_checks);
		CHECK_EQ(test_leaked_bytes(), map->ops->mem_usage(map));
		for (int k = 0; k < ENTRIES; k++) {
			if (m.e[k].used)
				CHECK_EQ(map->ops->delete(map, &m.e[k].key), 0);
		}
		CHECK_EQ(bpf_map_sys_next_key(map, NULL, &m.e[0].key), -ENOENT);
		hal_quiesce_flush(true);
		CHECK(map->ops->mem_usage(map) - empty <= 33 * 400);
		map_end(map);
	}
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

TEST(lpm_out_of_memory)
{
	struct bpf_map *map = lpm(4, 8, 100);
	struct lpm_key a = v4(24, 10, 1, 1, 0), b = v4(24, 10, 1, 2, 0);
	uint64_t value = 7;

	for (unsigned long n = 1; n <= 2; n++) {
		size_t before;

		CHECK_EQ(map->ops->update(map, &a, &value, 0), 0);
		before = test_leaked_bytes();
		hal_host_fail_alloc(n, false); /* the entry, the node that joins */
		CHECK_EQ(map->ops->update(map, &b, &value, 0), -ENOMEM);
		CHECK_EQ(test_leaked_bytes(), before);
		CHECK_EQ(find(map, v4(32, 10, 1, 1, 1)), 7);
		CHECK_EQ(find(map, v4(32, 10, 1, 2, 1)), ~0);
	}
	map_end(map);
}

TEST(lpm_values_stay_readable_until_the_grace_period)
{
	struct bpf_map *map = lpm(4, 16, 1000);
	struct lpm_key key = v4(32, 1, 2, 3, 4);
	uint64_t value[2] = { 5, 6 }, *held;

	CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
	held = map->ops->lookup(map, &key);
	for (int i = 0; i < 500; i++) {
		value[0] = 100;
		CHECK_EQ(map->ops->update(map, &key, value, 0), 0);
	}
	CHECK_EQ(held[0], 5);
	CHECK(map->ops->owns_value(map, (uintptr_t)held, 16));
	CHECK(!map->ops->owns_value(map, (uintptr_t)held, 17));
	hal_quiesce_flush(true);
	CHECK_EQ(find(map, key), 100);
	map_end(map);
}

TEST(lpm_freed_while_nodes_wait)
{
	struct bpf_map *map = lpm(4, 8, 1000);
	uint64_t value = 5;

	for (uint32_t i = 0; i < 400; i++) {
		struct lpm_key key = v4(32, (uint8_t)i, (uint8_t)(i >> 8), 3, 4);

		CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
	}
	for (uint32_t i = 0; i < 300; i++) {
		struct lpm_key key = v4(32, (uint8_t)i, (uint8_t)(i >> 8), 3, 4);

		CHECK_EQ(map->ops->delete(map, &key), 0);
	}
	bpf_map_destroy(map);
	CHECK_EQ(test_leaked_bytes(), 0);
}

TEST(lpm_batch)
{
	struct bpf_map *map = lpm(4, 8, 100);
	struct {
		uint32_t plen;
		uint8_t data[4];
	} keys[50], cursor, next[8];
	uint64_t values[50], got[8], sum = 0;
	uint32_t count = 50, n = 0;
	const void *in = NULL;
	int err;

	for (uint32_t i = 0; i < 50; i++) {
		keys[i].plen = 16 + i % 17;
		keys[i].data[0] = (uint8_t)i;
		keys[i].data[1] = (uint8_t)(i * 7);
		values[i] = i;
	}
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_UPDATE_BATCH, NULL, NULL, keys, values, &count, 0,
				   0),
		 0);
	CHECK_EQ(count, 50);
	do {
		count = 8;
		err = bpf_map_sys_batch(map, BPF_MAP_LOOKUP_BATCH, in, &cursor, next, got, &count,
					0, 0);
		for (uint32_t i = 0; i < count; i++)
			sum += got[i];
		n += count;
		in = &cursor;
	} while (!err);
	CHECK_EQ(err, -ENOENT);
	CHECK_EQ(n, 50);
	CHECK_EQ(sum, 49 * 50 / 2);
	count = 50;
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_DELETE_BATCH, NULL, NULL, keys, NULL, &count, 0, 0),
		 0);
	CHECK_EQ(bpf_map_sys_next_key(map, NULL, &cursor), -ENOENT);
	CHECK_EQ(bpf_map_sys_batch(map, BPF_MAP_LOOKUP_AND_DELETE_BATCH, NULL, &cursor, next, got,
				   &count, 0, 0),
		 -ENOTSUPP);
	map_end(map);
}
