/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/gpio_pl061.h"

#include "drivers/mmio.h"
#include "include/err.h"

/* 256 addresses for the data register: address bits 9 to 2 select the pins that an access is about.
 */
#define GPIODATA(pin) (0x004u << (pin))
#define GPIODIR	      0x400

int gpio_pl061_init(struct gpio_pl061 *g, uintptr_t base_va)
{
	if (!base_va)
		return -EINVAL;
	g->base_va = base_va;
	return 0;
}

int gpio_pl061_set_output(const struct gpio_pl061 *g, unsigned int pin, bool output)
{
	uint32_t dir;

	if (pin >= GPIO_PL061_PINS)
		return -EINVAL;
	dir = mmio_read32(g->base_va, GPIODIR);
	dir = output ? dir | REG_BIT(pin) : dir & ~REG_BIT(pin);
	mmio_write32(g->base_va, GPIODIR, dir);
	return 0;
}

int gpio_pl061_write(const struct gpio_pl061 *g, unsigned int pin, bool high)
{
	if (pin >= GPIO_PL061_PINS)
		return -EINVAL;
	mmio_write32(g->base_va, GPIODATA(pin), high ? REG_BIT(pin) : 0);
	return 0;
}

int gpio_pl061_read(const struct gpio_pl061 *g, unsigned int pin, bool *high)
{
	if (pin >= GPIO_PL061_PINS)
		return -EINVAL;
	*high = mmio_read32(g->base_va, GPIODATA(pin)) & REG_BIT(pin);
	return 0;
}
