/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the pieces of the BTF checker. */
#pragma once

#include "bpf/btf.h"
#include "bpf/log.h"

#define BTF_SIZE_MAX	    (16u << 20)
#define BTF_NAME_OFFSET_MAX 0x00ffffffu
#define BTF_TYPE_MAX	    0x000fffffu
#define BTF_NAME_LEN_MAX    512
#define BTF_RESOLVE_DEPTH   32

/* What the checks need of a type's kind; one row a kind. */
struct btf_kind_row {
	const char *name;
	uint8_t has_size;   /* `size` is a size, not a type id */
	uint8_t has_type;   /* `type` is a type id */
	uint8_t extra_each; /* bytes after the type, each of vlen elements */
	uint8_t extra_once; /* bytes after the type */
	/* The type alone: 0 or -errno with a log line. */
	int (*check)(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
		     struct bpf_log *log);
};
/* NULL: no such kind. */
const struct btf_kind_row *btf_kind_row(uint32_t kind);

/* Log one line about a type; returns -EINVAL. */
int btf_refuse(struct bpf_log *log, const struct bpf_btf *btf, uint32_t id, const char *what);

/* Second pass: what types refer to. All types are in btf->types. 0 or -errno. */
int btf_resolve_all(const struct bpf_btf *btf, struct bpf_log *log);

static inline uint32_t btf_kind(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info);
}

static inline uint32_t btf_vlen(const struct btf_type *t)
{
	return BTF_INFO_VLEN(t->info);
}

static inline bool btf_is_modifier(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		return true;
	default:
		return false;
	}
}

static inline bool btf_is_struct(const struct btf_type *t)
{
	return btf_kind(t) == BTF_KIND_STRUCT || btf_kind(t) == BTF_KIND_UNION;
}

/* What follows a struct btf_type. */
static inline const void *btf_extra(const struct btf_type *t)
{
	return t + 1;
}

static inline uint32_t btf_member_bit_off(const struct btf_type *t, const struct btf_member *m)
{
	return BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset;
}

static inline uint32_t btf_member_bits(const struct btf_type *t, const struct btf_member *m)
{
	return BTF_INFO_KFLAG(t->info) ? BTF_MEMBER_BITFIELD_SIZE(m->offset) : 0;
}
