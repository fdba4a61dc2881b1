/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The VideoCore firmware's property mailbox (Raspberry Pi documentation, "Mailbox property
 * interface"): questions that only the firmware can answer, such as the rate of a clock.
 */
#pragma once

#include "include/base.h"

#define MAILBOX_BCM_BUFFER_BYTES 128

/*
 * @buffer_va, @buffer_pa: MAILBOX_BCM_BUFFER_BYTES of normal memory in the first 1 GiB of physical
 * memory, aligned to a multiple of 128 and used for nothing else.
 */
struct mailbox_bcm {
	uintptr_t base_va;
	uint32_t *buffer_va;
	uint64_t buffer_pa;
};

enum mailbox_bcm_clock { MAILBOX_CLOCK_UART = 2, MAILBOX_CLOCK_CORE = 4 };

/* 0 or -EINVAL (no address, buffer out of place). */
int mailbox_bcm_init(struct mailbox_bcm *m, uintptr_t base_va, uint32_t *buffer_va,
		     uint64_t buffer_pa) __must_check;
/*
 * Rate of a clock as it runs now. 0; -EIO (the firmware does not understand, or says 0),
 * -ETIMEDOUT. Spins up to about a second. Calls are serialised by the caller.
 */
int mailbox_bcm_get_clock_hz(const struct mailbox_bcm *m, enum mailbox_bcm_clock clock,
			     uint32_t *hz) __must_check;
