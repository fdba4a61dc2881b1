/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * What the boot code leaves for the kernel, and the entry point of secondary cores.
 */

#define BOOT_TEXT_PA	0
#define BOOT_FDT_PA	8
#define BOOT_ROOT_PA	16
#define BOOT_IDMAP_PA	24
#define BOOT_EMPTY_PA	32
#define BOOT_POOL_PA	40
#define BOOT_ENTRY_EL	48
#define BOOT_LOAD_PA	56
#define BOOT_TCR	64
#define BOOT_INSNS	72
#define BOOT_INFO_BYTES 80

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

#include "mm/layout.h"

/*
 * Filled once by the boot core with the MMU off, read by the kernel and, again with the MMU off,
 * by the secondary cores (so it is cleaned to the point of coherency by then).
 */
struct boot_info {
	uint64_t text_pa;  /* frame A: 2 MB aligned, holds the text */
	uint64_t fdt_pa;   /* x0 at entry; not checked, may be anything */
	uint64_t root_pa;  /* level 1 table of the upper half */
	uint64_t idmap_pa; /* TTBR0 tree that maps the text frame at its physical address, RX */
	uint64_t empty_pa; /* TTBR0 tree that maps nothing */
	uint64_t pool_pa;  /* first page of the data frame that boot code has not used */
	uint64_t entry_el; /* exception level at entry, 1 to 3 */
	uint64_t load_pa;  /* where the loader had put the image */
	uint64_t tcr;	   /* TCR_EL1 with IPS of this CPU */
	uint64_t reserved;
};
_Static_assert(offsetof(struct boot_info, text_pa) == BOOT_TEXT_PA, "assembly offset");
_Static_assert(offsetof(struct boot_info, fdt_pa) == BOOT_FDT_PA, "assembly offset");
_Static_assert(offsetof(struct boot_info, root_pa) == BOOT_ROOT_PA, "assembly offset");
_Static_assert(offsetof(struct boot_info, idmap_pa) == BOOT_IDMAP_PA, "assembly offset");
_Static_assert(offsetof(struct boot_info, empty_pa) == BOOT_EMPTY_PA, "assembly offset");
_Static_assert(offsetof(struct boot_info, pool_pa) == BOOT_POOL_PA, "assembly offset");
_Static_assert(offsetof(struct boot_info, entry_el) == BOOT_ENTRY_EL, "assembly offset");
_Static_assert(offsetof(struct boot_info, load_pa) == BOOT_LOAD_PA, "assembly offset");
_Static_assert(offsetof(struct boot_info, tcr) == BOOT_TCR, "assembly offset");
_Static_assert(sizeof(struct boot_info) == BOOT_INFO_BYTES, "assembly offset");

extern struct boot_info boot_info;

/* MPIDR affinity fields of CPU i: how a secondary core finds out which one it is. */
extern uint64_t boot_cpu_mpidr[MAX_CPUS];

/*
 * Entry of a secondary core, at its physical address, at any exception level, MMU off. Ends in
 * smp_secondary_main(i) on that CPU's main stack. boot_info and boot_cpu_mpidr must be in memory
 * (clean to the point of coherency), the CPU's stacks and per-CPU area mapped.
 */
void secondary_entry(void);
#endif
