/* SPDX-License-Identifier: BSD-2-Clause */
/* What a bare board offers and Linux does not: include/barebpf_helpers.h is the contract. */
#include "include/barebpf_helpers.h"

#include "bpf/helpers.h"

/* Longest text of one call; a longer one would hold up the frames on the line. */
#define UART_WRITE_MAX 512

HELPER_DEF(board_id)
{
	return hal_board_id();
}

HELPER_DEF(board_counter)
{
	return hal_counter();
}

HELPER_DEF(board_counter_hz)
{
	return hal_counter_hz();
}

HELPER_DEF(board_gpio_get)
{
	return helper_ret(hal_gpio_get((uint32_t)r1));
}

HELPER_DEF(board_gpio_set)
{
	if ((uint32_t)r2 > 1)
		return helper_ret(-EINVAL);
	return helper_ret(hal_gpio_set((uint32_t)r1, (uint32_t)r2));
}

HELPER_DEF(board_gpio_direction)
{
	if ((uint32_t)r2 > BOARD_GPIO_OUT)
		return helper_ret(-EINVAL);
	return helper_ret(hal_gpio_set_output((uint32_t)r1, (uint32_t)r2 == BOARD_GPIO_OUT));
}

HELPER_DEF(board_uart_write)
{
	if ((uint32_t)r2 > UART_WRITE_MAX)
		return helper_ret(-E2BIG);
	return helper_ret(hal_line_write(helper_ptr(r1), (uint32_t)r2));
}
