/* SPDX-License-Identifier: BSD-2-Clause */
#include "mm/phys.h"

#include <string.h>

#include "include/err.h"
#include "lib/bitmap.h"
#include "lib/spinlock.h"

enum frame_state { FRAME_ABSENT, FRAME_FREE, FRAME_SPLIT, FRAME_WHOLE, FRAME_CODE };

#define FRAME_NONE 0xffffffffu

struct frame {
	uint64_t used[PAGES_PER_BLOCK / 64]; /* split: bit set = page not free */
	uint32_t next, prev;		     /* list of split frames with a free page */
	uint16_t n_free;		     /* split: free pages */
	uint8_t state;
	uint8_t listed;
	uint32_t unused;
};

static struct {
	struct spinlock lock;
	struct frame *frame; /* record of the frame at base_pa + i * 2 MB */
	uint64_t *busy;	     /* bit set: frame i is not free as a whole */
	uint64_t base_pa;
	uint32_t n_frames;
	uint32_t partial; /* first of the split frames with a free page */
	uint32_t hint;	  /* below this index no frame is free as a whole */
	uint64_t total_pages, free_pages, free_frames;
	uint64_t used_pages[PHYS_PURPOSES];
} phys;

static struct frame boot_frame;
static uint64_t boot_busy;

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

/* Index of the frame that holds pa, or FRAME_NONE. */
static uint32_t frame_index(uint64_t pa)
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

/* From free to anything else, or back. */
static void frame_take(uint32_t i, enum frame_state state)
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

static void frame_split(uint32_t i)
{
	struct frame *f = &phys.frame[i];

	frame_take(i, FRAME_SPLIT);
	bitmap_clear_range(f->used, 0, PAGES_PER_BLOCK);
	f->n_free = PAGES_PER_BLOCK;
	partial_add(i);
}

void phys_boot_init(uint64_t frame, uint64_t free_pa, const uint64_t used_pages[PHYS_PURPOSES])
{
	uint64_t n_used = (free_pa - frame) >> PAGE_SHIFT;

	phys.frame = &boot_frame;
	phys.busy = &boot_busy;
	phys.base_pa = frame;
	phys.n_frames = 1;
	phys.partial = FRAME_NONE;
	phys.free_frames = 1;
	frame_split(0);
	bitmap_set_range(boot_frame.used, 0, n_used);
	boot_frame.n_free = (uint16_t)(PAGES_PER_BLOCK - n_used);
	phys.total_pages = PAGES_PER_BLOCK;
	phys.free_pages = boot_frame.n_free;
	for (unsigned int p = 0; p < PHYS_PURPOSES; p++)
		phys.used_pages[p] = used_pages[p];
}

/* Hand out pages [first, first + n) of a split frame. */
static void pages_take(uint32_t i, size_t first, size_t n, enum phys_purpose purpose)
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
			frame_split(i);
			first = 0;
		}
	}
	if (i != FRAME_NONE) {
		pages_take(i, first, n_pages, purpose);
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
	i = frame_index(pa);
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
			frame_take(i + k, FRAME_WHOLE);
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
	i = frame_index(pa);
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
	i = frame_index(pa);
	if (!(pa & BLOCK_MASK) && i != FRAME_NONE && phys.frame[i].state == from) {
		phys.frame[i].state = code ? FRAME_CODE : FRAME_WHOLE;
		ret = 0;
	}
	spin_unlock_irqrestore(&phys.lock, flags);
	return ret;
}

/* Is the frame at pa free of the image and of every reserved range? */
static bool frame_is_clear(uint64_t pa, const struct phys_range *reserved, unsigned int n_reserved,
			   uint64_t text_pa)
{
	if (pa == text_pa || pa == phys.base_pa)
		return false;
	for (unsigned int i = 0; i < n_reserved; i++)
		if (pa < reserved[i].base_pa + reserved[i].size_bytes &&
		    reserved[i].base_pa < pa + BLOCK_BYTES)
			return false;
	return true;
}

/* Memory for the records: from the data frame if they fit, else a run of frames in RAM. */
static int records_place(uint64_t bytes, const struct phys_range *ranges, unsigned int n_ranges,
			 const struct phys_range *reserved, unsigned int n_reserved,
			 uint64_t text_pa, uint64_t *out)
{
	uint64_t n_pages = ROUND_UP(bytes, PAGE_BYTES) >> PAGE_SHIFT;

	if (n_pages <= boot_frame.n_free / 2)
		return phys_alloc_pages((unsigned int)n_pages, 1, PHYS_FRAMES, out);
	for (unsigned int r = 0; r < n_ranges; r++) {
		uint64_t end = ROUND_DOWN(ranges[r].base_pa + ranges[r].size_bytes, BLOCK_BYTES);
		uint64_t at = ROUND_UP(ranges[r].base_pa, BLOCK_BYTES);
		uint64_t run = at;

		for (; at < end; at += BLOCK_BYTES) {
			if (!frame_is_clear(at, reserved, n_reserved, text_pa))
				run = at + BLOCK_BYTES;
			else if (at + BLOCK_BYTES - run >= bytes)
				break;
		}
		if (at < end) {
			*out = run;
			return 0;
		}
	}
	return -ENOMEM;
}

static int ranges_check(const struct phys_range *ranges, unsigned int n_ranges)
{
	uint64_t last_end = 0;

	for (unsigned int r = 0; r < n_ranges; r++) {
		uint64_t end = ranges[r].base_pa + ranges[r].size_bytes;

		if (ranges[r].base_pa < last_end || end < ranges[r].base_pa || end > DIRECT_BYTES)
			return -EINVAL;
		last_end = end;
	}
	return n_ranges ? 0 : -EINVAL;
}

