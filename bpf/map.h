/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maps as every folder sees them. maps/ implements the types (one file and one row of
 * maps/map_types.def each); runtime/ owns ids and references; helpers and the verifier go through
 * struct bpf_map and its ops only.
 */
#pragma once

#include "include/base.h"
#include "include/err.h"
#include "include/hal.h"
#include "include/uapi_new.h"
#include "bpf/run_ctx.h"

struct bpf_map;
struct bpf_btf;
struct bpf_prog;

/* What a type can do; column `features` of map_types.def. */
enum map_feature {
	MAP_FEAT_PERCPU = 1 << 0,   /* a value per CPU; syscall values are ncpu * round8(value) */
	MAP_FEAT_FD_VALUE = 1 << 1, /* syscall values are handles, looked-up values are ids */
	MAP_FEAT_MMAP = 1 << 2,	    /* BPF_F_MMAPABLE */
	MAP_FEAT_NO_KEY = 1 << 3,   /* key_size 0: queue, stack, bloom, ring buffer */
	MAP_FEAT_LOCK = 1 << 4,	    /* bpf_spin_lock in values */
	MAP_FEAT_TIMER = 1 << 5,    /* bpf_timer in values */
	MAP_FEAT_INNER = 1 << 6,    /* map in map: needs inner_map_fd */
	MAP_FEAT_KEYS_ONLY_U32 = 1 << 7, /* index keys: array kinds */
	MAP_FEAT_DIRECT_VALUE = 1 << 8,	 /* BPF_PSEUDO_MAP_VALUE */
	MAP_FEAT_BATCH = 1 << 9,
	MAP_FEAT_NO_LOOKUP =
		1 << 10, /* programs may not look values up (prog array, ring buffer) */
	MAP_FEAT_TOKEN_KEY = 1 << 11, /* batch cursor is a key (LPM), else 4 bytes */
};

/* How objects behind handles get in and out of fd-array maps; given by runtime/. */
struct map_fd_ops {
	/*
	 * Reference to the object behind a handle, checked for this map (bpf_prog_array_check,
	 * inner->ops->inner_fits); or -errno.
	 */
	int (*get)(void *rt, struct bpf_map *map, uint32_t handle, void **obj);
	/* Drop it; programs may use the object until a grace period from now has passed. */
	void (*put)(void *rt, struct bpf_map *map, void *obj);
	uint32_t (*id)(void *obj);
};

/*
 * Typed description of an inlinable lookup, so that no JIT knows a map's layout. Filled by
 * ops->gen_lookup; every address is a run-time address in the top 4 GB.
 */
enum map_lookup_kind {
	MAP_LOOKUP_CALL = 0,	 /* not inlinable: call ops->lookup */
	MAP_LOOKUP_INDEX,	 /* array: index < max ? base + (index & mask) * stride : NULL */
	MAP_LOOKUP_INDEX_PERCPU, /* as INDEX, then + this CPU's per-CPU offset */
	MAP_LOOKUP_HASH,	 /* keyed hash, chained buckets: see below */
	MAP_LOOKUP_INDEX_MAP, /* array of pointers (array of maps, prog array): *slot, may be NULL
			       */
};

/*
 * MAP_LOOKUP_HASH. Key words: x[i] is the little-endian 64-bit word at byte 8 * i of the key, the
 * last one at byte key_bytes - 8 when key_bytes > 8; a key shorter than 8 bytes is one word, zero
 * extended. Two secret words go with each:
 *
 *	hash   = sum over i of umulh(x[i], secret[2 * i]) + x[i] * secret[2 * i + 1]   (mod 2^64)
 *	offset = (hash & mask) * 8
 *	e      = *(base + offset) & ~MAP_HASH_LOCKED	  plain load; what follows depends on it
 *	while (!(e & MAP_HASH_END))
 *		if the key_bytes bytes at e + key_off are the key: hit
 *		e = *(e + next_off)
 *	e == (offset | MAP_HASH_END) ? miss : start again at the load of the bucket
 *
 * An element may move to another bucket while a reader stands on it; the reader then arrives at
 * another end mark and starts again. Where hash_off is not 0, the low 32 bits of the hash are there
 * in each element: compare them before long keys. The secret words of a map also lie in memory
 * right below base: secret[0] at base - 16 * words, words = (key_bytes + 7) / 8.
 */
#define MAP_HASH_END	1ul /* end mark: chain of the bucket at byte offset (mark & ~7) */
#define MAP_HASH_LOCKED 2ul /* in a bucket word only: a writer is at work; readers ignore it */

