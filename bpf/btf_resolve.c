/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Second pass over BTF: what each type refers to. A walk from every type to the types it is made
 * of, on a stack of fixed depth as in Linux. In pointer mode structs and arrays are not entered, in
 * struct mode pointers are not, so that a list node may point to its own type while a struct may
 * not contain itself.
 */
#include "bpf/btf_internal.h"

#include "include/err.h"
#include "include/hal.h"

enum walk_state { NOT_VISITED, VISITED, RESOLVED };
enum walk_mode { MODE_ANY, MODE_PTR, MODE_STRUCT };

#define SIZE_NONE UINT32_MAX

struct type_facts {
	uint32_t concrete; /* id behind modifiers */
	uint32_t bytes;	   /* SIZE_NONE: has no size */
	uint8_t state;	   /* enum walk_state */
};

struct walk {
	const struct bpf_btf *btf;
	struct bpf_log *log;
	struct type_facts *facts;
	enum walk_mode mode;
	uint32_t depth;
	struct {
		uint32_t id, next; /* next: member to look at */
	} stack[BTF_RESOLVE_DEPTH];
};

/* A step of the walk, beside 0 (this type is done) and -errno. */
#define WALK_DEEPER 1

static bool needs_resolve(const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
	case BTF_KIND_ARRAY:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_VAR:
	case BTF_KIND_FUNC:
	case BTF_KIND_DECL_TAG:
	case BTF_KIND_DATASEC:
		return true;
	default:
		return btf_is_modifier(t);
	}
}

/* Types that others may not be made of. */
static bool is_source_only(const struct btf_type *t)
{
	return btf_kind(t) == BTF_KIND_VAR || btf_kind(t) == BTF_KIND_DATASEC ||
	       btf_kind(t) == BTF_KIND_DECL_TAG;
}

static bool is_sink(const struct walk *w, const struct btf_type *t)
{
	if (w->mode == MODE_PTR)
		return !btf_is_modifier(t) && btf_kind(t) != BTF_KIND_PTR;
	if (w->mode == MODE_STRUCT)
		return !btf_is_modifier(t) && !btf_is_struct(t) && btf_kind(t) != BTF_KIND_ARRAY;
	return !needs_resolve(t);
}

static int walk_push(struct walk *w, uint32_t id)
{
	const struct btf_type *t = btf_type_get(w->btf, id);

	if (w->depth == BTF_RESOLVE_DEPTH) {
		btf_refuse(w->log, w->btf, id, "Exceeded max resolving depth");
		return -E2BIG;
	}
	if (w->facts[id].state != NOT_VISITED)
		return btf_refuse(w->log, w->btf, id, "Loop detected");
	w->facts[id].state = VISITED;
	w->stack[w->depth].id = id;
	w->stack[w->depth++].next = 0;
	if (w->mode == MODE_ANY && btf_kind(t) == BTF_KIND_PTR)
		w->mode = MODE_PTR;
	else if (w->mode == MODE_ANY && (btf_is_struct(t) || btf_kind(t) == BTF_KIND_ARRAY))
		w->mode = MODE_STRUCT;
	return WALK_DEEPER;
}

/* Type id must be known before the one on top: 0 if it is, WALK_DEEPER or -errno. */
static int walk_need(struct walk *w, uint32_t id)
{
	if (is_sink(w, btf_type_get(w->btf, id)) || w->facts[id].state == RESOLVED)
		return 0;
	return walk_push(w, id);
}

static uint32_t own_size(const struct btf_type *t)
{
	const struct btf_kind_row *row = btf_kind_row(btf_kind(t));

	if (btf_kind(t) == BTF_KIND_PTR)
		return sizeof(uint64_t);
	if (btf_kind(t) == BTF_KIND_ARRAY)
		return 0; /* until resolved */
	return row && row->has_size ? t->size : SIZE_NONE;
}

static int done(struct walk *w, uint32_t id, uint32_t concrete, uint32_t bytes)
{
	w->facts[id] = (struct type_facts){ concrete, bytes, RESOLVED };
	w->depth--;
	return 0;
}

static const struct btf_type *concrete_of(const struct walk *w, uint32_t id)
{
	return btf_type_get(w->btf, w->facts[id].concrete);
}

