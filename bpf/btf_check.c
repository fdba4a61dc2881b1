/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First pass over BTF: each type by itself (what it refers to is the second pass, btf_resolve.c).
 */
#include "bpf/btf_internal.h"

#include "include/err.h"

static bool name_char_ok(char c, bool first)
{
	bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';

	return alpha || (!first && c >= '0' && c <= '9');
}

static bool name_is_identifier(const struct bpf_btf *btf, uint32_t off)
{
	const char *name = btf_name(btf, off);

	for (uint32_t i = 0; i < BTF_NAME_LEN_MAX; i++) {
		if (!name[i])
			return i > 0;
		if (!name_char_ok(name[i], !i))
			return false;
	}
	return false;
}

static bool name_is_section(const struct bpf_btf *btf, uint32_t off)
{
	const char *name = btf_name(btf, off);

	for (uint32_t i = 0; i < BTF_NAME_LEN_MAX; i++) {
		if (!name[i])
			return i > 0;
		if (name[i] < ' ' || name[i] > '~')
			return false;
	}
	return false;
}

/* vlen and kind flag unused; but in tags the flag tells attributes apart (since Linux 6.15). */
static const char *plain_check(const struct btf_type *t)
{
	bool is_tag = btf_kind(t) == BTF_KIND_TYPE_TAG || btf_kind(t) == BTF_KIND_DECL_TAG;

	if (btf_vlen(t))
		return "vlen != 0";
	if (BTF_INFO_KFLAG(t->info) && !is_tag)
		return "Invalid btf_info kind_flag";
	return NULL;
}

static int check_int(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
		     struct bpf_log *log)
{
	uint32_t data = *(const uint32_t *)btf_extra(t);
	uint32_t bits = BTF_INT_BITS(data) + BTF_INT_OFFSET(data),
		 encoding = BTF_INT_ENCODING(data);
	const char *why = plain_check(t);

	if (!why && data & ~0x0fffffffu)
		why = "Invalid int_data";
	if (!why && bits > 128)
		why = "nr_bits exceeds 128";
	if (!why && (bits + 7) / 8 > t->size)
		why = "nr_bits exceeds type_size";
	if (why)
		return btf_refuse(log, btf, id, why);
	if (encoding & (encoding - 1) || encoding > BTF_INT_BOOL) {
		btf_refuse(log, btf, id, "Unsupported encoding");
		return -ENOTSUPP;
	}
	return 0;
}

static int check_ref(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
		     struct bpf_log *log)
{
	const char *why = plain_check(t);

	if (!why && t->type > BTF_TYPE_MAX)
		why = "Invalid type_id";
	if (!why && btf_kind(t) == BTF_KIND_TYPEDEF && !name_is_identifier(btf, t->name_off))
		why = "Invalid name";
	if (!why && btf_kind(t) == BTF_KIND_TYPE_TAG && !*btf_name(btf, t->name_off))
		why = "Invalid name";
	if (!why && btf_kind(t) != BTF_KIND_TYPEDEF && btf_kind(t) != BTF_KIND_TYPE_TAG &&
	    t->name_off)
		why = "Invalid name";
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static int check_fwd(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
		     struct bpf_log *log)
{
	const char *why = NULL;

	if (btf_vlen(t))
		why = "vlen != 0";
	else if (t->type)
		why = "type != 0";
	else if (!name_is_identifier(btf, t->name_off))
		why = "Invalid name";
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static int check_array(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
		       struct bpf_log *log)
{
	const struct btf_array *array = btf_extra(t);
	const char *why = plain_check(t);

