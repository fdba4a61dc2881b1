/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers that only this board has, for programs: #include it after <bpf/bpf_helpers.h>. Their
 * numbers lie far above Linux's, so that a program which uses one is refused anywhere else.
 *
 *	if (bpf_board_id() == BOARD_ID_RPI4)
 *		bpf_board_gpio_set(42, 1);
 */
#pragma once

enum {
	BPF_FUNC_board_id = 0x10000,
	BPF_FUNC_board_counter,
	BPF_FUNC_board_counter_hz,
	BPF_FUNC_board_gpio_get,
	BPF_FUNC_board_gpio_set,
	BPF_FUNC_board_gpio_direction,
	BPF_FUNC_board_uart_write,
};

enum board_id {
	BOARD_ID_OTHER = 0, /* described by its device tree alone */
	BOARD_ID_QEMU_VIRT = 1,
	BOARD_ID_RPI4 = 2,
};

/* Directions of a pin. */
enum { BOARD_GPIO_IN = 0, BOARD_GPIO_OUT = 1 };

#ifdef __bpf__
/* Which board this is: enum board_id. */
static unsigned int (*const bpf_board_id)(void) = (void *)BPF_FUNC_board_id;

/* The CPU's system counter (CNTVCT_EL0), and how often it counts a second. */
static unsigned long long (*const bpf_board_counter)(void) = (void *)BPF_FUNC_board_counter;
static unsigned long long (*const bpf_board_counter_hz)(void) = (void *)BPF_FUNC_board_counter_hz;

/*
 * A general purpose pin, by the chip's numbers. get: its level, 0 or 1. Errors: -ENODEV there are
 * no pins, -EINVAL there is no such pin or level, -EBUSY the board uses it itself.
 */
static long (*const bpf_board_gpio_get)(unsigned int pin) = (void *)BPF_FUNC_board_gpio_get;
static long (*const bpf_board_gpio_set)(unsigned int pin,
					unsigned int level) = (void *)BPF_FUNC_board_gpio_set;
static long (*const bpf_board_gpio_direction)(unsigned int pin, unsigned int direction) = (void *)
	BPF_FUNC_board_gpio_direction;

/*
 * Write text to the serial line, where a terminal shows it; the host tools pass it by. 0; -E2BIG
 * more than 512 bytes, -EINVAL a zero byte in it, -EAGAIN the line is busy.
 */
static long (*const bpf_board_uart_write)(const void *text,
					  unsigned int len) = (void *)BPF_FUNC_board_uart_write;
#endif
