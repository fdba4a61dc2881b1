/* SPDX-License-Identifier: BSD-2-Clause */
/* How the page allocator learns of memory: the data frame first, all RAM later. */
#include <string.h>

#include "include/err.h"
#include "mm/phys_int.h"

static struct frame boot_frame;
static uint64_t boot_busy;

void phys_boot_init(uint64_t frame, uint64_t free_pa, const uint64_t used_pages[PHYS_PURPOSES])
{
	uint64_t n_used = (free_pa - frame) >> PAGE_SHIFT;

	phys.frame = &boot_frame;
	phys.busy = &boot_busy;
	phys.base_pa = frame;
	phys.n_frames = 1;
	phys.partial = FRAME_NONE;
	phys.free_frames = 1;
	phys_frame_split(0);
	bitmap_set_range(boot_frame.used, 0, n_used);
	boot_frame.n_free = (uint16_t)(PAGES_PER_BLOCK - n_used);
	phys.total_pages = PAGES_PER_BLOCK;
	phys.free_pages = boot_frame.n_free;
	for (unsigned int p = 0; p < PHYS_PURPOSES; p++)
		phys.used_pages[p] = used_pages[p];
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
	first = phys_frame_index(first_pa);
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
		uint32_t i = phys_frame_index(at);
		size_t page = (at & BLOCK_MASK) >> PAGE_SHIFT;
		size_t stop;

		next = ROUND_DOWN(at, BLOCK_BYTES) + BLOCK_BYTES;
		if (i == FRAME_NONE)
			continue;
		if (phys.frame[i].state == FRAME_FREE)
			phys_frame_split(i);
		if (phys.frame[i].state != FRAME_SPLIT)
			continue;
		stop = (size_t)((MIN(end, next) - ROUND_DOWN(at, BLOCK_BYTES)) >> PAGE_SHIFT);
		for (; page < stop; page++)
			if (!bitmap_test(phys.frame[i].used, page))
				phys_pages_take(i, page, 1, PHYS_RESERVED);
	}
}

/* Records of the text frame and of the data frame, where the first stage had its only one. */
static void image_frames_add(uint64_t text_pa, const struct frame *data)
{
	uint32_t t = phys_frame_index(text_pa);

	phys_frame_take(t, FRAME_CODE);
	phys.free_pages -= PAGES_PER_BLOCK;
	phys.used_pages[PHYS_IMAGE] += PAGES_PER_BLOCK;

	/* range_add counted all of the data frame as free. */
	phys_frame_split(t + 1);
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
			phys_frame_take(phys_frame_index(records_pa) + (uint32_t)k, FRAME_WHOLE);
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
