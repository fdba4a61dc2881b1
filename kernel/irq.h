/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interrupts: from INTID to handler. Handlers run with interrupts masked, on the stack of what they
 * interrupt; with IRQ_NESTED, more urgent ones are let in.
 */
#pragma once

#include "include/base.h"
#include "drivers/gic.h"

struct board_info;
struct trap_frame;

#define IRQ_HANDLERS_MAX 48

typedef void (*irq_handler)(void *arg, uint32_t intid);

enum irq_flags {
	IRQ_EDGE = 1,	/* else level */
	IRQ_NESTED = 2, /* handler runs with interrupts of higher priority open */
};

struct irq_stats {
	uint32_t intid;
	const char *name;
	uint64_t count; /* of all CPUs */
};

/* Bring up the interrupt controller: the shared part, then the boot core's. 0 or -errno; without a
 * controller nothing can interrupt and irq_register fails. */
int irq_init(const struct board_info *board) __must_check;
/* The calling core's part. */
int irq_init_cpu(unsigned int cpu) __must_check;

/*
 * Install a handler and turn the line on. An SGI or PPI is turned on for the calling core only; the
 * other cores do so with irq_enable_cpu. An SPI goes to `cpu`.
 * 0, -EBUSY (has a handler), -ENOSPC, -EINVAL, -ENODEV (no controller). Context: thread.
 */
int irq_register(uint32_t intid, const char *name, irq_handler fn, void *arg,
		 enum gic_priority priority, unsigned int flags, unsigned int cpu) __must_check;
/* Turn the line off and forget the handler; returns when no CPU runs it. Context: thread. */
void irq_unregister(uint32_t intid);
/* Turn on every registered SGI and PPI on the calling core. */
int irq_enable_cpu(unsigned int cpu) __must_check;

void irq_send(uint32_t sgi, unsigned int cpu);

/* Row i of the table, in order of registration: 0 or -ENOENT. */
int irq_get_stats(unsigned int i, struct irq_stats *out);
/* Interrupts that no handler was there for. */
uint64_t irq_spurious_count(void);

/* From the exception vector. */
void irq_handle(struct trap_frame *frame);
