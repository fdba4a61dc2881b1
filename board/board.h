/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this machine is: filled once at boot, read by everyone afterwards.
 *
 * board_discover() reads the flattened device tree that the loader left in x0 and turns it into one
 * plain struct: no pointer into the tree survives, so the tree's memory may be given away. Every
 * address is physical and already translated through the tree's `ranges`; every interrupt number is
 * a GIC INTID. Drivers take virtual addresses: the caller maps a device and fills the driver's
 * config.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_MAX_RAM	   8
#define BOARD_MAX_RESERVED 32
#define BOARD_MAX_CPUS	   16
#define BOARD_MAX_UARTS	   6
#define BOARD_MAX_REDISTS  4
#define BOARD_NAME_BYTES   64
#define BOARD_ARGS_BYTES   1024
#define BOARD_NOTE_BYTES   192
#define BOARD_SEED_BYTES   64
#define BOARD_MPIDR_MASK   0xff00ffffffull /* affinity fields of MPIDR_EL1 */

struct board_range {
	uint64_t base_pa;
	uint64_t size_bytes;
};

enum board_reserved_type {
	BOARD_RESERVED_FIRMWARE,   /* never touch: memreserve, /reserved-memory, TF-A */
	BOARD_RESERVED_SPIN_TABLE, /* release slots of parked cores: mapped, never allocated */
	BOARD_RESERVED_FDT,	   /* the tree itself: free once board_discover() has returned */
	BOARD_RESERVED_INITRD,	   /* the boot bundle: free once it has been replayed */
};

struct board_reserved {
	struct board_range range;
	enum board_reserved_type type;
	bool no_map; /* the owner forbids any mapping (/reserved-memory `no-map`) */
};

enum board_uart_type { BOARD_UART_NONE, BOARD_UART_PL011, BOARD_UART_MINI };

struct board_uart {
	enum board_uart_type type;
	uint64_t base_pa;
	uint64_t size_bytes;
	uint32_t intid;	   /* 0: unknown, poll it */
	uint32_t clock_hz; /* input clock of the baud generator; 0: unknown, keep the loader's rate
			    */
	uint32_t baud;	   /* wanted line rate; 0: keep what the loader has set */
	uint32_t firmware_clock; /* number to ask board_info.mailbox for clock_hz by; 0: none */
	/* Pins that lead out of the chip, set by board_info.gpio before use. */
	bool has_pins;
	uint8_t pin_tx;
	uint8_t pin_rx;
	uint8_t pin_function; /* in the GPIO driver's numbers */
};

enum board_gic_type { BOARD_GIC_NONE, BOARD_GIC_V2, BOARD_GIC_V3 };

struct board_gic {
	enum board_gic_type type;
	struct board_range dist;		      /* GICD */
	struct board_range cpu;			      /* GICv2: GICC */
	struct board_range redist[BOARD_MAX_REDISTS]; /* GICv3: GICR regions */
	unsigned int n_redists;
};

enum board_cpu_method {
	BOARD_CPU_NONE, /* other cores cannot be started */
	BOARD_CPU_PSCI_HVC,
	BOARD_CPU_PSCI_SMC,
	BOARD_CPU_SPIN_TABLE,
};

struct board_cpu {
	uint64_t mpidr;	     /* affinity fields only (MPIDR_EL1 & BOARD_MPIDR_MASK) */
	uint64_t release_pa; /* spin-table: write the entry's PA here, clean to PoC, SEV; else 0 */
	uint32_t pmu_spi;    /* INTID of this core's PMU interrupt when it is an SPI, else 0 */
};

enum board_watchdog_type { BOARD_WATCHDOG_NONE, BOARD_WATCHDOG_BCM };
enum board_gpio_type { BOARD_GPIO_NONE, BOARD_GPIO_BCM2711, BOARD_GPIO_PL061 };

struct board_info {
	char name[BOARD_NAME_BYTES];  /* of the board row: "qemu-virt", "rpi4", or "generic" */
	char model[BOARD_NAME_BYTES]; /* the tree's /model, "" when there is none */
	bool from_tree;		      /* false: compiled-in values, see board_note */

