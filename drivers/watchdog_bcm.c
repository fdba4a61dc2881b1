/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/watchdog_bcm.h"

#include "drivers/mmio.h"
#include "include/err.h"

#define PM_RSTC 0x1c
#define PM_RSTS 0x20
#define PM_WDOG 0x24

#define PM_PASSWORD 0x5a000000u /* a write without it is ignored */

#define RSTC_MODE_MASK	0x30u
#define RSTC_FULL_RESET 0x20u
/* Bits 0, 2, 4, 6, 8 and 10 hold the number of the partition that the firmware boots next. */
#define RSTS_PARTITION_MASK 0x555u
#define RSTS_PARTITION_HALT 0x555u

/* In units of 16 us. */
#define TIMEOUT_TICKS 10u

int watchdog_bcm_init(struct watchdog_bcm *w, uintptr_t base_va)
{
	if (!base_va)
		return -EINVAL;
	w->base_va = base_va;
	return 0;
}

static void start(const struct watchdog_bcm *w, uint32_t partition)
{
	uint32_t status = mmio_read32(w->base_va, PM_RSTS) & 0xffffff & ~RSTS_PARTITION_MASK;
	uint32_t control = mmio_read32(w->base_va, PM_RSTC) & 0xffffff & ~RSTC_MODE_MASK;

	mmio_write32(w->base_va, PM_RSTS, PM_PASSWORD | status | partition);
	mmio_write32(w->base_va, PM_WDOG, PM_PASSWORD | TIMEOUT_TICKS);
	mmio_write32(w->base_va, PM_RSTC, PM_PASSWORD | control | RSTC_FULL_RESET);
	mmio_barrier();
}

void watchdog_bcm_reset(const struct watchdog_bcm *w)
{
	start(w, 0);
}

void watchdog_bcm_halt(const struct watchdog_bcm *w)
{
	start(w, RSTS_PARTITION_HALT);
}
