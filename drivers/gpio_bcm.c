/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/gpio_bcm.h"

#include "drivers/mmio.h"
#include "include/err.h"

#define GPFSEL	  0x00 /* 3 bits a pin, 10 pins a register */
#define GPSET	  0x1c
#define GPCLR	  0x28
#define GPLEV	  0x34
#define GPPUPPDN  0xe4 /* 2 bits a pin, 16 pins a register */
#define FSEL_MASK 7u
#define PULL_MASK 3u

int gpio_bcm_init(struct gpio_bcm *g, uintptr_t base_va)
{
	if (!base_va)
		return -EINVAL;
	g->base_va = base_va;
	return 0;
}

static void set_field(const struct gpio_bcm *g, uint32_t reg, uint32_t shift, uint32_t mask,
		      uint32_t value)
{
	uint32_t old = mmio_read32(g->base_va, reg);

	mmio_write32(g->base_va, reg, (old & ~(mask << shift)) | value << shift);
}

int gpio_bcm_set_function(const struct gpio_bcm *g, unsigned int pin, enum gpio_bcm_function fn)
{
	if (pin >= GPIO_BCM_PINS || (uint32_t)fn > FSEL_MASK)
		return -EINVAL;
	set_field(g, GPFSEL + pin / 10 * 4, pin % 10 * 3, FSEL_MASK, (uint32_t)fn);
	return 0;
}

int gpio_bcm_set_pull(const struct gpio_bcm *g, unsigned int pin, enum gpio_bcm_pull pull)
{
	if (pin >= GPIO_BCM_PINS || pull > GPIO_BCM_PULL_DOWN)
		return -EINVAL;
	set_field(g, GPPUPPDN + pin / 16 * 4, pin % 16 * 2, PULL_MASK, (uint32_t)pull);
	return 0;
}

int gpio_bcm_write(const struct gpio_bcm *g, unsigned int pin, bool high)
{
	if (pin >= GPIO_BCM_PINS)
		return -EINVAL;
	mmio_write32(g->base_va, (high ? GPSET : GPCLR) + pin / 32 * 4, 1u << pin % 32);
	return 0;
}

int gpio_bcm_read(const struct gpio_bcm *g, unsigned int pin, bool *high)
{
	if (pin >= GPIO_BCM_PINS)
		return -EINVAL;
	*high = mmio_read32(g->base_va, GPLEV + pin / 32 * 4) >> pin % 32 & 1;
	return 0;
}
