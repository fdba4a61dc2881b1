/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line that the host and the human share: one UART, its interrupt, its lock.
 *
 * Each call to serial_write() or serial_try_write() of at most SERIAL_ATOMIC_BYTES appears on the
 * line in one piece, so that log lines from an interrupt never land inside a frame.
 */
#pragma once

#include "include/base.h"
#include "drivers/uart.h"

struct board_info;

#define SERIAL_RX_BYTES	    32768u
#define SERIAL_TX_BYTES	    16384u
#define SERIAL_ATOMIC_BYTES (SERIAL_TX_BYTES / 2)

/*
 * Bring up the console UART (pins, clock, line rate), polled for now; log lines and panics go there
 * from here on. 0 or -errno: there is no port then, and all functions here do nothing.
 * Boot core, after machine_init().
 */
int serial_init(const struct board_info *board) __must_check;
/*
 * Let the port interrupt this CPU; where it cannot, a timer looks after it a thousand times a
 * second. After irq_init() and time_init_irq(). Returns 0, or what stands in the way of the
 * interrupt.
 */
int serial_start_irq(const struct board_info *board);

/* Take up to n received bytes; returns how many there were. Never waits. Thread, CPU 0. */
size_t serial_rx_read(void *buf, size_t n);
/* Are there received bytes to be read? Context: any. */
bool serial_rx_pending(void);

/* Send n bytes; waits for room. Thread. */
void serial_write(const void *buf, size_t n);
/* Queue n bytes, all or nothing, without waiting. False: no room. Context: any. */
bool serial_try_write(const void *buf, size_t n);
/*
 * A text with its newlines as CR LF. serial_put_text waits for room (thread); serial_log_text drops
 * the line and counts it when there is none (any context).
 */
void serial_put_text(const char *text, size_t len);
void serial_log_text(const char *text, size_t len);
/* Wait until all of it has left the port, a second at most. Context: any. */
void serial_flush(void);

struct serial_info {
	const char *driver; /* "pl011", NULL: no port */
	uint64_t base_pa;
	uint32_t intid; /* 0: polled */
	uint32_t clock_hz;
	uint32_t baud; /* 0: as the loader has set it */
	struct uart_stats stats;
	uint64_t log_lines_dropped;
};
void serial_get_info(struct serial_info *out);
