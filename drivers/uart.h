/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Serial ports: one struct uart a port, one struct uart_ops a kind of hardware.
 *
 *     hardware FIFO --handle_irq--> rx ring --uart_rx_read--> reader
 *     writer --uart_tx_write--> tx ring --start_tx, handle_irq--> hardware FIFO
 *
 * A full rx ring stops reception instead of dropping: the receive interrupt is masked, bytes stay
 * in the FIFO, and the next uart_rx_read() resumes. What the hardware itself drops is counted.
 *
 * Locking: the caller serialises all calls on one port, the interrupt handler's too (one lock taken
 * with interrupts masked). uart_rx_used() alone may be called from anywhere.
 */
#pragma once

#include "include/base.h"
#include "lib/ring.h"

struct uart_ops;

/*
 * @base_va:  the port's registers.
 * @clock_hz, @baud: set the line rate from this input clock; if either is 0 the rate stays as it
 * is.
 * @rx_buf, @tx_buf: rings, a power of two bytes each; they belong to the port from now on.
 */
struct uart_config {
	uintptr_t base_va;
	uint32_t clock_hz;
	uint32_t baud;
	uint8_t *rx_buf;
	uint8_t *tx_buf;
	uint32_t rx_bytes;
	uint32_t tx_bytes;
};

struct uart_stats {
	uint64_t irqs;
	uint64_t rx_bytes;
	uint64_t tx_bytes;
	uint64_t rx_stalls;   /* times the rx ring was full and reception waited */
	uint64_t overruns;    /* bytes lost by the hardware: at least this many */
	uint64_t line_errors; /* framing and parity errors (byte kept), breaks (byte dropped) */
};

struct uart {
	const struct uart_ops *ops;
	uintptr_t base_va;
	struct ring rx;
	struct ring tx;
	uint32_t irq_mask; /* the interrupt enable register as last written */
	bool irq_driven;   /* false: uart_rx_read() and uart_tx_write() work the hardware themselves
			    */
	bool rx_stalled;
	struct uart_stats stats;
};

struct uart_ops {
	const char *name;
	/* Set line and FIFOs, interrupts off. 0, or -EINVAL for a rate that the clock cannot make.
	 */
	int (*init)(struct uart *u, const struct uart_config *config);
	/* Turn reception on or off as an interrupt source. */
	void (*set_rx_irq)(struct uart *u, bool on);
	/* Empty the receive FIFO into the ring, fill the transmit FIFO from the ring. */
	void (*handle_irq)(struct uart *u);
	/* Fill the transmit FIFO from the ring; ask for an interrupt while the ring holds more. */
	void (*start_tx)(struct uart *u);
	/* Wait for room and send one byte at once, past the ring. For panics. */
	void (*put_polled)(struct uart *u, uint8_t byte);
	/* The last bit has left the port. */
	bool (*is_tx_idle)(const struct uart *u);
};

extern const struct uart_ops uart_pl011_ops; /* Arm PrimeCell UART (PL011) TRM, DDI 0183 */
extern const struct uart_ops uart_mini_ops;  /* BCM2711 ARM Peripherals, Auxiliaries: mini UART */

/*
 * Bring up a port, without interrupts. 0, or -EINVAL (ring size not a power of two, rate out of
 * reach), port unusable then.
 */
int uart_init(struct uart *u, const struct uart_ops *ops,
	      const struct uart_config *config) __must_check;
/* From now on the interrupt handler calls ops->handle_irq. */
void uart_enable_irq(struct uart *u);
/* Bytes that wait in the rx ring. */
uint32_t uart_rx_used(const struct uart *u);
/* Take up to n received bytes; returns how many there were. Never waits. */
size_t uart_rx_read(struct uart *u, void *buf, size_t n);
/* Queue up to n bytes; returns how many found room. Never waits. */
size_t uart_tx_write(struct uart *u, const void *buf, size_t n);
/* Send what is queued and then buf, byte by byte, waiting for the hardware. For panics. */
void uart_tx_polled(struct uart *u, const void *buf, size_t n);
