/* SPDX-License-Identifier: BSD-2-Clause */
#include "mm/vmem.h"

#include <string.h>

#include "lib/spinlock.h"
#include "mm/area.h"
#include "mm/oops.h"
#include "mm/phys.h"
#include "mm/xlat.h"

/* A rest of at least this much takes a whole block, too. */
#define BLOCK_WORTH_BYTES (BLOCK_BYTES - BLOCK_BYTES / 8)

static struct {
	struct spinlock lock; /* the space; pages are mapped and unmapped outside it */
	struct area_space space;
	uint64_t areas, block_bytes, mirror_bytes;
} vmem = { .space = AREA_SPACE_INIT(vmem.space, MAPMEM_BASE, MAPMEM_END) };

bool vmem_is_address(const void *p)
{
	return (uint64_t)p >= MAPMEM_BASE && (uint64_t)p < MAPMEM_END;
}

/* Unmap and free [va, end), which holds whole blocks and pages and no hole. */
static void backing_free(uint64_t va, uint64_t end)
{
	struct xlat_entry e[32];

	while (va < end) {
		uint64_t at = va;
		unsigned int n = 0;

		for (; n < ARRAY_SIZE(e) && at < end; n++, at += e[n - 1].bytes)
			if (xlat_lookup(at, &e[n]))
				mm_oops("vmem: nothing mapped at 0x%llx", (unsigned long long)at);
		if (xlat_unmap(va, at - va))
			mm_oops("vmem: cannot unmap 0x%llx", (unsigned long long)va);
		for (unsigned int i = 0; i < n; i++) {
			if (e[i].bytes == BLOCK_BYTES) {
				phys_free_frames(e[i].pa, 1, PHYS_MAP);
				__atomic_fetch_sub(&vmem.block_bytes, BLOCK_BYTES,
						   __ATOMIC_RELAXED);
			} else {
				phys_free_pages(e[i].pa, 1, PHYS_MAP);
			}
		}
		va = at;
	}
}

static bool block_add(uint64_t va)
{
	uint64_t pa;

	if (phys_alloc_frames(1, PHYS_MAP, &pa))
		return false;
	if (xlat_map(va, pa, BLOCK_BYTES, XLAT_RW)) {
		phys_free_frames(pa, 1, PHYS_MAP);
		return false;
	}
	__atomic_fetch_add(&vmem.block_bytes, BLOCK_BYTES, __ATOMIC_RELAXED);
	return true;
}

/* As many of n pages as come in one run; returns how many, 0: no memory. */
static unsigned int pages_add(uint64_t va, uint64_t n)
{
	for (unsigned int run = (unsigned int)MIN(n, (uint64_t)64); run > 0; run /= 2) {
		uint64_t pa;

		if (phys_alloc_pages(run, 1, PHYS_MAP, &pa))
			continue;
		if (xlat_map(va, pa, run * PAGE_BYTES, XLAT_RW) == 0)
			return run;
		phys_free_pages(pa, run, PHYS_MAP);
		return 0;
	}
	return 0;
}

static bool backing_add(uint64_t base, uint64_t bytes)
{
	uint64_t va = base, end = base + bytes;

	while (va < end) {
		unsigned int n;

		if (!(va & BLOCK_MASK) && end - va >= BLOCK_BYTES && block_add(va)) {
			va += BLOCK_BYTES;
			continue;
		}
		/* Up to the next boundary, where a block may do. */
		n = pages_add(va, (MIN(end, ROUND_DOWN(va, BLOCK_BYTES) + BLOCK_BYTES) - va) >>
					  PAGE_SHIFT);
		if (!n) {
			backing_free(base, va);
			return false;
		}
		va += n * PAGE_BYTES;
	}
	return true;
}

/* Room of the window, without memory behind it; NULL: none left. */
static struct area *space_take(uint64_t bytes, uint64_t align, uint64_t mirror_bytes)
{
	unsigned long flags = spin_lock_irqsave(&vmem.lock);
	struct area *a = area_alloc(&vmem.space, bytes, align, PAGE_BYTES);

	if (a) {
		vmem.areas++;
		vmem.mirror_bytes += mirror_bytes;
	}
	spin_unlock_irqrestore(&vmem.lock, flags);
	return a;
}

