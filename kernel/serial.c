/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/serial.h"

#include <string.h>

#include "board/board.h"
#include "drivers/gpio_bcm.h"
#include "drivers/mailbox_bcm.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/early_console.h"
#include "kernel/irq.h"
#include "kernel/log.h"
#include "kernel/time.h"
#include "lib/spinlock.h"
#include "mm/xlat.h"

#define POLL_NS	 1000000ull
#define FLUSH_NS 1000000000ull

static struct {
	struct spinlock lock;
	bool ready;
	struct uart uart;
	struct hal_timer poll_timer;
	struct serial_info info;
	uint8_t rx_ring[SERIAL_RX_BYTES];
	uint8_t tx_ring[SERIAL_TX_BYTES];
} serial;

static uint32_t mailbox_buffer[MAILBOX_BCM_BUFFER_BYTES / 4] __aligned(MAILBOX_BCM_BUFFER_BYTES);

static const struct uart_ops *const ops_of[] = {
	[BOARD_UART_PL011] = &uart_pl011_ops,
	[BOARD_UART_MINI] = &uart_mini_ops,
};

/* The port's two pins, where the board says that they can be used for something else. */
static int set_pins(const struct board_info *board, const struct board_uart *port)
{
	struct gpio_bcm gpio;
	int err;

	if (!port->has_pins || board->gpio_type != BOARD_GPIO_BCM2711)
		return 0;
	err = gpio_bcm_init(
		&gpio, (uintptr_t)xlat_device_map(board->gpio.base_pa, board->gpio.size_bytes));
	if (!err)
		err = gpio_bcm_set_function(&gpio, port->pin_tx,
					    (enum gpio_bcm_function)port->pin_function);
	if (!err)
		err = gpio_bcm_set_function(&gpio, port->pin_rx,
					    (enum gpio_bcm_function)port->pin_function);
	/* An open input would receive noise. */
	if (!err)
		err = gpio_bcm_set_pull(&gpio, port->pin_rx, GPIO_BCM_PULL_UP);
	return err;
}

/* The input clock as the firmware knows it; the board's own idea of it if it does not answer. */
static uint32_t get_clock_hz(const struct board_info *board, const struct board_uart *port)
{
	struct mailbox_bcm mailbox;
	struct xlat_entry entry;
	uint32_t hz = port->clock_hz;
	uint64_t va = (uint64_t)mailbox_buffer;
	void *base;

	if (!port->firmware_clock || !board->mailbox.size_bytes || xlat_lookup(va, &entry))
		return hz;
	base = xlat_device_map(board->mailbox.base_pa, board->mailbox.size_bytes);
	if (mailbox_bcm_init(&mailbox, (uintptr_t)base, mailbox_buffer,
			     entry.pa + (va - entry.va)) ||
	    mailbox_bcm_get_clock_hz(&mailbox, (enum mailbox_bcm_clock)port->firmware_clock, &hz))
		log_warn("the firmware does not tell the console's clock");
	return hz;
}

int serial_init(const struct board_info *board)
{
	const struct board_uart *port = &board->uart[board->console_uart];
	struct uart_config config = {
		.rx_buf = serial.rx_ring,
		.tx_buf = serial.tx_ring,
		.rx_bytes = sizeof(serial.rx_ring),
		.tx_bytes = sizeof(serial.tx_ring),
	};
	int err;

	if (!board->n_uarts)
		return -ENODEV;
	config.base_va = (uintptr_t)xlat_device_map(port->base_pa, port->size_bytes);
	if (!config.base_va)
		return -ENOMEM;
	err = set_pins(board, port);
	if (err)
		return err;
	config.baud = port->baud;
	if (config.baud)
		config.clock_hz = get_clock_hz(board, port);
	err = uart_init(&serial.uart, ops_of[port->type], &config);
	if (err == -EINVAL && config.baud) {
		log_warn("console: %u baud cannot be made from %u Hz", config.baud,
			 config.clock_hz);
		config.baud = 0;
		err = uart_init(&serial.uart, ops_of[port->type], &config);
	}
	if (err)
		return err;
	serial.info.driver = serial.uart.ops->name;
	serial.info.base_pa = port->base_pa;
	serial.info.clock_hz = config.clock_hz;
	serial.info.baud = config.clock_hz ? config.baud : 0;
	serial.ready = true;
	early_console_set(&serial.uart);
	log_set_sink(serial_log_text);
	return 0;
}