struct map_lookup {
	enum map_lookup_kind kind;
	uintptr_t base;	 /* INDEX: value 0. PERCPU: hal_percpu base. HASH: bucket words */
	uint32_t max;	 /* INDEX: entries */
	uint32_t mask;	 /* INDEX: power of two >= max, minus 1. HASH: buckets - 1 */
	uint32_t stride; /* INDEX: bytes between values */
	struct {
		uint32_t key_bytes;
		uint16_t key_off, hash_off, next_off; /* in an element; hash_off 0: none */
		uint16_t ref_off;		      /* LRU: byte to set to 1 on a hit; 0 none */
		uint32_t value_off;		      /* result: e + value_off */
		uint8_t percpu;		/* value_off holds a hal_percpu base instead of the value */
		uint8_t deref;		/* value_off holds the result itself (inner map) */
		const uint64_t *secret; /* see above */
	} hash;
};

/*
 * A ring buffer as its consumer sees it. The byte at position p is data[p & (bytes - 1)]. A record
 * begins at a multiple of 8 with a 32-bit length, whose upper bits are BPF_RINGBUF_BUSY_BIT and
 * BPF_RINGBUF_DISCARD_BIT, and 4 more bytes; its data follow, rounded up to 8. Producers store the
 * length without the busy bit last (release).
 */
struct map_ring {
	uint64_t *cons_pos, *prod_pos; /* consumed; reserved up to */
	const uint8_t *data;
	uint32_t bytes; /* a power of two */
};

/*
 * All functions: context any unless said; key and value lengths are the map's; return 0 or -errno
 * in Linux's numbers for the same case. NULL op: the type does not have it (-EOPNOTSUPP, or
 * Linux's errno for the call). `lookup` etc. are what programs call; `sys_*` what bpf(2) calls
 * (thread context) where it differs.
 */
struct bpf_map_ops {
	/* Judge attr before anything is made. Thread. */
	int (*alloc_check)(const union bpf_attr *attr);
	/*
	 * Judge the types of key (0: none given) and value, whose sizes are right. NULL: a key type
	 * is a must, any will do. Thread.
	 */
	int (*check_btf)(const struct bpf_map *map, const struct bpf_btf *btf, uint32_t key_id,
			 uint32_t value_id);
	/* Make the map; common fields are filled in by bpf_map_create. Thread. */
	int (*alloc)(const union bpf_attr *attr, struct bpf_map **out);
	/* No program, handle or map refers to it and a grace period has passed. Thread. */
	void (*free)(struct bpf_map *map);
	/* Last handle and pin gone while programs may still use it (prog array: break cycles). */
	void (*release_uref)(struct bpf_map *map);

	/*
	 * Value, or NULL. The memory stays a value of this map until the run is over. Maps of
	 * objects (prog array, map in map, perf event array): the object itself, which lives
	 * until the run is over.
	 */
	void *(*lookup)(struct bpf_map *map, const void *key);
	void *(*lookup_percpu)(struct bpf_map *map, const void *key, unsigned int cpu);
	int (*update)(struct bpf_map *map, const void *key, const void *value, uint64_t flags);
	int (*delete)(struct bpf_map *map, const void *key);
	int (*push)(struct bpf_map *map, const void *value, uint64_t flags);
	int (*pop)(struct bpf_map *map, void *value);
	int (*peek)(struct bpf_map *map, void *value);
	/* Calls fn(map, key, value, ctx) per element until it returns 1; number of calls made. */
	long (*for_each)(struct bpf_map *map,
			 uint64_t (*fn)(void *arg, const void *key, void *value), void *arg);

	/* key NULL: first. -ENOENT after the last. Thread. */
	int (*get_next_key)(struct bpf_map *map, const void *key, void *next_key);
	/* Copies in syscall shape (all CPUs; handles and ids for fd arrays). Thread. */
	int (*sys_lookup)(struct bpf_map *map, const void *key, void *value, uint64_t flags);
	int (*sys_update)(struct bpf_map *map, const void *key, const void *value, uint64_t flags);
	int (*sys_lookup_delete)(struct bpf_map *map, const void *key, void *value, uint64_t flags);
	/*
	 * Batch of lookups from a cursor: *in NULL starts. On return *count elements are in keys
	 * and values, `out` is the cursor to go on with. -ENOENT: the end was reached (data valid),
	 * -ENOSPC: the next bucket does not fit. NULL: generic code over get_next_key serves.
	 */
	int (*sys_lookup_batch)(struct bpf_map *map, const void *in, void *out, void *keys,
				void *values, uint32_t *count, uint64_t flags, bool del);

