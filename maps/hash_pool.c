/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash tables: creation, memory, free elements. */
#include "maps/hash.h"

/* HASH_HEAP: a CPU that has more free elements than this gives them back to the heap. */
#define HASH_FREE_MAX 64

int hash_alloc_check(const union bpf_attr *attr)
{
	bool percpu = attr->map_type == BPF_MAP_TYPE_PERCPU_HASH ||
		      attr->map_type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	bool lru = attr->map_type == BPF_MAP_TYPE_LRU_HASH ||
		   attr->map_type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	bool node = (attr->map_flags & BPF_F_NUMA_NODE) && attr->numa_node != ~0u;

	if (!lru && (attr->map_flags & BPF_F_NO_COMMON_LRU))
		return -EINVAL;
	if (lru && (attr->map_flags & BPF_F_NO_PREALLOC))
		return -ENOTSUPP;
	if (node && (percpu || (attr->map_flags & BPF_F_NO_COMMON_LRU)))
		return -EINVAL;
	if (!attr->max_entries || !attr->key_size || !attr->value_size)
		return -EINVAL;
	/* 48 bytes is Linux's element head: the same sizes are refused. */
	if ((uint64_t)attr->key_size + attr->value_size >= MAP_ELEM_BYTES_MAX - 48)
		return -E2BIG;
	if (percpu && ROUND_UP((uint64_t)attr->value_size, 8) > MAP_PERCPU_VALUE_MAX)
		return -E2BIG;
	return 0;
}

/* ---- layout ---------------------------------------------------------------------------------- */

/* Byte offsets of the parts in the map's area. */
struct layout {
	size_t cpus, secret, buckets, elems, end;
};

static void elem_layout(struct hash_map *h, const union bpf_attr *attr)
{
	uint32_t value = h->map.value_stride;

	h->key_off = sizeof(struct hash_elem);
	if ((h->kind & HASH_LRU) || attr->key_size > 16) {
		h->hash_off = h->key_off;
		if (h->kind & HASH_LRU)
			h->ref_off = (uint16_t)(h->hash_off + 4);
		h->key_off = (uint16_t)(h->key_off + 8);
	}
	h->value_off = h->key_off + 8 * hash_words(attr->key_size);
	if (h->kind & HASH_OF_MAPS)
		value = sizeof(void *);
	else if (h->kind & HASH_PERCPU)
		value = h->kind & HASH_HEAP ? value * h->ncpu : (uint32_t)sizeof(void *);
	h->elem_bytes = h->value_off + value;
}

static bool area_layout(const struct hash_map *h, const union bpf_attr *attr, uint32_t buckets,
			struct layout *l)
{
	uint64_t elems = h->kind & HASH_HEAP ? 0 : (uint64_t)h->map.max_entries + h->ncpu;

	l->cpus = ROUND_UP(sizeof(struct hash_map), 64);
	l->secret = l->cpus + h->ncpu * sizeof(struct hash_cpu);
	l->buckets = ROUND_UP(l->secret + 16ul * hash_words(attr->key_size), 64);
	/* The secret ends where the buckets begin. */
	l->secret = l->buckets - 16ul * hash_words(attr->key_size);
	return map_area_bytes(l->buckets, buckets, sizeof(uintptr_t), &l->elems) &&
	       map_area_bytes(l->elems, elems, h->elem_bytes, &l->end);
}

/*
 * The second word of a pair is odd, which spreads keys in arithmetic progression well for every
 * secret and not only for most.
 */
void hash_make_secret(uint64_t *secret, uint32_t words, bool zero_seed)
{
	uint64_t fixed = 0x9e3779b97f4a7c15;

	for (uint64_t i = 0; i < 2ul * words; i++) {
		secret[i] = zero_seed ? fixed : hal_random_u64();
		secret[i] |= i & 1;
		fixed = fixed * 0xd1342543de82ef95 + 0x2545f4914f6cdd1d;
	}
}

void hash_drop_value(struct hash_map *h, struct hash_elem *e)
{
	if (h->kind & HASH_OF_MAPS) {
		void *inner =
			__atomic_exchange_n((void **)hash_elem_value(h, e), NULL, __ATOMIC_ACQ_REL);

		if (inner)
			h->map.fd_ops->put(h->map.rt, &h->map, inner);
	} else if (h->map.has_timer) {
		map_drop_timer(&h->map, hash_elem_value(h, e));
	}
}

