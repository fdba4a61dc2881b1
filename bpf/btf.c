/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/btf.h"

#include <string.h>

#include "bpf/btf_internal.h"
#include "include/err.h"
#include "include/hal.h"

static const struct btf_type btf_void;

int btf_refuse(struct bpf_log *log, const struct bpf_btf *btf, uint32_t id, const char *what)
{
	const struct btf_type *t = btf_type_get(btf, id);
	const struct btf_kind_row *row = t ? btf_kind_row(btf_kind(t)) : NULL;
	const char *name = t ? btf_name(btf, t->name_off) : NULL;

	bpf_log_printf(log, "[%u] %s %s: %s\n", id, row ? row->name : "UNKN",
		       name && *name ? name : "(anon)", what);
	return -EINVAL;
}

static int header_refuse(struct bpf_log *log, const char *what, int err)
{
	bpf_log_printf(log, "%s\n", what);
	return err;
}

/* Copy the header, which may be shorter or (with zeros) longer than the one we know. */
static int header_read(const void *data, uint32_t size, struct bpf_log *log, struct btf_header *hdr)
{
	const uint8_t *bytes = data;
	uint32_t hdr_len;

	if (size < offsetof(struct btf_header, hdr_len) + sizeof(hdr->hdr_len))
		return header_refuse(log, "hdr_len not found", -EINVAL);
	memcpy(&hdr_len, bytes + offsetof(struct btf_header, hdr_len), sizeof(hdr_len));
	if (size < hdr_len)
		return header_refuse(log, "btf_header not found", -EINVAL);
	for (uint32_t i = sizeof(*hdr); i < hdr_len; i++) {
		if (bytes[i])
			return header_refuse(log, "Unsupported btf_header", -E2BIG);
	}
	memset(hdr, 0, sizeof(*hdr));
	memcpy(hdr, bytes, MIN(hdr_len, (uint32_t)sizeof(*hdr)));
	if (hdr->magic != BTF_MAGIC)
		return header_refuse(log, "Invalid magic", -EINVAL);
	if (hdr->version != BTF_VERSION)
		return header_refuse(log, "Unsupported version", -ENOTSUPP);
	if (hdr->flags)
		return header_refuse(log, "Unsupported flags", -ENOTSUPP);
	if (size == hdr_len)
		return header_refuse(log, "No data", -EINVAL);
	return 0;
}

/* Types, then strings, without gap, and nothing after them. */
static int sections_check(const struct btf_header *hdr, uint32_t size, struct bpf_log *log)
{
	uint64_t left = size - hdr->hdr_len;

	if (hdr->type_off & 3)
		return header_refuse(log, "Unaligned type_off", -EINVAL);
	if (!hdr->type_len)
		return header_refuse(log, "No type found", -EINVAL);
	if (hdr->type_off || hdr->type_off + (uint64_t)hdr->type_len != hdr->str_off)
		return header_refuse(log, "Section gap or overlap found", -EINVAL);
	if (hdr->str_off + (uint64_t)hdr->str_len > left)
		return header_refuse(log, "Total section length too long", -EINVAL);
	if (hdr->str_off + (uint64_t)hdr->str_len < left)
		return header_refuse(log, "Unsupported section found", -EINVAL);
	return 0;
}

static int strings_check(const struct bpf_btf *btf, struct bpf_log *log)
{
	uint32_t len = btf->strings_len;

	if (!len || len - 1 > BTF_NAME_OFFSET_MAX || btf->strings[0] || btf->strings[len - 1])
		return header_refuse(log, "Invalid string section", -EINVAL);
	return 0;
}

/* One type: its bytes are there, its kind exists. 0 and *bytes, or -errno. */
static int type_measure(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
			uint32_t left, struct bpf_log *log, uint32_t *bytes)
{
	const struct btf_kind_row *row;
	uint32_t need;

	if (left < sizeof(*t)) {
		bpf_log_printf(log, "[%u] truncated type\n", id);
		return -EINVAL;
	}
	row = btf_kind_row(btf_kind(t));
	if (!row || t->info & 0x60ff0000u) {
		bpf_log_printf(log, "[%u] Invalid btf_info:%x\n", id, t->info);
		return -EINVAL;
	}
	if (!btf_name(btf, t->name_off)) {
		bpf_log_printf(log, "[%u] Invalid name_offset:%u\n", id, t->name_off);
		return -EINVAL;
	}
	need = (uint32_t)sizeof(*t) + row->extra_once + row->extra_each * btf_vlen(t);
	if (left < need) {
		bpf_log_printf(log, "[%u] meta_left:%u meta_needed:%u\n", id, left, need);
		return -EINVAL;
	}
	*bytes = need;
	return 0;
}

/* Walk the type section: once to count (types NULL), once to index. */
static int types_walk(struct bpf_btf *btf, const struct btf_header *hdr, struct bpf_log *log,
		      const struct btf_type **types, uint32_t *cnt)
{
	const uint8_t *at = btf->data + hdr->hdr_len, *end = at + hdr->type_len;
	uint32_t id = 1, bytes = 0;

	for (; at < end; at += bytes, id++) {
		const struct btf_type *t = (const void *)at;
		int err;

		if (id > BTF_TYPE_MAX) {
			bpf_log_printf(log, "too many types\n");
			return -E2BIG;
		}
		err = type_measure(btf, id, t, (uint32_t)(end - at), log, &bytes);
		if (err)
			return err;
		if (types)
			types[id] = t;
	}
	*cnt = id;
	return 0;
}

static int types_check(const struct bpf_btf *btf, struct bpf_log *log)
{
	for (uint32_t id = 1; id < btf->type_cnt; id++) {
		const struct btf_type *t = btf->types[id];
		int err = btf_kind_row(btf_kind(t))->check(btf, id, t, log);

		if (err)
			return err;
	}
	return 0;
}