	/* Address of byte off of the only value of a DIRECT_VALUE map. 0 or -errno. */
	int (*direct_value)(struct bpf_map *map, uint32_t off, uintptr_t *addr);
	/* Memory behind BPF_F_MMAPABLE, as a client maps it: base and bytes. 0 or -errno. */
	int (*mmap_area)(struct bpf_map *map, void **base, size_t *bytes);
	/* Ring buffers: where positions and data lie. NULL: the map is no ring. Thread. */
	void (*ring)(struct bpf_map *map, struct map_ring *out);
	/*
	 * Ring buffers, producers' side. reserve: size bytes for a record (flags must be 0), or
	 * NULL: too large, full, or a producer of this CPU was interrupted in the middle of it.
	 * output: reserve, copy, submit; 0, -EINVAL (flags), -EAGAIN (no record). query: as
	 * bpf_ringbuf_query. Context: any.
	 */
	void *(*ringbuf_reserve)(struct bpf_map *map, uint64_t size, uint64_t flags);
	int (*ringbuf_output)(struct bpf_map *map, const void *data, uint64_t size, uint64_t flags);
	uint64_t (*ringbuf_query)(struct bpf_map *map, uint64_t what);
	/*
	 * Perf event arrays. flags: the index, or BPF_F_CURRENT_CPU; all else is zero. output: one
	 * sample of data and more (NULL: none); 0, -E2BIG (index), -ENOENT (no event there),
	 * -EOPNOTSUPP (not this CPU's), -ENOSPC. read: the counter there; same errors. Context:
	 * run.
	 */
	int (*perf_output)(struct bpf_map *map, uint64_t flags, const void *data, uint32_t bytes,
			   const void *more, uint32_t more_bytes);
	int (*perf_read)(struct bpf_map *map, uint64_t flags, struct bpf_perf_event_value *value);

	/*
	 * Key of a value of this map, for timer callbacks; *index is room for it where keys are
	 * positions. MAP_FEAT_TIMER types only. Context: any.
	 */
	const void *(*key_of)(struct bpf_map *map, const void *value, uint32_t *index);
	/*
	 * For the checked interpreter. owns_value: does [addr, addr+size) lie in a value (of a ring
	 * buffer: in a reserved record), and off its lock and timer? value_at: start of the value
	 * that has addr, 0 none; types with locks or timers.
	 */
	bool (*owns_value)(struct bpf_map *map, uintptr_t addr, size_t size);
	uintptr_t (*value_at)(struct bpf_map *map, uintptr_t addr);
	/* Fill *l for the JIT; kind CALL where there is nothing to inline. */
	void (*gen_lookup)(struct bpf_map *map, struct map_lookup *l);
	/* Bytes held now, all included (what memlock shows). */
	uint64_t (*mem_usage)(struct bpf_map *map);
	/* Map-in-map: may `inner` stand where `meta` was declared? */
	bool (*inner_fits)(const struct bpf_map *meta, const struct bpf_map *inner);
};

struct bpf_map {
	const struct bpf_map_ops *ops;
	const struct map_type *type_row;
	enum bpf_map_type type;
	uint32_t key_size, value_size, max_entries, map_flags;
	uint64_t map_extra;
	uint32_t value_stride; /* round_up(value_size, 8) */
	uint32_t refs;	       /* atomic: handles, pins, programs, outer maps */
	uint32_t urefs;	       /* atomic: handles and pins only */
	uint32_t id;
	char name[BPF_OBJ_NAME_LEN];
	uint8_t frozen;
	uint8_t has_lock, has_timer;
	uint8_t inner_meta;	     /* a template held by a map-in-map, has no id and no values */
	int32_t lock_off, timer_off; /* in the value, -1 none */
	uint32_t writers;	     /* atomic: bpf(2) writes under way (freeze waits: -EBUSY) */
	struct bpf_btf *btf;	     /* reference or NULL */
	uint32_t btf_key_type_id, btf_value_type_id;
	struct bpf_map *inner;		 /* MAP_FEAT_INNER: template */
	const struct map_fd_ops *fd_ops; /* MAP_FEAT_FD_VALUE */
	void *rt;			 /* runtime, first argument of fd_ops */
	/* Atomic: how often a producer (ring buffer, perf event array) wanted its consumer woken.
	 */
	uint32_t wakeups;
	/* Runtime's: called in thread context a grace period after the last reference went. */
	void (*reap_fn)(struct hal_deferred *d);
	struct hal_deferred reap;
	/* Prog array: of the program that bpf_prog_array_check saw first. Type 0: none yet. */
	uint32_t owner_type, owner_flags, owner_jited;
	uint32_t ifindex;
};

