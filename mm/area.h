/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of an address range: who has what. Keeps a list in order of address; knows nothing of what
 * is mapped there. Not synchronised.
 */
#pragma once

#include "include/base.h"
#include "lib/list.h"

struct area {
	struct list link;
	uint64_t base;
	uint64_t bytes;
};

struct area_space {
	struct list areas;
	struct list *cursor; /* search goes on behind this area */
	uint64_t base, end;
	uint64_t used_bytes;
};

#define AREA_SPACE_INIT(space, from, to)                                                           \
	{ .areas = LIST_INIT((space).areas), .cursor = &(space).areas, .base = (from), .end = (to) }

/*
 * Reserve bytes at a multiple of align (a power of two), with at least gap bytes free behind. The
 * record is heap memory. NULL: no room or no memory.
 */
struct area *area_alloc(struct area_space *s, uint64_t bytes, uint64_t align,
			uint64_t gap) __must_check;
/* The area that starts at base, or NULL. */
struct area *area_find(struct area_space *s, uint64_t base);
void area_free(struct area_space *s, struct area *a);

/* End of the area before, start of the area behind; the space's ends where there is none. */
uint64_t area_prev_end(const struct area_space *s, const struct area *a);
uint64_t area_next_base(const struct area_space *s, const struct area *a);
