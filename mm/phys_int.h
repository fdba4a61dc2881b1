/* SPDX-License-Identifier: BSD-2-Clause */
/* The page allocator's own state: for mm/phys.c and mm/phys_init.c. */
#pragma once

#include "lib/bitmap.h"
#include "lib/spinlock.h"
#include "mm/phys.h"

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

struct phys_state {
	struct spinlock lock;
	struct frame *frame; /* record of the frame at base_pa + i * 2 MB */
	uint64_t *busy;	     /* bit set: frame i is not free as a whole */
	uint64_t base_pa;
	uint32_t n_frames;
	uint32_t partial; /* first of the split frames with a free page */
	uint32_t hint;	  /* below this index no frame is free as a whole */
	uint64_t total_pages, free_pages, free_frames;
	uint64_t used_pages[PHYS_PURPOSES];
};
extern struct phys_state phys;

/* Index of the frame that holds pa, or FRAME_NONE. */
uint32_t phys_frame_index(uint64_t pa);
/* From free to anything else. The pages are the caller's to count. */
void phys_frame_take(uint32_t i, enum frame_state state);
/* From free to split, all pages free. */
void phys_frame_split(uint32_t i);
/* Hand out pages [first, first + n) of a split frame. */
void phys_pages_take(uint32_t i, size_t first, size_t n, enum phys_purpose purpose);