	if (!why && t->name_off)
		why = "Invalid name";
	if (!why && t->size)
		why = "size != 0";
	if (!why && (!array->type || array->type > BTF_TYPE_MAX))
		why = "Invalid elem";
	if (!why && (!array->index_type || array->index_type > BTF_TYPE_MAX))
		why = "Invalid index";
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static const char *member_check(const struct bpf_btf *btf, const struct btf_type *t,
				const struct btf_member *m, uint32_t *last)
{
	uint32_t off = btf_member_bit_off(t, m);

	if (!btf_name(btf, m->name_off))
		return "Invalid member name_offset";
	if (m->name_off && !name_is_identifier(btf, m->name_off))
		return "Invalid member name";
	if (!m->type || m->type > BTF_TYPE_MAX)
		return "Invalid member type_id";
	if (btf_kind(t) == BTF_KIND_UNION && off)
		return "Invalid member bits_offset";
	if (*last > off)
		return "Invalid member bits_offset";
	if (((uint64_t)off + 7) / 8 > t->size)
		return "Member bits_offset exceeds its struct size";
	*last = off;
	return NULL;
}

static int check_struct(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
			struct bpf_log *log)
{
	const struct btf_member *members = btf_extra(t);
	const char *why = NULL;
	uint32_t last = 0;

	if (t->name_off && !name_is_identifier(btf, t->name_off))
		why = "Invalid name";
	for (uint32_t i = 0; !why && i < btf_vlen(t); i++)
		why = member_check(btf, t, &members[i], &last);
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static int check_enum(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
		      struct bpf_log *log)
{
	uint32_t each = btf_kind_row(btf_kind(t))->extra_each;
	const uint8_t *at = btf_extra(t);
	const char *why = NULL;

	if (t->size > 8 || !t->size || t->size & (t->size - 1))
		why = "Unexpected size";
	else if (t->name_off && !name_is_identifier(btf, t->name_off))
		why = "Invalid name";
	for (uint32_t i = 0; !why && i < btf_vlen(t); i++) {
		/* Both kinds of enumerator begin with the name. */
		uint32_t name_off = *(const uint32_t *)(const void *)(at + (size_t)i * each);

		if (!btf_name(btf, name_off) || !name_is_identifier(btf, name_off))
			why = "Invalid enumerator name";
	}
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static int check_func(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
		      struct bpf_log *log)
{
	const char *why = NULL;

	if (!name_is_identifier(btf, t->name_off))
		why = "Invalid name";
	else if (btf_vlen(t) > BTF_FUNC_GLOBAL)
		why = "Invalid func linkage";
	else if (BTF_INFO_KFLAG(t->info))
		why = "Invalid btf_info kind_flag";
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static int check_func_proto(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
			    struct bpf_log *log)
{
	const struct btf_param *params = btf_extra(t);
	const char *why = NULL;

	if (t->name_off)
		why = "Invalid name";
	else if (BTF_INFO_KFLAG(t->info))
		why = "Invalid btf_info kind_flag";
	for (uint32_t i = 0; !why && i < btf_vlen(t); i++) {
		if (params[i].name_off && (!btf_name(btf, params[i].name_off) ||
					   !name_is_identifier(btf, params[i].name_off)))
			why = "Invalid arg name";
	}
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static int check_var(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
		     struct bpf_log *log)
{
	const struct btf_var *var = btf_extra(t);
	const char *why = plain_check(t);

	if (!why && !name_is_identifier(btf, t->name_off))
		why = "Invalid name";
	if (!why && (!t->type || t->type > BTF_TYPE_MAX))
		why = "Invalid type_id";
	if (!why && var->linkage != BTF_VAR_STATIC && var->linkage != BTF_VAR_GLOBAL_ALLOCATED)
		why = "Linkage not supported";
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static const char *var_in_section_check(const struct btf_type *t, const struct btf_var_secinfo *var,
					uint64_t *end)
{
	if (!var->type || var->type > BTF_TYPE_MAX)
		return "Invalid type_id of a variable";
	if (var->offset < *end || var->offset >= t->size)
		return "Invalid offset of a variable";
	if (!var->size || var->size > t->size)
		return "Invalid size of a variable";
	*end = (uint64_t)var->offset + var->size;
	if (*end > t->size)
		return "Invalid offset+size of a variable";
	return NULL;
}

static int check_datasec(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
			 struct bpf_log *log)
{
	const struct btf_var_secinfo *vars = btf_extra(t);
	const char *why = NULL;
	uint64_t end = 0;

