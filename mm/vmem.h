/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Map memory: large, virtually contiguous, zeroed, in the map window of the top 4 GB. Backed by
 * 2 MB blocks as far as the size fills them and frames are free, by 4 KB pages else. A page stays
 * unmapped behind every area. Context: thread.
 */
#pragma once

#include "include/base.h"

/* NULL: 0 bytes, no memory, no room. */
void *vmem_alloc(uint64_t bytes) __must_check;
/* p from vmem_alloc, or NULL. Anything else stops the kernel. */
void vmem_free(void *p);

/*
 * head_bytes, then bytes, then the same physical bytes again. Multiples of 4 KB, bytes > 0. NULL as
 * above. Freed by vmem_free_mirror with the same sizes.
 */
void *vmem_alloc_mirror(uint64_t head_bytes, uint64_t bytes) __must_check;
void vmem_free_mirror(void *p, uint64_t head_bytes, uint64_t bytes);

/* Is it in the map window at all? */
bool vmem_is_address(const void *p);

struct vmem_stats {
	uint64_t areas;
	uint64_t used_bytes;  /* page-rounded sizes of all areas, mirrored bytes once */
	uint64_t block_bytes; /* of these, in 2 MB blocks */
};
void vmem_get_stats(struct vmem_stats *out);
