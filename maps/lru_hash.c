/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF_MAP_TYPE_LRU_HASH and _LRU_PERCPU_HASH: a full map makes room for a new key by dropping one
 * that was not used lately.
 *
 * The order is approximate, by the clock algorithm: a hand goes round the elements; one that was
 * used since the hand last passed (its ref byte) is spared once, the first other one goes. Lookups
 * by programs and updates count as use, lookups by bpf(2) do not, as in Linux. All CPUs share one
 * hand; with BPF_F_NO_COMMON_LRU each CPU has an equal part of the elements and a hand of its own,
 * and looks beyond its part only if that has nothing to drop.
 */
#include "maps/hash_write.h"

/* So many used elements are spared in a row; then the next one goes, used or not. */
#define SPARED_MAX 128
/* All elements may be in the hands of other CPUs for a moment: so often all are looked through. */
#define ROUNDS_MAX 64

/* ---- eviction -------------------------------------------------------------------------------- */

static bool in_chain(struct hash_elem *e)
{
	uintptr_t next = __atomic_load_n(&e->next, __ATOMIC_RELAXED);

	return (next & HASH_FREE_LINK) != HASH_FREE_LINK;
}

/* Take e out of its chain, if it still is in one. No bucket is held. */
static bool unlink_elem(struct hash_map *h, struct hash_elem *e)
{
	uint32_t hash = __atomic_load_n(hash_elem_hash(h, e), __ATOMIC_RELAXED);
	struct hash_hold hold;
	uintptr_t *from;

	hash_lock(h, &hold, hash_bucket_off(h, hash));
	from = &hold.head;
	while (!(*from & MAP_HASH_END) && (struct hash_elem *)*from != e)
		from = &((struct hash_elem *)*from)->next;
	if (*from & MAP_HASH_END) {
		hash_unlock(&hold);
		return false;
	}
	hash_set_link(from, e->next);
	hash_set_link(&e->next, HASH_FREE_LINK);
	hash_unlock(&hold);
	if (unlikely(h->map.has_timer))
		hash_drop_value(h, e);
	return true;
}

/* One round of a hand over elements [from, from + n), two when all were used. */
static struct hash_elem *sweep(struct hash_map *h, uint32_t *hand, uint32_t from, uint32_t n)
{
	uint32_t spared = 0;

	for (uint64_t i = 0; i < 2ull * n; i++) {
		uint32_t at = __atomic_fetch_add(hand, 1, __ATOMIC_RELAXED) % n + from;
		struct hash_elem *e;

		e = (struct hash_elem *)(void *)(h->elems + (size_t)at * h->elem_bytes);
		if (!in_chain(e))
			continue;
		if (__atomic_load_n(hash_elem_ref(h, e), __ATOMIC_RELAXED) &&
		    spared++ < SPARED_MAX) {
			__atomic_store_n(hash_elem_ref(h, e), 0, __ATOMIC_RELAXED);
			continue;
		}
		if (unlink_elem(h, e))
			return e;
	}
	return NULL;
}

struct hash_elem *hash_evict(struct hash_map *h, struct hash_cpu *cpu)
{
	uint32_t total = h->map.max_entries + h->ncpu;
	struct hash_elem *e;
	int err;

	if (h->map.map_flags & BPF_F_NO_COMMON_LRU) {
		uint32_t share = h->map.max_entries / h->ncpu;
		uint32_t self = (uint32_t)(cpu - h->cpu);

		e = sweep(h, &cpu->lru_hand, self * share, share);
		if (e)
			return e;
		e = hash_steal(h, cpu);
		if (e)
			return e;
	}
	for (unsigned int round = 0; round < ROUNDS_MAX; round++) {
		e = sweep(h, &h->lru_hand, 0, total);
		if (!e)
			e = hash_take(h, cpu, &err);
		if (e)
			return e;
		map_relax();
	}
	return NULL;
}

/* ---- operations ------------------------------------------------------------------------------ */

#define LOOKUP(suffix, key_bytes)                                                                  \
	static void *lookup_##suffix(struct bpf_map *map, const void *key)                         \
	{                                                                                          \
		struct hash_map *h = to_hash(map);                                                 \
		struct hash_elem *e = hash_find(h, key, key_bytes);                                \
                                                                                                   \
		if (!e)                                                                            \
			return NULL;                                                               \
		hash_set_ref(h, e);                                                                \
		return hash_elem_value(h, e);                                                      \
	}                                                                                          \
	static void *percpu_lookup_##suffix(struct bpf_map *map, const void *key)                  \
	{                                                                                          \
		struct hash_map *h = to_hash(map);                                                 \
		struct hash_elem *e = hash_find(h, key, key_bytes);                                \
                                                                                                   \
		if (!e)                                                                            \
			return NULL;                                                               \
		hash_set_ref(h, e);                                                                \
		return hash_percpu_value(h, e, hal_cpu_id());                                      \
	}

