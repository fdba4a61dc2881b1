/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/ctx.h"

#include <string.h>

#include "bpf/run_ctx.h"
#include "include/err.h"

struct field_row {
	enum ctx_kind of;
	struct ctx_field field;
};

static const struct field_row field_rows[] = {
#define CTX_FIELD(KIND, name_, off_, size_, count_, in_off_, in_size_, FIELD, ACCESS, READERS,     \
		  WRITERS)                                                                         \
	{ CTX_##KIND,                                                                              \
	  { .off = (off_),                                                                         \
	    .size = (size_),                                                                       \
	    .count = (count_),                                                                     \
	    .in_off = (in_off_),                                                                   \
	    .in_size = (in_size_),                                                                 \
	    .kind = (FIELD),                                                                       \
	    .access = (ACCESS),                                                                    \
	    .readers = (READERS),                                                                  \
	    .writers = (WRITERS),                                                                  \
	    .name = (name_) } },
#include "bpf/ctx_access.def"
};

static const struct prog_type prog_types[] = {
#define PROG_TYPE(TYPE, name_, CTX, PKT, RUN, RET, MIN, MAX)                                       \
	[BPF_PROG_TYPE_##TYPE] = { .type = BPF_PROG_TYPE_##TYPE,                                   \
				   .name = (name_),                                                \
				   .ctx = (CTX),                                                   \
				   .pkt_access = (PKT),                                            \
				   .test_run = (RUN),                                              \
				   .ret_checked = (RET),                                           \
				   .ret_min = (MIN),                                               \
				   .ret_max = (MAX) },
#include "bpf/prog_types.def"
};

const struct prog_type *prog_type_get(enum bpf_prog_type type)
{
	if ((unsigned int)type >= ARRAY_SIZE(prog_types) || !prog_types[type].name)
		return NULL;
	return &prog_types[type];
}

const struct ctx_field *ctx_field_find(enum ctx_kind kind, uint32_t off, uint32_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(field_rows); i++) {
		const struct ctx_field *f = &field_rows[i].field;
		uint32_t end = f->off + (uint32_t)f->size * f->count;

		if (field_rows[i].of == kind && off >= f->off && off < end && size <= end - off)
			return f;
	}
	return NULL;
}

const struct ctx_field *ctx_field_check(enum ctx_kind kind, enum bpf_prog_type type, uint32_t off,
					uint32_t size, bool write)
{
	const struct ctx_field *f = ctx_field_find(kind, off, size);

	if (!f || f->kind == CTX_FORBIDDEN || (unsigned int)type >= 32)
		return NULL;
	if (!((write ? f->writers : f->readers) >> type & 1))
		return NULL;
	if (!size || size & (size - 1) || size > 8 || off % size)
		return NULL;
	if (f->access & CTX_BYTES)
		return f;
	if (size == f->size)
		return f;
	return !write && f->access & CTX_NARROW && size < f->size ? f : NULL;
}

uint32_t ctx_uapi_size(enum ctx_kind kind)
{
	uint32_t end = 0;

	for (size_t i = 0; i < ARRAY_SIZE(field_rows); i++) {
		const struct ctx_field *f = &field_rows[i].field;

		if (field_rows[i].of == kind)
			end = MAX(end, f->off + (uint32_t)f->size * f->count);
	}
	return end;
}

uint32_t ctx_internal_size(enum ctx_kind kind)
{
	switch (kind) {
	case CTX_XDP:
		return sizeof(struct ctx_xdp);
	case CTX_SKB:
		return sizeof(struct ctx_skb);
	case CTX_PERF_EVENT:
		return sizeof(struct ctx_perf);
	default:
		return 0;
	}
}

/*
 * Where an allowed access goes: the address, or NULL. *bytes is the width there, which is larger
 * than size only for pointers.
 */
static uint8_t *access_place(enum ctx_kind kind, enum bpf_prog_type type, void *ctx, uint32_t off,
			     uint32_t size, bool write, uint32_t *bytes)
{
	const struct ctx_field *f = ctx_field_check(kind, type, off, size, write);
	const struct ctx_bytes *plain = ctx;

	if (!f)
		return NULL;
	*bytes = size;
	if (!ctx_internal_size(kind))
		return off <= plain->len && size <= plain->len - off ? plain->bytes + off : NULL;
	if (f->in_size > f->size && f->kind != CTX_SCALAR)
		*bytes = f->in_size;
	return (uint8_t *)ctx + f->in_off + (off - f->off);
}

int ctx_load(enum ctx_kind kind, enum bpf_prog_type type, const void *ctx, uint32_t off,
	     uint32_t size, uint64_t *value)
{
	uint32_t bytes;
	const uint8_t *place =
		access_place(kind, type, (void *)(uintptr_t)ctx, off, size, false, &bytes);

	if (!place)
		return -EACCES;
	*value = 0;
	memcpy(value, place, bytes);
	return 0;
}

int ctx_store(enum ctx_kind kind, enum bpf_prog_type type, void *ctx, uint32_t off, uint32_t size,
	      uint64_t value)
{
	uint32_t bytes;
	uint8_t *place = access_place(kind, type, ctx, off, size, true, &bytes);

	if (!place)
		return -EACCES;
	memcpy(place, &value, bytes);
	return 0;
}

static void region_add(struct run_ctx *rc, enum run_region_kind kind, void *base, size_t size,
		       bool writable)
{
	rc->regions[rc->regions_nr++] = (struct run_region){
		.base = (uintptr_t)base, .size = size, .kind = (uint8_t)kind, .writable = writable
	};
}

void *ctx_run_begin(struct run_ctx *rc, enum bpf_prog_type type, void *ctx)
{
	const struct prog_type *row = prog_type_get(type);
	enum ctx_kind kind = row ? row->ctx : CTX_NONE;
	struct ctx_bytes *plain = ctx;

	rc->ctx = ctx;
	rc->regions_nr = 0;
	if (kind == CTX_NONE)
		return ctx;
	if (!ctx_internal_size(kind)) {
		region_add(rc, RUN_REGION_MEM, plain->bytes, plain->len, kind == CTX_SYSCALL);
		return plain->bytes;
	}
	region_add(rc, RUN_REGION_CTX, ctx, ctx_uapi_size(kind), true);
	if (row->pkt_access)
		region_add(rc, RUN_REGION_PKT, NULL, 0, row->pkt_access == 2);
	return ctx;
}
