/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/early_console.h"

#include "board/board.h"
#include "boot/boot.h"
#include "drivers/uart.h"
#include "kernel/cpu.h"
#include "mm/xlat.h"

/* One is in use while the other is brought up. */
static struct uart ports[2];
static struct uart *early_uart;

static const struct uart_ops *const uart_ops_of[] = {
	[BOARD_UART_PL011] = &uart_pl011_ops,
	[BOARD_UART_MINI] = &uart_mini_ops,
};

void early_console_use(const struct board_uart *port)
{
	static uint8_t rings[2][16];
	struct uart *uart = early_uart == &ports[0] ? &ports[1] : &ports[0];
	struct uart_config config = {
		.clock_hz = port->clock_hz,
		.baud = port->baud,
		.rx_buf = rings[0],
		.rx_bytes = sizeof(rings[0]),
		.tx_buf = rings[1],
		.tx_bytes = sizeof(rings[1]),
	};
	void *va;

	if (port->type == BOARD_UART_NONE || port->type >= ARRAY_SIZE(uart_ops_of))
		return;
	va = xlat_device_map(port->base_pa, port->size_bytes);
	if (!va)
		return;
	config.base_va = (uintptr_t)va;
	if (uart_init(uart, uart_ops_of[port->type], &config) == 0)
		early_uart = uart;
}

void early_console_init(void)
{
	struct board_boot boot = {
		.image_pa = boot_info.load_pa,
		.midr = cpu_get_features()->midr,
		.entry_el = (unsigned int)boot_info.entry_el,
	};
	struct board_uart port;

	if (board_guess_uart(&boot, &port))
		early_console_use(&port);
}

void early_console_set(struct uart *uart)
{
	early_uart = uart;
}

void early_console_write(const char *text, size_t len)
{
	struct uart *uart = early_uart;

	if (!uart)
		return;
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			uart->ops->put_polled(uart, '\r');
		uart->ops->put_polled(uart, (uint8_t)text[i]);
	}
}
