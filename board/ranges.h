/* SPDX-License-Identifier: BSD-2-Clause */
/* The lists of memory ranges in a struct board_info. */
#pragma once

#include "board/board.h"
#include "include/base.h"

/*
 * Add RAM: kept sorted and disjoint, ranges that touch or overlap become one. Empty ones are
 * ignored; what is beyond BOARD_MAX_RAM ranges is left out (the highest of them).
 */
void ranges_add_ram(struct board_info *info, struct board_range range);
/* Add a reservation. Empty ones and exact repetitions are ignored. 0 or -ENOSPC. */
int ranges_add_reserved(struct board_info *info,
			const struct board_reserved *reserved) __must_check;
/*
 * Forget firmware reservations that lie inside this range, which the caller is about to reserve for
 * a known purpose: U-Boot reserves the initrd and the tree that it hands over a second time.
 */
void ranges_drop_firmware(struct board_info *info, struct board_range range);
/* All of [pa, pa + size_bytes) is RAM. */
bool ranges_is_ram(const struct board_info *info, uint64_t pa, uint64_t size_bytes);
