/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A type as a list of leaves: what has a column of its own in a table. Members of structures are
 * leaves named a.b; arrays of char are text; other arrays and unions are one leaf each.
 */
#pragma once

#include <bpf/btf.h>

#include "include/base.h"

#define CELLS_MAX 64

struct btf_cell {
	char name[64];
	uint32_t type; /* without modifiers; 0: plain bytes */
	bool index;    /* of an unknown type, but a number */
	uint32_t bit_off, bits;
};

struct btf_cells {
	struct btf_cell c[CELLS_MAX];
	uint32_t nr;
};

/*
 * Leaves of type id (0: unknown), whose value has size bytes and the column name `name`. With an
 * unknown type, or too many leaves, one leaf of plain bytes, or a number where is_index says so.
 */
void btf_cells_of(const struct btf *btf, uint32_t id, const char *name, uint32_t size,
		  bool is_index, struct btf_cells *cells);
/* The leaf's value in data as text. */
void btf_cell_text(const struct btf *btf, const struct btf_cell *cell, const uint8_t *data,
		   char *text, size_t room);
/* True, with the value, if the leaf is an integer (for JSON). */
bool btf_cell_number(const struct btf *btf, const struct btf_cell *cell, const uint8_t *data,
		     int64_t *value, bool *is_signed);
