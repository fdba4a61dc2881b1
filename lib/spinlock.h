/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spinlock: one word, taken by an exchange. Never held across anything that waits. A lock that an
 * interrupt or a program on the same CPU may also want is taken with the irq-save forms.
 *
 * Not first come, first served, on purpose. Where CPUs are threads of an emulator and the host has
 * fewer cores, a queue hands the lock to CPUs that do not run just then: eight CPUs on two busy
 * cores were seen to pass a ticket lock on some twenty times a second. Here whoever runs gets it.
 *
 * All zero is unlocked. Exclusive accesses need MMU and caches on.
 */
#pragma once

#include "include/base.h"
#include "include/hal.h"

struct spinlock {
	uint32_t locked;
};

static __always_inline void spin_relax(void)
{
#ifdef __aarch64__
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

/* True if the lock was free and is now ours. Context: any. */
static __always_inline bool spin_trylock(struct spinlock *l)
{
	return !__atomic_load_n(&l->locked, __ATOMIC_RELAXED) &&
	       !__atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE);
}

/* Returns how often the lock was looked at in vain (0: it was free). Context: any. */
static __always_inline uint32_t spin_lock(struct spinlock *l)
{
	uint32_t retries = 0;

	while (__atomic_exchange_n(&l->locked, 1, __ATOMIC_ACQUIRE)) {
		do {
			retries++;
			spin_relax();
		} while (__atomic_load_n(&l->locked, __ATOMIC_RELAXED));
	}
	return retries;
}

/* By the holder. */
static __always_inline void spin_unlock(struct spinlock *l)
{
	__atomic_store_n(&l->locked, 0, __ATOMIC_RELEASE);
}

/* For checks and messages: may have changed by the time it is read. */
static __always_inline bool spin_is_locked(const struct spinlock *l)
{
	return __atomic_load_n(&l->locked, __ATOMIC_RELAXED);
}

/* hal_irq_save and hal_irq_restore, without a call where this is the board. */
static __always_inline unsigned long spin_irq_save(void)
{
#ifdef BAREBPF_IMAGE
	unsigned long flags;

	__asm__ volatile("mrs %0, daif; msr daifset, #2" : "=r"(flags)::"memory");
	return flags;
#else
	return hal_irq_save();
#endif
}

static __always_inline void spin_irq_restore(unsigned long flags)
{
#ifdef BAREBPF_IMAGE
	__asm__ volatile("msr daif, %0" ::"r"(flags) : "memory");
#else
	hal_irq_restore(flags);
#endif
}

/* With interrupts masked while held; returns what spin_unlock_irqrestore takes. Context: any. */
static __always_inline unsigned long spin_lock_irqsave(struct spinlock *l)
{
	unsigned long flags = spin_irq_save();

	spin_lock(l);
	return flags;
}

static __always_inline void spin_unlock_irqrestore(struct spinlock *l, unsigned long flags)
{
	spin_unlock(l);
	spin_irq_restore(flags);
}
