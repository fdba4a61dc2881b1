/* SPDX-License-Identifier: BSD-2-Clause */
/* Arm's GPIO block, eight pins ("PrimeCell General Purpose Input/Output (PL061) TRM"). */
#pragma once

#include "include/base.h"

#define GPIO_PL061_PINS 8

struct gpio_pl061 {
	uintptr_t base_va;
};

/* Functions return 0, or -EINVAL for a pin that does not exist (init: no address). */
int gpio_pl061_init(struct gpio_pl061 *g, uintptr_t base_va) __must_check;
int gpio_pl061_set_output(const struct gpio_pl061 *g, unsigned int pin, bool output);
/* Of an input, or of an output as it was set last. A level written to an input is lost. */
int gpio_pl061_write(const struct gpio_pl061 *g, unsigned int pin, bool high);
int gpio_pl061_read(const struct gpio_pl061 *g, unsigned int pin, bool *high);
