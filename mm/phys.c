/* SPDX-License-Identifier: BSD-2-Clause */
#include "mm/phys.h"

#include "include/err.h"
#include "mm/phys_int.h"

struct phys_state phys;

const char *phys_purpose_name(enum phys_purpose purpose)
{
	static const char *const names[PHYS_PURPOSES] = {
		[PHYS_IMAGE] = "image",
		[PHYS_TABLE] = "page tables",
		[PHYS_FRAMES] = "frame records",
		[PHYS_STACK] = "stacks",
		[PHYS_PERCPU] = "percpu",
		[PHYS_HEAP] = "heap",
		[PHYS_MAP] = "maps",
		[PHYS_CODE] = "packs",
		[PHYS_RESERVED] = "reserved",
	};

	return purpose < PHYS_PURPOSES ? names[purpose] : "?";
}

static uint64_t frame_pa(uint32_t i)
{
	return phys.base_pa + (uint64_t)i * BLOCK_BYTES;
}

uint32_t phys_frame_index(uint64_t pa)
{
	uint64_t i;

	if (pa < phys.base_pa)
		return FRAME_NONE;
	i = (pa - phys.base_pa) >> BLOCK_SHIFT;
	return i < phys.n_frames ? (uint32_t)i : FRAME_NONE;
}

static void partial_remove(uint32_t i)
{
	struct frame *f = &phys.frame[i];

	if (!f->listed)
		return;
	if (f->prev == FRAME_NONE)
		phys.partial = f->next;
	else
		phys.frame[f->prev].next = f->next;
	if (f->next != FRAME_NONE)
		phys.frame[f->next].prev = f->prev;
	f->listed = 0;
}

static void partial_add(uint32_t i)
{
	struct frame *f = &phys.frame[i];

	if (f->listed)
		return;
	f->prev = FRAME_NONE;
	f->next = phys.partial;
	if (f->next != FRAME_NONE)
		phys.frame[f->next].prev = i;
	phys.partial = i;
	f->listed = 1;
}

void phys_frame_take(uint32_t i, enum frame_state state)
{
	phys.frame[i].state = (uint8_t)state;
	bitmap_set(phys.busy, i);
	phys.free_frames--;
}

static void frame_put(uint32_t i)
{
	phys.frame[i].state = FRAME_FREE;
	bitmap_clear(phys.busy, i);
	phys.free_frames++;
	if (i < phys.hint)
		phys.hint = i;
}

void phys_frame_split(uint32_t i)
{
	struct frame *f = &phys.frame[i];

	phys_frame_take(i, FRAME_SPLIT);
	bitmap_clear_range(f->used, 0, PAGES_PER_BLOCK);
	f->n_free = PAGES_PER_BLOCK;
	partial_add(i);
}

void phys_pages_take(uint32_t i, size_t first, size_t n, enum phys_purpose purpose)
{
	struct frame *f = &phys.frame[i];

	bitmap_set_range(f->used, first, n);
	f->n_free = (uint16_t)(f->n_free - n);
	if (f->n_free == 0)
		partial_remove(i);
	phys.free_pages -= n;
	phys.used_pages[purpose] += n;
}

static uint32_t find_free_frames(uint32_t n)
{
	size_t i = bitmap_find_clear_run(phys.busy, phys.n_frames, phys.hint, n, 1);

	if (i >= phys.n_frames)
		return FRAME_NONE;
	if (n == 1)
		phys.hint = (uint32_t)i;
	return (uint32_t)i;
}

int phys_alloc_pages(unsigned int n_pages, unsigned int align_pages, enum phys_purpose purpose,
		     uint64_t *pa)
{
	unsigned long flags;
	size_t first = PAGES_PER_BLOCK;
	uint32_t i;

	if (n_pages == 0 || n_pages > PAGES_PER_BLOCK || align_pages == 0 ||
	    align_pages > PAGES_PER_BLOCK || (align_pages & (align_pages - 1)) ||
	    purpose >= PHYS_PURPOSES)
		return -EINVAL;

	flags = spin_lock_irqsave(&phys.lock);
	for (i = phys.partial; i != FRAME_NONE; i = phys.frame[i].next) {
		if (phys.frame[i].n_free < n_pages)
			continue;
		first = bitmap_find_clear_run(phys.frame[i].used, PAGES_PER_BLOCK, 0, n_pages,
					      align_pages);
		if (first < PAGES_PER_BLOCK)
			break;
	}
	if (i == FRAME_NONE) {
		i = find_free_frames(1);
		if (i != FRAME_NONE) {
			phys_frame_split(i);
			first = 0;
		}
	}
	if (i != FRAME_NONE) {
		phys_pages_take(i, first, n_pages, purpose);
		*pa = frame_pa(i) + first * PAGE_BYTES;
	}
	spin_unlock_irqrestore(&phys.lock, flags);
	return i == FRAME_NONE ? -ENOMEM : 0;
}

static bool pages_are_used(const struct frame *f, size_t first, size_t n)
{
	return bitmap_find_clear(f->used, first + n, first) == first + n;
}

