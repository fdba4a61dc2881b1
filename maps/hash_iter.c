/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash tables: what bpf(2) and helpers do with more than one element, and reads of whole values. */
#include "maps/hash.h"

/* ---- values in syscall shape ----------------------------------------------------------------- */

void hash_copy_out(struct hash_map *h, struct hash_elem *e, void *value, uint64_t flags)
{
	if (h->kind & HASH_OF_MAPS) {
		uint32_t id = h->map.fd_ops->id(*(void **)hash_elem_value(h, e));

		__builtin_memcpy(value, &id, sizeof(id));
	} else if (h->kind & HASH_PERCPU) {
		for (unsigned int cpu = 0; cpu < h->ncpu; cpu++)
			__builtin_memcpy((uint8_t *)value + (size_t)cpu * h->map.value_stride,
					 hash_percpu_value(h, e, cpu), h->map.value_stride);
	} else {
		map_copy_out(&h->map, value, hash_elem_value(h, e), flags);
	}
}

/* The bucket of a key, locked; 0 or -EBUSY. */
static int hold_key(struct hash_map *h, const void *key, struct hash_hold *hold, uint32_t *hash)
{
	uint64_t full = hash_key(h, key, h->map.key_size);
	int err = hash_enter(h, hold);

	if (err)
		return err;
	*hash = (uint32_t)full;
	hash_lock(h, hold, hash_bucket_off(h, full));
	return 0;
}

/*
 * Under the bucket's lock, unlike what programs do: an element that is used again for another key
 * half way through the copy would hand out that key's value.
 */
int hash_sys_lookup(struct bpf_map *map, const void *key, void *value, uint64_t flags)
{
	struct hash_map *h = to_hash(map);
	struct hash_hold hold;
	struct hash_elem *e;
	uintptr_t *link;
	uint32_t hash;
	int err = hold_key(h, key, &hold, &hash);

	if (err)
		return err;
	e = hash_find_held(h, &hold, key, hash, map->key_size, &link);
	if (e)
		hash_copy_out(h, e, value, flags);
	hash_unlock(&hold);
	hash_leave(&hold);
	return e ? 0 : -ENOENT;
}

int hash_sys_lookup_delete(struct bpf_map *map, const void *key, void *value, uint64_t flags)
{
	struct hash_map *h = to_hash(map);
	struct hash_hold hold;
	struct hash_elem *e;
	uintptr_t *link;
	uint32_t hash;
	int err = hold_key(h, key, &hold, &hash);

	if (err)
		return err;
	e = hash_find_held(h, &hold, key, hash, map->key_size, &link);
	if (e) {
		hash_copy_out(h, e, value, flags);
		hash_set_link(link, e->next);
	}
	hash_unlock(&hold);
	if (e) {
		hash_drop_value(h, e);
		hash_give(h, hold.cpu, e);
	}
	hash_leave(&hold);
	return e ? 0 : -ENOENT;
}

/* ---- keys in order --------------------------------------------------------------------------- */

static void copy_key(struct hash_map *h, struct hash_elem *e, void *key)
{
	__builtin_memcpy(key, hash_elem_key(h, e), h->map.key_size);
}

/* The first key in bucket `from` or a later one. */
static int first_key(struct hash_map *h, uint32_t from, void *next_key)
{
	for (uint64_t b = from; b <= h->mask; b++) {
		struct hash_hold hold;
		bool found;
		int err;

		if (READ_ONCE(h->buckets[b]) & MAP_HASH_END)
			continue;
		err = hash_enter(h, &hold);
		if (err)
			return err;
		hash_lock(h, &hold, (uintptr_t)b * sizeof(uintptr_t));
		found = !(hold.head & MAP_HASH_END);
		if (found)
			copy_key(h, (struct hash_elem *)hold.head, next_key);
		hash_unlock(&hold);
		hash_leave(&hold);
		if (found)
			return 0;
	}
	return -ENOENT;
}

