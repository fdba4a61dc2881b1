/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exceptions: the frame that vectors.S saves, and what becomes of a fault.
 *
 *   1. A fault at an instruction listed in the fix-up table (hal_probe_read): execution goes on at
 *      the fix-up address.
 *   2. A fault while this CPU is in a run of a program: the run ends with RUN_END_FAULT.
 *   3. Anything else is an error of this kernel: kernel/panic.c.
 */
#pragma once

#define TRAP_X(n)	 ((n) * 8)
#define TRAP_SP		 248
#define TRAP_PC		 256
#define TRAP_PSTATE	 264
#define TRAP_ESR	 272
#define TRAP_FAR	 280
#define TRAP_KIND	 288
#define TRAP_RECORD	 304
#define TRAP_FRAME_BYTES 320

/* Index of the vector: 4 * (source) + (type). */
#define TRAP_SYNC   0
#define TRAP_IRQ    1
#define TRAP_FIQ    2
#define TRAP_SERROR 3

#ifndef __ASSEMBLER__
#include "include/base.h"

/* On the stack of whoever was interrupted; changes to it take effect at return. */
struct trap_frame {
	uint64_t x[31];
	uint64_t sp;
	uint64_t pc;
	uint64_t pstate;
	uint64_t esr;
	uint64_t far;
	uint64_t kind;
	uint64_t overflow;  /* 1: sp had run out of its stack; this frame is on the emergency one */
	uint64_t record[2]; /* frame record {x29, pc}: backtraces go on through the exception */
};
_Static_assert(offsetof(struct trap_frame, sp) == TRAP_SP, "assembly offset");
_Static_assert(offsetof(struct trap_frame, pc) == TRAP_PC, "assembly offset");
_Static_assert(offsetof(struct trap_frame, pstate) == TRAP_PSTATE, "assembly offset");
_Static_assert(offsetof(struct trap_frame, esr) == TRAP_ESR, "assembly offset");
_Static_assert(offsetof(struct trap_frame, far) == TRAP_FAR, "assembly offset");
_Static_assert(offsetof(struct trap_frame, kind) == TRAP_KIND, "assembly offset");
_Static_assert(offsetof(struct trap_frame, record) == TRAP_RECORD, "assembly offset");
_Static_assert(sizeof(struct trap_frame) == TRAP_FRAME_BYTES, "assembly offset");

/* Cause of a synchronous exception in a few words, from ESR_EL1. */
const char *trap_cause(uint64_t esr);
/* Does far say anything for this esr? */
bool trap_has_address(uint64_t esr);

/*
 * Copy n bytes from src to dst; a fault on src ends the copy. Returns the number of bytes not
 * copied. No check of what kind of memory src is.
 */
size_t trap_copy_from(void *dst, const void *src, size_t n);
/* Store/load of one aligned word at an address that may be bad: 0 or -EFAULT. */
int trap_try_store32(uint32_t *p, uint32_t value);
int trap_try_load32(const uint32_t *p, uint32_t *value);
#endif
