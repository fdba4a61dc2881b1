/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/quiesce.h"

#include "include/hal.h"
#include "kernel/smp.h"
#include "lib/spinlock.h"

struct snapshot {
	uint64_t busy[MAX_CPUS];
};

/*
 * Deferred objects in two lists: `fresh` collects, `ripening` waits for the grace period that began
 * when it was moved there.
 */
static struct {
	struct spinlock lock; /* fresh and the counters */
	struct hal_deferred *fresh;
	uint64_t queued, done;
	/* Of the CPU that is flushing, 0: none, else its number + 1. */
	uint32_t flusher;
	struct hal_deferred *ripening;
	struct snapshot since;
} deferred;

static void snapshot_take(struct snapshot *s)
{
	/* What the caller unlinked is unlinked for whoever we find idle now. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned int i = 0; i < cpu_count(); i++)
		s->busy[i] = __atomic_load_n(&cpu_at(i)->busy, __ATOMIC_ACQUIRE);
}

/* Was every CPU but this one idle at the snapshot, or has stopped since what it did then? */
static bool snapshot_is_over(const struct snapshot *s)
{
	unsigned int self = this_cpu()->id;

	for (unsigned int i = 0; i < cpu_count(); i++)
		if (i != self && (s->busy[i] & 1) &&
		    __atomic_load_n(&cpu_at(i)->busy, __ATOMIC_ACQUIRE) == s->busy[i])
			return false;
	return true;
}

void hal_quiesce_wait(void)
{
	struct snapshot s;

	snapshot_take(&s);
	while (!snapshot_is_over(&s)) {
		/* The CPU that is waited for may itself wait for a call to this one. */
		smp_run_work();
		spin_relax();
	}
}

void hal_quiesce_defer(struct hal_deferred *d, void (*fn)(struct hal_deferred *d))
{
	unsigned long flags = spin_lock_irqsave(&deferred.lock);

	d->fn = fn;
	d->next = deferred.fresh;
	deferred.fresh = d;
	d->stamp = deferred.queued++;
	spin_unlock_irqrestore(&deferred.lock, flags);
}

static void ripening_start(void)
{
	unsigned long flags = spin_lock_irqsave(&deferred.lock);

	deferred.ripening = deferred.fresh;
	deferred.fresh = NULL;
	spin_unlock_irqrestore(&deferred.lock, flags);
	if (deferred.ripening)
		snapshot_take(&deferred.since);
}

/* Their functions may defer further objects; those wait for another grace period. */
static void ripening_finish(void)
{
	struct hal_deferred *d = deferred.ripening;

	deferred.ripening = NULL;
	while (d) {
		struct hal_deferred *next = d->next;

		d->fn(d);
		__atomic_fetch_add(&deferred.done, 1, __ATOMIC_RELEASE);
		d = next;
	}
}

static bool flush_begin(void)
{
	uint32_t none = 0;

	return __atomic_compare_exchange_n(&deferred.flusher, &none, this_cpu()->id + 1, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void flush_step(bool wait)
{
	if (!deferred.ripening)
		ripening_start();
	while (wait && !snapshot_is_over(&deferred.since)) {
		smp_run_work();
		spin_relax();
	}
	if (deferred.ripening && snapshot_is_over(&deferred.since))
		ripening_finish();
}

void hal_quiesce_flush(bool wait)
{
	uint64_t until = __atomic_load_n(&deferred.queued, __ATOMIC_ACQUIRE);

	/* Called from one of the functions that it calls. */
	if (__atomic_load_n(&deferred.flusher, __ATOMIC_RELAXED) == this_cpu()->id + 1)
		return;
	do {
		if (flush_begin()) {
			flush_step(wait);
			__atomic_store_n(&deferred.flusher, 0, __ATOMIC_RELEASE);
		} else if (wait) {
			smp_run_work();
			spin_relax();
		}
	} while (wait && __atomic_load_n(&deferred.done, __ATOMIC_ACQUIRE) < until);
}

uint32_t quiesce_waiting(void)
{
	return (uint32_t)(__atomic_load_n(&deferred.queued, __ATOMIC_RELAXED) -
			  __atomic_load_n(&deferred.done, __ATOMIC_RELAXED));
}