	struct board_range ram[BOARD_MAX_RAM]; /* sorted by address, disjoint, non-secure */
	unsigned int n_ram;
	struct board_reserved reserved[BOARD_MAX_RESERVED]; /* may overlap, may lie outside RAM */
	unsigned int n_reserved;

	struct board_uart uart[BOARD_MAX_UARTS];
	unsigned int n_uarts;
	unsigned int console_uart; /* index into uart[]; valid whenever n_uarts > 0 */

	struct board_gic gic;
	uint32_t timer_virt_intid; /* EL1 virtual timer */
	uint32_t timer_phys_intid; /* EL1 non-secure physical timer */
	uint32_t pmu_ppi_intid;	   /* 0: none. Enable it beside each core's pmu_spi */

	enum board_cpu_method cpu_method;
	bool has_psci;			      /* cpu_method is PSCI's: SYSTEM_OFF, SYSTEM_RESET */
	struct board_cpu cpu[BOARD_MAX_CPUS]; /* [0] is the core that called board_discover() */
	unsigned int n_cpus;
	unsigned int n_cpus_ignored; /* described by the tree but beyond BOARD_MAX_CPUS */

	enum board_watchdog_type watchdog_type;
	struct board_range watchdog;
	enum board_gpio_type gpio_type;
	struct board_range gpio;
	struct board_range mailbox; /* VideoCore property mailbox; size 0: none */

	char bootargs[BOARD_ARGS_BYTES];    /* /chosen/bootargs, NUL-terminated */
	bool bootargs_cut;		    /* did not fit: the tail is missing */
	uint8_t rng_seed[BOARD_SEED_BYTES]; /* /chosen/rng-seed: unpredictable, from the loader */
	uint32_t rng_seed_bytes;	    /* 0: the loader gave none */
	struct board_range initrd;	    /* /chosen/linux,initrd-*; size 0: none */
	struct board_range fdt;		    /* where the tree lies; size 0: none was usable */
};

/*
 * What the kernel knows before it knows the board.
 *
 * @fdt_pa:   x0 as the loader left it; anything, it is not trusted.
 * @image_pa: where the image was loaded (before it moved itself).
 * @entry_el: exception level of the entry, 1 to 3.
 * @map:      makes @size_bytes from @pa readable and returns their address, or NULL when any part
 * of the range cannot be read (not RAM, reading it faults). Called with ranges that a broken loader
 * or tree may have made up. The mapping lasts until board_discover() returns.
 */
struct board_boot {
	uint64_t fdt_pa;
	uint64_t image_pa;
	uint64_t midr;
	uint64_t mpidr;
	uint64_t id_aa64pfr0;
	unsigned int entry_el;
	const void *(*map)(uint64_t pa, uint64_t size_bytes);
};

/*
 * Something that a human must be told about the choice, and where to say it.
 * @text: one line without newline, "" when there is nothing to say (a good tree, a known board).
 * @uart: the first UART found, in the tree or among the compiled-in boards; type NONE if none.
 */
struct board_note {
	char text[BOARD_NOTE_BYTES];
	struct board_uart uart;
};

/*
 * Fill @out from the tree; from a compiled-in board when the tree is missing or damaged and the
 * machine can be told from MIDR and load address; else fail. @note is always filled: print
 * note->text on the console (success) or on note->uart (failure) before halting.
 *
 * Returns 0, or -ENODEV with @out untouched. Needs MMU on (unaligned reads), FPEN set (libfdt uses
 * vector registers), about 4 KiB of stack, boot core only, before any allocator.
 */
int board_discover(const struct board_boot *boot, struct board_info *out, struct board_note *note);

/*
 * The UART that a machine like this one most likely has, by MIDR and load address alone: for
 * messages before board_discover(). Returns false and leaves @out alone if nothing is known.
 */
bool board_guess_uart(const struct board_boot *boot, struct board_uart *out);

/*
 * Value of `key=value` (words separated by spaces) in the boot arguments, or of a bare `key` (an
 * empty value). The last of several wins, as for Linux. Copies at most @size_bytes - 1 characters
 * and terminates. Returns the value's length, or -ENOENT (@out untouched), or -ERANGE when it does
 * not fit (@out untouched).
 */
int board_get_arg(const struct board_info *info, const char *key, char *out, size_t size_bytes);
