/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Generic Interrupt Controller, versions 2 and 3 (and later ones in their version 3 programming
 * model): GIC architecture specification IHI 0048 and IHI 0069. All interrupts are non-secure
 * group 1 where the controller has groups at all.
 *
 *   INTID 0-15    SGI, sent by software
 *   INTID 16-31   PPI, one a core
 *   INTID 32-1019 SPI, shared, routed to one core
 */
#pragma once

#include "include/base.h"

#define GIC_MAX_CPUS	16
#define GIC_MAX_REDISTS 4
#define GIC_SPURIOUS	1020u /* this INTID and those above stand for no interrupt */

struct gic_ops;

struct gic_config {
	uintptr_t dist_va; /* GICD, 64 KB (version 2: 4 KB) */
	uintptr_t cpu_va;  /* version 2: GICC, 8 KB */
	struct {
		uintptr_t va;
		size_t bytes;
	} redist[GIC_MAX_REDISTS]; /* version 3: GICR regions */
	unsigned int n_redists;
};

struct gic {
	const struct gic_ops *ops;
	struct gic_config config;
	uint32_t n_intids;
	/* Per core, filled by init_cpu. */
	uint8_t cpu_mask[GIC_MAX_CPUS];	   /* version 2: bit of its CPU interface */
	uint64_t affinity[GIC_MAX_CPUS];   /* version 3: MPIDR affinity fields */
	uintptr_t redist_va[GIC_MAX_CPUS]; /* version 3: its redistributor */
};

/* Lower values win and interrupt the handlers of higher ones. Sixteen levels exist on every GIC. */
enum gic_priority {
	GIC_PRIORITY_URGENT = 0x20, /* run budget, abort requests */
	GIC_PRIORITY_HIGH = 0x60,
	GIC_PRIORITY_NORMAL = 0xa0,
	GIC_PRIORITY_LOW = 0xc0,
};

enum gic_trigger { GIC_LEVEL, GIC_EDGE };

struct gic_line {
	uint32_t intid;
	enum gic_priority priority;
	enum gic_trigger trigger; /* ignored for SGIs, which are edges */
	unsigned int cpu; /* SPI: the core it goes to; SGI and PPI: the calling core's own */
};

struct gic_ops {
	const char *name;
	/*
	 * The shared part: everything off. Once, on the boot core, before the others.
	 * 0, -EINVAL (configuration incomplete), -ENODEV (no such GIC answers), -ETIMEDOUT.
	 */
	int (*init)(struct gic *g);
	/*
	 * The calling core's part, under the number cpu. Interrupts may arrive afterwards (PSTATE.I
	 * permitting). 0, -EINVAL (cpu), -ENODEV (no redistributor for it), -ETIMEDOUT.
	 */
	int (*init_cpu)(struct gic *g, unsigned int cpu);
	/*
	 * Turn a line on or off. cpu must have been through init_cpu; an SGI or PPI is changed on
	 * the calling core only. 0 or -EINVAL (no such INTID or cpu).
	 */
	int (*set_line)(struct gic *g, const struct gic_line *line, bool on);
	/* Take the most urgent pending interrupt; the INTID is in bits 9:0 (v2) or 23:0 (v3). */
	uint32_t (*ack)(struct gic *g);
	/* End what ack returned; innermost first. Not for spurious ones. */
	void (*eoi)(struct gic *g, uint32_t acked);
	/* Send SGI 0-15 to a core that has been through init_cpu. Memory written before is seen. */
	void (*send_sgi)(struct gic *g, uint32_t sgi, unsigned int cpu);
};

extern const struct gic_ops gic_v2_ops;
extern const struct gic_ops gic_v3_ops;

/* INTID of what ack returned, >= GIC_SPURIOUS for none. */
static inline uint32_t gic_get_intid(uint32_t acked)
{
	/* Version 2 has the sending core of an SGI above bit 9; version 3 has no INTID that large
	 * without LPIs, which are never turned on. */
	return acked & 0x3ff;
}
