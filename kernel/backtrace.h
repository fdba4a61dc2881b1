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

/* Longest name, with its NUL; longer ones are cut. */
#define KSYMS_NAME_MAX 96

/*
 * The function of the kernel that holds pc: its name to buf, and pc's distance from its start.
 * False if pc is not in the kernel's text.
 */
bool ksyms_find(uint64_t pc, char buf[KSYMS_NAME_MAX], uint64_t *offset);
/* Function number i in order of address, for clients that want the table; false past the end. */
bool ksyms_at(uint32_t i, char buf[KSYMS_NAME_MAX], uint64_t *addr);
