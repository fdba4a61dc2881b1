/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BTF on the board: parsed, checked, kept as loaded; looked into for map values (locks, timers),
 * function signatures (global functions, callbacks), line info. Kinds as in linux/btf.h up to
 * ENUM64.
 */
#pragma once

#include "include/base.h"
#include "include/uapi_new.h"

struct bpf_btf {
	uint32_t refs; /* atomic */
	uint32_t id;
	uint8_t *data; /* as loaded, header first */
	uint32_t size;
	const struct btf_type **types; /* by id; [0] is void */
	uint32_t type_cnt;	       /* ids 0 .. type_cnt-1 */
	const char *strings;
	uint32_t strings_len;
};

/* Text of a log of fixed room: keeps its end when full, knows its full size. */
struct bpf_log;

/*
 * Check and index; data is copied. Refuses what Linux refuses: bad header, offsets, ids, names,
 * kinds, loops of typedefs. 0 and *out with refs = 1, -EINVAL, -E2BIG, -ENOMEM. log may be NULL.
 * Thread.
 */
int btf_load(const void *data, uint32_t size, struct bpf_log *log,
	     struct bpf_btf **out) __must_check;
void btf_free(struct bpf_btf *btf); /* refs are the caller's business */

/* NULL for a bad id. Context: any. */
const struct btf_type *btf_type_get(const struct bpf_btf *btf, uint32_t id);
/* "" for offset 0, NULL for a bad offset. */
const char *btf_name(const struct bpf_btf *btf, uint32_t off);
/* Through typedefs, const, volatile, restrict, type tags. NULL: bad id or loop. */
const struct btf_type *btf_skip_modifiers(const struct bpf_btf *btf, uint32_t id, uint32_t *res_id);
/* Bytes of a type, or -EINVAL / -E2BIG. */
int64_t btf_type_size(const struct bpf_btf *btf, uint32_t id);
/* Byte offset of the only member of struct type `name` ("bpf_spin_lock") anywhere at the top level
 * of struct id; -ENOENT, -E2BIG (several). */
int btf_find_field(const struct bpf_btf *btf, uint32_t id, const char *name, uint32_t size,
		   uint32_t align);