int phys_free_pages(uint64_t pa, unsigned int n_pages, enum phys_purpose purpose)
{
	size_t first = (pa & BLOCK_MASK) >> PAGE_SHIFT;
	unsigned long flags;
	struct frame *f;
	int ret = -EINVAL;
	uint32_t i;

	if ((pa & PAGE_MASK) || n_pages == 0 || n_pages > PAGES_PER_BLOCK - first ||
	    purpose >= PHYS_PURPOSES)
		return -EINVAL;

	flags = spin_lock_irqsave(&phys.lock);
	i = phys_frame_index(pa);
	if (i == FRAME_NONE)
		goto out;
	f = &phys.frame[i];
	if (f->state != FRAME_SPLIT || !pages_are_used(f, first, n_pages) ||
	    phys.used_pages[purpose] < n_pages)
		goto out;
	bitmap_clear_range(f->used, first, n_pages);
	f->n_free = (uint16_t)(f->n_free + n_pages);
	phys.free_pages += n_pages;
	phys.used_pages[purpose] -= n_pages;
	if (f->n_free == PAGES_PER_BLOCK) {
		partial_remove(i);
		frame_put(i);
	} else {
		partial_add(i);
	}
	ret = 0;
out:
	spin_unlock_irqrestore(&phys.lock, flags);
	return ret;
}

int phys_alloc_frames(unsigned int n_frames, enum phys_purpose purpose, uint64_t *pa)
{
	unsigned long flags;
	uint32_t i;

	if (n_frames == 0 || purpose >= PHYS_PURPOSES)
		return -EINVAL;

	flags = spin_lock_irqsave(&phys.lock);
	i = n_frames > phys.free_frames ? FRAME_NONE : find_free_frames(n_frames);
	if (i != FRAME_NONE) {
		for (uint32_t k = 0; k < n_frames; k++)
			phys_frame_take(i + k, FRAME_WHOLE);
		phys.free_pages -= n_frames * PAGES_PER_BLOCK;
		phys.used_pages[purpose] += n_frames * PAGES_PER_BLOCK;
		*pa = frame_pa(i);
	}
	spin_unlock_irqrestore(&phys.lock, flags);
	return i == FRAME_NONE ? -ENOMEM : 0;
}

int phys_free_frames(uint64_t pa, unsigned int n_frames, enum phys_purpose purpose)
{
	unsigned long flags;
	int ret = -EINVAL;
	uint32_t i;

	if ((pa & BLOCK_MASK) || n_frames == 0 || purpose >= PHYS_PURPOSES)
		return -EINVAL;

	flags = spin_lock_irqsave(&phys.lock);
	i = phys_frame_index(pa);
	if (i == FRAME_NONE || n_frames > phys.n_frames - i ||
	    phys.used_pages[purpose] < n_frames * PAGES_PER_BLOCK)
		goto out;
	for (uint32_t k = 0; k < n_frames; k++)
		if (phys.frame[i + k].state != FRAME_WHOLE)
			goto out;
	for (uint32_t k = 0; k < n_frames; k++)
		frame_put(i + k);
	phys.free_pages += n_frames * PAGES_PER_BLOCK;
	phys.used_pages[purpose] -= n_frames * PAGES_PER_BLOCK;
	ret = 0;
out:
	spin_unlock_irqrestore(&phys.lock, flags);
	return ret;
}

int phys_set_code(uint64_t pa, bool code)
{
	enum frame_state from = code ? FRAME_WHOLE : FRAME_CODE;
	unsigned long flags;
	int ret = -EINVAL;
	uint32_t i;

	flags = spin_lock_irqsave(&phys.lock);
	i = phys_frame_index(pa);
	if (!(pa & BLOCK_MASK) && i != FRAME_NONE && phys.frame[i].state == from) {
		phys.frame[i].state = code ? FRAME_CODE : FRAME_WHOLE;
		ret = 0;
	}
	spin_unlock_irqrestore(&phys.lock, flags);
	return ret;
}

/* Does every frame (or, if not every, any frame) of the range have a state in the mask? */
static bool range_states(uint64_t pa, uint64_t bytes, unsigned int mask, bool every)
{
	if (bytes == 0 || pa + bytes < pa)
		return false;
	for (uint64_t at = ROUND_DOWN(pa, BLOCK_BYTES); at < pa + bytes; at += BLOCK_BYTES) {
		uint32_t i = phys_frame_index(at);
		unsigned int state = i == FRAME_NONE ? FRAME_ABSENT : phys.frame[i].state;
		bool in_mask = mask & 1u << state;

		if (in_mask != every)
			return !every;
	}
	return every;
}

#define STATES_RAM (1u << FRAME_FREE | 1u << FRAME_SPLIT | 1u << FRAME_WHOLE | 1u << FRAME_CODE)

bool phys_is_ram(uint64_t pa, uint64_t bytes)
{
	return range_states(pa, bytes, STATES_RAM, true);
}

bool phys_touches_ram(uint64_t pa, uint64_t bytes)
{
	return range_states(pa, bytes, STATES_RAM, false);
}

bool phys_is_code(uint64_t pa, uint64_t bytes)
{
	return range_states(pa, bytes, 1u << FRAME_CODE, true);
}

bool phys_touches_code(uint64_t pa, uint64_t bytes)
{
	return range_states(pa, bytes, 1u << FRAME_CODE, false);
}

void phys_get_stats(struct phys_stats *out)
{
	unsigned long flags = spin_lock_irqsave(&phys.lock);

	out->total_pages = phys.total_pages;
	out->free_pages = phys.free_pages;
	out->free_frames = phys.free_frames;
	for (unsigned int p = 0; p < PHYS_PURPOSES; p++)
		out->used_pages[p] = phys.used_pages[p];
	spin_unlock_irqrestore(&phys.lock, flags);
}
