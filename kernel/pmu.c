/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/pmu.h"

#include "drivers/mmio.h"
#include "include/err.h"
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

/* ---- events of a client ---------------------------------------------------------------------- */

/* What a CPU counts for its client: event counter 0 is not theirs. */
static struct {
	unsigned int n;
	uint32_t event[PMU_EVENTS_MAX];
	uint8_t counter[PMU_EVENTS_MAX]; /* 0: the cycle or the instruction counter */
	uint64_t start[PMU_EVENTS_MAX];
} programmed[MAX_CPUS];

static void counter_select(unsigned int counter)
{
	SYSREG_WRITE(pmselr_el0, counter);
	sysreg_sync();
}

static uint64_t read_now(uint32_t event, unsigned int counter)
{
	if (event == PMU_CPU_CYCLES)
		return pmu_read_cycles();
	if (event == PMU_INST_RETIRED)
		return pmu_read_insns();
	counter_select(counter);
	return SYSREG_READ(pmxevcntr_el0) & 0xffffffff;
}

static void counter_start(unsigned int counter, uint32_t event)
{
	SYSREG_WRITE(pmcntenclr_el0, BIT(counter));
	counter_select(counter);
	SYSREG_WRITE(pmxevtyper_el0, event & 0xffff);
	SYSREG_WRITE(pmxevcntr_el0, 0);
	SYSREG_WRITE(pmcntenset_el0, BIT(counter));
	sysreg_sync();
}

int pmu_program(const uint32_t *events, unsigned int n)
{
	unsigned int cpu = this_cpu()->id, counters = pmu_counter_count(), next = 1;

	if (!cpu_get_features()->pmu_version)
		return -ENODEV;
	programmed[cpu].n = 0;
	for (unsigned int i = 0; i < n && programmed[cpu].n < PMU_EVENTS_MAX; i++) {
		bool fixed = events[i] == PMU_CPU_CYCLES || events[i] == PMU_INST_RETIRED;
		unsigned int k = programmed[cpu].n;

		if (events[i] == PMU_EVENT_NONE || !pmu_has_event(events[i]) ||
		    (!fixed && next >= counters))
			continue;
		programmed[cpu].event[k] = events[i];
		programmed[cpu].counter[k] = (uint8_t)(fixed ? 0 : next);
		if (!fixed)
			counter_start(next++, events[i]);
		programmed[cpu].n++;
	}
	for (unsigned int k = 0; k < programmed[cpu].n; k++)
		programmed[cpu].start[k] =
			read_now(programmed[cpu].event[k], programmed[cpu].counter[k]);
	return 0;
}

int pmu_read(const uint32_t *events, unsigned int n, uint64_t *value, uint32_t *supported)
{
	unsigned int cpu = this_cpu()->id;

	if (!cpu_get_features()->pmu_version)
		return -ENODEV;
	*supported = 0;
	for (unsigned int i = 0; i < n; i++) {
		value[i] = 0;
		for (unsigned int k = 0; k < programmed[cpu].n; k++) {
			if (programmed[cpu].event[k] != events[i])
				continue;
			value[i] = read_now(events[i], programmed[cpu].counter[k]) -
				   programmed[cpu].start[k];
			*supported |= 1u << i;
			break;
		}
	}
	return 0;
}
