/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF_MAP_TYPE_BLOOM_FILTER: values can be added and asked for; a value that was added is always
 * found, one that was not may be. map_extra: hash functions, 1 to 15, 0 means 5. max_entries:
 * how many values are expected, for the size of the bit array.
 *
 * The hash is keyed like that of hash maps (maps/hash_key.h), and mixed, since it is linear in the
 * value; the functions are two of them combined, h1 + i * h2, which has the error rate of
 * independent ones (Kirsch, Mitzenmacher 2006). Bits are set and read without a lock.
 */
#include "bpf/btf.h"
#include "maps/hash_key.h"
#include "maps/map_int.h"

#define BLOOM_HASHES_DEFAULT 5u
#define BLOOM_HASHES_MAX     15u
#define BLOOM_BITS_MAX	     (1u << 31)

struct bloom_map {
	struct bpf_map map;
	uint32_t hashes;
	uint32_t mask; /* bits - 1 */
	uint32_t words;
	const uint64_t *secret; /* of h1, then of h2 */
	uint64_t *bits;
	size_t area_bytes;
};

static struct bloom_map *to_bloom(struct bpf_map *map)
{
	return container_of(map, struct bloom_map, map);
}

static int bloom_alloc_check(const union bpf_attr *attr)
{
	if (attr->key_size || !attr->value_size || !attr->max_entries ||
	    (attr->map_extra & ~(uint64_t)BLOOM_HASHES_MAX))
		return -EINVAL;
	return attr->value_size > MAP_ELEM_BYTES_MAX ? -E2BIG : 0;
}

/* The best size for k functions and n values is n * k / ln 2 bits; a power of two at least that. */
static uint32_t bits_for(uint32_t n, uint32_t k)
{
	uint64_t bits = (uint64_t)n * k / 5 * 7;

	if (bits < 64)
		return 64;
	return bits > BLOOM_BITS_MAX ? BLOOM_BITS_MAX : map_roundup_pow2((uint32_t)bits);
}

static int bloom_alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	uint32_t hashes = attr->map_extra ? (uint32_t)attr->map_extra : BLOOM_HASHES_DEFAULT;
	uint32_t bits = bits_for(attr->max_entries, hashes), words = hash_words(attr->value_size);
	size_t head = sizeof(struct bloom_map) + 32ul * words;
	struct bloom_map *b;
	uint64_t *secret;

	b = hal_map_alloc(head + bits / 8);
	if (!b)
		return -ENOMEM;
	map_init(&b->map, attr);
	secret = (uint64_t *)(void *)(b + 1);
	hash_make_secret(secret, 2 * words, attr->map_flags & BPF_F_ZERO_SEED);
	b->hashes = hashes;
	b->mask = bits - 1;
	b->words = words;
	b->secret = secret;
	b->bits = (uint64_t *)(void *)((uint8_t *)b + head);
	b->area_bytes = head + bits / 8;
	*out = &b->map;
	return 0;
}

static void bloom_free(struct bpf_map *map)
{
	struct bloom_map *b = to_bloom(map);

	hal_map_free(b, b->area_bytes);
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93;
	return x ^ x >> 32;
}

/* Steps are odd, so that they visit different bits. */
struct probe {
	uint64_t at, step;
};

static struct probe probe_first(const struct bloom_map *b, const void *value)
{
	uint32_t bytes = b->map.value_size;

	return (struct probe){ mix(hash_bytes(b->secret, value, bytes)),
			       mix(hash_bytes(b->secret + 2ul * b->words, value, bytes)) | 1 };
}

static int bloom_push(struct bpf_map *map, const void *value, uint64_t flags)
{
	struct bloom_map *b = to_bloom(map);
	struct probe p;

	if (flags != BPF_ANY)
		return -EINVAL;
	p = probe_first(b, value);
	for (uint32_t i = 0; i < b->hashes; i++, p.at += p.step) {
		uint32_t bit = (uint32_t)p.at & b->mask;

		__atomic_fetch_or(&b->bits[bit / 64], BIT(bit % 64), __ATOMIC_RELAXED);
	}
	return 0;
}

static int bloom_peek(struct bpf_map *map, void *value)
{
	struct bloom_map *b = to_bloom(map);
	struct probe p = probe_first(b, value);

	for (uint32_t i = 0; i < b->hashes; i++, p.at += p.step) {
		uint32_t bit = (uint32_t)p.at & b->mask;

		if (!(__atomic_load_n(&b->bits[bit / 64], __ATOMIC_RELAXED) & BIT(bit % 64)))
			return -ENOENT;
	}
	return 0;
}

static int bloom_delete(struct bpf_map *map, const void *key)
{
	(void)map;
	(void)key;
	return -EOPNOTSUPP;
}

static int bloom_get_next_key(struct bpf_map *map, const void *key, void *next_key)
{
	(void)map;
	(void)key;
	(void)next_key;
	return -EOPNOTSUPP;
}

/* Values may have BTF; a key type would be one of nothing. */
static int bloom_check_btf(const struct bpf_map *map, const struct bpf_btf *btf, uint32_t key_id,
			   uint32_t value_id)
{
	(void)map;
	(void)btf;
	(void)value_id;
	return key_id ? -EINVAL : 0;
}

static uint64_t bloom_mem_usage(struct bpf_map *map)
{
	return map_area_charge(to_bloom(map)->area_bytes);
}

static bool bloom_inner_fits(const struct bpf_map *meta, const struct bpf_map *inner)
{
	return map_meta_equal(meta, inner) && meta->map_extra == inner->map_extra;
}

const struct bpf_map_ops bloom_filter_map_ops = {
	.alloc_check = bloom_alloc_check,
	.check_btf = bloom_check_btf,
	.alloc = bloom_alloc,
	.free = bloom_free,
	.push = bloom_push,
	.peek = bloom_peek,
	.delete = bloom_delete,
	.get_next_key = bloom_get_next_key,
	.mem_usage = bloom_mem_usage,
	.inner_fits = bloom_inner_fits,
};
