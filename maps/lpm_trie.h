/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF_MAP_TYPE_LPM_TRIE: longest prefix match, in a binary trie without chains of single children.
 *
 * A node stands for its first plen bits. Every node is an entry, or has two children and joins them
 * (real = 0). Bits of a key are counted from the most significant one of its first byte; they lie
 * in nodes as 64-bit words in host order, so that equal bits are counted by XOR and CLZ.
 *
 *	10.0.0.0/8 -------- 10.1.0.0/16	       a child has its parent's bits, at least one more,
 *	      \ 		       and hangs at the side that its next bit names
 *	       (10.128.0.0/9, joins) --- 10.160.0.0/12
 *			\--------------- 10.200.0.0/16
 *
 * Readers take no lock. Writers hold the map's; they change a link only to what is complete. A node
 * taken out is freed after a grace period; until then it stays in the list of all nodes.
 */
#pragma once

#include "maps/map_lock.h"

#define LPM_DATA_MAX 256u
/* So many dead nodes wait for others before they are freed, plus an eighth of the live entries,
 * since the search for them passes by the live ones. */
#define LPM_DEAD_MAX 32

struct lpm_node {
	struct lpm_node *child[2];
	struct lpm_node *all; /* next in the list of all nodes */
	uint32_t plen;
	uint32_t dead;	/* generation in which it was taken out, 0: it is in the trie */
	uint8_t real;	/* an entry; goes from 1 to 0 but never back */
	uint8_t valued; /* has room for a value */
	uint64_t mask;	/* the first plen of 64 bits */
	uint64_t bits[];
	/* value, value_stride bytes */
};

struct lpm_map {
	struct bpf_map map;
	struct lpm_node *root;
	struct map_lock lock;
	uint32_t max_plen, words, value_off;
	uint32_t entries;
	struct lpm_node *all;
	uint64_t node_bytes; /* of all nodes */
	uint32_t generation; /* of dead nodes; those of earlier ones may be freed */
	uint32_t dead_nr;
	bool reaping, dying;
	struct hal_deferred reap;
};

static inline struct lpm_map *to_lpm(struct bpf_map *map)
{
	return container_of(map, struct lpm_map, map);
}

/* ---- bits ------------------------------------------------------------------------------------ */

static __always_inline uint32_t lpm_plen(const void *key)
{
	uint32_t plen;

	__builtin_memcpy(&plen, key, 4);
	return plen;
}

/* Word w of the bytes behind the prefix length, first byte on top, zeros behind the last. */
static __always_inline uint64_t lpm_key_bits(const struct lpm_map *t, const void *key, uint32_t w)
{
	const uint8_t *data = (const uint8_t *)key + 4 + 8 * w;
	uint32_t left = t->max_plen / 8 - 8 * w;
	uint64_t x = 0;
	uint32_t half;

	if (left == 4) {
		__builtin_memcpy(&half, data, 4);
		return (uint64_t)__builtin_bswap32(half) << 32;
	}
	if (left >= 8) {
		__builtin_memcpy(&x, data, 8);
		return __builtin_bswap64(x);
	}
	for (uint32_t i = 0; i < left; i++)
		x |= (uint64_t)data[i] << (56 - 8 * i);
	return x;
}

static __always_inline uint32_t lpm_bit_of(uint64_t word, uint32_t n)
{
	return (uint32_t)(word << (n & 63) >> 63);
}

static inline uint32_t lpm_key_bit(const struct lpm_map *t, const void *key, uint32_t n)
{
	return lpm_bit_of(lpm_key_bits(t, key, n / 64), n);
}

/* Bits that key and node have in common, at most the shorter prefix. */
static inline uint32_t lpm_common_bits(const struct lpm_map *t, const struct lpm_node *node,
				       const void *key)
{
	uint32_t limit = MIN(node->plen, lpm_plen(key));

	for (uint32_t w = 0; 64 * w < limit; w++) {
		uint64_t diff = node->bits[w] ^ lpm_key_bits(t, key, w);

		if (diff)
			return MIN(limit, 64 * w + (uint32_t)__builtin_clzll(diff));
	}
	return limit;
}

static inline struct lpm_node *lpm_follow(struct lpm_node *const *link)
{
	return (struct lpm_node *)map_load_dep((const uintptr_t *)(const void *)link);
}

static inline void lpm_set_link(struct lpm_node **link, struct lpm_node *to)
{
	__atomic_store_n(link, to, __ATOMIC_RELEASE);
}

static inline void *lpm_value(const struct lpm_map *t, struct lpm_node *node)
{
	return (uint8_t *)node + t->value_off;
}

/* ---- maps/lpm_node.c: nodes and their end ------------------------------------------------------
 */

/* A node of plen bits, none of them set, in no place yet; NULL: no memory. Locked. */
struct lpm_node *lpm_node_new(struct lpm_map *t, uint32_t plen, bool real);
/* The newest node, which nobody has seen, is not needed after all. Locked. */
void lpm_node_undo(struct lpm_map *t, struct lpm_node *node);
/* node left the trie: it is freed after a grace period. Locked. */
void lpm_node_dead(struct lpm_map *t, struct lpm_node *node);
/* Operation of struct bpf_map_ops. */
void lpm_free(struct bpf_map *map);
