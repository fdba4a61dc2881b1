/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Per-CPU memory: one zeroed copy for every possible CPU, at the same offset from the start of each
 * CPU's area. A base is the address of CPU 0's copy; CPU n's lies n * PERCPU_STRIDE behind it, this
 * CPU's at TPIDR_EL1 + (base - PERCPU_BASE). Context: thread.
 */
#pragma once

#include "include/base.h"
#include "mm/layout.h"

/* align: a power of two, at most 4096. NULL: no memory, no room (64 MB a CPU). */
void *percpu_alloc(size_t bytes, size_t align) __must_check;
/* base from percpu_alloc, or NULL. Anything else stops the kernel. */
void percpu_free(void *base);

static __always_inline void *percpu_ptr(void *base, unsigned int cpu)
{
	return (char *)base + cpu * PERCPU_STRIDE;
}

/* Start of this CPU's area. Stable while interrupts are masked. */
static __always_inline char *percpu_this_area(void)
{
	char *area;

	__asm__("mrs %0, tpidr_el1" : "=r"(area));
	return area;
}

/* Bytes handed out, per CPU. */
uint64_t percpu_used_bytes(void);