static void handle_irq(void *arg, uint32_t intid)
{
	unsigned long flags = spin_lock_irqsave(&serial.lock);

	(void)arg;
	(void)intid;
	serial.uart.ops->handle_irq(&serial.uart);
	spin_unlock_irqrestore(&serial.lock, flags);
}

static void handle_poll(struct hal_timer *timer)
{
	handle_irq(NULL, 0);
	hal_timer_arm(timer, hal_ktime_ns() + POLL_NS);
}

int serial_start_irq(const struct board_info *board)
{
	const struct board_uart *port = &board->uart[board->console_uart];
	unsigned long flags;
	int err = -ENODEV;

	if (!serial.ready)
		return -ENODEV;
	if (port->intid)
		err = irq_register(port->intid, "console", handle_irq, NULL, GIC_PRIORITY_NORMAL, 0,
				   0);
	if (err) {
		serial.poll_timer.fn = handle_poll;
		hal_timer_arm(&serial.poll_timer, hal_ktime_ns() + POLL_NS);
		return err;
	}
	flags = spin_lock_irqsave(&serial.lock);
	uart_enable_irq(&serial.uart);
	spin_unlock_irqrestore(&serial.lock, flags);
	serial.info.intid = port->intid;
	return 0;
}

size_t serial_rx_read(void *buf, size_t n)
{
	unsigned long flags;
	size_t got;

	if (!serial.ready)
		return 0;
	flags = spin_lock_irqsave(&serial.lock);
	got = uart_rx_read(&serial.uart, buf, n);
	spin_unlock_irqrestore(&serial.lock, flags);
	return got;
}

bool serial_rx_pending(void)
{
	return serial.ready && uart_rx_used(&serial.uart);
}

bool serial_try_write(const void *buf, size_t n)
{
	unsigned long flags;
	bool fits;

	if (!serial.ready)
		return false;
	flags = spin_lock_irqsave(&serial.lock);
	if (ring_free(&serial.uart.tx) < n)
		serial.uart.ops->start_tx(&serial.uart);
	fits = ring_free(&serial.uart.tx) >= n;
	if (fits)
		uart_tx_write(&serial.uart, buf, n);
	/* Nobody else would send the rest. */
	while (fits && !serial.uart.irq_driven && ring_used(&serial.uart.tx))
		serial.uart.ops->start_tx(&serial.uart);
	spin_unlock_irqrestore(&serial.lock, flags);
	return fits;
}

void serial_write(const void *buf, size_t n)
{
	const uint8_t *p = buf;

	while (n && serial.ready) {
		size_t piece = MIN(n, (size_t)SERIAL_ATOMIC_BYTES);

		while (!serial_try_write(p, piece))
			spin_relax();
		p += piece;
		n -= piece;
	}
}

/* Text up to the next newline that fits buf, with CR before the newline. Returns what was used. */
static size_t make_line(const char *text, size_t len, char *buf, size_t size, size_t *out_len)
{
	size_t used = 0, n = 0;

	while (used < len && n + 2 <= size) {
		char c = text[used++];

		if (c == '\n')
			buf[n++] = '\r';
		buf[n++] = c;
	}
	*out_len = n;
	return used;
}

void serial_put_text(const char *text, size_t len)
{
	char buf[256];
	size_t n;

	while (len) {
		size_t used = make_line(text, len, buf, sizeof(buf), &n);

		serial_write(buf, n);
		text += used;
		len -= used;
	}
}

void serial_log_text(const char *text, size_t len)
{
	char buf[2 * LOG_LINE_BYTES];
	size_t n;

	make_line(text, len, buf, sizeof(buf), &n);
	if (!serial_try_write(buf, n))
		__atomic_fetch_add(&serial.info.log_lines_dropped, 1, __ATOMIC_RELAXED);
}

void serial_flush(void)
{
	uint64_t end = hal_ktime_ns() + FLUSH_NS;
	unsigned long flags;
	bool done = !serial.ready;

	while (!done && hal_ktime_ns() < end) {
		flags = spin_lock_irqsave(&serial.lock);
		serial.uart.ops->start_tx(&serial.uart);
		done = !ring_used(&serial.uart.tx) && serial.uart.ops->is_tx_idle(&serial.uart);
		spin_unlock_irqrestore(&serial.lock, flags);
	}
}

void serial_get_info(struct serial_info *out)
{
	unsigned long flags = spin_lock_irqsave(&serial.lock);

	*out = serial.info;
	out->stats = serial.uart.stats;
	spin_unlock_irqrestore(&serial.lock, flags);
}
