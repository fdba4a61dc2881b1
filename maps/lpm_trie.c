/* SPDX-License-Identifier: BSD-2-Clause */
/* LPM trie: operations. */
#include "maps/lpm_trie.h"

#include "bpf/btf.h"

/* ---- lookup ---------------------------------------------------------------------------------- */

/* Keys of at most 8 bytes: all bits in one word. */
static void *lookup_word(struct bpf_map *map, const void *key)
{
	struct lpm_map *t = to_lpm(map);
	uint32_t plen = lpm_plen(key);
	struct lpm_node *node, *found = NULL;
	uint64_t bits;

	if (unlikely(plen > t->max_plen))
		return NULL;
	bits = lpm_key_bits(t, key, 0);
	node = lpm_follow(&t->root);
	while (node && node->plen <= plen && !((node->bits[0] ^ bits) & node->mask)) {
		if (__atomic_load_n(&node->real, __ATOMIC_RELAXED))
			found = node;
		/* Behind the last bit there is no child, so the side does not matter. */
		node = lpm_follow(&node->child[lpm_bit_of(bits, node->plen)]);
	}
	return found ? lpm_value(t, found) : NULL;
}

static void *lookup_long(struct bpf_map *map, const void *key)
{
	struct lpm_map *t = to_lpm(map);
	struct lpm_node *node, *found = NULL;

	if (unlikely(lpm_plen(key) > t->max_plen))
		return NULL;
	node = lpm_follow(&t->root);
	while (node && lpm_common_bits(t, node, key) == node->plen) {
		if (__atomic_load_n(&node->real, __ATOMIC_RELAXED))
			found = node;
		if (node->plen == t->max_plen)
			break;
		node = lpm_follow(&node->child[lpm_key_bit(t, key, node->plen)]);
	}
	return found ? lpm_value(t, found) : NULL;
}

/* ---- update and delete -------------------------------------------------------------------------
 */

/* Where key belongs: the link to the first node that differs from it or is it, or to nothing. */
static struct lpm_node **find_place(struct lpm_map *t, const void *key, uint32_t *common)
{
	struct lpm_node **link = &t->root;
	uint32_t plen = lpm_plen(key);

	*common = 0;
	while (*link) {
		struct lpm_node *node = *link;

		*common = lpm_common_bits(t, node, key);
		if (*common != node->plen || node->plen == plen)
			break;
		link = &node->child[lpm_key_bit(t, key, node->plen)];
	}
	return link;
}

static struct lpm_node *entry_new(struct lpm_map *t, const void *key, const void *value)
{
	struct lpm_node *node = lpm_node_new(t, lpm_plen(key), true);

	if (!node)
		return NULL;
	for (uint32_t w = 0; w < t->words; w++)
		node->bits[w] = lpm_key_bits(t, key, w);
	__builtin_memcpy(lpm_value(t, node), value, t->map.value_size);
	return node;
}

/* The place has a node with exactly key's bits. */
static int update_exact(struct lpm_map *t, struct lpm_node **link, const void *key,
			const void *value)
{
	struct lpm_node *old = *link, *node;

	if (old->real && t->map.value_size == 8) {
		map_copy_plain(&t->map, lpm_value(t, old), value);
		return 0;
	}
	node = entry_new(t, key, value);
	if (!node)
		return -ENOMEM;
	node->child[0] = old->child[0];
	node->child[1] = old->child[1];
	t->entries += !old->real;
	lpm_set_link(link, node);
	lpm_node_dead(t, old);
	return 0;
}

/* The place is free, or its node shares only `common` bits with key. */
static int insert(struct lpm_map *t, struct lpm_node **link, const void *key, const void *value,
		  uint32_t common)
{
	struct lpm_node *other = *link, *join = NULL, *node = entry_new(t, key, value);

	if (!node)
		return -ENOMEM;
	if (other && common < node->plen) {
		join = lpm_node_new(t, common, false);
		if (!join) {
			lpm_node_undo(t, node);
			return -ENOMEM;
		}
		for (uint32_t w = 0; w < t->words; w++)
			join->bits[w] = other->bits[w];
		join->child[lpm_key_bit(t, key, common)] = node;
		join->child[!lpm_key_bit(t, key, common)] = other;
	} else if (other) {
		node->child[lpm_bit_of(other->bits[common / 64], common)] = other;
	}
	t->entries++;
	lpm_set_link(link, join ? join : node);
	return 0;
}

