/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Insert, replace and delete, written once and instantiated by kind of map and size of key: `kind`,
 * `key_bytes`, `all_cpus` and `locked` are constants at each call.
 */
#pragma once

#include "maps/hash.h"

/* An element of an LRU map, taken from its chain to make room; NULL: nothing can be evicted. */
struct hash_elem *hash_evict(struct hash_map *h, struct hash_cpu *cpu);

static __always_inline uint8_t *hash_elem_ref(const struct hash_map *h, struct hash_elem *e)
{
	return (uint8_t *)e + h->ref_off;
}

/* A hit; a byte that is set already is not written again, its cache line stays shared. */
static __always_inline void hash_set_ref(const struct hash_map *h, struct hash_elem *e)
{
	uint8_t *ref = hash_elem_ref(h, e);

	if (!__atomic_load_n(ref, __ATOMIC_RELAXED))
		__atomic_store_n(ref, 1, __ATOMIC_RELAXED);
}

/* All CPUs' values from a syscall's buffer, or this CPU's from a program. */
static __always_inline void hash_percpu_store(struct hash_map *h, struct hash_elem *e,
					      const void *value, bool all_cpus, bool fresh)
{
	unsigned int self = hal_cpu_id();

	if (!all_cpus && !fresh) {
		map_copy_plain(&h->map, hash_percpu_value(h, e, self), value);
		return;
	}
	for (unsigned int cpu = 0; cpu < h->ncpu; cpu++) {
		void *dst = hash_percpu_value(h, e, cpu);

		if (all_cpus)
			map_copy_plain(&h->map, dst,
				       (const uint8_t *)value + (size_t)cpu * h->map.value_stride);
		else if (cpu == self)
			map_copy_plain(&h->map, dst, value);
		else
			__builtin_memset(dst, 0, h->map.value_size);
	}
}

/* value: where the caller has the pointer to the inner map, and gets the one that was here. */
static __always_inline void hash_swap_map(const struct hash_map *h, struct hash_elem *e,
					  const void *value)
{
	void **theirs = (void **)(uintptr_t)value;

	*theirs = __atomic_exchange_n((void **)hash_elem_value(h, e), *theirs, __ATOMIC_ACQ_REL);
}

/* The key is there: give it the new value. */
static __always_inline void hash_overwrite(struct hash_map *h, struct hash_hold *hold,
					   struct hash_elem *e, uintptr_t *link, const void *key,
					   const void *value, uint32_t hash, uint32_t key_bytes,
					   uint32_t kind, bool all_cpus, bool locked)
{
	struct hash_elem *fresh;

	if (kind & HASH_LRU)
		hash_set_ref(h, e);
	if (kind & HASH_PERCPU) {
		hash_percpu_store(h, e, value, all_cpus, false);
		return;
	}
	if (kind & HASH_OF_MAPS) {
		hash_swap_map(h, e, value);
		return;
	}
	if (locked) {
		void *own = hash_elem_value(h, e);

		bpf_map_copy_value(&h->map, own, value, own);
		return;
	}
	/* One store cannot be seen half done. Larger values are replaced with their element. */
	if (h->map.value_size == 8 && !map_has_fields(&h->map)) {
		map_copy_plain(&h->map, hash_elem_value(h, e), value);
		return;
	}
	fresh = hold->cpu->spare;
	map_copy_in(&h->map, hash_elem_value(h, fresh), value);
	hash_key_store(h, fresh, key, hash, key_bytes);
	if (kind & HASH_LRU)
		*hash_elem_ref(h, fresh) = 1;
	hash_set_link(&fresh->next, e->next);
	hash_set_link(link, (uintptr_t)fresh);
	hash_set_link(&e->next, HASH_FREE_LINK);
	if (unlikely(h->map.has_timer))
		hash_drop_value(h, e);
	hold->cpu->spare = e;
}

static __always_inline void hash_link_new(struct hash_map *h, struct hash_hold *hold,
					  struct hash_elem *e, const void *key, const void *value,
					  uint32_t hash, uint32_t key_bytes, uint32_t kind,
					  bool all_cpus)
{
	if (kind & HASH_PERCPU)
		hash_percpu_store(h, e, value, all_cpus, true);
	else if (kind & HASH_OF_MAPS)
		hash_swap_map(h, e, value);
	else
		map_copy_in(&h->map, hash_elem_value(h, e), value);
	if (kind & HASH_LRU)
		__atomic_store_n(hash_elem_ref(h, e), 0, __ATOMIC_RELAXED);
	hash_key_store(h, e, key, hash, key_bytes);
	hash_set_link(&e->next, hold->head);
	hold->head = (uintptr_t)e;
}

static __always_inline int hash_update_with(struct hash_map *h, const void *key, const void *value,
					    uint64_t flags, uint32_t key_bytes, uint32_t kind,
					    bool all_cpus, bool locked)
{
	uint64_t hash = hash_key(h, key, key_bytes);
	uintptr_t off = hash_bucket_off(h, hash), *link = NULL;
	struct hash_elem *e, *fresh = NULL;
	struct hash_hold hold;
	int err = hash_enter(h, &hold);

	if (unlikely(err))
		return err;
again:
	hash_lock(h, &hold, off);
	e = hash_find_held(h, &hold, key, (uint32_t)hash, key_bytes, &link);
	if (e) {
		if (unlikely(flags == BPF_NOEXIST))
			err = -EEXIST;
		else
			hash_overwrite(h, &hold, e, link, key, value, (uint32_t)hash, key_bytes,
				       kind, all_cpus, locked);
	} else if (unlikely(flags == BPF_EXIST)) {
		err = -ENOENT;
	} else {
		if (!(kind & HASH_LRU) || !fresh)
			fresh = hash_take(h, hold.cpu, &err);
		if ((kind & HASH_LRU) && unlikely(!fresh)) {
			hash_unlock(&hold);
			fresh = hash_evict(h, hold.cpu);
			err = 0;
			if (fresh)
				goto again;
			hash_leave(&hold);
			return -ENOMEM;
		}
		if (likely(fresh)) {
			hash_link_new(h, &hold, fresh, key, value, (uint32_t)hash, key_bytes, kind,
				      all_cpus);
			fresh = NULL;
		}
	}
	hash_unlock(&hold);
	if ((kind & HASH_LRU) && unlikely(fresh))
		hash_give(h, hold.cpu, fresh);
	hash_leave(&hold);
	return err;
}

static __always_inline int hash_delete_with(struct hash_map *h, const void *key, uint32_t key_bytes,
					    uint32_t kind)
{
	uint64_t hash = hash_key(h, key, key_bytes);
	struct hash_hold hold;
	struct hash_elem *e;
	uintptr_t *link;
	int err = hash_enter(h, &hold);

	if (unlikely(err))
		return err;
	hash_lock(h, &hold, hash_bucket_off(h, hash));
	e = hash_find_held(h, &hold, key, (uint32_t)hash, key_bytes, &link);
	if (likely(e))
		hash_set_link(link, e->next);
	hash_unlock(&hold);
	if (likely(e)) {
		if ((kind & HASH_OF_MAPS) || unlikely(h->map.has_timer))
			hash_drop_value(h, e);
		hash_give(h, hold.cpu, e);
	}
	hash_leave(&hold);
	return likely(e) ? 0 : -ENOENT;
}
