/* SPDX-License-Identifier: BSD-2-Clause */
/* Devices of the host's hal: eight pins, of which the last is taken, and a line that is a buffer.
 */
#include <string.h>

#include "hal_host_int.h"
#include "include/barebpf_helpers.h"
#include "include/err.h"
#include "include/hal.h"

#define PINS 8

static struct {
	bool absent;
	bool level[PINS], output[PINS];
	char line[1024];
	size_t line_len;
} board;

void hal_host_board_reset(void)
{
	memset(&board, 0, sizeof(board));
}

void hal_host_set_gpio(bool present)
{
	board.absent = !present;
}

void hal_host_set_pin(unsigned int pin, bool high)
{
	board.level[pin] = high;
}

bool hal_host_pin_is_output(unsigned int pin)
{
	return board.output[pin];
}

const char *hal_host_line_text(void)
{
	return board.line;
}

static int pin_check(unsigned int pin)
{
	if (board.absent)
		return -ENODEV;
	if (pin >= PINS)
		return -EINVAL;
	return pin == PINS - 1 ? -EBUSY : 0;
}

int hal_gpio_get(unsigned int pin)
{
	int err = pin_check(pin);

	return err ? err : board.level[pin];
}

int hal_gpio_set(unsigned int pin, bool high)
{
	int err = pin_check(pin);

	if (!err && board.output[pin])
		board.level[pin] = high;
	return err;
}

int hal_gpio_set_output(unsigned int pin, bool output)
{
	int err = pin_check(pin);

	if (!err)
		board.output[pin] = output;
	return err;
}

int hal_line_write(const char *text, size_t len)
{
	if (memchr(text, 0, len))
		return -EINVAL;
	if (len >= sizeof(board.line) - board.line_len)
		return -EAGAIN;
	memcpy(board.line + board.line_len, text, len);
	board.line_len += len;
	return 0;
}

uint32_t hal_board_id(void)
{
	return BOARD_ID_QEMU_VIRT;
}

uint64_t hal_counter(void)
{
	return hal_ktime_ns() / 16;
}

uint64_t hal_counter_hz(void)
{
	return 62500000;
}