static int update_locked(struct lpm_map *t, const void *key, const void *value, uint64_t flags)
{
	uint32_t common;
	struct lpm_node **link = find_place(t, key, &common), *node = *link;
	bool same = node && common == node->plen && common == lpm_plen(key);
	bool exists = same && node->real;

	if (exists && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!exists && flags == BPF_EXIST)
		return -ENOENT;
	if (!exists && t->entries == t->map.max_entries)
		return -ENOSPC;
	return same ? update_exact(t, link, key, value) : insert(t, link, key, value, common);
}

static int lpm_update(struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	struct lpm_map *t = to_lpm(map);
	unsigned long irq;
	int err;

	if (flags > BPF_EXIST || lpm_plen(key) > t->max_plen)
		return -EINVAL;
	err = map_lock(&t->lock, &irq);
	if (err)
		return err;
	err = update_locked(t, key, value, flags);
	map_unlock(&t->lock, irq);
	return err;
}

/*
 * An entry with two children goes on as a node that joins them. With less, its child (or nothing)
 * takes its place; if that leaves a joining parent with one child, the child takes the parent's.
 */
static void remove_entry(struct lpm_map *t, struct lpm_node **link, struct lpm_node **parent_link)
{
	struct lpm_node *node = *link, *parent = parent_link ? *parent_link : NULL;
	struct lpm_node *child = node->child[0] ? node->child[0] : node->child[1];

	t->entries--;
	__atomic_store_n(&node->real, 0, __ATOMIC_RELAXED);
	if (node->child[0] && node->child[1])
		return;
	if (!child && parent && !parent->real) {
		lpm_set_link(parent_link, parent->child[link == &parent->child[0]]);
		lpm_node_dead(t, parent);
	} else {
		lpm_set_link(link, child);
	}
	lpm_node_dead(t, node);
}

static int delete_locked(struct lpm_map *t, const void *key)
{
	struct lpm_node **link = &t->root, **parent_link = NULL;
	uint32_t plen = lpm_plen(key);

	while (*link) {
		struct lpm_node *node = *link;

		if (lpm_common_bits(t, node, key) != node->plen)
			return -ENOENT;
		if (node->plen == plen) {
			if (!node->real)
				return -ENOENT;
			remove_entry(t, link, parent_link);
			return 0;
		}
		parent_link = link;
		link = &node->child[lpm_key_bit(t, key, node->plen)];
	}
	return -ENOENT;
}

static int lpm_delete(struct bpf_map *map, const void *key)
{
	struct lpm_map *t = to_lpm(map);
	unsigned long irq;
	int err;

	if (lpm_plen(key) > t->max_plen)
		return -EINVAL;
	err = map_lock(&t->lock, &irq);
	if (err)
		return err;
	err = delete_locked(t, key);
	map_unlock(&t->lock, irq);
	return err;
}

/* ---- iteration: the entries below a prefix before the prefix itself, as Linux
 * -------------------- */

/* First in that order below and including node. */
static struct lpm_node *first_below(struct lpm_node *node)
{
	while (node && (node->child[0] || node->child[1]))
		node = node->child[0] ? node->child[0] : node->child[1];
	return node;
}

/*
 * What comes after key: on the way down to it, the last node of which something is still to come
 * when the side that we go to is done: its other side, or itself.
 */
static struct lpm_node *next_node(struct lpm_map *t, const void *key)
{
	uint32_t plen = key ? lpm_plen(key) : 0;
	struct lpm_node *node = t->root, *next = NULL;

	while (key && plen <= t->max_plen && node && lpm_common_bits(t, node, key) == node->plen) {
		uint32_t side;

		if (node->plen == plen) {
			if (node->real)
				return next;
			break;
		}
		side = lpm_key_bit(t, key, node->plen);
		if (!side && node->child[1])
			next = first_below(node->child[1]);
		else if (node->real)
			next = node;
		node = node->child[side];
	}
	return first_below(t->root);
}

