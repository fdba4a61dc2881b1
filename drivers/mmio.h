/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Access to device registers by virtual address. Device memory (nGnRE) keeps accesses to one device
 * in program order; order between a device and RAM, or between two devices, is made with the
 * barriers below.
 */
#pragma once

#include "include/base.h"

/* A bit of a 32-bit register. */
#define REG_BIT(n) (1u << (n))

static inline uint8_t mmio_read8(uintptr_t base_va, uint32_t offset)
{
	return *(volatile uint8_t *)(base_va + offset);
}

static inline uint32_t mmio_read32(uintptr_t base_va, uint32_t offset)
{
	return *(volatile uint32_t *)(base_va + offset);
}

static inline uint64_t mmio_read64(uintptr_t base_va, uint32_t offset)
{
	return *(volatile uint64_t *)(base_va + offset);
}

static inline void mmio_write8(uintptr_t base_va, uint32_t offset, uint8_t value)
{
	*(volatile uint8_t *)(base_va + offset) = value;
}

static inline void mmio_write32(uintptr_t base_va, uint32_t offset, uint32_t value)
{
	*(volatile uint32_t *)(base_va + offset) = value;
}

static inline void mmio_write64(uintptr_t base_va, uint32_t offset, uint64_t value)
{
	*(volatile uint64_t *)(base_va + offset) = value;
}

/* All accesses before are complete, as seen by every observer, before any instruction after. */
static inline void mmio_barrier(void)
{
	__asm__ volatile("dsb sy" ::: "memory");
}

#define SYSREG_READ(name)                                                                          \
	({                                                                                         \
		uint64_t value_;                                                                   \
		__asm__ volatile("mrs %0, " #name : "=r"(value_)::"memory");                       \
		value_;                                                                            \
	})

#define SYSREG_WRITE(name, value)                                                                  \
	__asm__ volatile("msr " #name ", %0" ::"r"((uint64_t)(value)) : "memory")

static inline void sysreg_sync(void)
{
	__asm__ volatile("isb" ::: "memory");
}