/* ---- preallocated elements ------------------------------------------------------------------- */

static struct hash_elem *pool_elem(struct hash_map *h, uint32_t i)
{
	return (struct hash_elem *)(void *)(h->elems + (size_t)i * h->elem_bytes);
}

/* Elements [from, to) become the free list of a CPU, the first one first. */
static void pool_list(struct hash_map *h, struct hash_cpu *cpu, uint32_t from, uint32_t to)
{
	uintptr_t next = 0;

	for (uint32_t i = to; i > from; i--) {
		struct hash_elem *e = pool_elem(h, i - 1);

		e->next = next | HASH_FREE_LINK;
		next = (uintptr_t)e;
	}
	cpu->free = next;
}

static int pool_fill(struct hash_map *h)
{
	uint64_t n = h->map.max_entries;
	uint32_t total = h->map.max_entries + h->ncpu;

	if (h->kind & HASH_PERCPU) {
		uint64_t bytes = (uint64_t)total * h->map.value_stride;

		if (bytes > MAP_AREA_BYTES_MAX)
			return -ENOMEM;
		h->percpu = hal_percpu_alloc((size_t)bytes, 8);
		if (!h->percpu)
			return -ENOMEM;
		h->percpu_bytes = (size_t)bytes;
		for (uint32_t i = 0; i < total; i++)
			*(void **)hash_elem_value(h, pool_elem(h, i)) =
				(uint8_t *)h->percpu + (size_t)i * h->map.value_stride;
	}
	for (uint32_t c = 0; c < h->ncpu; c++) {
		pool_list(h, &h->cpu[c], (uint32_t)(n * c / h->ncpu),
			  (uint32_t)(n * (c + 1) / h->ncpu));
		h->cpu[c].spare = pool_elem(h, h->map.max_entries + c);
		h->cpu[c].spare->next = HASH_FREE_LINK;
	}
	return 0;
}

/* ---- heap elements --------------------------------------------------------------------------- */

static struct hash_elem *heap_new(struct hash_map *h)
{
	struct hash_elem *e = hal_alloc_atomic(h->elem_bytes);

	if (!e)
		return NULL;
	__builtin_memset(e, 0, h->elem_bytes);
	e->next = HASH_FREE_LINK;
	__atomic_fetch_add(&h->heap_nr, 1, __ATOMIC_RELAXED);
	return e;
}

static void heap_free_list(struct hash_map *h, uintptr_t list)
{
	while (list) {
		struct hash_elem *e = (struct hash_elem *)list;

		list = e->next & ~HASH_FREE_LINK;
		/* A program with an old pointer can have put a timer there. */
		hash_drop_value(h, e);
		hal_free_atomic(e);
		__atomic_fetch_sub(&h->heap_nr, 1, __ATOMIC_RELAXED);
	}
}

static int heap_fill(struct hash_map *h)
{
	for (uint32_t c = 0; c < h->ncpu; c++) {
		h->cpu[c].spare = heap_new(h);
		if (!h->cpu[c].spare)
			return -ENOMEM;
	}
	return 0;
}

/* ---- creation and end ------------------------------------------------------------------------ */

static void release(struct hash_map *h)
{
	if (h->kind & HASH_HEAP) {
		for (uint32_t b = 0; b <= h->mask; b++) {
			uintptr_t at = h->buckets[b];

			while (at && !(at & MAP_HASH_END)) {
				struct hash_elem *e = (struct hash_elem *)at;

				at = e->next;
				hal_free_atomic(e);
			}
		}
		for (uint32_t c = 0; c < h->ncpu; c++) {
			heap_free_list(h, h->cpu[c].free);
			hal_free_atomic(h->cpu[c].spare);
		}
		heap_free_list(h, h->limbo);
	}
	hal_percpu_free(h->percpu, h->percpu_bytes);
	hal_map_free(h, h->area_bytes);
}

/* As Linux: each CPU's part of an LRU map is the same, and the map may hold a few more. */
static uint32_t per_cpu_share(uint32_t max_entries, uint32_t ncpu)
{
	uint32_t share = max_entries / ncpu;

	if (max_entries % ncpu && share < UINT32_MAX / ncpu)
		share++;
	return share;
}

