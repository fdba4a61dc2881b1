/* SPDX-License-Identifier: BSD-2-Clause */
/* Callers by frame records, and functions by address. Context: any, no lock, no memory. */
#pragma once

#include "include/base.h"

struct backtrace {
	uint64_t fp; /* next frame record */
	uint64_t pc;
	unsigned int depth;
};

/* Steps at most: a recursion that has filled a stack is cut. */
#define BACKTRACE_MAX 64

/* Start at a frame record address (x29) and the pc that belongs to it. */
void backtrace_begin(struct backtrace *bt, uint64_t fp, uint64_t pc);
/* Step to the caller: false at the end, or when the record is not on a mapped stack. */
bool backtrace_next(struct backtrace *bt);

/*
 * The function of the kernel that holds pc: its name and pc's distance from its start. NULL if pc
 * is not in the kernel's text.
 */
const char *ksyms_find(uint64_t pc, uint64_t *offset);
/* Function number i in order of address, for clients that want the table; NULL past the end. */
const char *ksyms_at(uint32_t i, uint64_t *addr);
