/* SPDX-License-Identifier: BSD-2-Clause */
#include "include/hal.h"

#include <string.h>

#include "include/err.h"
#include "kernel/cpu.h"
#include "kernel/log.h"
#include "kernel/trap.h"
#include "mm/heap.h"
#include "mm/percpu.h"
#include "mm/vmem.h"
#include "mm/xlat.h"

/* From this size on, memory that need not be physically contiguous is tried, too. */
#define SCATTER_FROM_BYTES 65536

void *hal_alloc(size_t bytes)
{
	void *p = bytes <= HEAP_LARGE_MAX ? heap_alloc(bytes) : NULL;

	if (!p && bytes >= SCATTER_FROM_BYTES)
		p = vmem_alloc(bytes);
	return p;
}

void hal_free(void *p)
{
	if (vmem_is_address(p))
		vmem_free(p);
	else
		heap_free(p);
}

void *hal_alloc_atomic(size_t bytes)
{
	return heap_alloc_raw(bytes);
}

void hal_free_atomic(void *p)
{
	heap_free(p);
}

void *hal_map_alloc(size_t bytes)
{
	return vmem_alloc(bytes);
}

void hal_map_free(void *p, size_t bytes)
{
	(void)bytes;
	vmem_free(p);
}

void *hal_map_alloc_mirror(size_t head_bytes, size_t bytes)
{
	return vmem_alloc_mirror(head_bytes, bytes);
}

void hal_map_free_mirror(void *p, size_t head_bytes, size_t bytes)
{
	vmem_free_mirror(p, head_bytes, bytes);
}

void *hal_percpu_alloc(size_t bytes, size_t align)
{
	return percpu_alloc(bytes, align);
}

void hal_percpu_free(void *base, size_t bytes)
{
	(void)bytes;
	percpu_free(base);
}

void *hal_percpu_ptr(void *base, unsigned int cpu)
{
	return percpu_ptr(base, cpu);
}

unsigned int hal_cpu_id(void)
{
	return this_cpu()->id;
}

unsigned int hal_cpu_count(void)
{
	return cpu_count();
}

unsigned long hal_irq_save(void)
{
	return cpu_irq_save();
}

void hal_irq_restore(unsigned long flags)
{
	cpu_irq_restore(flags);
}

int hal_probe_read(void *dst, const void *src, size_t n)
{
	size_t left = n;

	if (xlat_is_normal((uint64_t)src, n))
		left = trap_copy_from(dst, src, n);
	if (left == 0)
		return 0;
	memset(dst, 0, n);
	return -EFAULT;
}

void hal_log(int level, const char *fmt, ...)
{
	__builtin_va_list ap;

	__builtin_va_start(ap, fmt);
	log_vwrite((enum log_level)level, fmt, ap);
	__builtin_va_end(ap);
}
