/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The hash table behind hash, per-CPU hash, LRU hashes and hash of maps.
 *
 * One piece of map memory:
 *
 *	[struct hash_map][struct hash_cpu] x cpus [secret words][bucket words][elements]
 *
 *	bucket word  address of the first element or, as a chain's last link does too, the end
 *		     mark; bit 1 is the bucket's lock (MAP_HASH_LOCKED)
 *	element	     [next][hash, ref: where needed][key, to 8][value, to 8]
 *		     value of a per-CPU map: a hal_percpu base, or the values of all CPUs
 *		     one after the other where elements come from the heap
 *
 * Chains and what is in `next` (bpf/map.h has the reader's side):
 *
 *	in a chain    address of the next element, or byte offset of the bucket | MAP_HASH_END
 *	in no chain   address of the next free element or 0, | HASH_FREE_LINK
 *
 * Readers take no lock. An element that leaves its chain may be used again at once, as in Linux: a
 * reader that stands on it meets an end mark that is not its bucket's and starts again. Its memory
 * stays an element of the map; heap elements go back to the heap only after a grace period.
 *
 * Writers mask interrupts, claim the map for their CPU (hash_cpu.busy) and lock one bucket. One
 *that finds its CPU's mark set has interrupted another writer: -EBUSY. So no CPU ever waits for
 *itself, and what is in hash_cpu needs no lock against its own CPU.
 */
#pragma once

#include "maps/hash_key.h"
#include "maps/map_int.h"

#define HASH_FREE_LINK	 5ul /* MAP_HASH_END, and bit 2 that no end mark of a bucket has */
#define HASH_BUCKETS_MAX (UINT32_MAX / 16) /* Linux: bytes of bucket heads fit 32 bits */

enum hash_kind {
	HASH_PERCPU = 1 << 0,
	HASH_LRU = 1 << 1,
	HASH_OF_MAPS = 1 << 2, /* the value is the inner map's pointer */
	HASH_HEAP = 1 << 3,    /* BPF_F_NO_PREALLOC: elements from the heap */
};

struct hash_elem {
	uintptr_t next;
};

struct hash_cpu {
	uintptr_t free;		 /* address of the first free element or 0; bit 1: locked */
	struct hash_elem *spare; /* for replacing an element when none is free */
	uint32_t busy;		 /* a writer of this CPU is at work */
	uint32_t free_nr;	 /* HASH_HEAP: length of the free list */
	uint32_t lru_hand;	 /* BPF_F_NO_COMMON_LRU: next element of this CPU to look at */
} __aligned(64);

struct hash_map {
	struct bpf_map map;
	uintptr_t *buckets;
	const uint64_t *secret;
	struct hash_cpu *cpu;
	uint32_t mask; /* buckets - 1 */
	uint32_t kind; /* enum hash_kind */
	uint16_t key_off, hash_off, ref_off;
	uint16_t ncpu;
	uint32_t value_off, elem_bytes;
	uint8_t *elems;	   /* preallocated: max_entries + ncpu of them */
	void *percpu;	   /* hal_percpu base of all preallocated values */
	uint64_t stealing; /* see hash_take: low half: at work; high half: done */
	uint32_t count;	   /* HASH_HEAP: elements in chains */
	uint32_t heap_nr;  /* HASH_HEAP: elements that exist */
	uint32_t lru_hand;
	uint32_t trimming; /* HASH_HEAP: elements in limbo wait for a grace period */
	uint32_t dying;	   /* freed while trimming */
	uintptr_t limbo;
	struct hal_deferred trim;
	size_t area_bytes, percpu_bytes;
};

static __always_inline struct hash_map *to_hash(struct bpf_map *map)
{
	return container_of(map, struct hash_map, map);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* key_bytes is a constant in the specialised functions, else map.key_size. */
static __always_inline uint64_t hash_key(const struct hash_map *h, const void *key,
					 uint32_t key_bytes)
{
	return hash_bytes(h->secret, key, key_bytes);
}

static __always_inline uint64_t *hash_elem_key(const struct hash_map *h, struct hash_elem *e)
{
	return (uint64_t *)(void *)((uint8_t *)e + h->key_off);
}

static __always_inline void *hash_elem_value(const struct hash_map *h, struct hash_elem *e)
{
	return (uint8_t *)e + h->value_off;
}

static __always_inline uint32_t *hash_elem_hash(const struct hash_map *h, struct hash_elem *e)
{
	return (uint32_t *)(void *)((uint8_t *)e + h->hash_off);
}

/* Keys lie in whole words, zero padded; words are read and written in one access each. */
static __always_inline bool hash_key_equal(const struct hash_map *h, struct hash_elem *e,
					   const void *key, uint32_t hash, uint32_t key_bytes)
{
	uint64_t *own = hash_elem_key(h, e);
	uint32_t at;

	if (key_bytes <= 8)
		return __atomic_load_n(own, __ATOMIC_RELAXED) == hash_load_short(key, key_bytes);
	if (h->hash_off && __atomic_load_n(hash_elem_hash(h, e), __ATOMIC_RELAXED) != hash)
		return false;
	for (at = 0; at + 8 <= key_bytes; at += 8, own++) {
		if (__atomic_load_n(own, __ATOMIC_RELAXED) !=
		    hash_load64((const uint8_t *)key + at))
			return false;
	}
	return at == key_bytes ||
	       __atomic_load_n(own, __ATOMIC_RELAXED) ==
		       hash_load_short((const uint8_t *)key + at, key_bytes - at);
}

static __always_inline void hash_key_store(const struct hash_map *h, struct hash_elem *e,
					   const void *key, uint32_t hash, uint32_t key_bytes)
{
	uint64_t *own = hash_elem_key(h, e);
	uint32_t at;

	if (h->hash_off)
		__atomic_store_n(hash_elem_hash(h, e), hash, __ATOMIC_RELAXED);
	if (key_bytes <= 8) {
		__atomic_store_n(own, hash_load_short(key, key_bytes), __ATOMIC_RELAXED);
		return;
	}
	for (at = 0; at + 8 <= key_bytes; at += 8, own++)
		__atomic_store_n(own, hash_load64((const uint8_t *)key + at), __ATOMIC_RELAXED);
	if (at < key_bytes)
		__atomic_store_n(own, hash_load_short((const uint8_t *)key + at, key_bytes - at),
				 __ATOMIC_RELAXED);
}

/* ---- readers --------------------------------------------------------------------------------- */

static __always_inline uintptr_t hash_bucket_off(const struct hash_map *h, uint64_t hash)
{
	return (uintptr_t)(hash & h->mask) * sizeof(uintptr_t);
}

static __always_inline uintptr_t *hash_bucket_at(const struct hash_map *h, uintptr_t off)
{
	return (uintptr_t *)(void *)((uint8_t *)h->buckets + off);
}

static __always_inline struct hash_elem *hash_find(const struct hash_map *h, const void *key,
						   uint32_t key_bytes)
{
	uint64_t hash = hash_key(h, key, key_bytes);
	uintptr_t off = hash_bucket_off(h, hash), at;

	do {
		at = map_load_dep(hash_bucket_at(h, off)) & ~MAP_HASH_LOCKED;
		while (!(at & MAP_HASH_END)) {
			struct hash_elem *e = (struct hash_elem *)at;

			if (hash_key_equal(h, e, key, (uint32_t)hash, key_bytes))
				return e;
			at = map_load_dep(&e->next);
		}
	} while (unlikely(at != (off | MAP_HASH_END)));
	return NULL;
}

/* ---- writers --------------------------------------------------------------------------------- */

/* A writer's hold on a bucket. head is what the bucket word becomes when it lets go. */
struct hash_hold {
	struct hash_cpu *cpu;
	uintptr_t *bucket;
	uintptr_t head;
	unsigned long irq;
};

/* Mask interrupts and claim the map for this CPU. 0 or -EBUSY. */
static __always_inline int hash_enter(struct hash_map *h, struct hash_hold *hold)
{
	hold->irq = hal_irq_save();
	hold->cpu = &h->cpu[hal_cpu_id()];
	if (unlikely(hold->cpu->busy)) {
		hal_irq_restore(hold->irq);
		return -EBUSY;
	}
	WRITE_ONCE(hold->cpu->busy, 1);
	return 0;
}

static __always_inline void hash_leave(struct hash_hold *hold)
{
	WRITE_ONCE(hold->cpu->busy, 0);
	hal_irq_restore(hold->irq);
}

static __always_inline void hash_lock(struct hash_map *h, struct hash_hold *hold, uintptr_t off)
{
	hold->bucket = hash_bucket_at(h, off);
	hold->head = map_word_lock(hold->bucket);
}

static __always_inline void hash_unlock(struct hash_hold *hold)
{
	map_word_unlock(hold->bucket, hold->head);
}

/* The element with this key in the held bucket, and the word that leads to it. */
static __always_inline struct hash_elem *hash_find_held(struct hash_map *h, struct hash_hold *hold,
							const void *key, uint32_t hash,
							uint32_t key_bytes, uintptr_t **link)
{
	uintptr_t *from = &hold->head;

	while (!(*from & MAP_HASH_END)) {
		struct hash_elem *e = (struct hash_elem *)*from;

		if (hash_key_equal(h, e, key, hash, key_bytes)) {
			*link = from;
			return e;
		}
		from = &e->next;
	}
	return NULL;
}

/* Change a link of the held chain: to the outside only the last, the bucket's own, waits. */
static __always_inline void hash_set_link(uintptr_t *link, uintptr_t to)
{
	__atomic_store_n(link, to, __ATOMIC_RELEASE);
}

/*
 * An element for a new key: from this CPU's free list, another CPU's, or the heap. NULL and *err =
 * -E2BIG (max_entries are in use) or -ENOMEM. Entered.
 */
struct hash_elem *hash_take_slow(struct hash_map *h, struct hash_cpu *cpu, int *err);
/* One of another CPU's free elements, or NULL: there is none. Entered; for preallocated maps. */
struct hash_elem *hash_steal(struct hash_map *h, struct hash_cpu *cpu);

/* The first element of a free list, or NULL. */
static __always_inline struct hash_elem *hash_pop(struct hash_cpu *cpu)
{
	struct hash_elem *e = (struct hash_elem *)map_word_lock(&cpu->free);

	map_word_unlock(&cpu->free, likely(e) ? e->next & ~HASH_FREE_LINK : 0);
	return e;
}

static __always_inline void hash_push(struct hash_cpu *cpu, struct hash_elem *e)
{
	uintptr_t first = map_word_lock(&cpu->free);

	hash_set_link(&e->next, first | HASH_FREE_LINK);
	map_word_unlock(&cpu->free, (uintptr_t)e);
}

static __always_inline struct hash_elem *hash_take(struct hash_map *h, struct hash_cpu *cpu,
						   int *err)
{
	struct hash_elem *e;

	if (unlikely(h->kind & HASH_HEAP))
		return hash_take_slow(h, cpu, err);
	e = hash_pop(cpu);
	return likely(e) ? e : hash_take_slow(h, cpu, err);
}

/* HASH_HEAP: what is too much goes to the heap after a grace period. */
void hash_gave_heap(struct hash_map *h, struct hash_cpu *cpu);

/* An element that left its chain is free. Entered; its bucket may be held or not. */
static __always_inline void hash_give(struct hash_map *h, struct hash_cpu *cpu, struct hash_elem *e)
{
	hash_push(cpu, e);
	if (unlikely(h->kind & HASH_HEAP))
		hash_gave_heap(h, cpu);
}

/* ---- operations that the kinds share (struct bpf_map_ops) --------------------------------------
 */

int hash_alloc_check(const union bpf_attr *attr);
/* kind without HASH_HEAP; ops: what map->ops becomes. */
int hash_alloc(const union bpf_attr *attr, uint32_t kind, const struct bpf_map_ops *ops,
	       struct bpf_map **out);
void hash_free(struct bpf_map *map);
uint64_t hash_mem_usage(struct bpf_map *map);

long hash_for_each(struct bpf_map *map, uint64_t (*fn)(void *arg, const void *key, void *value),
		   void *arg);
int hash_get_next_key(struct bpf_map *map, const void *key, void *next_key);
int hash_sys_lookup(struct bpf_map *map, const void *key, void *value, uint64_t flags);
int hash_sys_lookup_delete(struct bpf_map *map, const void *key, void *value, uint64_t flags);
int hash_sys_lookup_batch(struct bpf_map *map, const void *in, void *out, void *keys, void *values,
			  uint32_t *count, uint64_t flags, bool del);
bool hash_owns_value(struct bpf_map *map, uintptr_t addr, size_t size);
void hash_gen_lookup(struct bpf_map *map, struct map_lookup *l);
uintptr_t hash_value_at(struct bpf_map *map, uintptr_t addr);
const void *hash_key_of(struct bpf_map *map, const void *value, uint32_t *index);
void hash_release_uref(struct bpf_map *map);

/* The value of one CPU in an element of a per-CPU map. */
static __always_inline void *hash_percpu_value(const struct hash_map *h, struct hash_elem *e,
					       unsigned int cpu)
{
	if (h->kind & HASH_HEAP)
		return (uint8_t *)hash_elem_value(h, e) + (size_t)cpu * h->map.value_stride;
	return hal_percpu_ptr(*(void **)hash_elem_value(h, e), cpu);
}

/* Copies an element's value in syscall shape. */
void hash_copy_out(struct hash_map *h, struct hash_elem *e, void *value, uint64_t flags);
/* Drop what hangs on an element's value (inner map, timer) when it leaves the map. Any. */
void hash_drop_value(struct hash_map *h, struct hash_elem *e);
