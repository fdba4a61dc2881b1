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