static void range_add(const struct phys_range *range)
{
	uint64_t first_pa = ROUND_UP(range->base_pa, BLOCK_BYTES);
	uint64_t end_pa = ROUND_DOWN(range->base_pa + range->size_bytes, BLOCK_BYTES);
	uint32_t first, n;

	if (first_pa >= end_pa)
		return;
	first = frame_index(first_pa);
	n = (uint32_t)((end_pa - first_pa) >> BLOCK_SHIFT);
	for (uint32_t i = first; i < first + n; i++)
		phys.frame[i].state = FRAME_FREE;
	bitmap_clear_range(phys.busy, first, n);
	phys.free_frames += n;
	phys.free_pages += n * PAGES_PER_BLOCK;
	phys.total_pages += n * PAGES_PER_BLOCK;
}

/* Free pages of the range become reserved; what is handed out already stays what it is. */
static void range_reserve(uint64_t pa, uint64_t bytes)
{
	uint64_t end = ROUND_UP(pa + bytes, PAGE_BYTES);
	uint64_t next;

	for (uint64_t at = ROUND_DOWN(pa, PAGE_BYTES); at < end; at = next) {
		uint32_t i = frame_index(at);
		size_t page = (at & BLOCK_MASK) >> PAGE_SHIFT;
		size_t stop;

		next = ROUND_DOWN(at, BLOCK_BYTES) + BLOCK_BYTES;
		if (i == FRAME_NONE)
			continue;
		if (phys.frame[i].state == FRAME_FREE)
			frame_split(i);
		if (phys.frame[i].state != FRAME_SPLIT)
			continue;
		stop = (size_t)((MIN(end, next) - ROUND_DOWN(at, BLOCK_BYTES)) >> PAGE_SHIFT);
		for (; page < stop; page++)
			if (!bitmap_test(phys.frame[i].used, page))
				pages_take(i, page, 1, PHYS_RESERVED);
	}
}

/* Records of the text frame and of the data frame, where the first stage had its only one. */
static void image_frames_add(uint64_t text_pa, const struct frame *data)
{
	uint32_t t = frame_index(text_pa);

	frame_take(t, FRAME_CODE);
	phys.free_pages -= PAGES_PER_BLOCK;
	phys.used_pages[PHYS_IMAGE] += PAGES_PER_BLOCK;

	/* range_add counted all of the data frame as free. */
	frame_split(t + 1);
	memcpy(phys.frame[t + 1].used, data->used, sizeof(data->used));
	phys.frame[t + 1].n_free = data->n_free;
	phys.free_pages -= PAGES_PER_BLOCK - data->n_free;
}

int phys_init(const struct phys_range *ranges, unsigned int n_ranges,
	      const struct phys_range *reserved, unsigned int n_reserved, uint64_t text_pa)
{
	uint64_t end, base, n, bytes, records_pa;
	bool in_data_frame;
	int ret = ranges_check(ranges, n_ranges);

	if (ret)
		return ret;
	base = ROUND_UP(ranges[0].base_pa, BLOCK_BYTES);
	end = ROUND_DOWN(ranges[n_ranges - 1].base_pa + ranges[n_ranges - 1].size_bytes,
			 BLOCK_BYTES);
	if (text_pa < base || text_pa + 2 * BLOCK_BYTES > end)
		return -EINVAL;
	n = (end - base) >> BLOCK_SHIFT;
	bytes = n * sizeof(struct frame) + BITMAP_WORDS(n) * sizeof(uint64_t);
	ret = records_place(bytes, ranges, n_ranges, reserved, n_reserved, text_pa, &records_pa);
	if (ret)
		return ret;
	in_data_frame = records_pa - phys.base_pa < BLOCK_BYTES;

	phys.frame = phys_to_virt(records_pa);
	phys.busy = (uint64_t *)(phys.frame + n);
	memset(phys.frame, 0, n * sizeof(struct frame));
	memset(phys.busy, 0xff, BITMAP_WORDS(n) * sizeof(uint64_t));
	phys.base_pa = base;
	phys.n_frames = (uint32_t)n;
	phys.partial = FRAME_NONE;
	phys.hint = 0;
	phys.total_pages = phys.free_pages = phys.free_frames = 0;
	for (unsigned int r = 0; r < n_ranges; r++)
		range_add(&ranges[r]);
	image_frames_add(text_pa, &boot_frame);
	if (!in_data_frame) {
		uint64_t n_rec = ROUND_UP(bytes, BLOCK_BYTES) >> BLOCK_SHIFT;

		for (uint64_t k = 0; k < n_rec; k++)
			frame_take(frame_index(records_pa) + (uint32_t)k, FRAME_WHOLE);
		phys.free_pages -= n_rec * PAGES_PER_BLOCK;
		phys.used_pages[PHYS_FRAMES] += n_rec * PAGES_PER_BLOCK;
	}
	for (unsigned int r = 0; r < n_reserved; r++)
		range_reserve(reserved[r].base_pa, reserved[r].size_bytes);
	return 0;
}

void phys_release_reserved(uint64_t pa, uint64_t bytes)
{
	uint64_t end = ROUND_DOWN(pa + bytes, PAGE_BYTES);

	for (uint64_t at = ROUND_UP(pa, PAGE_BYTES); at < end; at += PAGE_BYTES)
		phys_free_pages(at, 1, PHYS_RESERVED);
}

/* Does every frame (or, if not every, any frame) of the range have a state in the mask? */
static bool range_states(uint64_t pa, uint64_t bytes, unsigned int mask, bool every)
{
	if (bytes == 0 || pa + bytes < pa)
		return false;
	for (uint64_t at = ROUND_DOWN(pa, BLOCK_BYTES); at < pa + bytes; at += BLOCK_BYTES) {
		uint32_t i = frame_index(at);
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