/* One row of maps/map_types.def. */
struct map_type {
	enum bpf_map_type type;
	const char *name; /* as bpftool prints it */
	const struct bpf_map_ops *ops;
	uint32_t features; /* enum map_feature */
	uint32_t flags_ok; /* BPF_F_* accepted at creation */
};
/* NULL: this board does not have the type. Implemented in maps/, declared here for helpers. */
const struct map_type *bpf_map_type_get(enum bpf_map_type type);

/*
 * Make a map from attr (whose handles runtime/ has resolved into btf, inner). Checks everything,
 * then allocates. 0 and *out with refs = urefs = 1, or -errno, nothing made. Thread.
 *
 * References: where attr names type ids, the caller's reference on btf passes to (*out)->btf;
 * otherwise (*out)->btf is NULL and the caller keeps it. inner is only read: the map holds a copy
 * of its shape ((*out)->inner, without btf).
 */
int bpf_map_create(const union bpf_attr *attr, struct bpf_map *inner, struct bpf_btf *btf, void *rt,
		   const struct map_fd_ops *fd_ops, struct bpf_map **out) __must_check;
/*
 * Free at once: no references, grace period over. map->btf is the caller's to drop, before. What
 * the map holds (programs, inner maps) is given to fd_ops->put. Thread.
 */
void bpf_map_destroy(struct bpf_map *map);

/*
 * bpf(2) element operations in syscall shape, with flags checked as Linux does. What a handle
 * allows (BPF_F_RDONLY, BPF_F_WRONLY) is the caller's to check. Thread.
 */
size_t bpf_map_sys_value_size(const struct bpf_map *map);
int bpf_map_sys_lookup(struct bpf_map *map, const void *key, void *value, uint64_t flags);
int bpf_map_sys_update(struct bpf_map *map, const void *key, const void *value, uint64_t flags);
int bpf_map_sys_delete(struct bpf_map *map, const void *key);
int bpf_map_sys_lookup_delete(struct bpf_map *map, const void *key, void *value, uint64_t flags);
int bpf_map_sys_next_key(struct bpf_map *map, const void *key, void *next_key);
/* attr->batch.count is in and out; keys, values, cursors are plain buffers of the right size. */
int bpf_map_sys_batch(struct bpf_map *map, enum bpf_cmd cmd, const void *in, void *out, void *keys,
		      void *values, uint32_t *count, uint64_t elem_flags, uint64_t flags);
int bpf_map_freeze(struct bpf_map *map);

/*
 * Copy value_size bytes without the map's lock and timer fields, which keep what dst has. With
 * lock_in (dst or src, whichever lies in the map) the copy is made under that value's lock, as
 * BPF_F_LOCK asks. Context: any.
 */
void bpf_map_copy_value(struct bpf_map *map, void *dst, const void *src, void *lock_in);

/* Is addr the lock (the timer) of a value of this map? For the checked interpreter. Any. */
bool bpf_map_owns_lock(struct bpf_map *map, uintptr_t addr);
bool bpf_map_owns_timer(struct bpf_map *map, uintptr_t addr);

/*
 * May a program be in this prog array, or tail call through it? The first program that asks sets
 * what the others must match: its type and, for XDP, whether it takes fragments. 0 or -EINVAL.
 * Thread.
 */
int bpf_prog_array_check(struct bpf_map *map, const struct bpf_prog *prog) __must_check;

/*
 * Give back a record that ringbuf_reserve gave, as complete (discard: as one to be skipped). flags:
 * BPF_RB_NO_WAKEUP, BPF_RB_FORCE_WAKEUP or 0. The ring is found from the record. Context: any.
 */
void bpf_ringbuf_commit(void *record, uint64_t flags, bool discard);

/* Reference counts; the caller of bpf_map_ref holds one. Context: any. */
static inline void bpf_map_ref(struct bpf_map *map)
{
	__atomic_fetch_add(&map->refs, 1, __ATOMIC_RELAXED);
}
/* Maps that the runtime published (reap_fn set); templates are freed by who made them. */
static inline void bpf_map_put(struct bpf_map *map)
{
	if (!__atomic_sub_fetch(&map->refs, 1, __ATOMIC_ACQ_REL))
		hal_quiesce_defer(&map->reap, map->reap_fn);
}