	if (!t->size)
		why = "size == 0";
	else if (BTF_INFO_KFLAG(t->info))
		why = "Invalid btf_info kind_flag";
	else if (!name_is_section(btf, t->name_off))
		why = "Invalid name";
	for (uint32_t i = 0; !why && i < btf_vlen(t); i++)
		why = var_in_section_check(t, &vars[i], &end);
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static int check_float(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
		       struct bpf_log *log)
{
	const char *why = plain_check(t);

	if (!why && t->size != 2 && t->size != 4 && t->size != 8 && t->size != 12 && t->size != 16)
		why = "Invalid type_size";
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static int check_decl_tag(const struct bpf_btf *btf, uint32_t id, const struct btf_type *t,
			  struct bpf_log *log)
{
	const struct btf_decl_tag *tag = btf_extra(t);
	const char *why = plain_check(t);

	if (!why && !*btf_name(btf, t->name_off))
		why = "Invalid value";
	if (!why && tag->component_idx < -1)
		why = "Invalid component_idx";
	return why ? btf_refuse(log, btf, id, why) : 0;
}

static const struct btf_kind_row kind_rows[NR_BTF_KINDS] = {
	[BTF_KIND_INT] = { "INT", 1, 0, 0, 4, check_int },
	[BTF_KIND_PTR] = { "PTR", 0, 1, 0, 0, check_ref },
	[BTF_KIND_ARRAY] = { "ARRAY", 0, 0, 0, sizeof(struct btf_array), check_array },
	[BTF_KIND_STRUCT] = { "STRUCT", 1, 0, sizeof(struct btf_member), 0, check_struct },
	[BTF_KIND_UNION] = { "UNION", 1, 0, sizeof(struct btf_member), 0, check_struct },
	[BTF_KIND_ENUM] = { "ENUM", 1, 0, sizeof(struct btf_enum), 0, check_enum },
	[BTF_KIND_FWD] = { "FWD", 0, 0, 0, 0, check_fwd },
	[BTF_KIND_TYPEDEF] = { "TYPEDEF", 0, 1, 0, 0, check_ref },
	[BTF_KIND_VOLATILE] = { "VOLATILE", 0, 1, 0, 0, check_ref },
	[BTF_KIND_CONST] = { "CONST", 0, 1, 0, 0, check_ref },
	[BTF_KIND_RESTRICT] = { "RESTRICT", 0, 1, 0, 0, check_ref },
	[BTF_KIND_FUNC] = { "FUNC", 0, 1, 0, 0, check_func },
	[BTF_KIND_FUNC_PROTO] = { "FUNC_PROTO", 0, 1, sizeof(struct btf_param), 0,
				  check_func_proto },
	[BTF_KIND_VAR] = { "VAR", 0, 1, 0, sizeof(struct btf_var), check_var },
	[BTF_KIND_DATASEC] = { "DATASEC", 1, 0, sizeof(struct btf_var_secinfo), 0, check_datasec },
	[BTF_KIND_FLOAT] = { "FLOAT", 1, 0, 0, 0, check_float },
	[BTF_KIND_DECL_TAG] = { "DECL_TAG", 0, 1, 0, sizeof(struct btf_decl_tag), check_decl_tag },
	[BTF_KIND_TYPE_TAG] = { "TYPE_TAG", 0, 1, 0, 0, check_ref },
	[BTF_KIND_ENUM64] = { "ENUM64", 1, 0, sizeof(struct btf_enum64), 0, check_enum },
};

const struct btf_kind_row *btf_kind_row(uint32_t kind)
{
	return kind < NR_BTF_KINDS && kind_rows[kind].check ? &kind_rows[kind] : NULL;
}
