/* SPDX-License-Identifier: BSD-2-Clause */
/* General purpose pins for programs (hal_gpio_* of include/hal.h), whichever block the board has.
 */
#pragma once

struct board_info;

/* Map the block and set the console's pins apart. Boot core, once. */
void pins_init(const struct board_info *board);