int hash_get_next_key(struct bpf_map *map, const void *key, void *next_key)
{
	struct hash_map *h = to_hash(map);
	struct hash_hold hold;
	struct hash_elem *e;
	uintptr_t *link, next = MAP_HASH_END;
	uint32_t hash;
	int err;

	if (!key)
		return first_key(h, 0, next_key);
	err = hold_key(h, key, &hold, &hash);
	if (err)
		return err;
	e = hash_find_held(h, &hold, key, hash, map->key_size, &link);
	if (e)
		next = e->next;
	if (!(next & MAP_HASH_END))
		copy_key(h, (struct hash_elem *)next, next_key);
	hash_unlock(&hold);
	hash_leave(&hold);
	if (!(next & MAP_HASH_END))
		return 0;
	/* A key that is gone: from the start again, as Linux. */
	return first_key(h, e ? (hash & h->mask) + 1 : 0, next_key);
}

/* ---- batches: whole buckets; the cursor is the number of the next one --------------------------
 */

struct batch {
	uint8_t *keys, *values;
	uint32_t room, got;
	uint64_t flags;
	bool del;
};

static void batch_bucket(struct hash_map *h, struct hash_hold *hold, struct batch *b)
{
	size_t value_bytes = bpf_map_sys_value_size(&h->map);
	uintptr_t at = hold->head;

	for (; !(at & MAP_HASH_END); b->got++) {
		struct hash_elem *e = (struct hash_elem *)at;

		at = e->next;
		copy_key(h, e, b->keys + (size_t)b->got * h->map.key_size);
		hash_copy_out(h, e, b->values + b->got * value_bytes, b->flags);
		if (b->del) {
			hash_drop_value(h, e);
			hash_give(h, hold->cpu, e);
		}
	}
	if (b->del)
		hold->head = at;
}

static uint32_t chain_length(uintptr_t at)
{
	uint32_t n = 0;

	for (; !(at & MAP_HASH_END); at = ((struct hash_elem *)at)->next)
		n++;
	return n;
}

int hash_sys_lookup_batch(struct bpf_map *map, const void *in, void *out, void *keys, void *values,
			  uint32_t *count, uint64_t flags, bool del)
{
	struct hash_map *h = to_hash(map);
	struct batch b = { keys, values, *count, 0, flags, del };
	uint32_t bucket = 0;
	int err = 0;

	if (in)
		__builtin_memcpy(&bucket, in, sizeof(bucket));
	*count = 0;
	for (; bucket <= h->mask; bucket++) {
		struct hash_hold hold;
		bool fits;

		if (READ_ONCE(h->buckets[bucket]) & MAP_HASH_END)
			continue;
		err = hash_enter(h, &hold);
		if (err)
			return err;
		hash_lock(h, &hold, bucket * sizeof(uintptr_t));
		fits = chain_length(hold.head) <= b.room - b.got;
		if (fits)
			batch_bucket(h, &hold, &b);
		hash_unlock(&hold);
		hash_leave(&hold);
		if (!fits) {
			err = b.got ? 0 : -ENOSPC;
			break;
		}
	}
	if (bucket > h->mask)
		err = -ENOENT;
	*count = b.got;
	__builtin_memcpy(out, &bucket, sizeof(bucket));
	return err;
}

/* ---- for_each -------------------------------------------------------------------------------- */

/*
 * The callback may delete and insert: the next element is read before it is called, and one that
 * has left the bucket meanwhile ends the walk of that bucket. As in Linux, elements that come or go
 * during the walk may be seen or not.
 */
static bool in_bucket(struct hash_map *h, struct hash_elem *e, uintptr_t off)
{
	if ((map_load_dep(&e->next) & HASH_FREE_LINK) == HASH_FREE_LINK)
		return false;
	return hash_bucket_off(h, hash_key(h, hash_elem_key(h, e), h->map.key_size)) == off;
}

long hash_for_each(struct bpf_map *map, uint64_t (*fn)(void *arg, const void *key, void *value),
		   void *arg)
{
	struct hash_map *h = to_hash(map);
	unsigned int cpu = hal_cpu_id();
	long calls = 0;

	for (uintptr_t off = 0; off <= h->mask * sizeof(uintptr_t); off += sizeof(uintptr_t)) {
		uintptr_t at = map_load_dep(hash_bucket_at(h, off)) & ~MAP_HASH_LOCKED;

		while (!(at & MAP_HASH_END)) {
			struct hash_elem *e = (struct hash_elem *)at;
			void *value;

			at = map_load_dep(&e->next);
			if (!in_bucket(h, e, off))
				break;
			value = h->kind & HASH_PERCPU ? hash_percpu_value(h, e, cpu)
						      : hash_elem_value(h, e);
			calls++;
			if (fn(arg, hash_elem_key(h, e), value))
				return calls;
		}
	}
	return calls;
}

