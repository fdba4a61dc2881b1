/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "host/btf_cells.h"

/* Through typedefs and qualifiers; 0 for what is not to be had. */
static uint32_t skip_modifiers(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int i = 0; t && i < 32; i++) {
		if (!btf_is_mod(t) && !btf_is_typedef(t))
			return id;
		id = t->type;
		t = btf__type_by_id(btf, id);
	}
	return 0;
}

static bool add_leaf(struct btf_cells *cells, const char *name, uint32_t type, uint32_t bit_off,
		     uint32_t bits)
{
	struct btf_cell *c = &cells->c[cells->nr];

	if (cells->nr == CELLS_MAX)
		return false;
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->type = type;
	c->bit_off = bit_off;
	c->bits = bits;
	cells->nr++;
	return true;
}

static bool add_type(const struct btf *btf, uint32_t id, const char *name, uint32_t bit_off,
		     uint32_t bitfield, int depth, struct btf_cells *cells);

static bool add_members(const struct btf *btf, const struct btf_type *t, const char *name,
			uint32_t bit_off, int depth, struct btf_cells *cells)
{
	const struct btf_member *m = btf_members(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++, m++) {
		const char *own = btf__name_by_offset(btf, m->name_off);
		char full[64];

		if (own && own[0] && name[0])
			snprintf(full, sizeof(full), "%.30s.%.30s", name, own);
		else
			snprintf(full, sizeof(full), "%s", own && own[0] ? own : name);
		if (!add_type(btf, m->type, full, bit_off + btf_member_bit_offset(t, i),
			      btf_member_bitfield_size(t, i), depth + 1, cells))
			return false;
	}
	return true;
}

/* Variables of .data and the like. */
static bool add_section(const struct btf *btf, const struct btf_type *t, uint32_t bit_off,
			int depth, struct btf_cells *cells)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);

	for (uint32_t i = 0; i < btf_vlen(t); i++, v++) {
		const struct btf_type *var = btf__type_by_id(btf, v->type);

		if (!var || !add_type(btf, var->type, btf__name_by_offset(btf, var->name_off),
				      bit_off + v->offset * 8, 0, depth + 1, cells))
			return false;
	}
	return true;
}

static bool add_type(const struct btf *btf, uint32_t id, const char *name, uint32_t bit_off,
		     uint32_t bitfield, int depth, struct btf_cells *cells)
{
	const struct btf_type *t;
	int64_t size;

	id = skip_modifiers(btf, id);
	t = id ? btf__type_by_id(btf, id) : NULL;
	if (!t || depth > 8 || !name)
		return false;
	if (btf_is_struct(t))
		return add_members(btf, t, name, bit_off, depth, cells);
	if (btf_is_datasec(t))
		return add_section(btf, t, bit_off, depth, cells);
	size = btf__resolve_size(btf, id);
	if (size < 0 || size > UINT16_MAX)
		return false;
	return add_leaf(cells, name, id, bit_off, bitfield ? bitfield : (uint32_t)size * 8);
}

void btf_cells_of(const struct btf *btf, uint32_t id, const char *name, uint32_t size,
		  bool is_index, struct btf_cells *cells)
{
	const struct btf_type *t = NULL;

	cells->nr = 0;
	if (btf && id) {
		id = skip_modifiers(btf, id);
		t = id ? btf__type_by_id(btf, id) : NULL;
	}
	/* Members of a structure stand for themselves; a plain value needs the column's name. */
	if (t &&
	    add_type(btf, id, btf_is_struct(t) || btf_is_datasec(t) ? "" : name, 0, 0, 0, cells) &&
	    cells->nr)
		return;
	cells->nr = 0;
	add_leaf(cells, name, 0, 0, size * 8);
	cells->c[0].index = is_index;
}

/* ---- values ---- */

static uint64_t get_bits(const uint8_t *data, uint32_t bit_off, uint32_t bits)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < bits && i < 64; i++) {
		uint32_t at = bit_off + i;

		v |= (uint64_t)(data[at / 8] >> (at % 8) & 1) << i;
	}
	return v;
}

static int64_t sign_extend(uint64_t v, uint32_t bits)
{
	return bits && bits < 64 ? (int64_t)(v << (64 - bits)) >> (64 - bits) : (int64_t)v;
}

