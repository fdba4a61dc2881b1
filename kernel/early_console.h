/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text before there is a console, and when there can be none any more (panic): byte by byte,
 * polled, no lock, no interrupt.
 */
#pragma once

#include "include/base.h"

struct uart;
struct board_uart;

/*
 * Map and bring up the UART that this machine most likely has (board_guess_uart). Boot core, before
 * the device tree is read. Without a likely UART nothing is ever written.
 */
void early_console_init(void);

/* Map and bring up this port and use it from now on; if that fails, nothing changes. */
void early_console_use(const struct board_uart *port);

/* Use this port from now on (set up, mapped). Its rings are not touched. */
void early_console_set(struct uart *uart);

/* '\n' goes out as "\r\n". Context: any. */
void early_console_write(const char *text, size_t len);
