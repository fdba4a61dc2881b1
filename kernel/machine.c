/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/machine.h"

#include "board/board.h"
#include "boot/boot.h"
#include "drivers/mmio.h"
#include "drivers/psci.h"
#include "drivers/semihost.h"
#include "drivers/watchdog_bcm.h"
#include "include/err.h"
#include "kernel/cpu.h"
#include "kernel/early_console.h"
#include "kernel/log.h"
#include "kernel/memory.h"
#include "kernel/panic.h"
#include "mm/xlat.h"

static struct board_info board;
static struct psci psci;
static bool psci_usable;
static struct watchdog_bcm watchdog;
static bool watchdog_usable;
static bool semihosting;

const struct board_info *machine_get_info(void)
{
	return &board;
}

int bootarg_get(const char *key, char *out, size_t size)
{
	return board_get_arg(&board, key, out, size);
}

bool bootarg_is_set(const char *key)
{
	char value[2];

	return bootarg_get(key, value, sizeof(value)) != -ENOENT;
}

uint64_t bootarg_get_u64(const char *key, uint64_t dflt)
{
	char text[24];
	unsigned int base = 10, i = 0;
	uint64_t value = 0;
	int len = bootarg_get(key, text, sizeof(text));

	if (len <= 0)
		return dflt;
	if (len > 2 && text[0] == '0' && (text[1] | 0x20) == 'x') {
		base = 16;
		i = 2;
	}
	for (; text[i]; i++) {
		unsigned int c = (unsigned char)text[i], digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (c | 0x20) - 'a' + 10;
		else
			return dflt;
		if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit, &value))
			return dflt;
	}
	return value;
}

/* A message on a port that only board_discover() has heard of. */
static void say_on(const struct board_uart *port, const char *text)
{
	if (port->type != BOARD_UART_NONE)
		early_console_use(port);
	log_error("%s", text);
}

static void services_init(void)
{
	if (board.has_psci)
		psci_usable =
			psci_init(&psci, board.cpu_method == BOARD_CPU_PSCI_HVC ? PSCI_HVC
										: PSCI_SMC) == 0;
	if (board.watchdog_type == BOARD_WATCHDOG_BCM) {
		void *va = xlat_device_map(board.watchdog.base_pa, board.watchdog.size_bytes);

		watchdog_usable = va && watchdog_bcm_init(&watchdog, (uintptr_t)va) == 0;
	}
	semihosting = bootarg_is_set("semihosting");
}

void machine_init(void)
{
	struct board_boot boot = {
		.fdt_pa = boot_info.fdt_pa,
		.image_pa = boot_info.load_pa,
		.midr = SYSREG_READ(midr_el1),
		.mpidr = SYSREG_READ(mpidr_el1),
		.id_aa64pfr0 = SYSREG_READ(id_aa64pfr0_el1),
		.entry_el = (unsigned int)boot_info.entry_el,
		.map = xlat_peek,
	};
	struct board_note note;
	int ret = board_discover(&boot, &board, &note);

	xlat_peek_end();
	if (ret) {
		say_on(&note.uart, note.text);
		panic("this machine is unknown: error %d", ret);
	}
	if (board.n_uarts > 0)
		early_console_use(&board.uart[board.console_uart]);
	if (note.text[0])
		log_warn("%s", note.text);
	memory_init(&board);
	services_init();
}

static void __attribute__((noreturn)) stop_here(void)
{
	for (;;)
		__asm__ volatile("msr daifset, #0xf; wfi" ::: "memory");
}

bool machine_has_semihosting(void)
{
	return semihosting;
}

void machine_halt(uint32_t status)
{
	__asm__ volatile("msr daifset, #0xf" ::: "memory");
	if (semihosting)
		semihost_exit(status);
	stop_here();
}

void machine_off(uint32_t status)
{
	__asm__ volatile("msr daifset, #0xf" ::: "memory");
	if (semihosting)
		semihost_exit(status);
	if (psci_usable)
		psci_system_off(&psci);
	if (watchdog_usable)
		watchdog_bcm_halt(&watchdog);
	stop_here();
}

void machine_reset(void)
{
	__asm__ volatile("msr daifset, #0xf" ::: "memory");
	if (psci_usable)
		psci_system_reset(&psci);
	if (watchdog_usable)
		watchdog_bcm_reset(&watchdog);
	stop_here();
}
