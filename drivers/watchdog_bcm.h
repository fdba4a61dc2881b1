/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The power manager's watchdog of the BCM283x and BCM2711: the only way to reset a Raspberry Pi.
 * Its block is not in the public manuals; registers as the Raspberry Pi firmware and U-Boot use
 * them.
 */
#pragma once

#include "include/base.h"

struct watchdog_bcm {
	uintptr_t base_va;
};

/* 0, or -EINVAL without an address. */
int watchdog_bcm_init(struct watchdog_bcm *w, uintptr_t base_va) __must_check;
/* Reset within microseconds; returns before it happens. */
void watchdog_bcm_reset(const struct watchdog_bcm *w);
/* Reset into the boot firmware's halt state (partition 63), which is as far off as a Pi goes. */
void watchdog_bcm_halt(const struct watchdog_bcm *w);
