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
#include "bpf/btf.h"
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

static struct lpm_map *to_lpm(struct bpf_map *map)
{
	return container_of(map, struct lpm_map, map);
}

/* ---- bits ------------------------------------------------------------------------------------ */

static __always_inline uint32_t key_plen(const void *key)
{
	uint32_t plen;

	__builtin_memcpy(&plen, key, 4);
	return plen;
}

/* Word w of the bytes behind the prefix length, first byte on top, zeros behind the last. */
static __always_inline uint64_t key_bits(const struct lpm_map *t, const void *key, uint32_t w)
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

static __always_inline uint32_t bit_of(uint64_t word, uint32_t n)
{
	return (uint32_t)(word << (n & 63) >> 63);
}

static uint32_t key_bit(const struct lpm_map *t, const void *key, uint32_t n)
{
	return bit_of(key_bits(t, key, n / 64), n);
}

/* Bits that key and node have in common, at most the shorter prefix. */
static uint32_t common_bits(const struct lpm_map *t, const struct lpm_node *node, const void *key)
{
	uint32_t limit = MIN(node->plen, key_plen(key));

	for (uint32_t w = 0; 64 * w < limit; w++) {
		uint64_t diff = node->bits[w] ^ key_bits(t, key, w);

		if (diff)
			return MIN(limit, 64 * w + (uint32_t)__builtin_clzll(diff));
	}
	return limit;
}

static struct lpm_node *follow(struct lpm_node *const *link)
{
	return (struct lpm_node *)map_load_dep((const uintptr_t *)(const void *)link);
}

static void set_link(struct lpm_node **link, struct lpm_node *to)
{
	__atomic_store_n(link, to, __ATOMIC_RELEASE);
}

static void *node_value(const struct lpm_map *t, struct lpm_node *node)
{
	return (uint8_t *)node + t->value_off;
}

/* ---- lookup ---------------------------------------------------------------------------------- */

/* Keys of at most 8 bytes: all bits in one word. */
static void *lookup_word(struct bpf_map *map, const void *key)
{
	struct lpm_map *t = to_lpm(map);
	uint32_t plen = key_plen(key);
	struct lpm_node *node, *found = NULL;
	uint64_t bits;

	if (unlikely(plen > t->max_plen))
		return NULL;
	bits = key_bits(t, key, 0);
	node = follow(&t->root);
	while (node && node->plen <= plen && !((node->bits[0] ^ bits) & node->mask)) {
		if (__atomic_load_n(&node->real, __ATOMIC_RELAXED))
			found = node;
		/* Behind the last bit there is no child, so the side does not matter. */
		node = follow(&node->child[bit_of(bits, node->plen)]);
	}
	return found ? node_value(t, found) : NULL;
}

