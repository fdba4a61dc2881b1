/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raspberry Pi 4 B, 400 and Compute Module 4 (BCM2711), real or as QEMU's `raspi4b`.
 * Addresses: "BCM2711 ARM Peripherals", chapter "Address map", in the low peripheral mode.
 */
#include "board/boards.h"
#include "board/ranges.h"
#include "drivers/gpio_bcm.h"
#include "drivers/mailbox_bcm.h"

#define N_CPUS 4

/* What the smallest Pi 4 has left when the VideoCore takes its largest usual share. */
#define RAM_MIN_BYTES (896u << 20)
/* The spin table and the stub's code, or TF-A in their place. */
#define FIRMWARE_BYTES	 (512u << 10)
#define SPIN_TABLE_BYTES 4096u
#define RELEASE_PA	 0xd8u

#define PL011_PA     0xfe201000u
#define MINI_UART_PA 0xfe215040u

/* The firmware's default (init_uart_clock in config.txt). */
#define PL011_CLOCK_HZ 48000000u
#define CONSOLE_BAUD   115200u

/* The tree and the hardware have an SPI a core, QEMU 10 a PPI: take both. */
#define PMU_SPI_INTID 48
#define PMU_PPI_INTID 23

static void set_fallback(struct board_info *info)
{
	struct board_reserved firmware = { .range = { 0, FIRMWARE_BYTES } };
	struct board_reserved slots = { .range = { 0, SPIN_TABLE_BYTES },
					.type = BOARD_RESERVED_SPIN_TABLE };

	ranges_add_ram(info, (struct board_range){ 0, RAM_MIN_BYTES });
	info->reserved[info->n_reserved++] = firmware;
	info->reserved[info->n_reserved++] = slots;
	info->uart[0] = (struct board_uart){
		.type = BOARD_UART_PL011, .base_pa = PL011_PA, .size_bytes = 0x200, .intid = 153
	};
	info->uart[1] = (struct board_uart){
		.type = BOARD_UART_MINI, .base_pa = MINI_UART_PA, .size_bytes = 0x40, .intid = 125
	};
	info->n_uarts = 2;
	info->gic.type = BOARD_GIC_V2;
	info->gic.dist = (struct board_range){ 0xff841000, 0x1000 };
	info->gic.cpu = (struct board_range){ 0xff842000, 0x2000 };
	info->cpu_method = BOARD_CPU_SPIN_TABLE;
	info->n_cpus = N_CPUS;
	for (unsigned int i = 0; i < N_CPUS; i++)
		info->cpu[i] = (struct board_cpu){ .mpidr = i,
						   .release_pa = RELEASE_PA + 8 * i,
						   .pmu_spi = PMU_SPI_INTID + i };
	info->watchdog_type = BOARD_WATCHDOG_BCM;
	info->watchdog = (struct board_range){ 0xfe100000, 0x114 };
	info->gpio_type = BOARD_GPIO_BCM2711;
	info->gpio = (struct board_range){ 0xfe200000, 0xf4 };
	info->mailbox = (struct board_range){ 0xfe00b880, 0x40 };
}

/* UART0 and UART1 can both be put on the pins of the 40-pin header that are meant for a console. */
static void set_console_pins(struct board_uart *uart)
{
	uart->has_pins = true;
	uart->pin_tx = 14;
	uart->pin_rx = 15;
	uart->pin_function = uart->type == BOARD_UART_PL011 ? GPIO_BCM_ALT0 : GPIO_BCM_ALT5;
	uart->firmware_clock =
		uart->type == BOARD_UART_PL011 ? MAILBOX_CLOCK_UART : MAILBOX_CLOCK_CORE;
}

void board_setup_rpi4(const struct board_boot *boot, struct board_info *info)
{
	(void)boot;
	if (!info->from_tree)
		set_fallback(info);
	info->pmu_ppi_intid = PMU_PPI_INTID;
	/*
	 * The tree's stdout-path is the mini UART, whose rate follows the VideoCore's clock. The
	 * PL011 has a clock of its own and a deeper FIFO: it is the console unless `uart=` says
	 * else.
	 */
	for (unsigned int i = 0; i < info->n_uarts; i++) {
		struct board_uart *uart = &info->uart[i];

		if (uart->base_pa != PL011_PA && uart->base_pa != MINI_UART_PA)
			continue;
		set_console_pins(uart);
		uart->baud = CONSOLE_BAUD;
		if (uart->base_pa == PL011_PA) {
			info->console_uart = i;
			if (!uart->clock_hz)
				uart->clock_hz = PL011_CLOCK_HZ;
		}
	}
}
