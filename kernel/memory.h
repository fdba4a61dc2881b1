/* SPDX-License-Identifier: BSD-2-Clause */
/* From the board's description of RAM to a working mm/. */
#pragma once

#include "include/base.h"

struct board_info;

/* Before the machine is known: page allocator over the rest of the data frame. Boot core, first. */
void memory_init_early(void);

/*
 * All RAM: direct map, page allocator, reserved ranges. What the owner of a range forbids to map
 * (/reserved-memory no-map) is left out. Panics if this RAM cannot be used. Boot core, once.
 */
void memory_init(const struct board_info *board);

/*
 * The rest of the text block behind the kernel's code: mapped executable, filled with BRK words,
 * never writable at this address. Pack 0 of compiled programs. Multiples of 4 KB.
 */
void memory_get_text_spare(uint64_t *va, uint64_t *pa, uint64_t *bytes);
