/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Physical memory: frames of 2 MB, and pages of 4 KB cut from frames.
 *
 * One small record a frame, so that start-up costs a few instructions per 2 MB. A frame is one of:
 *
 *    absent   not RAM, or reserved as a whole: never handed out
 *    free     all of it
 *    split    some of its 512 pages are handed out (or reserved) one by one
 *    whole    handed out as a frame (or as part of a run of frames)
 *    code     as whole, but out of the direct map; may be mapped executable, never writable
 *
 * Every page counts for one purpose. Nothing here is zeroed: memory comes as it is.
 * All functions but phys_boot_init and phys_init: context any.
 */
#pragma once

#include "include/base.h"
#include "mm/layout.h"

enum phys_purpose {
	PHYS_IMAGE,    /* text frame, rodata, data, bss */
	PHYS_TABLE,    /* translation tables */
	PHYS_FRAMES,   /* the frame records themselves */
	PHYS_STACK,    /* stacks */
	PHYS_PERCPU,   /* per-CPU areas */
	PHYS_HEAP,     /* heap slabs and large objects */
	PHYS_MAP,      /* map memory */
	PHYS_CODE,     /* compiled programs */
	PHYS_RESERVED, /* firmware, device tree, initrd */
	PHYS_PURPOSES,
};

struct phys_range {
	uint64_t base_pa;
	uint64_t size_bytes;
};

struct phys_stats {
	uint64_t total_pages; /* RAM known, reserved parts included */
	uint64_t free_pages;
	uint64_t free_frames; /* whole 2 MB frames among the free pages */
	uint64_t used_pages[PHYS_PURPOSES];
};

/* In words, for tables, less than 16 characters: "image", "page tables", ... */
const char *phys_purpose_name(enum phys_purpose purpose);

/*
 * First stage, before the machine is known: one frame, the data frame, of which the pages from
 * free_pa on are free. Pages below belong to the image and to the early tables and stacks, as
 * counted by the caller in used_pages (their sum must be what is below free_pa).
 */
void phys_boot_init(uint64_t frame_pa, uint64_t free_pa, const uint64_t used_pages[PHYS_PURPOSES]);

/*
 * Second stage: all RAM. ranges sorted and disjoint; reserved ranges may overlap each other and lie
 * anywhere. text_pa is the text frame (becomes a code frame). The direct map must already cover
 * ranges. Returns 0; -EINVAL for ranges out of order or out of the direct map; -ENOMEM if the frame
 * records find no place. Boot core only, once.
 */
int phys_init(const struct phys_range *ranges, unsigned int n_ranges,
	      const struct phys_range *reserved, unsigned int n_reserved,
	      uint64_t text_pa) __must_check;

/*
 * n_pages contiguous pages, 1 to 512, within one frame, at a multiple of align_pages (a power of
 * two <= 512). Returns 0 or -ENOMEM, -EINVAL for arguments out of range.
 */
int phys_alloc_pages(unsigned int n_pages, unsigned int align_pages, enum phys_purpose purpose,
		     uint64_t *pa) __must_check;
/*
 * Pages that were handed out for that purpose (any part of a run). Pages that are not handed out
 * one by one are refused: -EINVAL, nothing changes.
 */
int phys_free_pages(uint64_t pa, unsigned int n_pages, enum phys_purpose purpose);

/* n_frames contiguous frames. Returns 0, -ENOMEM or -EINVAL (0 frames). */
int phys_alloc_frames(unsigned int n_frames, enum phys_purpose purpose, uint64_t *pa) __must_check;
int phys_free_frames(uint64_t pa, unsigned int n_frames, enum phys_purpose purpose);

/* Give back a reserved range once its content is no longer needed (device tree, initrd): whole
 * pages inside it that are RAM and still counted as reserved. */
void phys_release_reserved(uint64_t pa, uint64_t bytes);

/*
 * What a range of physical memory is: all RAM that this allocator knows (the direct map covers it,
 * code frames excepted); any of it RAM; all, any of it code frames. False for an empty range.
 */
bool phys_is_ram(uint64_t pa, uint64_t bytes);
bool phys_touches_ram(uint64_t pa, uint64_t bytes);
bool phys_is_code(uint64_t pa, uint64_t bytes);
bool phys_touches_code(uint64_t pa, uint64_t bytes);
/* Turn a whole frame into a code frame and back. For mm/xlat.c, which moves it out of the direct
 * map and back. Returns 0 or -EINVAL if the frame is not whole (not code). */
int phys_set_code(uint64_t frame_pa, bool code) __must_check;

/* A consistent picture: free_pages + sum of used_pages == total_pages. */
void phys_get_stats(struct phys_stats *out);

/* Direct map address of RAM, and back. */
static inline void *phys_to_virt(uint64_t pa)
{
	return (void *)(DIRECT_BASE + pa);
}
static inline uint64_t virt_to_phys(const void *va)
{
	return (uint64_t)va - DIRECT_BASE;
}
