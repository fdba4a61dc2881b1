/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keyed hash of maps: multiply-shift (Dietzfelbinger et al. 1997), summed over the words of a
 * key; bpf/map.h has the formula, since the JIT inlines it: two or three instructions a word.
 *
 * Whatever two keys an attacker picks without knowing the secret words, they share one of n buckets
 * (n a power of two, the low bits of the hash) with a chance of at most 4 in n. So no set of keys
 * chosen in advance makes long chains, and a map needs no measure against it. A CRC with a secret
 * start value has no such bound: keys that collide do so for every start value.
 *
 * The bound holds as long as the secret is one; who may read a map with bpf(2) learns its order of
 * keys and could work out the secret, but can also fill the map directly.
 */
#pragma once

#include "include/base.h"

/* Words of a key; two secret words go with each. */
static inline uint32_t hash_words(uint32_t key_bytes)
{
	return (uint32_t)(((uint64_t)key_bytes + 7) / 8);
}

/* Fill in 2 * words secret words; zero_seed (BPF_F_ZERO_SEED): always the same ones. */
void hash_make_secret(uint64_t *secret, uint32_t words, bool zero_seed);

static __always_inline uint64_t hash_load64(const void *p)
{
	uint64_t x;

	__builtin_memcpy(&x, p, 8);
	return x;
}

static __always_inline uint32_t hash_load32(const void *p)
{
	uint32_t x;

	__builtin_memcpy(&x, p, 4);
	return x;
}

/* n bytes (1 to 8) as a little-endian word, zero extended. */
static __always_inline uint64_t hash_load_short(const void *p, uint32_t n)
{
	const uint8_t *b = p;

	switch (n) {
	case 8:
		return hash_load64(p);
	case 4:
		return hash_load32(p);
	case 5:
	case 6:
	case 7:
		return hash_load32(p) | (uint64_t)hash_load32(b + n - 4) << (8 * (n - 4));
	case 3:
		return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16;
	case 2:
		return b[0] | (uint32_t)b[1] << 8;
	default:
		return b[0];
	}
}

static __always_inline uint64_t hash_word(uint64_t x, const uint64_t *secret)
{
	return (uint64_t)(((unsigned __int128)x * secret[0]) >> 64) + x * secret[1];
}

static __always_inline uint64_t hash_bytes(const uint64_t *secret, const void *key,
					   uint32_t key_bytes)
{
	uint64_t sum = 0;
	uint32_t at;

	if (key_bytes <= 8)
		return hash_word(hash_load_short(key, key_bytes), secret);
	for (at = 0; at + 8 <= key_bytes; at += 8, secret += 2)
		sum += hash_word(hash_load64((const uint8_t *)key + at), secret);
	if (at < key_bytes)
		sum += hash_word(hash_load64((const uint8_t *)key + key_bytes - 8), secret);
	return sum;
}