int hash_alloc(const union bpf_attr *attr, uint32_t kind, const struct bpf_map_ops *ops,
	       struct bpf_map **out)
{
	struct hash_map shape = { .kind = kind, .ncpu = (uint16_t)hal_cpu_count() };
	struct hash_map *h;
	struct layout l;
	uint32_t buckets;
	int err;

	if (attr->map_flags & BPF_F_NO_PREALLOC)
		shape.kind |= HASH_HEAP;
	map_init(&shape.map, attr);
	if (attr->map_flags & BPF_F_NO_COMMON_LRU)
		shape.map.max_entries = per_cpu_share(attr->max_entries, shape.ncpu) * shape.ncpu;
	elem_layout(&shape, attr);
	if (shape.map.max_entries > 1u << 31)
		return -E2BIG;
	buckets = map_roundup_pow2(shape.map.max_entries);
	if (buckets > HASH_BUCKETS_MAX)
		return -E2BIG;
	if (!area_layout(&shape, attr, buckets, &l))
		return -ENOMEM;
	h = hal_map_alloc(l.end);
	if (!h)
		return -ENOMEM;
	*h = shape;
	h->map.ops = ops;
	h->mask = buckets - 1;
	h->area_bytes = l.end;
	h->cpu = (struct hash_cpu *)(void *)((uint8_t *)h + l.cpus);
	h->secret = (uint64_t *)(void *)((uint8_t *)h + l.secret);
	h->buckets = (uintptr_t *)(void *)((uint8_t *)h + l.buckets);
	h->elems = (uint8_t *)h + l.elems;
	hash_make_secret((uint64_t *)(void *)((uint8_t *)h + l.secret), hash_words(attr->key_size),
			 attr->map_flags & BPF_F_ZERO_SEED);
	for (uint32_t b = 0; b < buckets; b++)
		h->buckets[b] = b * sizeof(uintptr_t) | MAP_HASH_END;
	err = h->kind & HASH_HEAP ? heap_fill(h) : pool_fill(h);
	if (err) {
		release(h);
		return err;
	}
	*out = &h->map;
	return 0;
}

/* Every value in a chain, under its bucket's lock. Thread. */
static void drop_chains(struct hash_map *h)
{
	for (uint64_t b = 0; b <= h->mask; b++) {
		struct hash_hold hold;

		if (READ_ONCE(h->buckets[b]) & MAP_HASH_END)
			continue;
		while (hash_enter(h, &hold))
			map_relax();
		hash_lock(h, &hold, (uintptr_t)b * sizeof(uintptr_t));
		for (uintptr_t at = hold.head; !(at & MAP_HASH_END);
		     at = ((struct hash_elem *)at)->next)
			hash_drop_value(h, (struct hash_elem *)at);
		hash_unlock(&hold);
		hash_leave(&hold);
	}
}

/* The same for a free list. */
static void drop_free(struct hash_map *h, struct hash_cpu *cpu)
{
	unsigned long irq = hal_irq_save();
	uintptr_t first = map_word_lock(&cpu->free);

	for (uintptr_t at = first; at; at = ((struct hash_elem *)at)->next & ~HASH_FREE_LINK)
		hash_drop_value(h, (struct hash_elem *)at);
	map_word_unlock(&cpu->free, first);
	hal_irq_restore(irq);
}

/*
 * Timers end with the last handle. Elements that are in no chain are looked at, too: a program that
 * still has a pointer to one can have made a timer there.
 */
void hash_release_uref(struct bpf_map *map)
{
	struct hash_map *h = to_hash(map);

	if (!map->has_timer)
		return;
	if (h->kind & HASH_HEAP) {
		drop_chains(h);
		for (uint32_t c = 0; c < h->ncpu; c++) {
			drop_free(h, &h->cpu[c]);
			hash_drop_value(h, READ_ONCE(h->cpu[c].spare));
		}
		return;
	}
	for (uint32_t i = 0; i < map->max_entries + h->ncpu; i++)
		hash_drop_value(h, pool_elem(h, i));
}

void hash_free(struct bpf_map *map)
{
	struct hash_map *h = to_hash(map);

	if (h->kind & HASH_OF_MAPS)
		drop_chains(h);
	/* Elements wait for their grace period: the last of it frees the map. */
	if (h->trimming)
		h->dying = 1;
	else
		release(h);
}

