/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Performance counters of this CPU (Arm ARM, "The Performance Monitors Extension"). Boot code
 * starts them on every core: the cycle counter, and event counter 0 on INST_RETIRED.
 */
#pragma once

#include "include/base.h"

/* Common event numbers. */
enum { PMU_SW_INCR = 0x00, PMU_INST_RETIRED = 0x08, PMU_CPU_CYCLES = 0x11 };

/* Event counters besides the cycle counter (PMCR_EL0.N); 0: no PMU. */
unsigned int pmu_counter_count(void);
/* Does this core say that it counts the event (PMCEID)? The cycle counter always does. */
bool pmu_has_event(uint32_t event);

/* Cycles since this core's first instructions, 64 bits. 0 without a PMU. */
uint64_t pmu_read_cycles(void);
/*
 * Instructions that this core has retired since then, 64 bits: the counter's 32 bits are extended,
 * so a reading must come at least every 2^32 instructions. 0 where the core does not count them
 * (QEMU without -icount). Context: any, own CPU.
 */
uint64_t pmu_read_insns(void);

/* At most this many events at once, as struct board_attr_pmu carries. */
#define PMU_EVENTS_MAX 8
#define PMU_EVENT_NONE 0xffffffffu

/*
 * Count these events on this CPU from now on; PMU_EVENT_NONE entries are left out, events that the
 * core does not have (or has no counter left for) read as not supported. 0, or -ENODEV without a
 * PMU. Cycles and instructions use the two counters that always run. Thread.
 */
int pmu_program(const uint32_t *events, unsigned int n) __must_check;
/*
 * Counts since pmu_program for the events that are programmed now, in the caller's order;
 * *supported: bit i set if events[i] is counted. Event counters are 32 bits wide. 0 or -ENODEV.
 */
int pmu_read(const uint32_t *events, unsigned int n, uint64_t *value,
	     uint32_t *supported) __must_check;
