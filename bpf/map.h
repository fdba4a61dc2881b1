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
	/* Reference to the object behind a handle, checked for this map; or -errno. */
	int (*get)(void *rt, struct bpf_map *map, uint32_t handle, void **obj);
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
	MAP_LOOKUP_HASH,	 /* keyed hash, chained buckets: see struct map_lookup.hash */
	MAP_LOOKUP_INDEX_MAP, /* array of maps: the value is the inner map's pointer, may be NULL */
	MAP_LOOKUP_LPM,
};
struct map_lookup {
	enum map_lookup_kind kind;
	uintptr_t base;	 /* INDEX: value 0. PERCPU: hal_percpu base. HASH: bucket array */
	uint32_t max;	 /* INDEX: entries */
	uint32_t stride; /* INDEX: bytes between values */
	struct {
		uint32_t mask;	      /* bucket = hash & mask */
		uint8_t bucket_shift; /* bytes of a bucket head = 1 << shift */
		uint8_t key_bytes;
		uint16_t key_off, hash_off, next_off, value_off; /* in an element */
		uint64_t secret[2];
		uint16_t ref_off; /* LRU: byte set to 1 on a hit; 0 none */
		uint8_t percpu;	  /* value_off holds a per-CPU base */
	} hash;
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
	/* Make the map; common fields are filled in by bpf_map_create. Thread. */
	int (*alloc)(const union bpf_attr *attr, struct bpf_map **out);
	/* No program, handle or map refers to it and a grace period has passed. Thread. */
	void (*free)(struct bpf_map *map);
	/* Last handle and pin gone while programs may still use it (prog array: break cycles). */
	void (*release_uref)(struct bpf_map *map);

	/* Value, or NULL. The value stays valid until the run is over. */
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
	/* Memory behind BPF_F_MMAPABLE or a ring: base and bytes. 0 or -errno. */
	int (*mmap_area)(struct bpf_map *map, void **base, size_t *bytes);
	/* true if [addr, addr+size) lies in a live value (checked interpreter). */
	bool (*owns_value)(struct bpf_map *map, uintptr_t addr, size_t size);
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
	/* Runtime's: called in thread context a grace period after the last reference went. */
	void (*reap_fn)(struct hal_deferred *d);
	struct hal_deferred reap;
	struct bpf_prog *owner_prog; /* prog array: first program, whose kind all must match */
	uint32_t owner_type, owner_jited;
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
 * then allocates. 0 and *out with refs = urefs = 1, or -errno. Thread.
 */
int bpf_map_create(const union bpf_attr *attr, struct bpf_map *inner, struct bpf_btf *btf, void *rt,
		   const struct map_fd_ops *fd_ops, struct bpf_map **out) __must_check;
/* Free at once: no references, grace period over. Thread. */
void bpf_map_destroy(struct bpf_map *map);

/* bpf(2) element operations in syscall shape, with flags checked as Linux does. Thread. */
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

/* Copy a value in or out, leaving its lock and timer alone (and taking the lock with BPF_F_LOCK).
 */
void bpf_map_copy_value(struct bpf_map *map, void *dst, const void *src, bool locked);
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
