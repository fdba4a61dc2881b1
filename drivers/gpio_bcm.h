/* SPDX-License-Identifier: BSD-2-Clause */
/* The pins of the BCM2711 ("BCM2711 ARM Peripherals", chapter "General Purpose I/O"). */
#pragma once

#include "include/base.h"

#define GPIO_BCM_PINS 58

struct gpio_bcm {
	uintptr_t base_va;
};

/* As the function select registers number them. */
enum gpio_bcm_function {
	GPIO_BCM_INPUT = 0,
	GPIO_BCM_OUTPUT = 1,
	GPIO_BCM_ALT0 = 4,
	GPIO_BCM_ALT1 = 5,
	GPIO_BCM_ALT2 = 6,
	GPIO_BCM_ALT3 = 7,
	GPIO_BCM_ALT4 = 3,
	GPIO_BCM_ALT5 = 2,
};

enum gpio_bcm_pull { GPIO_BCM_NO_PULL, GPIO_BCM_PULL_UP, GPIO_BCM_PULL_DOWN };

/* Functions return 0, or -EINVAL for a pin that does not exist (init: no address). */
int gpio_bcm_init(struct gpio_bcm *g, uintptr_t base_va) __must_check;
int gpio_bcm_set_function(const struct gpio_bcm *g, unsigned int pin, enum gpio_bcm_function fn);
int gpio_bcm_set_pull(const struct gpio_bcm *g, unsigned int pin, enum gpio_bcm_pull pull);
int gpio_bcm_write(const struct gpio_bcm *g, unsigned int pin, bool high);
int gpio_bcm_read(const struct gpio_bcm *g, unsigned int pin, bool *high);
