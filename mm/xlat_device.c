/* SPDX-License-Identifier: BSD-2-Clause */
/* Windows on physical memory that is not, or not yet, RAM of ours: devices, and first looks. */
#include "include/hal.h"
#include "lib/spinlock.h"
#include "mm/phys.h"
#include "mm/xlat.h"
#include "mm/xlat_int.h"

/* The end of the device window, in blocks. */
#define PEEK_BLOCKS 8
#define PEEK_BASE   (DEVICE_END - PEEK_BLOCKS * BLOCK_BYTES)
static unsigned int peek_used;

const void *xlat_peek(uint64_t pa, uint64_t bytes)
{
	uint64_t first = ROUND_DOWN(pa, BLOCK_BYTES);
	uint64_t va = PEEK_BASE + peek_used * BLOCK_BYTES;
	uint64_t span;
	uint8_t byte;

	if (bytes == 0 || pa > DIRECT_BYTES || bytes > PEEK_BLOCKS * BLOCK_BYTES)
		return NULL;
	span = ROUND_UP(pa + bytes, BLOCK_BYTES) - first;
	if (span > (PEEK_BLOCKS - peek_used) * BLOCK_BYTES)
		return NULL;
	if (xlat_map_unchecked(va, &first, 1, span, PTE_KERNEL_RO))
		return NULL;
	peek_used += (unsigned int)(span >> BLOCK_SHIFT);
	va += pa - first;
	for (uint64_t at = 0; at < bytes; at += PAGE_BYTES)
		if (hal_probe_read(&byte, (const void *)(va + at), 1))
			return NULL;
	if (hal_probe_read(&byte, (const void *)(va + bytes - 1), 1))
		return NULL;
	return (const void *)va;
}

void xlat_peek_end(void)
{
	if (peek_used)
		xlat_unmap(PEEK_BASE, peek_used * BLOCK_BYTES);
	peek_used = 0;
}

#define DEVICES_MAX 32
static struct {
	struct spinlock lock;
	unsigned int n;
	uint64_t next_va;
	struct {
		uint64_t pa, va, bytes;
	} at[DEVICES_MAX];
} devices = { .next_va = DEVICE_BASE };

void *xlat_device_map(uint64_t pa, uint64_t bytes)
{
	uint64_t first = ROUND_DOWN(pa, PAGE_BYTES);
	uint64_t span = ROUND_UP(pa + bytes, PAGE_BYTES) - first;
	unsigned long flags;
	void *ret = NULL;

	if (bytes == 0 || pa + bytes < pa || span > PEEK_BASE - DEVICE_BASE)
		return NULL;
	flags = spin_lock_irqsave(&devices.lock);
	for (unsigned int i = 0; i < devices.n && !ret; i++)
		if (first - devices.at[i].pa < devices.at[i].bytes &&
		    first + span <= devices.at[i].pa + devices.at[i].bytes)
			ret = (void *)(devices.at[i].va + (pa - devices.at[i].pa));
	if (!ret && devices.n < DEVICES_MAX && devices.next_va + span < PEEK_BASE &&
	    xlat_map(devices.next_va, first, span, XLAT_DEVICE) == 0) {
		devices.at[devices.n].pa = first;
		devices.at[devices.n].va = devices.next_va;
		devices.at[devices.n++].bytes = span;
		ret = (void *)(devices.next_va + (pa - first));
		/* A page stays free between devices. */
		devices.next_va += span + PAGE_BYTES;
	}
	spin_unlock_irqrestore(&devices.lock, flags);
	return ret;
}