/* A type without size that may stand behind a pointer or modifier. */
static bool may_be_unsized(const struct btf_type *t)
{
	return btf_kind(t) == BTF_KIND_UNKN || btf_kind(t) == BTF_KIND_FWD ||
	       btf_kind(t) == BTF_KIND_FUNC_PROTO;
}

static int resolve_ref(struct walk *w, uint32_t id, const struct btf_type *t)
{
	const struct btf_type *next = btf_type_get(w->btf, t->type);
	int step;

	if (!next || is_source_only(next))
		return btf_refuse(w->log, w->btf, id, "Invalid type_id");
	step = walk_need(w, t->type);
	if (step)
		return step;
	if (w->facts[t->type].bytes == SIZE_NONE && !may_be_unsized(concrete_of(w, t->type)))
		return btf_refuse(w->log, w->btf, id, "Invalid type_id");
	if (btf_kind(t) == BTF_KIND_PTR)
		return done(w, id, id, sizeof(uint64_t));
	return done(w, id, w->facts[t->type].concrete, w->facts[t->type].bytes);
}

static int resolve_var(struct walk *w, uint32_t id, const struct btf_type *t)
{
	const struct btf_type *next = btf_type_get(w->btf, t->type);
	int step;

	if (!next || is_source_only(next))
		return btf_refuse(w->log, w->btf, id, "Invalid type_id");
	step = walk_need(w, t->type);
	if (step)
		return step;
	if (w->facts[t->type].bytes == SIZE_NONE)
		return btf_refuse(w->log, w->btf, id, "Invalid type_id");
	return done(w, id, id, w->facts[t->type].bytes);
}

/* An integer that fills its bytes: the only kind that arrays are made of and indexed by. */
static bool int_is_regular(const struct btf_type *t)
{
	uint32_t data = *(const uint32_t *)btf_extra(t), bits = BTF_INT_BITS(data);

	return !BTF_INT_OFFSET(data) && bits % 8 == 0 && bits / 8 == t->size &&
	       (t->size & (t->size - 1)) == 0 && t->size <= 16 && t->size;
}

static int resolve_array(struct walk *w, uint32_t id, const struct btf_type *t)
{
	const struct btf_array *array = btf_extra(t);
	const struct btf_type *index = btf_type_get(w->btf, array->index_type);
	const struct btf_type *elem = btf_type_get(w->btf, array->type);
	uint64_t bytes;
	int step;

	if (!index || is_source_only(index))
		return btf_refuse(w->log, w->btf, id, "Invalid index");
	step = walk_need(w, array->index_type);
	if (step)
		return step;
	index = concrete_of(w, array->index_type);
	if (btf_kind(index) != BTF_KIND_INT || !int_is_regular(index))
		return btf_refuse(w->log, w->btf, id, "Invalid index");
	if (!elem || is_source_only(elem))
		return btf_refuse(w->log, w->btf, id, "Invalid elem");
	step = walk_need(w, array->type);
	if (step)
		return step;
	if (w->facts[array->type].bytes == SIZE_NONE)
		return btf_refuse(w->log, w->btf, id, "Invalid elem");
	elem = concrete_of(w, array->type);
	if (btf_kind(elem) == BTF_KIND_INT && !int_is_regular(elem))
		return btf_refuse(w->log, w->btf, id, "Invalid array of int");
	bytes = (uint64_t)w->facts[array->type].bytes * array->nelems;
	if (bytes >= SIZE_NONE)
		return btf_refuse(w->log, w->btf, id, "Array size overflows u32");
	return done(w, id, id, (uint32_t)bytes);
}

static const char *bits_fit(const struct btf_type *t, uint64_t off_bits, uint32_t bits)
{
	uint64_t in_byte = off_bits % 8 + bits;

	if (in_byte > 128)
		return "nr_copy_bits exceeds 128";
	return off_bits / 8 + (in_byte + 7) / 8 > t->size ? "Member exceeds struct_size" : NULL;
}

static const char *int_member_check(const struct btf_type *t, const struct btf_member *m,
				    const struct btf_type *type)
{
	uint32_t data = *(const uint32_t *)btf_extra(type), bits = btf_member_bits(t, m);
	uint64_t off = btf_member_bit_off(t, m);

	if (!BTF_INFO_KFLAG(t->info))
		return bits_fit(t, off + BTF_INT_OFFSET(data), BTF_INT_BITS(data));
	if (!int_is_regular(type))
		return "Invalid member base type";
	if (!bits && off % 8)
		return "Invalid member offset";
	if (bits > BTF_INT_BITS(data))
		return "Invalid member bitfield_size";
	return bits_fit(t, off, bits ? bits : BTF_INT_BITS(data));
}