static void space_give(struct area *a, uint64_t mirror_bytes)
{
	unsigned long flags = spin_lock_irqsave(&vmem.lock);

	area_free(&vmem.space, a);
	vmem.areas--;
	vmem.mirror_bytes -= mirror_bytes;
	spin_unlock_irqrestore(&vmem.lock, flags);
}

static struct area *space_find(const void *p)
{
	unsigned long flags = spin_lock_irqsave(&vmem.lock);
	struct area *a = area_find(&vmem.space, (uint64_t)p);

	spin_unlock_irqrestore(&vmem.lock, flags);
	if (!a)
		mm_oops("vmem: %p is no area's address", p);
	return a;
}

void *vmem_alloc(uint64_t bytes)
{
	uint64_t rounded = ROUND_UP(bytes, PAGE_BYTES), align = PAGE_BYTES;
	struct area *a;

	if (bytes == 0 || rounded > MAPMEM_END - MAPMEM_BASE)
		return NULL;
	if (rounded % BLOCK_BYTES >= BLOCK_WORTH_BYTES)
		rounded = ROUND_UP(rounded, BLOCK_BYTES);
	if (rounded >= BLOCK_BYTES)
		align = BLOCK_BYTES;
	a = space_take(rounded, align, 0);
	if (!a)
		return NULL;
	if (backing_add(a->base, rounded)) {
		memset((void *)a->base, 0, rounded);
		return (void *)a->base;
	}
	space_give(a, 0);
	return NULL;
}

void vmem_free(void *p)
{
	struct area *a;

	if (!p)
		return;
	a = space_find(p);
	backing_free(a->base, a->base + a->bytes);
	space_give(a, 0);
}

/* Map what lies behind [va, va + bytes) once more at va + bytes. */
static bool mirror_add(uint64_t va, uint64_t bytes)
{
	uint64_t at = va, end = va + bytes;

	while (at < end) {
		struct xlat_entry e;
		uint64_t n;

		if (xlat_lookup(at, &e))
			mm_oops("vmem: nothing mapped at 0x%llx", (unsigned long long)at);
		n = MIN(e.va + e.bytes, end) - at;
		if (xlat_map(at + bytes, e.pa + (at - e.va), n, XLAT_RW)) {
			xlat_unmap(end, at - va);
			return false;
		}
		at += n;
	}
	return true;
}

void *vmem_alloc_mirror(uint64_t head_bytes, uint64_t bytes)
{
	const uint64_t window = MAPMEM_END - MAPMEM_BASE;
	struct area *a;

	if (bytes == 0 || (bytes | head_bytes) % PAGE_BYTES || bytes > window / 2 ||
	    head_bytes > window / 2)
		return NULL;
	a = space_take(head_bytes + 2 * bytes, PAGE_BYTES, bytes);
	if (!a)
		return NULL;
	if (backing_add(a->base, head_bytes + bytes)) {
		if (mirror_add(a->base + head_bytes, bytes)) {
			memset((void *)a->base, 0, head_bytes + bytes);
			return (void *)a->base;
		}
		backing_free(a->base, a->base + head_bytes + bytes);
	}
	space_give(a, bytes);
	return NULL;
}

void vmem_free_mirror(void *p, uint64_t head_bytes, uint64_t bytes)
{
	struct area *a;

	if (!p)
		return;
	a = space_find(p);
	if (a->bytes != head_bytes + 2 * bytes)
		mm_oops("vmem: %p is no mirrored area of this size", p);
	if (xlat_unmap(a->base + head_bytes + bytes, bytes))
		mm_oops("vmem: cannot unmap the mirror of %p", p);
	backing_free(a->base, a->base + head_bytes + bytes);
	space_give(a, bytes);
}

void vmem_get_stats(struct vmem_stats *out)
{
	unsigned long flags = spin_lock_irqsave(&vmem.lock);

	out->areas = vmem.areas;
	out->used_bytes = vmem.space.used_bytes - vmem.mirror_bytes;
	out->block_bytes = __atomic_load_n(&vmem.block_bytes, __ATOMIC_RELAXED);
	spin_unlock_irqrestore(&vmem.lock, flags);
}
