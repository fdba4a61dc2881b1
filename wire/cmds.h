/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of wire/bpf_cmds.def as a table: where a command's attr has fds, pointers and results.
 */
#pragma once

#include "include/base.h"
#include "wire/bpf_call.h"

enum cmd_result { CMD_PLAIN, CMD_HANDLE, CMD_LOCAL };

enum cmd_field_kind { CMD_FD = 1, CMD_PTR, CMD_SCALAR };
enum cmd_dir { CMD_IN = 1, CMD_OUT = 2, CMD_INOUT = CMD_IN | CMD_OUT };

struct cmd_field {
	uint8_t kind; /* enum cmd_field_kind; 0 ends the list */
	uint8_t dir;  /* of a pointer */
	uint8_t off, size_bytes;
};

struct cmd_row {
	const char *name;
	uint32_t cmd;
	uint8_t result;
	uint8_t attr_end; /* bytes of attr that the command knows; the rest must be zero */
	const struct cmd_field *fields;
};

/* An info struct that OBJ_GET_INFO_BY_FD fills, by kind of object. */
union bpf_any_info {
	struct bpf_prog_info prog;
	struct bpf_map_info map;
	struct bpf_btf_info btf;
	struct bpf_link_info link;
	uint8_t bytes[512];
};

/* NULL: no such command. */
const struct cmd_row *cmd_row(uint32_t cmd);
/* Commands in order: i-th row or NULL behind the last. */
const struct cmd_row *cmd_row_at(uint32_t i);
/* How the row uses the pointer at off: enum cmd_dir, 0 when there is none. */
unsigned int cmd_ptr_dir(const struct cmd_row *row, uint32_t off);
/* Do some info structs have a pointer at off? */
bool cmd_info_ptr(uint32_t off);
/* Bytes of all SCALAR fields, as they lie one after another in a reply. */
uint32_t cmd_scalar_bytes(const struct cmd_row *row);
