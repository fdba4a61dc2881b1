/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/irq.h"

#include "board/board.h"
#include "include/err.h"
#include "kernel/cpu.h"
#include "kernel/log.h"
#include "kernel/trap.h"
#include "lib/spinlock.h"
#include "mm/xlat.h"

#define INTIDS_MAX 1020u

struct irq_slot {
	irq_handler fn;
	void *arg;
	const char *name;
	struct gic_line line;
	unsigned int flags;
	uint32_t running; /* CPUs inside fn */
	uint64_t count;
};

static struct {
	struct gic gic;
	bool ready;
	struct spinlock lock; /* slots and the shared registers of the controller */
	unsigned int n_slots;
	uint64_t spurious;
	struct irq_slot slot[IRQ_HANDLERS_MAX];
	uint8_t slot_of[INTIDS_MAX]; /* slot number + 1, 0: none */
} irqs;

static int config_from_board(const struct board_info *b, struct gic_config *c)
{
	const struct board_gic *g = &b->gic;

	c->dist_va = (uintptr_t)xlat_device_map(g->dist.base_pa, g->dist.size_bytes);
	if (!c->dist_va)
		return -ENOMEM;
	if (g->type == BOARD_GIC_V2) {
		c->cpu_va = (uintptr_t)xlat_device_map(g->cpu.base_pa, g->cpu.size_bytes);
		return c->cpu_va ? 0 : -ENOMEM;
	}
	for (unsigned int i = 0; i < g->n_redists && i < GIC_MAX_REDISTS; i++) {
		/* Two frames of 64 KB a core (four with GICv4) lie in a row: no need to map the
		 * space for cores that are not there. */
		uint64_t bytes = MIN(g->redist[i].size_bytes, MAX_CPUS * (uint64_t)0x40000);
		void *va = xlat_device_map(g->redist[i].base_pa, bytes);

		if (!va)
			return -ENOMEM;
		c->redist[i].va = (uintptr_t)va;
		c->redist[i].bytes = bytes;
		c->n_redists = i + 1;
	}
	return 0;
}

int irq_init(const struct board_info *board)
{
	struct gic_config config = { 0 };
	int ret;

	if (board->gic.type == BOARD_GIC_NONE)
		return -ENODEV;
	ret = config_from_board(board, &config);
	if (ret)
		return ret;
	irqs.gic.ops = board->gic.type == BOARD_GIC_V3 ? &gic_v3_ops : &gic_v2_ops;
	irqs.gic.config = config;
	ret = irqs.gic.ops->init(&irqs.gic);
	if (ret)
		return ret;
	ret = irqs.gic.ops->init_cpu(&irqs.gic, 0);
	if (ret)
		return ret;
	irqs.ready = true;
	return 0;
}

int irq_init_cpu(unsigned int cpu)
{
	return irqs.ready ? irqs.gic.ops->init_cpu(&irqs.gic, cpu) : -ENODEV;
}

int irq_register(uint32_t intid, const char *name, irq_handler fn, void *arg,
		 enum gic_priority priority, unsigned int flags, unsigned int cpu)
{
	struct irq_slot slot = {
		.fn = fn,
		.arg = arg,
		.name = name,
		.flags = flags,
		.line = { .intid = intid,
			  .priority = priority,
			  .trigger = flags & IRQ_EDGE ? GIC_EDGE : GIC_LEVEL,
			  .cpu = cpu },
	};
	unsigned long irq_flags;
	unsigned int i;
	int ret = 0;

	if (!irqs.ready)
		return -ENODEV;
	if (intid >= INTIDS_MAX || !fn)
		return -EINVAL;
	irq_flags = spin_lock_irqsave(&irqs.lock);
	for (i = 0; i < irqs.n_slots && irqs.slot[i].fn; i++)
		;
	if (irqs.slot_of[intid])
		ret = -EBUSY;
	else if (i >= IRQ_HANDLERS_MAX)
		ret = -ENOSPC;
	if (!ret) {
		irqs.slot[i] = slot;
		irqs.n_slots = MAX(irqs.n_slots, i + 1);
		__atomic_store_n(&irqs.slot_of[intid], (uint8_t)(i + 1), __ATOMIC_RELEASE);
		ret = irqs.gic.ops->set_line(&irqs.gic, &slot.line, true);
		if (ret) {
			irqs.slot_of[intid] = 0;
			irqs.slot[i].fn = NULL;
		}
	}
	spin_unlock_irqrestore(&irqs.lock, irq_flags);
	return ret;
}

