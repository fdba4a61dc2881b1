/* SPDX-License-Identifier: BSD-2-Clause */
/* A board: a row in boards.c and a setup function of its own. */
#pragma once

#include "board/board.h"
#include "include/base.h"

/*
 * Fill in what a board's tree does not say or says wrong. Without a tree (info->from_tree is false,
 * everything but the boot core and the timer's INTIDs is zero) fill in all of it.
 */
void board_setup_qemu_virt(const struct board_boot *boot, struct board_info *info);
void board_setup_rpi4(const struct board_boot *boot, struct board_info *info);
