/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/* Bounds of the image's parts, from linker.ld. */
extern char __text_start[], __text_end[];
extern char __rodata_start[], __rodata_end[];
extern char __bss_start[], __bss_end[];
extern char __image_end[];

/*
 * Build the first translation tables with the MMU off and fill boot_info. Mapped afterwards: the
 * image at its link address, the text frame at its physical address (TTBR0 tree idmap_pa), the data
 * frame in the direct map, stacks and the first per-CPU pages of CPU 0. Context: boot core, once,
 * physical addresses, any stack of some 300 bytes.
 */
void early_mmu_build(void);