LOOKUP(4, 4)
LOOKUP(8, 8)
LOOKUP(any, map->key_size)

static void *percpu_lookup_percpu(struct bpf_map *map, const void *key, unsigned int cpu)
{
	struct hash_map *h = to_hash(map);
	struct hash_elem *e = cpu < h->ncpu ? hash_find(h, key, map->key_size) : NULL;

	if (!e)
		return NULL;
	hash_set_ref(h, e);
	return hash_percpu_value(h, e, cpu);
}

static int update(struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	if (flags > BPF_EXIST)
		return -EINVAL;
	return hash_update_with(to_hash(map), key, value, flags, map->key_size, HASH_LRU, false,
				false);
}

static int percpu_update(struct bpf_map *map, const void *key, const void *value, uint64_t flags)
{
	if (flags > BPF_EXIST)
		return -EINVAL;
	return hash_update_with(to_hash(map), key, value, flags, map->key_size,
				HASH_LRU | HASH_PERCPU, false, false);
}

static int percpu_sys_update(struct bpf_map *map, const void *key, const void *value,
			     uint64_t flags)
{
	if (flags > BPF_EXIST)
		return -EINVAL;
	return hash_update_with(to_hash(map), key, value, flags, map->key_size,
				HASH_LRU | HASH_PERCPU, true, false);
}

static int delete(struct bpf_map *map, const void *key)
{
	return hash_delete_with(to_hash(map), key, map->key_size, HASH_LRU);
}

extern const struct bpf_map_ops lru_hash_map_ops, lru_percpu_hash_map_ops;
static const struct bpf_map_ops ops_4, ops_8, percpu_ops_4, percpu_ops_8;

static int alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	const struct bpf_map_ops *ops = attr->key_size == 4   ? &ops_4
					: attr->key_size == 8 ? &ops_8
							      : &lru_hash_map_ops;

	return hash_alloc(attr, HASH_LRU, ops, out);
}

static int percpu_alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	const struct bpf_map_ops *ops = attr->key_size == 4   ? &percpu_ops_4
					: attr->key_size == 8 ? &percpu_ops_8
							      : &lru_percpu_hash_map_ops;

	return hash_alloc(attr, HASH_LRU | HASH_PERCPU, ops, out);
}

#define COMMON                                                                                     \
	.alloc_check = hash_alloc_check, .free = hash_free, .delete = delete,                      \
	.for_each = hash_for_each, .get_next_key = hash_get_next_key,                              \
	.sys_lookup = hash_sys_lookup, .sys_lookup_delete = hash_sys_lookup_delete,                \
	.sys_lookup_batch = hash_sys_lookup_batch, .owns_value = hash_owns_value,                  \
	.gen_lookup = hash_gen_lookup, .mem_usage = hash_mem_usage, .inner_fits = map_meta_equal

#define OPS(suffix)                                                                                \
	{ COMMON,                                                                                  \
	  .alloc = alloc,                                                                          \
	  .lookup = lookup_##suffix,                                                               \
	  .update = update,                                                                        \
	  .value_at = hash_value_at,                                                               \
	  .key_of = hash_key_of,                                                                   \
	  .release_uref = hash_release_uref }
#define PERCPU_OPS(suffix)                                                                         \
	{ COMMON,                                                                                  \
	  .alloc = percpu_alloc,                                                                   \
	  .lookup = percpu_lookup_##suffix,                                                        \
	  .lookup_percpu = percpu_lookup_percpu,                                                   \
	  .update = percpu_update,                                                                 \
	  .sys_update = percpu_sys_update }

static const struct bpf_map_ops ops_4 = OPS(4);
static const struct bpf_map_ops ops_8 = OPS(8);
const struct bpf_map_ops lru_hash_map_ops = OPS(any);
static const struct bpf_map_ops percpu_ops_4 = PERCPU_OPS(4);
static const struct bpf_map_ops percpu_ops_8 = PERCPU_OPS(8);
const struct bpf_map_ops lru_percpu_hash_map_ops = PERCPU_OPS(any);
