/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * base_va is the mini UART's own block, 0x40 into the auxiliary peripherals; the enable register of
 * that group is reached below it and must be mapped too.
 */
#include "drivers/mmio.h"
#include "drivers/uart.h"
#include "include/err.h"

#define MU_IO	0x00
#define MU_IER	0x04
#define MU_IIR	0x08
#define MU_LCR	0x0c
#define MU_MCR	0x10
#define MU_LSR	0x14
#define MU_CNTL 0x20
#define MU_BAUD 0x28

/* AUX_ENABLES, from the start of the auxiliary peripherals. */
#define AUX_TO_MU	0x40
#define AUX_ENABLES	0x04
#define AUX_ENABLE_MINI REG_BIT(0)

/*
 * The manual swaps the two enable bits. Bit 2 (line status, as on a 16550) has to be set beside bit
 * 0 for receive interrupts to come.
 */
#define IER_RX (REG_BIT(0) | REG_BIT(2))
#define IER_TX REG_BIT(1)

#define IIR_CLEAR_FIFOS 0x6u
#define LCR_8BIT	0x3u /* the manual shows bit 0 alone, which is 7 bits */
#define LSR_RX_READY	REG_BIT(0)
#define LSR_OVERRUN	REG_BIT(1)
#define LSR_TX_ROOM	REG_BIT(5)
#define LSR_TX_IDLE	REG_BIT(6)
#define CNTL_RX_TX	0x3u

#define BUSY_POLLS 1000000u

static void set_irq_mask(struct uart *u, uint32_t mask)
{
	u->irq_mask = mask;
	mmio_write32(u->base_va, MU_IER, mask);
}

static int mini_init(struct uart *u, const struct uart_config *config)
{
	uintptr_t base = u->base_va, aux = base - AUX_TO_MU;
	uint64_t divisor = 0;
	bool was_on;

	if (config->clock_hz && config->baud) {
		uint64_t bit = (uint64_t)config->baud * 8;

		divisor = (config->clock_hz + bit / 2) / bit;
		if (divisor < 1 || divisor > 0x10000)
			return -EINVAL;
	}
	was_on = mmio_read32(aux, AUX_ENABLES) & AUX_ENABLE_MINI;
	if (!was_on)
		mmio_write32(aux, AUX_ENABLES, mmio_read32(aux, AUX_ENABLES) | AUX_ENABLE_MINI);
	set_irq_mask(u, 0);
	mmio_write32(base, MU_LCR, LCR_8BIT);
	mmio_write32(base, MU_MCR, 0);
	if (divisor)
		mmio_write32(base, MU_BAUD, (uint32_t)(divisor - 1));
	if (!was_on)
		mmio_write32(base, MU_IIR, IIR_CLEAR_FIFOS);
	mmio_write32(base, MU_CNTL, CNTL_RX_TX);
	return 0;
}

static void mini_set_rx_irq(struct uart *u, bool on)
{
	set_irq_mask(u, on ? u->irq_mask | IER_RX : u->irq_mask & ~IER_RX);
}

static void drain_rx(struct uart *u)
{
	uint32_t head = u->rx.head, mask = u->rx.size - 1;
	uint32_t room = ring_free(&u->rx), status;
	uint8_t *buf = u->rx.buf;
	uintptr_t base = u->base_va;

	while ((status = mmio_read32(base, MU_LSR)) & LSR_RX_READY) {
		if (unlikely(status & LSR_OVERRUN))
			u->stats.overruns++;
		if (unlikely(!room)) {
			u->rx_stalled = true;
			u->stats.rx_stalls++;
			mini_set_rx_irq(u, false);
			break;
		}
		buf[head++ & mask] = (uint8_t)mmio_read32(base, MU_IO);
		room--;
	}
	u->stats.rx_bytes += head - u->rx.head;
	__atomic_store_n(&u->rx.head, head, __ATOMIC_RELEASE);
}

static void mini_start_tx(struct uart *u)
{
	uint32_t mask = u->irq_mask & ~IER_TX;
	uint8_t byte;

	while (mmio_read32(u->base_va, MU_LSR) & LSR_TX_ROOM) {
		if (!ring_get(&u->tx, &byte))
			break;
		mmio_write32(u->base_va, MU_IO, byte);
		u->stats.tx_bytes++;
	}
	if (u->irq_driven && ring_used(&u->tx))
		mask |= IER_TX;
	if (mask != u->irq_mask)
		set_irq_mask(u, mask);
}

/* Both requests are levels: they end when the FIFO has been served. */
static void mini_handle_irq(struct uart *u)
{
	u->stats.irqs++;
	if (!u->rx_stalled)
		drain_rx(u);
	if (ring_used(&u->tx) || u->irq_mask & IER_TX)
		mini_start_tx(u);
}

static void mini_put_polled(struct uart *u, uint8_t byte)
{
	for (uint32_t i = 0; i < BUSY_POLLS; i++)
		if (mmio_read32(u->base_va, MU_LSR) & LSR_TX_ROOM)
			break;
	mmio_write32(u->base_va, MU_IO, byte);
	u->stats.tx_bytes++;
}

static bool mini_is_tx_idle(const struct uart *u)
{
	return mmio_read32(u->base_va, MU_LSR) & LSR_TX_IDLE;
}

const struct uart_ops uart_mini_ops = {
	.name = "mini-uart",
	.init = mini_init,
	.set_rx_irq = mini_set_rx_irq,
	.handle_irq = mini_handle_irq,
	.start_tx = mini_start_tx,
	.put_polled = mini_put_polled,
	.is_tx_idle = mini_is_tx_idle,
};
