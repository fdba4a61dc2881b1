/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct bpf_spin_lock as it lies in map values: one 32-bit word, 0 free, 1 held. Whoever takes it
 * masks interrupts on its CPU first, so that a program that interrupts the holder cannot wait for
 * it; helpers, BPF_F_LOCK copies and inlined code all follow that.
 */
#pragma once

#include "include/base.h"

static __always_inline bool value_trylock(uint32_t *lock)
{
	return !__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE);
}

/* In the body of a loop that waits for another CPU. */
static __always_inline void value_relax(void)
{
#ifdef __aarch64__
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* Interrupts are masked. Context: any. */
static __always_inline void value_lock(uint32_t *lock)
{
	while (!value_trylock(lock)) {
		while (__atomic_load_n(lock, __ATOMIC_RELAXED))
			value_relax();
	}
}

static __always_inline void value_unlock(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}