static int btf_parse(struct bpf_btf *btf, const struct btf_header *hdr, struct bpf_log *log)
{
	uint32_t cnt;
	int err;

	err = strings_check(btf, log);
	if (!err)
		err = types_walk(btf, hdr, log, NULL, &cnt);
	if (err)
		return err;
	btf->types = hal_alloc(cnt * sizeof(btf->types[0]));
	if (!btf->types)
		return -ENOMEM;
	btf->types[0] = &btf_void;
	err = types_walk(btf, hdr, log, btf->types, &cnt);
	if (err)
		return err;
	btf->type_cnt = cnt;
	err = types_check(btf, log);
	if (!err)
		err = btf_resolve_all(btf, log);
	return err;
}

int btf_load(const void *data, uint32_t size, struct bpf_log *log, struct bpf_btf **out)
{
	struct btf_header hdr;
	struct bpf_btf *btf;
	int err;

	if (size > BTF_SIZE_MAX)
		return -E2BIG;
	err = header_read(data, size, log, &hdr);
	if (!err)
		err = sections_check(&hdr, size, log);
	/* Types are read in place, so they must lie aligned in the copy. */
	if (!err && hdr.hdr_len & 3)
		err = header_refuse(log, "Unaligned hdr_len", -EINVAL);
	if (err)
		return err;
	btf = hal_alloc(sizeof(*btf));
	if (!btf)
		return -ENOMEM;
	btf->refs = 1;
	btf->size = size;
	btf->data = hal_alloc(size);
	err = btf->data ? 0 : -ENOMEM;
	if (!err) {
		memcpy(btf->data, data, size);
		btf->strings = (const char *)btf->data + hdr.hdr_len + hdr.str_off;
		btf->strings_len = hdr.str_len;
		err = btf_parse(btf, &hdr, log);
	}
	if (err) {
		btf_free(btf);
		return err;
	}
	*out = btf;
	return 0;
}

void btf_free(struct bpf_btf *btf)
{
	if (!btf)
		return;
	hal_free(btf->types);
	hal_free(btf->data);
	hal_free(btf);
}

const struct btf_type *btf_type_get(const struct bpf_btf *btf, uint32_t id)
{
	return id < btf->type_cnt ? btf->types[id] : NULL;
}

const char *btf_name(const struct bpf_btf *btf, uint32_t off)
{
	return off < btf->strings_len ? btf->strings + off : NULL;
}

const struct btf_type *btf_skip_modifiers(const struct bpf_btf *btf, uint32_t id, uint32_t *res_id)
{
	const struct btf_type *t = btf_type_get(btf, id);

	for (uint32_t steps = 0; t && btf_is_modifier(t); steps++) {
		if (steps == btf->type_cnt)
			return NULL;
		id = t->type;
		t = btf_type_get(btf, id);
	}
	if (t && res_id)
		*res_id = id;
	return t;
}

int64_t btf_type_size(const struct bpf_btf *btf, uint32_t id)
{
	uint64_t times = 1;

	for (uint32_t steps = 0; steps <= btf->type_cnt; steps++) {
		const struct btf_type *t = btf_skip_modifiers(btf, id, NULL);
		const struct btf_array *array;
		uint64_t bytes;

		if (!t)
			return -EINVAL;
		if (btf_kind(t) == BTF_KIND_ARRAY) {
			array = btf_extra(t);
			times *= array->nelems;
			if (times > UINT32_MAX)
				return -E2BIG;
			id = array->type;
			continue;
		}
		if (btf_kind(t) == BTF_KIND_VAR) {
			id = t->type;
			continue;
		}
		if (btf_kind(t) == BTF_KIND_PTR)
			bytes = times * sizeof(uint64_t);
		else if (btf_kind_row(btf_kind(t)) && btf_kind_row(btf_kind(t))->has_size)
			bytes = times * t->size;
		else
			return -EINVAL;
		return bytes > UINT32_MAX ? -E2BIG : (int64_t)bytes;
	}
	return -EINVAL;
}

/* Is `id` the struct type `name` of this size? */
static bool type_is_special(const struct bpf_btf *btf, uint32_t id, const char *name, uint32_t size)
{
	const struct btf_type *t = btf_skip_modifiers(btf, id, NULL);

	return t && btf_kind(t) == BTF_KIND_STRUCT && t->size == size &&
	       strcmp(btf_name(btf, t->name_off), name) == 0;
}

static int field_found(int found, uint64_t off, uint32_t align)
{
	if (found >= 0)
		return -E2BIG;
	if (off % align || off > INT32_MAX)
		return -EINVAL;
	return (int)off;
}

int btf_find_field(const struct bpf_btf *btf, uint32_t id, const char *name, uint32_t size,
		   uint32_t align)
{
	const struct btf_type *t = btf_skip_modifiers(btf, id, NULL);
	const struct btf_member *member;
	const struct btf_var_secinfo *var;
	int found = -ENOENT;

	if (!t || (!btf_is_struct(t) && btf_kind(t) != BTF_KIND_DATASEC))
		return -ENOENT;
	member = btf_extra(t);
	var = btf_extra(t);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		bool section = btf_kind(t) == BTF_KIND_DATASEC;
		uint32_t type = section ? var[i].type : member[i].type;
		uint64_t off = section ? var[i].offset : btf_member_bit_off(t, &member[i]) / 8;
		const struct btf_type *of = btf_type_get(btf, type);

		if (section && of)
			type = of->type;
		if (!type_is_special(btf, type, name, size))
			continue;
		found = field_found(found, off, align);
		if (found == -E2BIG || found == -EINVAL)
			return found;
	}
	return found;
}
