/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/mmio.h"
#include "drivers/uart.h"
#include "include/err.h"

#define UARTDR	 0x000
#define UARTFR	 0x018
#define UARTIBRD 0x024
#define UARTFBRD 0x028
#define UARTLCR	 0x02c
#define UARTCR	 0x030
#define UARTIFLS 0x034
#define UARTIMSC 0x038
#define UARTICR	 0x044

#define DR_FE  REG_BIT(8)
#define DR_PE  REG_BIT(9)
#define DR_BE  REG_BIT(10)
#define DR_OE  REG_BIT(11)
#define DR_ERR (DR_FE | DR_PE | DR_BE | DR_OE)

#define FR_BUSY REG_BIT(3)
#define FR_RXFE REG_BIT(4)
#define FR_TXFF REG_BIT(5)
#define FR_TXFE REG_BIT(7)

#define LCR_FEN	 REG_BIT(4)
#define LCR_8BIT (3u << 5)
#define LCR_8N1	 (LCR_8BIT | LCR_FEN)
#define LCR_MASK 0xfeu /* all but BRK */

#define CR_UARTEN REG_BIT(0)
#define CR_TXE	  REG_BIT(8)
#define CR_RXE	  REG_BIT(9)
#define CR_ON	  (CR_UARTEN | CR_TXE | CR_RXE)

/* Interrupt at half a receive FIFO (time for the other half), at an eighth of a transmit FIFO. */
#define IFLS_LEVELS (2u << 3 | 0u)

#define INT_RX	REG_BIT(4)
#define INT_TX	REG_BIT(5)
#define INT_RT	REG_BIT(6)
#define INT_ALL 0x7ffu

/* Sixteen bytes at the slowest usual rate take 0.2 s; a port that stays busy longer is stuck. */
#define BUSY_POLLS 1000000u

static void set_irq_mask(struct uart *u, uint32_t mask)
{
	u->irq_mask = mask;
	mmio_write32(u->base_va, UARTIMSC, mask);
}

/* Divisor in 64ths of sixteen clocks a bit; 0 when the clock cannot make the rate. */
static uint32_t get_divisor(uint32_t clock_hz, uint32_t baud)
{
	uint64_t divisor = ((uint64_t)clock_hz * 4 + baud / 2) / baud;

	return divisor < 1u << 6 || divisor > 0xffffu << 6 ? 0 : (uint32_t)divisor;
}

static int pl011_init(struct uart *u, const struct uart_config *config)
{
	uintptr_t base = u->base_va;
	uint32_t divisor = 0;
	bool line_ok = (mmio_read32(base, UARTLCR) & LCR_MASK) == LCR_8N1;

	if (config->clock_hz && config->baud) {
		divisor = get_divisor(config->clock_hz, config->baud);
		if (!divisor)
			return -EINVAL;
		if (mmio_read32(base, UARTIBRD) != divisor >> 6 ||
		    mmio_read32(base, UARTFBRD) != (divisor & 0x3f))
			line_ok = false;
	}
	set_irq_mask(u, 0);
	/* Changing the line empties the FIFOs: a port that the loader set up alike stays as it is.
	 */
	if (!line_ok) {
		for (uint32_t i = 0; i < BUSY_POLLS && mmio_read32(base, UARTFR) & FR_BUSY; i++)
			continue;
		mmio_write32(base, UARTCR, 0);
		if (divisor) {
			mmio_write32(base, UARTIBRD, divisor >> 6);
			mmio_write32(base, UARTFBRD, divisor & 0x3f);
		}
		/* This write also latches the divisor. */
		mmio_write32(base, UARTLCR, LCR_8N1);
	}
	mmio_write32(base, UARTIFLS, IFLS_LEVELS);
	mmio_write32(base, UARTICR, INT_ALL);
	mmio_write32(base, UARTCR, mmio_read32(base, UARTCR) | CR_ON);
	return 0;
}

static void pl011_set_rx_irq(struct uart *u, bool on)
{
	set_irq_mask(u, on ? u->irq_mask | INT_RX | INT_RT : u->irq_mask & ~(INT_RX | INT_RT));
}

/* Count what was wrong with a received word. Returns false when it carries no byte. */
static bool check_rx_word(struct uart *u, uint32_t word)
{
	if (word & DR_OE)
		u->stats.overruns++;
	if (word & (DR_FE | DR_PE | DR_BE))
		u->stats.line_errors++;
	return !(word & DR_BE);
}

static void drain_rx(struct uart *u)
{
	uint32_t head = u->rx.head, mask = u->rx.size - 1, word;
	uint32_t room = ring_free(&u->rx);
	uint8_t *buf = u->rx.buf;
	uintptr_t base = u->base_va;

	while (!(mmio_read32(base, UARTFR) & FR_RXFE)) {
		if (unlikely(!room)) {
			u->rx_stalled = true;
			u->stats.rx_stalls++;
			pl011_set_rx_irq(u, false);
			break;
		}
		word = mmio_read32(base, UARTDR);
		if (unlikely(word & DR_ERR) && !check_rx_word(u, word))
			continue;
		buf[head++ & mask] = (uint8_t)word;
		room--;
	}
	u->stats.rx_bytes += head - u->rx.head;
	__atomic_store_n(&u->rx.head, head, __ATOMIC_RELEASE);
}

static void pl011_start_tx(struct uart *u)
{
	uint32_t mask = u->irq_mask & ~INT_TX;
	uint8_t byte;

	while (!(mmio_read32(u->base_va, UARTFR) & FR_TXFF)) {
		if (!ring_get(&u->tx, &byte))
			break;
		mmio_write32(u->base_va, UARTDR, byte);
		u->stats.tx_bytes++;
	}
	if (u->irq_driven && ring_used(&u->tx))
		mask |= INT_TX;
	if (mask != u->irq_mask)
		set_irq_mask(u, mask);
}

static void pl011_handle_irq(struct uart *u)
{
	u->stats.irqs++;
	/*
	 * Cleared before the FIFO is emptied: a byte that arrives during the drain then raises the
	 * line again. Cleared afterwards, its request would be lost, and with it all reception.
	 */
	mmio_write32(u->base_va, UARTICR, INT_RX | INT_RT | INT_TX);
	if (!u->rx_stalled)
		drain_rx(u);
	if (ring_used(&u->tx) || u->irq_mask & INT_TX)
		pl011_start_tx(u);
}

static void pl011_put_polled(struct uart *u, uint8_t byte)
{
	for (uint32_t i = 0; i < BUSY_POLLS && mmio_read32(u->base_va, UARTFR) & FR_TXFF; i++)
		continue;
	mmio_write32(u->base_va, UARTDR, byte);
	u->stats.tx_bytes++;
}

static bool pl011_is_tx_idle(const struct uart *u)
{
	return (mmio_read32(u->base_va, UARTFR) & (FR_BUSY | FR_TXFE)) == FR_TXFE;
}

const struct uart_ops uart_pl011_ops = {
	.name = "pl011",
	.init = pl011_init,
	.set_rx_irq = pl011_set_rx_irq,
	.handle_irq = pl011_handle_irq,
	.start_tx = pl011_start_tx,
	.put_polled = pl011_put_polled,
	.is_tx_idle = pl011_is_tx_idle,
};
