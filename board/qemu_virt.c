/* SPDX-License-Identifier: BSD-2-Clause */
/* QEMU's `virt` machine: everything is in the tree; the fallback is its memory map since QEMU 2.6.
 */
#include "board/boards.h"
#include "board/ranges.h"

#define RAM_BASE_PA 0x40000000u
/* QEMU's default, and the least that makes sense for an arm64 guest. */
#define RAM_MIN_BYTES (128u << 20)

#define PMU_PPI_INTID 23

void board_setup_qemu_virt(const struct board_boot *boot, struct board_info *info)
{
	bool has_gic_sysregs = boot->id_aa64pfr0 >> 24 & 0xf;

	if (info->from_tree)
		return;
	ranges_add_ram(info, (struct board_range){ RAM_BASE_PA, RAM_MIN_BYTES });
	info->uart[0] = (struct board_uart){ .type = BOARD_UART_PL011,
					     .base_pa = 0x09000000,
					     .size_bytes = 0x1000,
					     .intid = 33,
					     .clock_hz = 24000000 };
	info->n_uarts = 1;
	info->gic.dist = (struct board_range){ 0x08000000, 0x10000 };
	if (has_gic_sysregs) {
		info->gic.type = BOARD_GIC_V3;
		info->gic.redist[0] = (struct board_range){ 0x080a0000, 0xf60000 };
		info->gic.n_redists = 1;
	} else {
		info->gic.type = BOARD_GIC_V2;
		info->gic.cpu = (struct board_range){ 0x08010000, 0x10000 };
	}
	info->pmu_ppi_intid = PMU_PPI_INTID;
	/* With EL2 for the guest, QEMU moves its PSCI from HVC to SMC. */
	info->cpu_method = boot->entry_el >= 2 ? BOARD_CPU_PSCI_SMC : BOARD_CPU_PSCI_HVC;
	info->has_psci = true;
	info->gpio_type = BOARD_GPIO_PL061;
	info->gpio = (struct board_range){ 0x09030000, 0x1000 };
}