/* ---- for the checked interpreter and the JIT ---------------------------------------------------
 */

/*
 * Elements of the heap have no order: all are looked at, also those just deleted. Start of the
 * value that has addr, or 0.
 */
static uintptr_t heap_list_value_at(struct hash_map *h, uintptr_t at, uintptr_t addr)
{
	uint32_t bytes = h->elem_bytes - h->value_off;

	while (at && !(at & MAP_HASH_END)) {
		struct hash_elem *e = (struct hash_elem *)at;
		uintptr_t value = (uintptr_t)hash_elem_value(h, e);

		if (addr >= value && addr - value < bytes)
			return value;
		at = map_load_dep(&e->next);
		if ((at & HASH_FREE_LINK) == HASH_FREE_LINK)
			at &= ~HASH_FREE_LINK;
	}
	return 0;
}

static uintptr_t heap_value_at(struct hash_map *h, uintptr_t addr)
{
	uintptr_t found = 0;

	for (uint64_t b = 0; b <= h->mask && !found; b++)
		found = heap_list_value_at(h, map_load_dep(&h->buckets[b]) & ~MAP_HASH_LOCKED,
					   addr);
	for (unsigned int c = 0; c < h->ncpu && !found; c++) {
		found = heap_list_value_at(h, map_load_dep(&h->cpu[c].free) & ~MAP_HASH_LOCKED,
					   addr);
		if (!found)
			found = heap_list_value_at(h, (uintptr_t)READ_ONCE(h->cpu[c].spare), addr);
	}
	return found ? found : heap_list_value_at(h, READ_ONCE(h->limbo), addr);
}

const void *hash_key_of(struct bpf_map *map, const void *value, uint32_t *index)
{
	const struct hash_map *h = to_hash(map);

	(void)index;
	return (const uint8_t *)value - h->value_off + h->key_off;
}

/* For values that lie in their elements. */
uintptr_t hash_value_at(struct bpf_map *map, uintptr_t addr)
{
	struct hash_map *h = to_hash(map);
	uintptr_t first = (uintptr_t)h->elems + h->value_off;

	if (h->kind & HASH_HEAP)
		return heap_value_at(h, addr);
	if (addr < first || (addr - first) / h->elem_bytes >= (uint64_t)map->max_entries + h->ncpu)
		return 0;
	return first + (addr - first) / h->elem_bytes * h->elem_bytes;
}

bool hash_owns_value(struct bpf_map *map, uintptr_t addr, size_t size)
{
	struct hash_map *h = to_hash(map);
	uintptr_t value;

	if (!(h->kind & HASH_PERCPU) || (h->kind & HASH_HEAP)) {
		value = hash_value_at(map, addr);
		if (!value)
			return false;
		return h->kind & HASH_PERCPU ? map_values_cover(map, value, h->ncpu,
								map->value_stride, addr, size)
					     : map_value_covers(map, value, addr, size);
	}
	for (unsigned int cpu = 0; cpu < h->ncpu; cpu++) {
		if (map_values_cover(map, (uintptr_t)hal_percpu_ptr(h->percpu, cpu),
				     (uint64_t)map->max_entries + h->ncpu, map->value_stride, addr,
				     size))
			return true;
	}
	return false;
}

void hash_gen_lookup(struct bpf_map *map, struct map_lookup *l)
{
	struct hash_map *h = to_hash(map);

	*l = (struct map_lookup){ .kind = MAP_LOOKUP_HASH,
				  .base = (uintptr_t)h->buckets,
				  .max = map->max_entries,
				  .mask = h->mask };
	if ((h->kind & HASH_PERCPU) && (h->kind & HASH_HEAP)) {
		l->kind = MAP_LOOKUP_CALL;
		return;
	}
	l->hash.key_bytes = map->key_size;
	l->hash.key_off = h->key_off;
	l->hash.hash_off = h->hash_off;
	l->hash.next_off = offsetof(struct hash_elem, next);
	l->hash.ref_off = h->ref_off;
	l->hash.value_off = h->value_off;
	l->hash.percpu = !!(h->kind & HASH_PERCPU);
	l->hash.deref = !!(h->kind & HASH_OF_MAPS);
	l->hash.secret = h->secret;
}
