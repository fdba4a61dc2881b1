/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/cpu.h"

#include "drivers/mmio.h"
#include "lib/fmt.h"

static unsigned int n_cpus = 1;
static struct cpu_features features;

unsigned int cpu_count(void)
{
	return n_cpus;
}

void cpu_set_count(unsigned int n)
{
	n_cpus = n;
}

const struct cpu_features *cpu_get_features(void)
{
	return &features;
}

static unsigned int field(uint64_t reg, unsigned int low)
{
	return (unsigned int)(reg >> low) & 0xf;
}

/* ID registers as described in the Arm ARM, "AArch64 System register descriptions". */
void cpu_detect_features(void)
{
	uint64_t ctr = SYSREG_READ(ctr_el0), dczid = SYSREG_READ(dczid_el0);
	uint64_t isar0 = SYSREG_READ(id_aa64isar0_el1), isar1 = SYSREG_READ(id_aa64isar1_el1);
	uint64_t isar2 = SYSREG_READ(S3_0_C0_C6_2), pfr1 = SYSREG_READ(id_aa64pfr1_el1);
	uint64_t pfr0 = SYSREG_READ(id_aa64pfr0_el1), dfr0 = SYSREG_READ(id_aa64dfr0_el1);
	unsigned int pmu = field(dfr0, 8);

	features = (struct cpu_features){
		.midr = SYSREG_READ(midr_el1),
		.dcache_line_bytes = 4u << field(ctr, 16),
		.icache_line_bytes = 4u << field(ctr, 0),
		.zva_bytes = dczid & 0x10 ? 0 : 4u << field(dczid, 0),
		.pmu_version = (uint8_t)(pmu == 0xf ? 0 : pmu),
		.idc = ctr & BIT(28),
		.dic = ctr & BIT(29),
		.lse = field(isar0, 20) >= 2,
		.crc32 = field(isar0, 16) >= 1,
		.pauth = field(isar1, 4) || field(isar1, 8) || field(isar2, 12),
		.bti = field(pfr1, 0) >= 1,
		.gic_sysreg = field(pfr0, 24) >= 1,
	};
}

void cpu_describe(uint64_t midr, char *buf, size_t size)
{
	static const struct {
		uint16_t part;
		const char *name;
	} arm_parts[] = {
		{ 0xd03, "Cortex-A53" },  { 0xd04, "Cortex-A35" },  { 0xd05, "Cortex-A55" },
		{ 0xd07, "Cortex-A57" },  { 0xd08, "Cortex-A72" },  { 0xd09, "Cortex-A73" },
		{ 0xd0a, "Cortex-A75" },  { 0xd0b, "Cortex-A76" },  { 0xd0c, "Neoverse-N1" },
		{ 0xd40, "Neoverse-V1" }, { 0xd47, "Cortex-A710" }, { 0xd49, "Neoverse-N2" },
	};
	unsigned int part = (unsigned int)(midr >> 4) & 0xfff;
	unsigned int variant = field(midr, 20), revision = field(midr, 0);

	if (midr >> 24 == 0x41)
		for (unsigned int i = 0; i < ARRAY_SIZE(arm_parts); i++)
			if (arm_parts[i].part == part) {
				fmt_snprintf(buf, size, "%s r%up%u", arm_parts[i].name, variant,
					     revision);
				return;
			}
	fmt_snprintf(buf, size, "MIDR 0x%08llx", (unsigned long long)midr);
}

void cpu_init_this(unsigned int id)
{
	struct cpu *cpu = this_cpu();

	cpu->id = id;
	cpu->mpidr = cpu_read_mpidr();
}

uint64_t cpu_stack_used(unsigned int id)
{
	uint64_t top = STACK_TOP(id, STACK_MAIN);
	const uint64_t *p = (const uint64_t *)(top - STACK_BYTES);

	/* Stacks begin as zeros; what is below the deepest word written is still zero. */
	while ((uint64_t)p < top && !READ_ONCE(*p))
		p++;
	return top - (uint64_t)p;
}

void cpu_dcache_clean_poc(const void *p, size_t bytes)
{
	uint64_t line = features.dcache_line_bytes;
	uint64_t at = ROUND_DOWN((uint64_t)p, line);

	for (; at < (uint64_t)p + bytes; at += line)
		__asm__ volatile("dc civac, %0" ::"r"(at) : "memory");
	__asm__ volatile("dsb sy" ::: "memory");
}
