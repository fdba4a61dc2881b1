/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/gic.h"
#include "drivers/mmio.h"
#include "include/err.h"

#define GICD_CTLR	0x000
#define GICD_TYPER	0x004
#define GICD_IGROUPR	0x080
#define GICD_ISENABLER	0x100
#define GICD_ICENABLER	0x180
#define GICD_ICPENDR	0x280
#define GICD_ICACTIVER	0x380
#define GICD_IPRIORITYR 0x400
#define GICD_ITARGETSR	0x800
#define GICD_ICFGR	0xc00
#define GICD_SGIR	0xf00
#define GICD_PIDR2	0xfe8

#define GICC_CTLR 0x00
#define GICC_PMR  0x04
#define GICC_BPR  0x08
#define GICC_IAR  0x0c
#define GICC_EOIR 0x10

/*
 * Bit 0 is group 1 as non-secure software sees it, group 0 on a controller without security
 * extensions. So that it is our interrupts' group in either case, all of them are put into group 0:
 * where there is security, the firmware has chosen group 1 and the group registers ignore us; where
 * there is none, firmware may have chosen group 1 all the same (TF-A on QEMU's raspi4b), and
 * GICC_IAR would only answer 1022. No bypass of the interface, EOI also deactivates.
 */
#define CTLR_ENABLE REG_BIT(0)

#define PRIORITY_ALL 0xffu

static int v2_init(struct gic *g)
{
	uintptr_t dist = g->config.dist_va;
	uint32_t version;

	if (!dist || !g->config.cpu_va)
		return -EINVAL;
	version = mmio_read32(dist, GICD_PIDR2) >> 4 & 0xf;
	if (version != 1 && version != 2)
		return -ENODEV;
	g->n_intids = MIN(((mmio_read32(dist, GICD_TYPER) & 0x1f) + 1) * 32, GIC_SPURIOUS);
	mmio_write32(dist, GICD_CTLR, 0);
	for (uint32_t i = 32; i < g->n_intids; i += 32) {
		mmio_write32(dist, GICD_ICENABLER + i / 8, ~0u);
		mmio_write32(dist, GICD_ICPENDR + i / 8, ~0u);
		mmio_write32(dist, GICD_ICACTIVER + i / 8, ~0u);
		mmio_write32(dist, GICD_IGROUPR + i / 8, 0);
	}
	mmio_write32(dist, GICD_CTLR, CTLR_ENABLE);
	return 0;
}

/* The bit of the calling core's interface: ITARGETSR of its own SGIs and PPIs reads as that. */
static uint8_t get_own_mask(uintptr_t dist)
{
	for (uint32_t i = 0; i < 32; i += 4) {
		uint32_t word = mmio_read32(dist, GICD_ITARGETSR + i);

		word |= word >> 16;
		word |= word >> 8;
		if (word & 0xff)
			return (uint8_t)word;
	}
	/* A controller with one core has no targets at all. */
	return 1;
}

static int v2_init_cpu(struct gic *g, unsigned int cpu)
{
	uintptr_t dist = g->config.dist_va, iface = g->config.cpu_va;

	if (cpu >= GIC_MAX_CPUS)
		return -EINVAL;
	g->cpu_mask[cpu] = get_own_mask(dist);
	mmio_write32(dist, GICD_ICENABLER, ~0u);
	mmio_write32(dist, GICD_ICPENDR, ~0u);
	mmio_write32(dist, GICD_ICACTIVER, ~0u);
	mmio_write32(dist, GICD_IGROUPR, 0);
	mmio_write32(iface, GICC_PMR, PRIORITY_ALL);
	/* Every implemented priority bit takes part in pre-emption. */
	mmio_write32(iface, GICC_BPR, 0);
	mmio_write32(iface, GICC_CTLR, CTLR_ENABLE);
	return 0;
}

static int v2_set_line(struct gic *g, const struct gic_line *line, bool on)
{
	uintptr_t dist = g->config.dist_va;
	uint32_t id = line->intid, shift = id % 16 * 2, config;

	if (id >= g->n_intids)
		return -EINVAL;
	mmio_write32(dist, GICD_ICENABLER + id / 32 * 4, 1u << id % 32);
	if (!on)
		return 0;
	if (line->cpu >= GIC_MAX_CPUS || !g->cpu_mask[line->cpu])
		return -EINVAL;
	mmio_write8(dist, GICD_IPRIORITYR + id, (uint8_t)line->priority);
	if (id >= 16) {
		config = mmio_read32(dist, GICD_ICFGR + id / 16 * 4) & ~(3u << shift);
		config |= (line->trigger == GIC_EDGE ? 2u : 0u) << shift;
		mmio_write32(dist, GICD_ICFGR + id / 16 * 4, config);
	}
	if (id >= 32)
		mmio_write8(dist, GICD_ITARGETSR + id, g->cpu_mask[line->cpu]);
	mmio_write32(dist, GICD_ISENABLER + id / 32 * 4, 1u << id % 32);
	return 0;
}

static uint32_t v2_ack(struct gic *g)
{
	return mmio_read32(g->config.cpu_va, GICC_IAR);
}

static void v2_eoi(struct gic *g, uint32_t acked)
{
	/* The device must have seen what the handler wrote, or a level would be taken once more. */
	mmio_barrier();
	mmio_write32(g->config.cpu_va, GICC_EOIR, acked);
}

static void v2_send_sgi(struct gic *g, uint32_t sgi, unsigned int cpu)
{
	mmio_barrier();
	mmio_write32(g->config.dist_va, GICD_SGIR, (uint32_t)g->cpu_mask[cpu] << 16 | (sgi & 0xf));
}

const struct gic_ops gic_v2_ops = {
	.name = "gic-v2",
	.init = v2_init,
	.init_cpu = v2_init_cpu,
	.set_line = v2_set_line,
	.ack = v2_ack,
	.eoi = v2_eoi,
	.send_sgi = v2_send_sgi,
};