static const char *member_check(const struct btf_type *t, const struct btf_member *m,
				const struct btf_type *type, uint32_t bytes)
{
	uint64_t off = btf_member_bit_off(t, m);
	uint32_t bits = btf_member_bits(t, m), kind = btf_kind(type);
	bool is_enum = kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64;

	if (kind == BTF_KIND_INT)
		return int_member_check(t, m, type);
	if (bytes == SIZE_NONE)
		return "Invalid member type_id";
	if (is_enum && bits) {
		if (bits > 32)
			return "Invalid member bitfield_size";
		return (off + bits + 7) / 8 > t->size ? "Member exceeds struct_size" : NULL;
	}
	if (bits)
		return "Invalid member bitfield_size";
	if (off % 8)
		return "Member is not byte aligned";
	if (kind == BTF_KIND_FLOAT && off / 8 % MIN(type->size, 8u))
		return "Member is not properly aligned";
	return off / 8 + bytes > t->size ? "Member exceeds struct_size" : NULL;
}

static int resolve_struct(struct walk *w, uint32_t id, const struct btf_type *t)
{
	const struct btf_member *members = btf_extra(t);
	uint32_t *at = &w->stack[w->depth - 1].next;

	for (; *at < btf_vlen(t); (*at)++) {
		const struct btf_member *m = &members[*at];
		const struct btf_type *type = btf_type_get(w->btf, m->type);
		const char *why;
		int step;

		if (!type || is_source_only(type))
			return btf_refuse(w->log, w->btf, id, "Invalid member type_id");
		step = walk_need(w, m->type);
		if (step)
			return step;
		why = member_check(t, m, concrete_of(w, m->type), w->facts[m->type].bytes);
		if (why)
			return btf_refuse(w->log, w->btf, id, why);
	}
	return done(w, id, id, t->size);
}

static int resolve_datasec(struct walk *w, uint32_t id, const struct btf_type *t)
{
	const struct btf_var_secinfo *vars = btf_extra(t);
	uint32_t *at = &w->stack[w->depth - 1].next;

	for (; *at < btf_vlen(t); (*at)++) {
		const struct btf_type *var = btf_type_get(w->btf, vars[*at].type);
		int step;

		w->mode = MODE_ANY;
		if (!var || btf_kind(var) != BTF_KIND_VAR)
			return btf_refuse(w->log, w->btf, id, "Not a VAR kind member");
		step = walk_need(w, vars[*at].type);
		if (step)
			return step;
		if (vars[*at].size < w->facts[vars[*at].type].bytes)
			return btf_refuse(w->log, w->btf, id, "Invalid size of a variable");
	}
	return done(w, id, id, t->size);
}

static int resolve_func(struct walk *w, uint32_t id, const struct btf_type *t)
{
	const struct btf_type *proto = btf_type_get(w->btf, t->type);
	const struct btf_param *params;

	if (!proto || btf_kind(proto) != BTF_KIND_FUNC_PROTO)
		return btf_refuse(w->log, w->btf, id, "Invalid type_id");
	params = btf_extra(proto);
	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		if (!params[i].name_off && params[i].type)
			return btf_refuse(w->log, w->btf, id, "Invalid arg");
	}
	return done(w, id, id, SIZE_NONE);
}

/* Parts of what a declaration tag may point to, or -1 where it may not point there at all. */
static int64_t tag_components(const struct bpf_btf *btf, const struct btf_type *t)
{
	switch (btf_kind(t)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return btf_vlen(t);
	case BTF_KIND_FUNC:
		t = btf_type_get(btf, t->type);
		return t && btf_kind(t) == BTF_KIND_FUNC_PROTO ? (int64_t)btf_vlen(t) : -1;
	case BTF_KIND_VAR:
	case BTF_KIND_TYPEDEF:
		return 0;
	default:
		return -1;
	}
}

