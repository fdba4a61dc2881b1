/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/pins.h"

#include <string.h>

#include "board/board.h"
#include "drivers/gpio_bcm.h"
#include "drivers/gpio_pl061.h"
#include "drivers/timer_arm.h"
#include "include/barebpf_helpers.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/log.h"
#include "kernel/machine.h"
#include "kernel/serial.h"
#include "kernel/time.h"
#include "lib/spinlock.h"
#include "mm/xlat.h"

static struct {
	struct spinlock lock; /* read-modify-write of direction registers */
	enum board_gpio_type type;
	struct gpio_bcm bcm;
	struct gpio_pl061 pl061;
	uint64_t taken; /* bit n: pin n is the board's */
} pins;

static void take_console_pins(const struct board_info *board)
{
	for (unsigned int i = 0; i < board->n_uarts; i++) {
		const struct board_uart *port = &board->uart[i];

		if (port->has_pins && i == board->console_uart)
			pins.taken |= BIT(port->pin_tx) | BIT(port->pin_rx);
	}
}

void pins_init(const struct board_info *board)
{
	uintptr_t base;
	int err = 0;

	if (board->gpio_type == BOARD_GPIO_NONE || !board->gpio.size_bytes)
		return;
	base = (uintptr_t)xlat_device_map(board->gpio.base_pa, board->gpio.size_bytes);
	if (board->gpio_type == BOARD_GPIO_BCM2711)
		err = gpio_bcm_init(&pins.bcm, base);
	else
		err = gpio_pl061_init(&pins.pl061, base);
	if (err) {
		log_warn("no pins: error %d", err);
		return;
	}
	take_console_pins(board);
	pins.type = board->gpio_type;
}

static int pin_check(unsigned int pin)
{
	unsigned int nr = pins.type == BOARD_GPIO_BCM2711 ? GPIO_BCM_PINS : GPIO_PL061_PINS;

	if (pins.type == BOARD_GPIO_NONE)
		return -ENODEV;
	if (pin >= nr)
		return -EINVAL;
	return pins.taken & BIT(pin) ? -EBUSY : 0;
}

int hal_gpio_get(unsigned int pin)
{
	bool high = false;
	int err = pin_check(pin);

	if (err)
		return err;
	if (pins.type == BOARD_GPIO_BCM2711)
		err = gpio_bcm_read(&pins.bcm, pin, &high);
	else
		err = gpio_pl061_read(&pins.pl061, pin, &high);
	return err ? err : high;
}

int hal_gpio_set(unsigned int pin, bool high)
{
	int err = pin_check(pin);

	if (err)
		return err;
	if (pins.type == BOARD_GPIO_BCM2711)
		return gpio_bcm_write(&pins.bcm, pin, high);
	return gpio_pl061_write(&pins.pl061, pin, high);
}

int hal_gpio_set_output(unsigned int pin, bool output)
{
	unsigned long flags;
	int err = pin_check(pin);

	if (err)
		return err;
	flags = spin_lock_irqsave(&pins.lock);
	if (pins.type == BOARD_GPIO_BCM2711)
		err = gpio_bcm_set_function(&pins.bcm, pin,
					    output ? GPIO_BCM_OUTPUT : GPIO_BCM_INPUT);
	else
		err = gpio_pl061_set_output(&pins.pl061, pin, output);
	spin_unlock_irqrestore(&pins.lock, flags);
	return err;
}

int hal_line_write(const char *text, size_t len)
{
	if (len > SERIAL_ATOMIC_BYTES)
		return -E2BIG;
	if (memchr(text, 0, len))
		return -EINVAL;
	return serial_try_write(text, len) ? 0 : -EAGAIN;
}

uint32_t hal_board_id(void)
{
	static const struct {
		const char *name;
		uint32_t id;
	} ids[] = { { "qemu-virt", BOARD_ID_QEMU_VIRT }, { "rpi4", BOARD_ID_RPI4 } };

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		if (!strcmp(machine_get_info()->name, ids[i].name))
			return ids[i].id;
	}
	return BOARD_ID_OTHER;
}

uint64_t hal_counter(void)
{
	return timer_arm_now();
}

uint64_t hal_counter_hz(void)
{
	return time_counter_hz();
}
