/* SPDX-License-Identifier: BSD-2-Clause */
/* Self-contained definitions for the benchmark programs: no kernel or libbpf header is needed.
 *
 * Conventions (see README.md):
 *  - an object has one entry program called `bench` (what is measured), and optionally one called
 *    `init` (run exactly once after load, must return 0; it fills the maps);
 *  - every program gets the same fixed 128-byte packet (bench_packet() in packet.h);
 *  - `bench` is repeatable: it returns the same 32-bit value on every run;
 *  - pure-compute programs also build natively with -DNATIVE_NAME=<symbol> (the physical limit).
 */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;

#define __always_inline inline __attribute__((always_inline))
#define __noinline	__attribute__((noinline))
#define NOUNROLL	_Pragma("clang loop unroll(disable) vectorize(disable)")
#define PKT_LEN		128

static __always_inline u32 rol32(u32 x, int r)
{
	return (x << r) | (x >> (32 - r));
}
static __always_inline u64 rol64(u64 x, int r)
{
	return (x << r) | (x >> (64 - r));
}
static __always_inline u32 fold32(u64 x)
{
	return (u32)(x ^ (x >> 32));
}
static __always_inline u32 ld32(const u8 *p)
{
	return *(const u32 *)p;
}
static __always_inline u64 ld64(const u8 *p)
{
	return *(const u64 *)p;
}

#ifdef __bpf__

#define SEC(n)		   __attribute__((section(n), used))
#define __uint(name, val)  int(*name)[val]
#define __type(name, val)  typeof(val) *name
#define __array(name, val) typeof(val) *name[]

/* context of SEC("xdp") programs, as in the kernel's uapi */
struct xdp_md {
	u32 data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex;
};

/* map types and flags (uapi numbers) */
enum {
	MAP_HASH = 1,
	MAP_ARRAY = 2,
	MAP_PROG_ARRAY = 3,
	MAP_PERCPU_HASH = 5,
	MAP_PERCPU_ARRAY = 6,
	MAP_LRU_HASH = 9,
	MAP_LPM_TRIE = 11,
	MAP_ARRAY_OF_MAPS = 12,
	MAP_QUEUE = 22,
	MAP_RINGBUF = 27,
};
enum { F_ANY = 0, F_NO_PREALLOC = 1, F_RB_NO_WAKEUP = 1 };

/* helpers (uapi numbers) */
static void *(*map_lookup)(void *map, const void *key) = (void *)1;
static long (*map_update)(void *map, const void *key, const void *val, u64 flags) = (void *)2;
static long (*map_delete)(void *map, const void *key) = (void *)3;
static u64 (*ktime_get_ns)(void) = (void *)5;
static u32 (*get_prandom_u32)(void) = (void *)7;
static u32 (*get_smp_processor_id)(void) = (void *)8;
static long (*tail_call)(void *ctx, void *map, u32 index) = (void *)12;
static s64 (*csum_diff)(const void *from, u32 from_sz, const void *to, u32 to_sz,
			u32 seed) = (void *)28;
static long (*map_push)(void *map, const void *val, u64 flags) = (void *)87;
static long (*map_pop)(void *map, void *val) = (void *)88;
struct bpf_spin_lock {
	u32 val;
};
static long (*spin_lock)(struct bpf_spin_lock *l) = (void *)93;
static long (*spin_unlock)(struct bpf_spin_lock *l) = (void *)94;
static long (*ringbuf_output)(void *rb, const void *data, u64 size, u64 flags) = (void *)130;
static void *(*ringbuf_reserve)(void *rb, u64 size, u64 flags) = (void *)131;
static void (*ringbuf_submit)(void *data, u64 flags) = (void *)132;
static long (*bpf_loop)(u32 n, void *cb, void *ctx, u64 flags) = (void *)181;

#define LICENSE char _license[] SEC("license") = "MIT"
#define PKT(ctx, p, e)                                                                             \
	const u8 *p = (const u8 *)(long)(ctx)->data, *e = (const u8 *)(long)(ctx)->data_end;       \
	if (p + PKT_LEN > e)                                                                       \
	return -1

/* a pure-compute benchmark: fn(p, e) with p the packet */
#define BENCH_COMPUTE(fn)                                                                          \
	SEC("xdp") int bench(struct xdp_md *ctx)                                                   \
	{                                                                                          \
		return fn((const u8 *)(long)ctx->data, (const u8 *)(long)ctx->data_end);           \
	}                                                                                          \
	LICENSE

#else /* native */

#define BENCH_COMPUTE(fn)                                                                          \
	u32 NATIVE_NAME(const u8 *p, const u8 *e)                                                  \
	{                                                                                          \
		return fn(p, e);                                                                   \
	}                                                                                          \
	extern int bench_dummy_decl

#endif
