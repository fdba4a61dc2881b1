/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/gic.h"
#include "drivers/mmio.h"
#include "include/err.h"

#define GICD_CTLR      0x0000
#define GICD_TYPER     0x0004
#define GICD_PIDR2     0xffe8
#define GICD_IROUTER   0x6000 /* 8 bytes an INTID */
#define GICR_CTLR      0x0000
#define GICR_TYPER     0x0008
#define GICR_WAKER     0x0014
#define GICR_SGI_FRAME 0x10000

/* In the distributor for SPIs, in the redistributor's second frame for SGIs and PPIs. */
#define IGROUPR	   0x0080
#define ISENABLER  0x0100
#define ICENABLER  0x0180
#define ICPENDR	   0x0280
#define ICACTIVER  0x0380
#define IPRIORITYR 0x0400
#define ICFGR	   0x0c00
#define IGRPMODR   0x0d00

#define CTLR_ENABLE_GRP1 REG_BIT(1)
#define CTLR_ARE	 REG_BIT(4)
#define CTLR_RWP	 REG_BIT(31)
#define GICR_CTLR_RWP	 REG_BIT(3)

#define TYPER_VLPIS REG_BIT(1)
#define TYPER_LAST  REG_BIT(4)

#define WAKER_PROCESSOR_SLEEP REG_BIT(1)
#define WAKER_CHILDREN_ASLEEP REG_BIT(2)

#define ICC_PMR_EL1	S3_0_C4_C6_0
#define ICC_IAR1_EL1	S3_0_C12_C12_0
#define ICC_EOIR1_EL1	S3_0_C12_C12_1
#define ICC_BPR1_EL1	S3_0_C12_C12_3
#define ICC_CTLR_EL1	S3_0_C12_C12_4
#define ICC_SRE_EL1	S3_0_C12_C12_5
#define ICC_IGRPEN1_EL1 S3_0_C12_C12_7
#define ICC_SGI1R_EL1	S3_0_C12_C11_5

#define SRE_SYSREG   REG_BIT(0)
#define PRIORITY_ALL 0xffu

#define MPIDR_AFFINITY 0xff00ffffffull

/* The longest wait is for the distributor to have seen a change on all cores: microseconds. */
#define POLLS 1000000u

#define SYSREG_READ_(name)	   SYSREG_READ(name)
#define SYSREG_WRITE_(name, value) SYSREG_WRITE(name, value)

/* 0 once (register & mask) == 0. */
static int wait_clear(uintptr_t base, uint32_t offset, uint32_t mask)
{
	for (uint32_t i = 0; i < POLLS; i++)
		if (!(mmio_read32(base, offset) & mask))
			return 0;
	return -ETIMEDOUT;
}

static int v3_init(struct gic *g)
{
	uintptr_t dist = g->config.dist_va;
	uint32_t version;
	int err;

	if (!dist || !g->config.n_redists || g->config.n_redists > GIC_MAX_REDISTS)
		return -EINVAL;
	version = mmio_read32(dist, GICD_PIDR2) >> 4 & 0xf;
	if (version != 3 && version != 4)
		return -ENODEV;
	g->n_intids = MIN(((mmio_read32(dist, GICD_TYPER) & 0x1f) + 1) * 32, GIC_SPURIOUS);
	mmio_write32(dist, GICD_CTLR, 0);
	err = wait_clear(dist, GICD_CTLR, CTLR_RWP);
	if (err)
		return err;
	/* Affinity routing first: the registers below exist only with it, and it may not be changed
	 * while a group is on. */
	mmio_write32(dist, GICD_CTLR, CTLR_ARE);
	for (uint32_t i = 32; i < g->n_intids; i += 32) {
		mmio_write32(dist, ICENABLER + i / 8, ~0u);
		mmio_write32(dist, ICPENDR + i / 8, ~0u);
		mmio_write32(dist, ICACTIVER + i / 8, ~0u);
		/* Effective only where there is one security state; ignored by the others. */
		mmio_write32(dist, IGROUPR + i / 8, ~0u);
		mmio_write32(dist, IGRPMODR + i / 8, 0);
	}
	err = wait_clear(dist, GICD_CTLR, CTLR_RWP);
	if (err)
		return err;
	mmio_write32(dist, GICD_CTLR, CTLR_ARE | CTLR_ENABLE_GRP1);
	return wait_clear(dist, GICD_CTLR, CTLR_RWP);
}

/* The redistributor whose GICR_TYPER names this core; 0 if none. */
static uintptr_t find_redist(const struct gic *g, uint64_t mpidr)
{
	uint32_t affinity = (uint32_t)(mpidr >> 32 & 0xff) << 24 | (uint32_t)(mpidr & 0xffffff);

	for (unsigned int i = 0; i < g->config.n_redists; i++) {
		uintptr_t va = g->config.redist[i].va;
		size_t left = g->config.redist[i].bytes;

		for (;;) {
			size_t stride;
			uint64_t typer;

			if (left < 0x20000)
				break;
			typer = mmio_read64(va, GICR_TYPER);
			if (typer >> 32 == affinity)
				return va;
			stride = typer & TYPER_VLPIS ? 0x40000 : 0x20000;
			if (typer & TYPER_LAST || left < stride)
				break;
			va += stride;
			left -= stride;
		}
	}
	return 0;
}