static void *lookup_long(struct bpf_map *map, const void *key)
{
	struct lpm_map *t = to_lpm(map);
	struct lpm_node *node, *found = NULL;

	if (unlikely(key_plen(key) > t->max_plen))
		return NULL;
	node = follow(&t->root);
	while (node && common_bits(t, node, key) == node->plen) {
		if (__atomic_load_n(&node->real, __ATOMIC_RELAXED))
			found = node;
		if (node->plen == t->max_plen)
			break;
		node = follow(&node->child[key_bit(t, key, node->plen)]);
	}
	return found ? node_value(t, found) : NULL;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static size_t node_size(const struct lpm_map *t, bool valued)
{
	return valued ? t->value_off + t->map.value_stride : t->value_off;
}

/* A node with plen bits of `bits`, in no place yet. Locked. */
static struct lpm_node *node_new(struct lpm_map *t, uint32_t plen, bool real)
{
	size_t bytes = node_size(t, real);
	struct lpm_node *node = hal_alloc_atomic(bytes);

	if (!node)
		return NULL;
	__builtin_memset(node, 0, bytes);
	node->plen = plen;
	node->mask = !plen ? 0 : plen >= 64 ? ~0ull : ~0ull << (64 - plen);
	node->real = node->valued = real;
	node->all = t->all;
	t->all = node;
	t->node_bytes += bytes;
	return node;
}

/* The newest node, which nobody has seen. Locked. */
static void node_undo(struct lpm_map *t, struct lpm_node *node)
{
	t->all = node->all;
	t->node_bytes -= node_size(t, node->valued);
	hal_free_atomic(node);
}

/* Those that are dead and whose grace period is over, or all. Locked. */
static void free_nodes(struct lpm_map *t, bool all)
{
	struct lpm_node **link = &t->all;

	while (*link) {
		struct lpm_node *node = *link;

		if (!all && (!node->dead || node->dead >= t->generation)) {
			link = &node->all;
			continue;
		}
		*link = node->all;
		t->node_bytes -= node_size(t, node->valued);
		t->dead_nr--;
		hal_free_atomic(node);
	}
}

static void release(struct lpm_map *t)
{
	free_nodes(t, true);
	hal_map_free(t, sizeof(*t));
}

static bool too_many_dead(const struct lpm_map *t)
{
	return t->dead_nr > LPM_DEAD_MAX + t->entries / 8;
}

static void reap_nodes(struct hal_deferred *d)
{
	struct lpm_map *t = container_of(d, struct lpm_map, reap);
	unsigned long irq;

	if (t->dying) {
		release(t);
		return;
	}
	/* Thread context: nothing on this CPU holds the lock. */
	while (map_lock(&t->lock, &irq))
		map_relax();
	free_nodes(t, false);
	t->reaping = too_many_dead(t);
	if (t->reaping) {
		t->generation++;
		hal_quiesce_defer(&t->reap, reap_nodes);
	}
	map_unlock(&t->lock, irq);
}

/* node left the trie. Locked. */
static void node_dead(struct lpm_map *t, struct lpm_node *node)
{
	node->dead = t->generation;
	t->dead_nr++;
	if (t->reaping || !too_many_dead(t))
		return;
	t->reaping = true;
	t->generation++;
	hal_quiesce_defer(&t->reap, reap_nodes);
}

/* ---- update and delete -------------------------------------------------------------------------
 */

/* Where key belongs: the link to the first node that differs from it or is it, or to nothing. */
static struct lpm_node **find_place(struct lpm_map *t, const void *key, uint32_t *common)
{
	struct lpm_node **link = &t->root;
	uint32_t plen = key_plen(key);

	*common = 0;
	while (*link) {
		struct lpm_node *node = *link;

		*common = common_bits(t, node, key);
		if (*common != node->plen || node->plen == plen)
			break;
		link = &node->child[key_bit(t, key, node->plen)];
	}
	return link;
}

static struct lpm_node *entry_new(struct lpm_map *t, const void *key, const void *value)
{
	struct lpm_node *node = node_new(t, key_plen(key), true);

	if (!node)
		return NULL;
	for (uint32_t w = 0; w < t->words; w++)
		node->bits[w] = key_bits(t, key, w);
	__builtin_memcpy(node_value(t, node), value, t->map.value_size);
	return node;
}

/* The place has a node with exactly key's bits. */
static int update_exact(struct lpm_map *t, struct lpm_node **link, const void *key,
			const void *value)
{
	struct lpm_node *old = *link, *node;

	if (old->real && t->map.value_size == 8) {
		map_copy_plain(&t->map, node_value(t, old), value);
		return 0;
	}
	node = entry_new(t, key, value);
	if (!node)
		return -ENOMEM;
	node->child[0] = old->child[0];
	node->child[1] = old->child[1];
	t->entries += !old->real;
	set_link(link, node);
	node_dead(t, old);
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
		join = node_new(t, common, false);
		if (!join) {
			node_undo(t, node);
			return -ENOMEM;
		}
		for (uint32_t w = 0; w < t->words; w++)
			join->bits[w] = other->bits[w];
		join->child[key_bit(t, key, common)] = node;
		join->child[!key_bit(t, key, common)] = other;
	} else if (other) {
		node->child[bit_of(other->bits[common / 64], common)] = other;
	}
	t->entries++;
	set_link(link, join ? join : node);
	return 0;
}

static int update_locked(struct lpm_map *t, const void *key, const void *value, uint64_t flags)
{
	uint32_t common;
	struct lpm_node **link = find_place(t, key, &common), *node = *link;
	bool same = node && common == node->plen && common == key_plen(key);
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

	if (flags > BPF_EXIST || key_plen(key) > t->max_plen)
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
		set_link(parent_link, parent->child[link == &parent->child[0]]);
		node_dead(t, parent);
	} else {
		set_link(link, child);
	}
	node_dead(t, node);
}

static int delete_locked(struct lpm_map *t, const void *key)
{
	struct lpm_node **link = &t->root, **parent_link = NULL;
	uint32_t plen = key_plen(key);

	while (*link) {
		struct lpm_node *node = *link;

		if (common_bits(t, node, key) != node->plen)
			return -ENOENT;
		if (node->plen == plen) {
			if (!node->real)
				return -ENOENT;
			remove_entry(t, link, parent_link);
			return 0;
		}
		parent_link = link;
		link = &node->child[key_bit(t, key, node->plen)];
	}
	return -ENOENT;
}

static int lpm_delete(struct bpf_map *map, const void *key)
{
	struct lpm_map *t = to_lpm(map);
	unsigned long irq;
	int err;

	if (key_plen(key) > t->max_plen)
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
	uint32_t plen = key ? key_plen(key) : 0;
	struct lpm_node *node = t->root, *next = NULL;

	while (key && plen <= t->max_plen && node && common_bits(t, node, key) == node->plen) {
		uint32_t side;

		if (node->plen == plen) {
			if (node->real)
				return next;
			break;
		}
		side = key_bit(t, key, node->plen);
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

static void lpm_free(struct bpf_map *map)
{
	struct lpm_map *t = to_lpm(map);

	if (t->reaping)
		t->dying = true;
	else
		release(t);
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
		       map_value_covers(map, (uintptr_t)node_value(t, node), addr, size);
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
