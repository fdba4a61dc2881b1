/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash maps: the lookup as the JIT inlines it, and what chosen keys can do. */
#include "test.h"

#include "hal_host.h"
#include "include/hal.h"
#include "maps/hash.h"
#include "support_map.h"

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

/* ---- the JIT's view ----------------------------------------------------------------------------
 */

static uint64_t word_at(uintptr_t at)
{
	uint64_t x;

	memcpy(&x, (const void *)at, 8);
	return x;
}

/* The lookup as bpf/map.h tells the JIT to make it. */
static uintptr_t inline_lookup(const struct map_lookup *l, const uint8_t *key)
{
	uint32_t n = l->hash.key_bytes, words = (n + 7) / 8;
	const uint64_t *secret = (const uint64_t *)(l->base - 16ul * words);
	uint64_t hash = 0;
	uintptr_t off, e;

	for (uint32_t i = 0; i < words; i++) {
		uint64_t x = 0;

		if (n < 8)
			memcpy(&x, key, n);
		else
			memcpy(&x, key + (i + 1 < words ? 8 * i : n - 8), 8);
		hash += (uint64_t)(((unsigned __int128)x * secret[2 * i]) >> 64);
		hash += x * secret[2 * i + 1];
	}
	off = (hash & l->mask) * 8;
	e = word_at(l->base + off) & ~MAP_HASH_LOCKED;
	while (!(e & MAP_HASH_END)) {
		if (!memcmp((const void *)(e + l->hash.key_off), key, n)) {
			uint32_t low;

			memcpy(&low, (const void *)(e + l->hash.hash_off), 4);
			if (!l->hash.hash_off || low == (uint32_t)hash)
				return e + l->hash.value_off;
		}
		e = word_at(e + l->hash.next_off);
	}
	return e == (off | MAP_HASH_END) ? 0 : 1;
}

TEST(hash_inline_lookup)
{
	static const uint32_t sizes[] = { 1, 3, 4, 6, 8, 12, 16, 20, 40 };

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct bpf_map *map = hash(sizes[i], 8, 100, 0);
		struct map_lookup l;
		uint8_t key[64];
		uint64_t value = 0;

		map->ops->gen_lookup(map, &l);
		CHECK_EQ(l.kind, MAP_LOOKUP_HASH);
		CHECK(l.hash.secret == (const void *)(l.base - 16ul * ((sizes[i] + 7) / 8)));
		for (uint32_t n = 0; n < 100; n++) {
			make_key(key, sizes[i], n);
			CHECK_EQ(map->ops->update(map, key, &value, 0), 0);
		}
		for (uint32_t n = 0; n < 200; n++) {
			make_key(key, sizes[i], n);
			CHECK_EQ(inline_lookup(&l, key), (uintptr_t)map->ops->lookup(map, key));
		}
		map_end(map);
	}
}

/* ---- chosen keys -------------------------------------------------------------------------------
 */

static uint32_t longest_chain(struct bpf_map *map)
{
	struct hash_map *h = to_hash(map);
	uint32_t longest = 0;

	for (uint32_t b = 0; b <= h->mask; b++) {
		uint32_t n = 0;

		for (uintptr_t at = h->buckets[b]; !(at & MAP_HASH_END);
		     at = ((struct hash_elem *)at)->next)
			n++;
		longest = MAX(longest, n);
	}
	return longest;
}

/* Keys that all share one bucket of a map are spread by another map's secret. */
TEST(hash_secret_resists_chosen_keys)
{
	uint32_t sum = 0;

	for (unsigned int round = 0; round < 16; round++) {
		struct bpf_map *target = hash(8, 8, 256, 0), *known = hash(8, 8, 256, 0);
		struct hash_map *h = to_hash(known);
		uint64_t key = 0, value = 0;

		for (uint32_t n = 0; n < 200; key++) {
			if (hash_bucket_off(h, hash_key(h, &key, 8)))
				continue;
			CHECK_EQ(target->ops->update(target, &key, &value, 0), 0);
			CHECK_EQ(known->ops->update(known, &key, &value, 0), 0);
			n++;
		}
		CHECK_EQ(longest_chain(known), 200);
		sum += longest_chain(target);
		map_end(target);
		map_end(known);
	}
	CHECK(sum < 16 * 20); /* about 5 each; no attack makes it 200 */
}

/* Arithmetic progressions, single bits, high bits only: no pattern that programs use is bad. */
TEST(hash_spreads_patterns)
{
	for (unsigned int pattern = 0; pattern < 66; pattern++) {
		uint32_t worst = 0;

		for (unsigned int round = 0; round < 8; round++) {
			struct bpf_map *map = hash(8, 8, 1024, 0);
			uint64_t value = 0;

			for (uint64_t i = 0; i < 1024; i++) {
				uint64_t key = pattern < 54    ? i << pattern
					       : pattern < 64  ? i * (2 * pattern + 1) * 0x10001
					       : pattern == 64 ? i * i
							       : (i & 31) << 48 | i >> 5;

				CHECK_EQ(map->ops->update(map, &key, &value, 0), 0);
			}
			worst += longest_chain(map);
			map_end(map);
		}
		if (worst > 8 * 24)
			printf("# pattern %u: %u\n", pattern, worst);
		CHECK(worst <= 8 * 24);
	}
}

TEST(hash_zero_seed_is_the_same_in_every_map)
{
	struct bpf_map *a = hash(8, 8, 64, BPF_F_ZERO_SEED), *b = hash(8, 8, 64, BPF_F_ZERO_SEED);
	struct bpf_map *c = hash(8, 8, 64, 0);
	uint64_t key = 12345;

	CHECK_EQ(hash_key(to_hash(a), &key, 8), hash_key(to_hash(b), &key, 8));
	CHECK(hash_key(to_hash(a), &key, 8) != hash_key(to_hash(c), &key, 8));
	map_end(a);
	map_end(b);
	map_end(c);
}
