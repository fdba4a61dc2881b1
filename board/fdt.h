/* SPDX-License-Identifier: BSD-2-Clause */
/* From a device tree to a struct board_info. */
#pragma once

#include "board/board.h"
#include "include/base.h"

/*
 * Fill out from the tree at fdt (checked by tree_check()), without knowledge of any particular
 * board. Devices that cannot be understood are left out; what is out of room is counted or left
 * out. The console is the UART of stdout-path, else the first. cpu[0] is the one whose MPIDR is
 * boot_mpidr. out->name, ->fdt and the devices' clocks and quirks are for the board's row to set.
 *
 * Returns NULL, or in words why this tree cannot describe a machine that runs us (no RAM, RAM that
 * does not hold image_pa, too many reservations to keep them all); out is then undefined.
 */
const char *fdt_read_board(const void *fdt, uint64_t image_pa, uint64_t boot_mpidr,
			   struct board_info *out) __must_check;

/* The tree's root node is compatible with what. fdt has passed tree_check(). */
bool fdt_is_compatible(const void *fdt, const char *what);
