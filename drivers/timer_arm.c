/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/timer_arm.h"

#include "drivers/mmio.h"
#include "include/err.h"

#define CTL_ENABLE REG_BIT(0)

#define FREQ_MIN_HZ 1000000ull
#define FREQ_MAX_HZ 4000000000ull
#define NS_PER_S    1000000000ull

int timer_arm_init(struct timer_arm *t, uint64_t fallback_hz)
{
	uint64_t freq = SYSREG_READ(cntfrq_el0) & 0xffffffff;

	if (!freq)
		freq = fallback_hz;
	if (freq < FREQ_MIN_HZ || freq > FREQ_MAX_HZ)
		return -EINVAL;
	timer_arm_stop();
	t->freq_hz = freq;
	t->ns_per_tick = (NS_PER_S << 32) / freq;
	t->ticks_per_ns = ((freq << 32) + NS_PER_S - 1) / NS_PER_S;
	return 0;
}

uint64_t timer_arm_now(void)
{
	/* Without it the counter may be read long before the code whose time is measured. */
	sysreg_sync();
	return SYSREG_READ(cntvct_el0);
}

/* value * factor as 32.32 fixed point, rounded up by `round` (0 or 2^32 - 1), saturated. */
static uint64_t scale(uint64_t value, uint64_t factor, uint32_t round)
{
	unsigned __int128 product = ((unsigned __int128)value * factor + round) >> 32;

	return product >> 64 ? UINT64_MAX : (uint64_t)product;
}

uint64_t timer_arm_ticks_to_ns(const struct timer_arm *t, uint64_t ticks)
{
	return scale(ticks, t->ns_per_tick, 0);
}

uint64_t timer_arm_ns_to_ticks(const struct timer_arm *t, uint64_t ns)
{
	return scale(ns, t->ticks_per_ns, UINT32_MAX);
}

void timer_arm_set_deadline(uint64_t deadline_ticks)
{
	SYSREG_WRITE(cntv_cval_el0, deadline_ticks);
	SYSREG_WRITE(cntv_ctl_el0, CTL_ENABLE);
	sysreg_sync();
}

void timer_arm_stop(void)
{
	SYSREG_WRITE(cntv_ctl_el0, 0);
	sysreg_sync();
}
