/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lock of a whole map (trie, queue, ring buffer) that knows its holder: a writer that interrupted
 * the holder on the same CPU gets -EBUSY instead of waiting for itself. Interrupts are masked while
 * it is held, so that happens only to code that runs in the middle of the holder all the same (a
 * hook inside it).
 */
#pragma once

#include "maps/map_int.h"

struct map_lock {
	uint32_t owner; /* CPU + 1, 0 free */
};

/* 0 and *irq for map_unlock, or -EBUSY. Context: any. */
static __always_inline int map_lock(struct map_lock *lock, unsigned long *irq)
{
	unsigned long flags = hal_irq_save();
	uint32_t self = hal_cpu_id() + 1, free = 0;

	while (unlikely(!__atomic_compare_exchange_n(&lock->owner, &free, self, false,
						     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))) {
		if (free == self) {
			hal_irq_restore(flags);
			return -EBUSY;
		}
		while (__atomic_load_n(&lock->owner, __ATOMIC_RELAXED))
			map_relax();
		free = 0;
	}
	*irq = flags;
	return 0;
}

static __always_inline void map_unlock(struct map_lock *lock, unsigned long irq)
{
	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
	hal_irq_restore(irq);
}
