/* SPDX-License-Identifier: BSD-2-Clause */
#include "mm/percpu.h"

#include <string.h>

#include "include/hal.h"
#include "lib/spinlock.h"
#include "mm/area.h"
#include "mm/oops.h"
#include "mm/phys.h"
#include "mm/xlat.h"

/* Behind struct cpu, which boot code maps. */
static struct {
	struct spinlock lock;
	struct area_space space;
} percpu = { .space = AREA_SPACE_INIT(percpu.space, PERCPU_BASE + PERCPU_BOOT_BYTES,
				      PERCPU_BASE + PERCPU_STRIDE) };

/* Pages that hold bytes of this area and of no other. */
static void own_pages(const struct area *a, uint64_t *from, uint64_t *to)
{
	uint64_t prev_end = area_prev_end(&percpu.space, a);
	uint64_t next_base = area_next_base(&percpu.space, a);

	*from = MAX(ROUND_DOWN(a->base, PAGE_BYTES), ROUND_UP(prev_end, PAGE_BYTES));
	*to = MIN(ROUND_UP(a->base + a->bytes, PAGE_BYTES), ROUND_DOWN(next_base, PAGE_BYTES));
}

static void pages_remove(uint64_t from, uint64_t to, unsigned int cpu)
{
	for (uint64_t at = from; at < to; at += PAGE_BYTES) {
		uint64_t va = at + cpu * PERCPU_STRIDE;
		struct xlat_entry e;

		if (xlat_lookup(va, &e))
			mm_oops("percpu: nothing mapped at 0x%llx", (unsigned long long)va);
		xlat_unmap(va, PAGE_BYTES);
		phys_free_pages(e.pa, 1, PHYS_PERCPU);
	}
}

static bool page_add(uint64_t va)
{
	uint64_t pa;

	if (phys_alloc_pages(1, 1, PHYS_PERCPU, &pa))
		return false;
	if (xlat_map(va, pa, PAGE_BYTES, XLAT_RW) == 0)
		return true;
	phys_free_pages(pa, 1, PHYS_PERCPU);
	return false;
}

static bool pages_add(uint64_t from, uint64_t to)
{
	unsigned int n = hal_cpu_count();

	for (unsigned int cpu = 0; cpu < n; cpu++)
		for (uint64_t at = from; at < to; at += PAGE_BYTES) {
			if (page_add(at + cpu * PERCPU_STRIDE))
				continue;
			pages_remove(from, at, cpu);
			while (cpu-- > 0)
				pages_remove(from, to, cpu);
			return false;
		}
	return true;
}

void *percpu_alloc(size_t bytes, size_t align)
{
	unsigned long flags;
	uint64_t from, to;
	struct area *a;
	void *base;

	if (bytes == 0 || bytes > PERCPU_STRIDE || align == 0 || align > PAGE_BYTES ||
	    (align & (align - 1)))
		return NULL;
	flags = spin_lock_irqsave(&percpu.lock);
	a = area_alloc(&percpu.space, ROUND_UP(bytes, 8), MAX(align, (size_t)8), 0);
	if (a) {
		own_pages(a, &from, &to);
		if (from < to && !pages_add(from, to)) {
			area_free(&percpu.space, a);
			a = NULL;
		}
	}
	base = a ? (void *)a->base : NULL;
	spin_unlock_irqrestore(&percpu.lock, flags);
	for (unsigned int cpu = 0; base && cpu < hal_cpu_count(); cpu++)
		memset(percpu_ptr(base, cpu), 0, bytes);
	return base;
}

void percpu_free(void *base)
{
	unsigned long flags;
	uint64_t from, to;
	struct area *a;

	if (!base)
		return;
	flags = spin_lock_irqsave(&percpu.lock);
	a = area_find(&percpu.space, (uint64_t)base);
	if (!a)
		mm_oops("percpu: %p was not handed out", base);
	own_pages(a, &from, &to);
	for (unsigned int cpu = 0; from < to && cpu < hal_cpu_count(); cpu++)
		pages_remove(from, to, cpu);
	area_free(&percpu.space, a);
	spin_unlock_irqrestore(&percpu.lock, flags);
}

uint64_t percpu_used_bytes(void)
{
	return percpu.space.used_bytes;
}