void irq_unregister(uint32_t intid)
{
	unsigned long flags;
	struct irq_slot *slot;

	if (intid >= INTIDS_MAX || !irqs.slot_of[intid])
		return;
	flags = spin_lock_irqsave(&irqs.lock);
	slot = &irqs.slot[irqs.slot_of[intid] - 1];
	irqs.gic.ops->set_line(&irqs.gic, &slot->line, false);
	__atomic_store_n(&irqs.slot_of[intid], 0, __ATOMIC_SEQ_CST);
	spin_unlock_irqrestore(&irqs.lock, flags);
	while (__atomic_load_n(&slot->running, __ATOMIC_SEQ_CST))
		spin_relax();
	flags = spin_lock_irqsave(&irqs.lock);
	slot->fn = NULL;
	spin_unlock_irqrestore(&irqs.lock, flags);
}

int irq_enable_cpu(unsigned int cpu)
{
	unsigned long flags = spin_lock_irqsave(&irqs.lock);
	int ret = 0;

	for (unsigned int i = 0; i < irqs.n_slots && !ret; i++) {
		struct gic_line line = irqs.slot[i].line;

		if (!irqs.slot[i].fn || line.intid >= 32)
			continue;
		line.cpu = cpu;
		ret = irqs.gic.ops->set_line(&irqs.gic, &line, true);
	}
	spin_unlock_irqrestore(&irqs.lock, flags);
	return ret;
}

void irq_send(uint32_t sgi, unsigned int cpu)
{
	irqs.gic.ops->send_sgi(&irqs.gic, sgi, cpu);
}

int irq_get_stats(unsigned int i, struct irq_stats *out)
{
	if (i >= irqs.n_slots)
		return -ENOENT;
	*out = (struct irq_stats){
		.intid = irqs.slot[i].line.intid,
		.name = irqs.slot[i].fn ? irqs.slot[i].name : "(free)",
		.count = __atomic_load_n(&irqs.slot[i].count, __ATOMIC_RELAXED),
	};
	return 0;
}

uint64_t irq_spurious_count(void)
{
	return __atomic_load_n(&irqs.spurious, __ATOMIC_RELAXED);
}

static void dispatch(uint32_t intid)
{
	uint8_t number =
		intid < INTIDS_MAX ? __atomic_load_n(&irqs.slot_of[intid], __ATOMIC_ACQUIRE) : 0;
	struct irq_slot *slot;

	if (!number) {
		__atomic_fetch_add(&irqs.spurious, 1, __ATOMIC_RELAXED);
		return;
	}
	slot = &irqs.slot[number - 1];
	__atomic_fetch_add(&slot->running, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&irqs.slot_of[intid], __ATOMIC_SEQ_CST) == number) {
		__atomic_fetch_add(&slot->count, 1, __ATOMIC_RELAXED);
		if (slot->flags & IRQ_NESTED)
			cpu_irq_enable();
		slot->fn(slot->arg, intid);
		__asm__ volatile("msr daifset, #2" ::: "memory");
	}
	__atomic_fetch_sub(&slot->running, 1, __ATOMIC_RELEASE);
}

void irq_handle(struct trap_frame *frame)
{
	struct cpu *cpu = this_cpu();
	uint32_t acked;

	(void)frame;
	if (!irqs.ready)
		return;
	cpu->in_irq++;
	while (gic_get_intid(acked = irqs.gic.ops->ack(&irqs.gic)) < GIC_SPURIOUS) {
		cpu->irqs++;
		dispatch(gic_get_intid(acked));
		irqs.gic.ops->eoi(&irqs.gic, acked);
	}
	cpu->in_irq--;
}