static int lpm_get_next_key(struct bpf_map *map, const void *key, void *next_key)
{
	struct lpm_map *t = to_lpm(map);
	struct lpm_node *node;
	unsigned long irq;
	int err = map_lock(&t->lock, &irq);

	if (err)
		return err;
	node = next_node(t, key);
	if (node) {
		__builtin_memcpy(next_key, &node->plen, 4);
		for (uint32_t i = 0; i < t->max_plen / 8; i++)
			((uint8_t *)next_key)[4 + i] =
				(uint8_t)(node->bits[i / 8] >> (56 - 8 * (i % 8)));
	}
	map_unlock(&t->lock, irq);
	return node ? 0 : -ENOENT;
}

/* ---- creation and the rest ---------------------------------------------------------------------
 */

extern const struct bpf_map_ops lpm_trie_map_ops;
static const struct bpf_map_ops ops_word;

static int lpm_alloc_check(const union bpf_attr *attr)
{
	if (!attr->max_entries || !(attr->map_flags & BPF_F_NO_PREALLOC) || attr->key_size < 5 ||
	    attr->key_size > 4 + LPM_DATA_MAX || !attr->value_size ||
	    attr->value_size > MAP_ELEM_BYTES_MAX - LPM_DATA_MAX - sizeof(struct lpm_node))
		return -EINVAL;
	return 0;
}

static int lpm_check_btf(const struct bpf_map *map, const struct bpf_btf *btf, uint32_t key_id,
			 uint32_t value_id)
{
	const struct btf_type *type = key_id ? btf_skip_modifiers(btf, key_id, NULL) : NULL;

	(void)map;
	(void)value_id;
	return type && BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT ? 0 : -EINVAL;
}

static int lpm_alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	struct lpm_map *t = hal_map_alloc(sizeof(*t));

	if (!t)
		return -ENOMEM;
	map_init(&t->map, attr);
	t->max_plen = 8 * (attr->key_size - 4);
	t->words = (t->max_plen + 63) / 64;
	t->value_off = (uint32_t)(offsetof(struct lpm_node, bits) + 8ul * t->words);
	t->generation = 1;
	t->map.ops = t->words == 1 ? &ops_word : &lpm_trie_map_ops;
	*out = &t->map;
	return 0;
}

static bool lpm_owns_value(struct bpf_map *map, uintptr_t addr, size_t size)
{
	struct lpm_map *t = to_lpm(map);
	struct lpm_node *node;
	unsigned long irq;
	bool owns = false;

	if (map_lock(&t->lock, &irq))
		return false;
	for (node = t->all; node && !owns; node = node->all)
		owns = node->valued &&
		       map_value_covers(map, (uintptr_t)lpm_value(t, node), addr, size);
	map_unlock(&t->lock, irq);
	return owns;
}

static void lpm_gen_lookup(struct bpf_map *map, struct map_lookup *l)
{
	(void)map;
	*l = (struct map_lookup){ .kind = MAP_LOOKUP_CALL };
}

static uint64_t lpm_mem_usage(struct bpf_map *map)
{
	struct lpm_map *t = to_lpm(map);

	return map_area_charge(sizeof(*t)) + READ_ONCE(t->node_bytes);
}

#define LPM_OPS(lookup_fn)                                                                         \
	{                                                                                          \
		.alloc_check = lpm_alloc_check,                                                    \
		.check_btf = lpm_check_btf,                                                        \
		.alloc = lpm_alloc,                                                                \
		.free = lpm_free,                                                                  \
		.lookup = lookup_fn,                                                               \
		.update = lpm_update,                                                              \
		.delete = lpm_delete,                                                              \
		.get_next_key = lpm_get_next_key,                                                  \
		.owns_value = lpm_owns_value,                                                      \
		.gen_lookup = lpm_gen_lookup,                                                      \
		.mem_usage = lpm_mem_usage,                                                        \
		.inner_fits = map_meta_equal,                                                      \
	}

static const struct bpf_map_ops ops_word = LPM_OPS(lookup_word);
const struct bpf_map_ops lpm_trie_map_ops = LPM_OPS(lookup_long);
