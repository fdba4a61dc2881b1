/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One CPU: its number, its data, what it can do.
 *
 * struct cpu lies at the start of the CPU's per-CPU area; TPIDR_EL1 points to it. CPUs are numbered
 * from 0 (the one that booted) in the order of the device tree. A thread never moves between CPUs.
 */
#pragma once

#include "include/base.h"
#include "mm/layout.h"

struct run_ctx;
struct timer_queue;

/* What the cores of this machine have; the least of all cores where they could differ. */
struct cpu_features {
	uint64_t midr;
	uint32_t dcache_line_bytes; /* smallest D-cache line, CTR_EL0.DminLine */
	uint32_t icache_line_bytes; /* smallest I-cache line, CTR_EL0.IminLine */
	uint32_t zva_bytes;	    /* DC ZVA block, 0: not usable */
	uint8_t pmu_version;	    /* ID_AA64DFR0.PMUVer, 0: none */
	bool idc;		    /* no DC CVAU needed for instruction fetch */
	bool dic;		    /* no IC IVAU needed */
	bool lse;		    /* FEAT_LSE atomics */
	bool crc32;		    /* CRC32 instructions */
	bool pauth;		    /* address authentication */
	bool bti;
	bool gic_sysreg;
};

struct cpu {
	uint32_t id;
	uint32_t online;     /* 1 once it takes interrupts */
	uint64_t mpidr;	     /* affinity fields only */
	struct run_ctx *run; /* innermost run of a program */
	uint32_t in_irq;     /* depth of interrupt handlers */
	uint32_t in_panic;   /* this CPU is reporting a fatal error */
	uint64_t busy;	     /* kernel/quiesce.h */
	uint32_t busy_depth;
	uint32_t reserved;
	uint64_t irqs;	 /* interrupts taken */
	uint64_t faults; /* faults that ended a program or a probe */
	uint64_t insns;	 /* kernel/pmu.c */
};
_Static_assert(sizeof(struct cpu) <= PERCPU_HEAP_OFFSET, "ends before the heap's caches");

/* This CPU. Does not change within a thread. Context: any. */
static __always_inline struct cpu *this_cpu(void)
{
	struct cpu *cpu;

	__asm__("mrs %0, tpidr_el1" : "=r"(cpu));
	return cpu;
}

/* Any CPU whose area is mapped (below cpu_count()). */
static __always_inline struct cpu *cpu_at(unsigned int id)
{
	return (struct cpu *)(PERCPU_BASE + id * PERCPU_STRIDE);
}

/* CPUs that this kernel knows of, started or not; constant once SMP is set up. */
unsigned int cpu_count(void);
void cpu_set_count(unsigned int n);

/* Read the ID registers. Boot core, once, early; a secondary core narrows the result. */
void cpu_detect_features(void);
const struct cpu_features *cpu_get_features(void);
/* "Cortex-A72 r0p3" or "MIDR 0x...". */
void cpu_describe(uint64_t midr, char *buf, size_t size);

/* Fill the fixed fields of this CPU's struct cpu. */
void cpu_init_this(unsigned int id);

static __always_inline uint64_t cpu_read_mpidr(void)
{
	uint64_t v;

	__asm__("mrs %0, mpidr_el1" : "=r"(v));
	return v & 0xff00ffffffull;
}

/* Interrupts of this CPU. */
static __always_inline unsigned long cpu_irq_save(void)
{
	unsigned long flags;

	__asm__ volatile("mrs %0, daif; msr daifset, #2" : "=r"(flags)::"memory");
	return flags;
}
static __always_inline void cpu_irq_restore(unsigned long flags)
{
	__asm__ volatile("msr daif, %0" ::"r"(flags) : "memory");
}
static __always_inline void cpu_irq_enable(void)
{
	__asm__ volatile("msr daifclr, #2" ::: "memory");
}
/* Asynchronous aborts: masked from the first instruction until somebody can report one. */
static __always_inline void cpu_serror_enable(void)
{
	__asm__ volatile("msr daifclr, #4" ::: "memory");
}
static __always_inline bool cpu_irq_is_masked(void)
{
	unsigned long flags;

	__asm__ volatile("mrs %0, daif" : "=r"(flags));
	return flags & 0x80;
}

/* Bytes of the main stack that have ever been in use. Any CPU, any time. */
uint64_t cpu_stack_used(unsigned int id);

/* Make [p, p + bytes) visible to observers with caches off, or forget what caches hold of it. */
void cpu_dcache_clean_poc(const void *p, size_t bytes);
