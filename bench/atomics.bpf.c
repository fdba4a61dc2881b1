/* SPDX-License-Identifier: BSD-2-Clause */
/* 8 x every atomic of ISA v3: add without a result, fetch-add/or/and/xor, xchg, cmpxchg. */
#include "bench.h"
u64 a, b, c, d;
u32 w;

SEC("xdp") int bench(struct xdp_md *ctx)
{
	u64 sum = 0;
	__sync_lock_test_and_set(&b, 5);
	NOUNROLL
	for (u32 i = 0; i < 8; i++) {
		__sync_fetch_and_add(&a, 3); /* no result: lock add */
		__sync_fetch_and_add(&w, 1); /* 32-bit */
		sum += __sync_fetch_and_add(&b, 7);
		sum += __sync_fetch_and_or(&c, 1ULL << i);
		sum += __sync_fetch_and_and(&c, 0xf0);
		sum += __sync_fetch_and_xor(&b, 0x55);
		sum += __sync_val_compare_and_swap(&d, 0, i + 1);
		sum += __sync_lock_test_and_set(&d, 0);
	}
	__sync_lock_test_and_set(&c, 0);
	return fold32(sum);
}
LICENSE;
