/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Dynamic pointers as they lie on a program's stack (UAPI struct bpf_dynptr, 16 bytes): memory
 * whose bounds are checked at run time. A NULL data pointer is an invalid dynptr, which every
 * helper refuses.
 */
#pragma once

#include "include/base.h"
#include "include/uapi_new.h"

struct bpf_dynptr_kern {
	void *data;
	uint32_t size; /* bits 0-23 bytes, 28-30 enum dynptr_type, 31 read only */
	uint32_t offset;
} __aligned(8);
_Static_assert(sizeof(struct bpf_dynptr_kern) == sizeof(struct bpf_dynptr), "one UAPI slot");

enum dynptr_type { DYNPTR_NONE, DYNPTR_LOCAL, DYNPTR_RINGBUF };

#define DYNPTR_SIZE_MAX	  0xffffffu
#define DYNPTR_TYPE_SHIFT 28
#define DYNPTR_RDONLY	  (1u << 31)

static inline uint32_t dynptr_size(const struct bpf_dynptr_kern *d)
{
	return d->size & DYNPTR_SIZE_MAX;
}

static inline enum dynptr_type dynptr_type(const struct bpf_dynptr_kern *d)
{
	return (enum dynptr_type)(d->size >> DYNPTR_TYPE_SHIFT & 7);
}

static inline bool dynptr_is_rdonly(const struct bpf_dynptr_kern *d)
{
	return d->size & DYNPTR_RDONLY;
}

/* size <= DYNPTR_SIZE_MAX. */
static inline void dynptr_init(struct bpf_dynptr_kern *d, void *data, enum dynptr_type type,
			       uint32_t offset, uint32_t size)
{
	*d = (struct bpf_dynptr_kern){ .data = data,
				       .size = size | (uint32_t)type << DYNPTR_TYPE_SHIFT,
				       .offset = offset };
}

static inline void dynptr_set_null(struct bpf_dynptr_kern *d)
{
	*d = (struct bpf_dynptr_kern){ 0 };
}
