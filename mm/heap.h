/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel heap. Objects of up to HEAP_SMALL_MAX bytes come from slabs of one size class each,
 * larger ones are pages of their own. Every object lies in the direct map, 16-byte aligned, behind
 * a header at the start of its slab that tells what it is.
 *
 *   slab (16 KB)     | header | object | object | ... |
 *   large object     | header | object ... to the end of the last page |
 *
 * Each CPU keeps a few free objects of each class at hand, so that most requests take no lock.
 *
 * Freeing what was not handed out (a wild pointer, the same one twice) stops the kernel.
 * Context: any.
 */
#pragma once

#include "include/base.h"

#define HEAP_SMALL_MAX 2016
/* One object is at most this large: what is larger belongs into map memory (mm/vmem.h). */
#define HEAP_LARGE_MAX (2u * 1024 * 1024 - 64)

/* Zeroed, 16-byte aligned, or NULL: no memory, 0 bytes or too many. */
void *heap_alloc(size_t bytes) __must_check;
/* The same without zeroing. */
void *heap_alloc_raw(size_t bytes) __must_check;
/* p from above, or NULL. */
void heap_free(void *p);
/* Size that an object really has, at least what was asked for. */
size_t heap_usable_bytes(const void *p);

struct heap_stats {
	uint64_t used_bytes; /* of all live objects, as large as they really are */
	uint64_t used_objects;
	uint64_t backing_bytes; /* pages that stand behind them */
	uint64_t fills;	   /* times a CPU had no small object at hand and took some from slabs */
	uint64_t failures; /* requests refused for want of memory */
};
/* Exact while no CPU allocates or frees. */
void heap_get_stats(struct heap_stats *out);

/* Let the n-th next allocation fail, once (0: none). For tests. */
void heap_fail_after(uint64_t n);
