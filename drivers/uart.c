/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/uart.h"

#include "include/err.h"

static bool is_ring_size(uint32_t n)
{
	return n && !(n & (n - 1)) && n <= 1u << 31;
}

int uart_init(struct uart *u, const struct uart_ops *ops, const struct uart_config *config)
{
	if (!is_ring_size(config->rx_bytes) || !is_ring_size(config->tx_bytes))
		return -EINVAL;
	*u = (struct uart){ .ops = ops, .base_va = config->base_va };
	ring_init(&u->rx, config->rx_buf, config->rx_bytes);
	ring_init(&u->tx, config->tx_buf, config->tx_bytes);
	return ops->init(u, config);
}

void uart_enable_irq(struct uart *u)
{
	u->irq_driven = true;
	/* What came before is in the FIFO and need not raise the line again. */
	u->ops->handle_irq(u);
	if (!u->rx_stalled)
		u->ops->set_rx_irq(u, true);
}

uint32_t uart_rx_used(const struct uart *u)
{
	return ring_used(&u->rx);
}

size_t uart_rx_read(struct uart *u, void *buf, size_t n)
{
	size_t got;

	if (!u->irq_driven)
		u->ops->handle_irq(u);
	got = ring_read(&u->rx, buf, n);
	if (u->rx_stalled && got) {
		u->rx_stalled = false;
		u->ops->handle_irq(u);
		if (!u->rx_stalled && u->irq_driven)
			u->ops->set_rx_irq(u, true);
	}
	return got;
}

size_t uart_tx_write(struct uart *u, const void *buf, size_t n)
{
	size_t queued = ring_write(&u->tx, buf, n);

	u->ops->start_tx(u);
	return queued;
}

void uart_tx_polled(struct uart *u, const void *buf, size_t n)
{
	const uint8_t *p = buf;
	uint8_t byte;

	while (ring_get(&u->tx, &byte))
		u->ops->put_polled(u, byte);
	while (n--)
		u->ops->put_polled(u, *p++);
}
