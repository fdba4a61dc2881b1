/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/pmu.h"

#include "drivers/mmio.h"
#include "kernel/cpu.h"

unsigned int pmu_counter_count(void)
{
	if (!cpu_get_features()->pmu_version)
		return 0;
	return (unsigned int)(SYSREG_READ(pmcr_el0) >> 11) & 0x1f;
}

bool pmu_has_event(uint32_t event)
{
	if (!cpu_get_features()->pmu_version)
		return false;
	if (event == PMU_CPU_CYCLES)
		return true;
	if (event < 32)
		return SYSREG_READ(pmceid0_el0) >> event & 1;
	if (event < 64)
		return SYSREG_READ(pmceid1_el0) >> (event - 32) & 1;
	return false;
}

uint64_t pmu_read_cycles(void)
{
	if (!cpu_get_features()->pmu_version)
		return 0;
	sysreg_sync();
	return SYSREG_READ(pmccntr_el0);
}

uint64_t pmu_read_insns(void)
{
	struct cpu *cpu = this_cpu();
	unsigned long flags;
	uint32_t now;

	if (!cpu_get_features()->pmu_version)
		return 0;
	flags = cpu_irq_save();
	sysreg_sync();
	now = (uint32_t)SYSREG_READ(pmevcntr0_el0);
	cpu->insns += (uint32_t)(now - (uint32_t)cpu->insns);
	cpu_irq_restore(flags);
	return cpu->insns;
}