static int resolve_decl_tag(struct walk *w, uint32_t id, const struct btf_type *t)
{
	const struct btf_decl_tag *tag = btf_extra(t);
	const struct btf_type *next = btf_type_get(w->btf, t->type);
	int64_t parts = next ? tag_components(w->btf, next) : -1;
	int step;

	if (parts < 0)
		return btf_refuse(w->log, w->btf, id, "Invalid type_id");
	step = walk_need(w, t->type);
	if (step)
		return step;
	if (tag->component_idx >= parts)
		return btf_refuse(w->log, w->btf, id, "Invalid component_idx");
	return done(w, id, id, SIZE_NONE);
}

static int walk_step(struct walk *w)
{
	uint32_t id = w->stack[w->depth - 1].id;
	const struct btf_type *t = btf_type_get(w->btf, id);

	switch (btf_kind(t)) {
	case BTF_KIND_ARRAY:
		return resolve_array(w, id, t);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return resolve_struct(w, id, t);
	case BTF_KIND_VAR:
		return resolve_var(w, id, t);
	case BTF_KIND_DATASEC:
		return resolve_datasec(w, id, t);
	case BTF_KIND_FUNC:
		return resolve_func(w, id, t);
	case BTF_KIND_DECL_TAG:
		return resolve_decl_tag(w, id, t);
	default:
		return resolve_ref(w, id, t);
	}
}

static int resolve_one(struct walk *w, uint32_t id)
{
	int step;

	w->mode = MODE_ANY;
	step = walk_push(w, id);
	while (step >= 0 && w->depth)
		step = walk_step(w);
	return step < 0 ? step : 0;
}

/* A parameter or result: a type with a size. */
static bool is_value_type(const struct walk *w, uint32_t id)
{
	const struct btf_type *t = btf_type_get(w->btf, id);

	return t && !is_source_only(t) && w->facts[id].bytes != SIZE_NONE;
}

static int check_proto(struct walk *w, uint32_t id, const struct btf_type *t)
{
	const struct btf_param *params = btf_extra(t);
	uint32_t n = btf_vlen(t);

	if (t->type && !is_value_type(w, t->type)) {
		const struct btf_type *ret = btf_skip_modifiers(w->btf, t->type, NULL);

		if (!ret || btf_kind(ret) != BTF_KIND_UNKN)
			return btf_refuse(w->log, w->btf, id, "Invalid return type");
	}
	if (n && !params[n - 1].type) { /* variable arguments */
		if (params[n - 1].name_off)
			return btf_refuse(w->log, w->btf, id, "Invalid arg");
		n--;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!params[i].type || !is_value_type(w, params[i].type))
			return btf_refuse(w->log, w->btf, id, "Invalid arg");
	}
	return 0;
}

/* Type tags must come before other modifiers: tag -> const is fine, const -> tag is not. */
static int check_tag_order(struct walk *w, uint32_t id, const struct btf_type *t)
{
	const struct btf_type *next = btf_type_get(w->btf, t->type);

	if (btf_kind(t) != BTF_KIND_TYPE_TAG && next && btf_kind(next) == BTF_KIND_TYPE_TAG)
		return btf_refuse(w->log, w->btf, id, "Type tags don't precede modifiers");
	return 0;
}

static int resolve_types(struct walk *w)
{
	for (uint32_t id = 0; id < w->btf->type_cnt; id++)
		w->facts[id] = (struct type_facts){ id, own_size(btf_type_get(w->btf, id)), 0 };
	for (uint32_t id = 1; id < w->btf->type_cnt; id++) {
		int err = 0;

		if (needs_resolve(btf_type_get(w->btf, id)) && w->facts[id].state != RESOLVED)
			err = resolve_one(w, id);
		if (err)
			return err;
	}
	for (uint32_t id = 1; id < w->btf->type_cnt; id++) {
		const struct btf_type *t = btf_type_get(w->btf, id);
		int err = 0;

		if (btf_kind(t) == BTF_KIND_FUNC_PROTO)
			err = check_proto(w, id, t);
		else if (btf_is_modifier(t))
			err = check_tag_order(w, id, t);
		if (err)
			return err;
	}
	return 0;
}

int btf_resolve_all(const struct bpf_btf *btf, struct bpf_log *log)
{
	struct walk *w = hal_alloc(sizeof(*w));
	int err = -ENOMEM;

	if (!w)
		return -ENOMEM;
	w->btf = btf;
	w->log = log;
	w->facts = hal_alloc(btf->type_cnt * sizeof(w->facts[0]));
	if (w->facts)
		err = resolve_types(w);
	hal_free(w->facts);
	hal_free(w);
	return err;
}