static int wake_redist(uintptr_t redist)
{
	mmio_write32(redist, GICR_WAKER, mmio_read32(redist, GICR_WAKER) & ~WAKER_PROCESSOR_SLEEP);
	return wait_clear(redist, GICR_WAKER, WAKER_CHILDREN_ASLEEP);
}

static void init_cpu_interface(void)
{
	SYSREG_WRITE_(ICC_SRE_EL1, SYSREG_READ_(ICC_SRE_EL1) | SRE_SYSREG);
	sysreg_sync();
	SYSREG_WRITE_(ICC_PMR_EL1, PRIORITY_ALL);
	/* Every implemented priority bit takes part in pre-emption; EOI also deactivates. */
	SYSREG_WRITE_(ICC_BPR1_EL1, 0);
	SYSREG_WRITE_(ICC_CTLR_EL1, 0);
	SYSREG_WRITE_(ICC_IGRPEN1_EL1, 1);
	sysreg_sync();
}

static int v3_init_cpu(struct gic *g, unsigned int cpu)
{
	uint64_t mpidr = SYSREG_READ(mpidr_el1) & MPIDR_AFFINITY;
	uintptr_t redist, frame;
	int err;

	if (cpu >= GIC_MAX_CPUS)
		return -EINVAL;
	redist = find_redist(g, mpidr);
	if (!redist)
		return -ENODEV;
	err = wake_redist(redist);
	if (err)
		return err;
	frame = redist + GICR_SGI_FRAME;
	mmio_write32(frame, ICENABLER, ~0u);
	mmio_write32(frame, ICPENDR, ~0u);
	mmio_write32(frame, ICACTIVER, ~0u);
	mmio_write32(frame, IGROUPR, ~0u);
	mmio_write32(frame, IGRPMODR, 0);
	err = wait_clear(redist, GICR_CTLR, GICR_CTLR_RWP);
	if (err)
		return err;
	init_cpu_interface();
	g->affinity[cpu] = mpidr;
	g->redist_va[cpu] = redist;
	return 0;
}

static void set_config(uintptr_t frame, uint32_t id, enum gic_trigger trigger)
{
	uint32_t shift = id % 16 * 2;
	uint32_t config = mmio_read32(frame, ICFGR + id / 16 * 4) & ~(3u << shift);

	config |= (trigger == GIC_EDGE ? 2u : 0u) << shift;
	mmio_write32(frame, ICFGR + id / 16 * 4, config);
}

static int wait_rwp(const struct gic *g, uint32_t id, unsigned int cpu)
{
	if (id < 32)
		return wait_clear(g->redist_va[cpu], GICR_CTLR, GICR_CTLR_RWP);
	return wait_clear(g->config.dist_va, GICD_CTLR, CTLR_RWP);
}

static int v3_set_line(struct gic *g, const struct gic_line *line, bool on)
{
	uint32_t id = line->intid;
	uintptr_t frame;
	int err;

	if (id >= g->n_intids || line->cpu >= GIC_MAX_CPUS || !g->redist_va[line->cpu])
		return -EINVAL;
	frame = id < 32 ? g->redist_va[line->cpu] + GICR_SGI_FRAME : g->config.dist_va;
	mmio_write32(frame, ICENABLER + id / 32 * 4, 1u << id % 32);
	err = wait_rwp(g, id, line->cpu);
	if (err || !on)
		return err;
	mmio_write8(frame, IPRIORITYR + id, (uint8_t)line->priority);
	if (id >= 16)
		set_config(frame, id, line->trigger);
	if (id >= 32)
		mmio_write64(frame, GICD_IROUTER + 8 * id, g->affinity[line->cpu]);
	mmio_write32(frame, ISENABLER + id / 32 * 4, 1u << id % 32);
	return 0;
}

static uint32_t v3_ack(struct gic *g)
{
	uint32_t acked;

	(void)g;
	acked = (uint32_t)SYSREG_READ_(ICC_IAR1_EL1);
	mmio_barrier();
	return acked;
}

static void v3_eoi(struct gic *g, uint32_t acked)
{
	(void)g;
	/* The device must have seen what the handler wrote, or a level would be taken once more. */
	mmio_barrier();
	SYSREG_WRITE_(ICC_EOIR1_EL1, acked);
	sysreg_sync();
}

static void v3_send_sgi(struct gic *g, uint32_t sgi, unsigned int cpu)
{
	uint64_t affinity = g->affinity[cpu];
	uint64_t aff0 = affinity & 0xff, target;

	target = (affinity >> 32 & 0xff) << 48 | (affinity >> 16 & 0xff) << 32 |
		 (affinity >> 8 & 0xff) << 16;
	/* One bit of sixteen names the core within its range of sixteen. */
	target |= aff0 / 16 << 44 | 1ull << aff0 % 16;
	mmio_barrier();
	SYSREG_WRITE_(ICC_SGI1R_EL1, target | (uint64_t)(sgi & 0xf) << 24);
	sysreg_sync();
}

const struct gic_ops gic_v3_ops = {
	.name = "gic-v3",
	.init = v3_init,
	.init_cpu = v3_init_cpu,
	.set_line = v3_set_line,
	.ack = v3_ack,
	.eoi = v3_eoi,
	.send_sgi = v3_send_sgi,
};
