/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/trace.h"

#include <string.h>

#include "include/hal.h"
#include "lib/spinlock.h"

#define TRACE_BYTES 16384u

static struct {
	struct spinlock lock;
	uint64_t head; /* bytes ever written; the last TRACE_BYTES of them are kept */
	char ring[TRACE_BYTES];
} trace;

static void put(const char *text, size_t len)
{
	size_t at = trace.head % TRACE_BYTES;
	size_t first = MIN(len, TRACE_BYTES - at);

	memcpy(trace.ring + at, text, first);
	memcpy(trace.ring, text + first, len - first);
	trace.head += len;
}

void hal_trace(const char *text, size_t len)
{
	unsigned long flags;

	if (len > TRACE_BYTES / 2)
		len = TRACE_BYTES / 2;
	flags = spin_lock_irqsave(&trace.lock);
	put(text, len);
	if (len == 0 || text[len - 1] != '\n')
		put("\n", 1);
	spin_unlock_irqrestore(&trace.lock, flags);
}

uint32_t trace_read(char *buf, uint32_t len, uint64_t *pos, uint64_t *lost)
{
	unsigned long flags = spin_lock_irqsave(&trace.lock);
	uint64_t oldest = trace.head > TRACE_BYTES ? trace.head - TRACE_BYTES : 0;
	uint64_t from = MIN(MAX(*pos, oldest), trace.head);
	uint32_t n = (uint32_t)MIN((uint64_t)len, trace.head - from);
	size_t at = from % TRACE_BYTES;
	size_t first = MIN((size_t)n, TRACE_BYTES - at);

	*lost = *pos < oldest ? oldest - *pos : 0;
	memcpy(buf, trace.ring + at, first);
	memcpy(buf + first, trace.ring, n - first);
	*pos = from + n;
	spin_unlock_irqrestore(&trace.lock, flags);
	return n;
}

uint64_t trace_end(void)
{
	return __atomic_load_n(&trace.head, __ATOMIC_RELAXED);
}
