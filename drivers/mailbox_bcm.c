/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/mailbox_bcm.h"

#include "drivers/mmio.h"
#include "include/err.h"

/* Mailbox 0 brings answers, mailbox 1 takes questions. */
#define MBOX_READ     0x00
#define MBOX_STATUS   0x18
#define MBOX_WRITE    0x20
#define MBOX_STATUS_1 0x38
#define STATUS_FULL   REG_BIT(31)
#define STATUS_EMPTY  REG_BIT(30)

/* Low four bits of a message: the channel. */
#define CHANNEL_PROPERTY 8u
#define CHANNEL_MASK	 0xfu

/* The VideoCore's view of RAM past its own caches. */
#define BUS_UNCACHED 0xc0000000u
#define BUS_LIMIT    0x40000000u

#define CODE_REQUEST	 0u
#define CODE_SUCCESS	 0x80000000u
#define TAG_GET_CLOCK_HZ 0x00030002u
#define TAG_RESPONSE	 0x80000000u

#define POLLS 10000000u

int mailbox_bcm_init(struct mailbox_bcm *m, uintptr_t base_va, uint32_t *buffer_va,
		     uint64_t buffer_pa)
{
	if (!base_va || !buffer_va || buffer_pa % MAILBOX_BCM_BUFFER_BYTES ||
	    buffer_pa + MAILBOX_BCM_BUFFER_BYTES > BUS_LIMIT)
		return -EINVAL;
	*m = (struct mailbox_bcm){ .base_va = base_va,
				   .buffer_va = buffer_va,
				   .buffer_pa = buffer_pa };
	return 0;
}

/* Write back and forget the buffer: the firmware reads and writes RAM past our caches. */
static void sync_buffer(const struct mailbox_bcm *m)
{
	uintptr_t va = (uintptr_t)m->buffer_va;

	/* No core has cache lines shorter than 16 bytes. */
	for (uintptr_t at = va; at < va + MAILBOX_BCM_BUFFER_BYTES; at += 16)
		__asm__ volatile("dc civac, %0" ::"r"(at) : "memory");
	mmio_barrier();
}

static int wait_clear(uintptr_t base, uint32_t reg, uint32_t bit)
{
	for (uint32_t i = 0; i < POLLS; i++)
		if (!(mmio_read32(base, reg) & bit))
			return 0;
	return -ETIMEDOUT;
}

/* Hand the buffer to the firmware and wait until it is answered. */
static int call(const struct mailbox_bcm *m)
{
	uint32_t message = (uint32_t)m->buffer_pa | BUS_UNCACHED | CHANNEL_PROPERTY;
	int err;

	sync_buffer(m);
	err = wait_clear(m->base_va, MBOX_STATUS_1, STATUS_FULL);
	if (err)
		return err;
	mmio_write32(m->base_va, MBOX_WRITE, message);
	/* Answers to others may come first; there are never more than the mailbox holds. */
	for (int i = 0; i < 16; i++) {
		err = wait_clear(m->base_va, MBOX_STATUS, STATUS_EMPTY);
		if (err)
			return err;
		if (mmio_read32(m->base_va, MBOX_READ) == message) {
			sync_buffer(m);
			return 0;
		}
	}
	return -EIO;
}

int mailbox_bcm_get_clock_hz(const struct mailbox_bcm *m, enum mailbox_bcm_clock clock,
			     uint32_t *hz)
{
	volatile uint32_t *b = m->buffer_va;
	int err;

	b[0] = 8 * sizeof(b[0]);
	b[1] = CODE_REQUEST;
	b[2] = TAG_GET_CLOCK_HZ;
	b[3] = 8; /* bytes of value */
	b[4] = 0;
	b[5] = (uint32_t)clock;
	b[6] = 0;
	b[7] = 0; /* end of tags */
	err = call(m);
	if (err)
		return err;
	if (b[1] != CODE_SUCCESS || !(b[4] & TAG_RESPONSE) || b[5] != (uint32_t)clock || !b[6])
		return -EIO;
	*hz = b[6];
	return 0;
}