uint64_t hash_mem_usage(struct bpf_map *map)
{
	struct hash_map *h = to_hash(map);

	return map_area_charge(h->area_bytes) + (uint64_t)h->percpu_bytes * h->ncpu +
	       (uint64_t)READ_ONCE(h->heap_nr) * h->elem_bytes;
}

/* ---- taking and giving back ------------------------------------------------------------------ */

#define STEAL_AT_WORK 1ull
#define STEAL_DONE    (1ull << 32)

/* The whole free list of another CPU becomes ours, but for its first element: the result. */
static struct hash_elem *steal_from(struct hash_map *h, struct hash_cpu *cpu,
				    struct hash_cpu *victim)
{
	struct hash_elem *e;
	uintptr_t list;

	if (!(__atomic_load_n(&victim->free, __ATOMIC_ACQUIRE) & ~MAP_HASH_LOCKED))
		return NULL;
	__atomic_fetch_add(&h->stealing, STEAL_AT_WORK, __ATOMIC_ACQ_REL);
	list = map_word_lock(&victim->free);
	map_word_unlock(&victim->free, 0);
	e = (struct hash_elem *)list;
	if (e) {
		map_word_lock(&cpu->free);
		map_word_unlock(&cpu->free, e->next & ~HASH_FREE_LINK);
	}
	__atomic_fetch_add(&h->stealing, STEAL_DONE - STEAL_AT_WORK, __ATOMIC_ACQ_REL);
	return e;
}

/*
 * Lists move as a whole, so one could pass by the search unseen, from a list not yet looked at to
 * one already seen empty. The map is full only if no list moved during the search.
 */
struct hash_elem *hash_steal(struct hash_map *h, struct hash_cpu *cpu)
{
	uint64_t before, after;
	struct hash_elem *e;

	do {
		before = __atomic_load_n(&h->stealing, __ATOMIC_ACQUIRE);
		for (uint32_t c = 0; c < h->ncpu; c++) {
			e = &h->cpu[c] == cpu ? NULL : steal_from(h, cpu, &h->cpu[c]);
			if (e)
				return e;
		}
		after = __atomic_load_n(&h->stealing, __ATOMIC_ACQUIRE);
	} while ((uint32_t)before || before != after);
	return NULL;
}

/* Room for one more element in the chains? */
static bool count_up(struct hash_map *h)
{
	uint32_t n = __atomic_load_n(&h->count, __ATOMIC_RELAXED);

	do {
		if (n >= h->map.max_entries)
			return false;
	} while (!__atomic_compare_exchange_n(&h->count, &n, n + 1, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return true;
}

struct hash_elem *hash_take_slow(struct hash_map *h, struct hash_cpu *cpu, int *err)
{
	struct hash_elem *e;

	if (!(h->kind & HASH_HEAP)) {
		/* A CPU with a list of its own makes room there first. */
		e = h->map.map_flags & BPF_F_NO_COMMON_LRU ? NULL : hash_steal(h, cpu);
		if (!e)
			*err = -E2BIG;
		return e;
	}
	if (!count_up(h)) {
		*err = -E2BIG;
		return NULL;
	}
	e = hash_pop(cpu);
	if (e) {
		cpu->free_nr--;
		return e;
	}
	e = heap_new(h);
	if (!e) {
		__atomic_fetch_sub(&h->count, 1, __ATOMIC_RELAXED);
		*err = -ENOMEM;
	}
	return e;
}

static void trimmed(struct hal_deferred *d)
{
	struct hash_map *h = container_of(d, struct hash_map, trim);
	uintptr_t list = h->limbo;

	h->limbo = 0;
	heap_free_list(h, list);
	if (h->dying)
		release(h);
	else
		__atomic_store_n(&h->trimming, 0, __ATOMIC_RELEASE);
}

void hash_gave_heap(struct hash_map *h, struct hash_cpu *cpu)
{
	__atomic_fetch_sub(&h->count, 1, __ATOMIC_RELAXED);
	if (++cpu->free_nr <= HASH_FREE_MAX || READ_ONCE(h->trimming) ||
	    __atomic_exchange_n(&h->trimming, 1, __ATOMIC_ACQ_REL))
		return;
	h->limbo = map_word_lock(&cpu->free);
	map_word_unlock(&cpu->free, 0);
	cpu->free_nr = 0;
	hal_quiesce_defer(&h->trim, trimmed);
}
