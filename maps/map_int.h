/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of maps/ share: limits, set-up of the common fields, value copies, word locks. */
#pragma once

#include "bpf/map.h"
#include "include/base.h"
#include "include/err.h"
#include "include/hal.h"

#define MAP_PAGE_BYTES	     4096ul
#define MAP_ELEM_BYTES_MAX   (4ul << 20)  /* Linux: what kmalloc gives at most */
#define MAP_PERCPU_VALUE_MAX (32ul << 10) /* Linux: PCPU_MIN_UNIT_SIZE */
#define MAP_AREA_BYTES_MAX   (3ull << 30) /* map memory lies in the top 4 GB with other things */

#define MAP_FLAGS_ACCESS (BPF_F_RDONLY | BPF_F_WRONLY | BPF_F_RDONLY_PROG | BPF_F_WRONLY_PROG)

/* Smallest power of two >= n; 1 <= n <= 2^31. */
static inline uint32_t map_roundup_pow2(uint32_t n)
{
	return n <= 1 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

/* Fill in sizes, flags and offsets from attr; lock and timer absent. */
void map_init(struct bpf_map *map, const union bpf_attr *attr);

/* a + n * size into *bytes; false when the sum passes MAP_AREA_BYTES_MAX. */
bool map_area_bytes(size_t a, uint64_t n, uint64_t size, size_t *bytes);

/* Bytes that hal_map_alloc takes for n. */
static inline uint64_t map_area_charge(size_t n)
{
	return ROUND_UP((uint64_t)n, MAP_PAGE_BYTES);
}

/* Shape equal in what programs were verified against (inner_fits of most types). */
bool map_meta_equal(const struct bpf_map *meta, const struct bpf_map *inner);

/* check_btf of types whose key and value BTF would mean nothing: -ENOTSUPP. */
int map_check_no_btf(const struct bpf_map *map, const struct bpf_btf *btf, uint32_t key_id,
		     uint32_t value_id);

static inline bool map_has_fields(const struct bpf_map *map)
{
	return map->has_lock || map->has_timer;
}

/* dst, outside the map, gets the value with zeros for its lock and timer. */
void map_copy_out(struct bpf_map *map, void *dst, void *value, uint64_t flags);

/* The value leaves the map, or the map loses its last handle: no timer of it fires any more. */
void map_drop_timer(const struct bpf_map *map, void *value);

/* Zero the lock and timer fields of memory that becomes a value for the first time. */
void map_clear_fields(const struct bpf_map *map, void *value);

/*
 * Copy a value without lock and timer into the map. A value of four or eight bytes is
 * stored in one access, so that a reader never sees half of it.
 */
static __always_inline void map_copy_plain(const struct bpf_map *map, void *dst, const void *src)
{
	uint64_t word;
	uint32_t half;

	if (likely(map->value_size == 8)) {
		__builtin_memcpy(&word, src, 8);
		__atomic_store_n((uint64_t *)dst, word, __ATOMIC_RELAXED);
	} else if (map->value_size == 4) {
		__builtin_memcpy(&half, src, 4);
		__atomic_store_n((uint32_t *)dst, half, __ATOMIC_RELAXED);
	} else {
		__builtin_memcpy(dst, src, map->value_size);
	}
}

/* Copy such a value out of the map, to a buffer of any alignment. */
static __always_inline void map_copy_to(const struct bpf_map *map, void *dst, const void *src)
{
	if (likely(map->value_size == 8))
		__builtin_memcpy(dst, src, 8);
	else
		__builtin_memcpy(dst, src, map->value_size);
}

static __always_inline void map_copy_in(struct bpf_map *map, void *dst, const void *src)
{
	if (unlikely(map_has_fields(map)))
		bpf_map_copy_value(map, dst, src, NULL);
	else
		map_copy_plain(map, dst, src);
}

/* Does [addr, addr + size) lie in value_size bytes at value, off its lock and timer? */
bool map_value_covers(const struct bpf_map *map, uintptr_t value, uintptr_t addr, size_t size);

/*
 * The same for n values, stride bytes apart, the first at base.
 */
bool map_values_cover(const struct bpf_map *map, uintptr_t base, uint64_t n, uint64_t stride,
		      uintptr_t addr, size_t size);

/* ---- words that readers follow without a lock ------------------------------------------------ */

static __always_inline void map_relax(void)
{
#ifdef __aarch64__
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/*
 * Load of a pointer whose target is then read through it: the address dependency orders the two on
 * arm64 and x86. The thread sanitizer knows only acquire.
 */
static __always_inline uintptr_t map_load_dep(const uintptr_t *p)
{
#ifdef __SANITIZE_THREAD__
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
#else
	return __atomic_load_n(p, __ATOMIC_RELAXED);
#endif
}

/*
 * A pointer word with its lock in bit 1. Interrupts are masked by the caller. Returns the word
 * without that bit.
 */
static __always_inline uintptr_t map_word_lock(uintptr_t *word)
{
	uintptr_t old;

	while (unlikely((old = __atomic_fetch_or(word, MAP_HASH_LOCKED, __ATOMIC_ACQUIRE)) &
			MAP_HASH_LOCKED)) {
		while (__atomic_load_n(word, __ATOMIC_RELAXED) & MAP_HASH_LOCKED)
			map_relax();
	}
	return old;
}

/* Give it a value (bit 1 clear) and unlock it. */
static __always_inline void map_word_unlock(uintptr_t *word, uintptr_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}