bool btf_cell_number(const struct btf *btf, const struct btf_cell *cell, const uint8_t *data,
		     int64_t *value, bool *is_signed)
{
	const struct btf_type *t = cell->type ? btf__type_by_id(btf, cell->type) : NULL;
	uint64_t v;

	if (cell->index) {
		*is_signed = false;
		*value = (int64_t)get_bits(data, cell->bit_off, cell->bits);
		return true;
	}
	if (!t || !btf_is_int(t) || cell->bits > 64 || btf_int_encoding(t) & BTF_INT_BOOL)
		return false;
	v = get_bits(data, cell->bit_off, cell->bits);
	*is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;
	*value = *is_signed ? sign_extend(v, cell->bits) : (int64_t)v;
	return true;
}

static void hex_text(const uint8_t *data, size_t n, char *text, size_t room)
{
	size_t at = 0;

	text[0] = 0;
	for (size_t i = 0; i < n && at + 4 < room; i++)
		at += (size_t)snprintf(text + at, room - at, "%s%02x", i ? " " : "", data[i]);
}

static const char *enum_name(const struct btf *btf, const struct btf_type *t, uint64_t v)
{
	if (btf_is_enum(t)) {
		const struct btf_enum *e = btf_enum(t);

		for (uint32_t i = 0; i < btf_vlen(t); i++)
			if ((uint32_t)e[i].val == (uint32_t)v)
				return btf__name_by_offset(btf, e[i].name_off);
	} else {
		const struct btf_enum64 *e = btf_enum64(t);

		for (uint32_t i = 0; i < btf_vlen(t); i++)
			if (btf_enum64_value(&e[i]) == v)
				return btf__name_by_offset(btf, e[i].name_off);
	}
	return NULL;
}

static bool is_char(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, skip_modifiers(btf, id));
	const char *name = t ? btf__name_by_offset(btf, t->name_off) : NULL;

	return t && btf_is_int(t) && t->size == 1 &&
	       (btf_int_encoding(t) & BTF_INT_CHAR || (name && !strcmp(name, "char")));
}

static void array_text(const struct btf *btf, const struct btf_type *t, const uint8_t *data,
		       char *text, size_t room)
{
	const struct btf_array *a = btf_array(t);
	int64_t size = btf__resolve_size(btf, a->type);
	struct btf_cell elem = { .type = skip_modifiers(btf, a->type),
				 .bits = (uint32_t)(size > 0 ? size : 0) * 8 };
	size_t at = 0;

	if (is_char(btf, a->type)) {
		size_t n = strnlen((const char *)data, a->nelems);

		for (size_t i = 0; i < n && at + 2 < room; i++)
			text[at++] = isprint(data[i]) ? (char)data[i] : '.';
		text[at] = 0;
		return;
	}
	text[0] = 0;
	for (uint32_t i = 0; i < a->nelems && elem.bits && at + 24 < room; i++) {
		char one[128];

		btf_cell_text(btf, &elem, data + (size_t)i * elem.bits / 8, one, sizeof(one));
		at += (size_t)snprintf(text + at, room - at, "%s%s", i ? " " : "", one);
		at = MIN(at, room - 1);
	}
}

void btf_cell_text(const struct btf *btf, const struct btf_cell *cell, const uint8_t *data,
		   char *text, size_t room)
{
	const struct btf_type *t = cell->type ? btf__type_by_id(btf, cell->type) : NULL;
	const uint8_t *p = data + cell->bit_off / 8;
	const char *name;
	uint64_t v;

	if (t && btf_is_array(t)) {
		array_text(btf, t, p, text, room);
		return;
	}
	if (cell->index) {
		snprintf(text, room, "%" PRIu64, get_bits(data, cell->bit_off, cell->bits));
		return;
	}
	if (!t || cell->bits > 64 || btf_is_composite(t) || btf_is_float(t)) {
		hex_text(p, cell->bits / 8, text, room);
		return;
	}
	v = get_bits(data, cell->bit_off, cell->bits);
	name = btf_is_any_enum(t) ? enum_name(btf, t, v) : NULL;
	if (name)
		snprintf(text, room, "%s", name);
	else if (btf_is_ptr(t))
		snprintf(text, room, "0x%" PRIx64, v);
	else if (btf_is_int(t) && btf_int_encoding(t) & BTF_INT_BOOL)
		snprintf(text, room, "%s", v ? "true" : "false");
	else if (btf_is_int(t) && btf_int_encoding(t) & BTF_INT_SIGNED)
		snprintf(text, room, "%" PRId64, sign_extend(v, cell->bits));
	else
		snprintf(text, room, "%" PRIu64, v);
}
