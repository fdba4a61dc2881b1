/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/cmds.h"

#include "wire/marshal.h"

#define OFF(f)	offsetof(union bpf_call_attr, f)
#define SIZE(f) sizeof(((union bpf_call_attr *)0)->f)

/* The header that we build with agrees with the rows. */
#define CMD(nr, cmd, result, last, ...)                                                            \
	_Static_assert((nr) == cmd, #cmd);                                                         \
	_Static_assert(OFF(last) + SIZE(last) <= UINT8_MAX, #cmd);                                 \
	__VA_ARGS__
#define FD(f, how, when) _Static_assert(SIZE(f) == 4 && !(OFF(f) % 4), #f " is no fd");
#define PTR(f, dir, length, when)                                                                  \
	_Static_assert(SIZE(f) == 8 && !(OFF(f) % 8), #f " is no pointer");
#define SCALAR(f) _Static_assert(OFF(f) + SIZE(f) <= UINT8_MAX, #f);
#define INFO_PTR(kind, f, length, when)                                                            \
	_Static_assert(sizeof(((union bpf_any_info *)0)->f) == 8 &&                                \
			       !(offsetof(union bpf_any_info, f) % 8),                             \
		       #f " is no pointer");
#include "wire/bpf_cmds.def"
#undef CMD
#undef FD
#undef PTR
#undef SCALAR
#undef INFO_PTR
_Static_assert(sizeof(union bpf_attr) <= BPF_CALL_ATTR_MAX, "room for the attr");
_Static_assert(sizeof(union board_attr) <= BPF_CALL_ATTR_MAX, "room for the attr");

/* Offsets that the kernel's ABI fixed long ago: a header that differs is the wrong one. */
_Static_assert(OFF(bpf.batch.map_fd) == 36 && OFF(bpf.log_true_size) == 140 &&
		       OFF(bpf.prog_token_fd) == 144 && OFF(newer.prog_load.fd_array_cnt) == 148 &&
		       OFF(bpf.test.batch_size) == 72 &&
		       OFF(bpf.link_create.uprobe_multi.pid) == 56,
	       "linux/bpf.h");

#define FD(f, how, when)	  { CMD_FD, 0, OFF(f), SIZE(f) },
#define PTR(f, dir, length, when) { CMD_PTR, CMD_##dir, OFF(f), SIZE(f) },
#define SCALAR(f)		  { CMD_SCALAR, 0, OFF(f), SIZE(f) },
#define CMD(nr, cmd, result, last, ...)                                                            \
	{ #cmd, nr, CMD_##result, OFF(last) + SIZE(last),                                          \
	  (const struct cmd_field[]){ __VA_ARGS__{ 0, 0, 0, 0 } } },
#define INFO_PTR(kind, f, length, when)
static const struct cmd_row rows[] = {
#include "wire/bpf_cmds.def"
};
#undef CMD
#undef INFO_PTR

#define CMD(nr, cmd, result, last, ...)
#define INFO_PTR(kind, f, length, when) offsetof(union bpf_any_info, f),
static const uint8_t info_ptrs[] = {
#include "wire/bpf_cmds.def"
};

#define NR_BPF	 (BPF_PROG_ASSOC_STRUCT_OPS + 1)
#define NR_BOARD (BOARD_CMD_END - BOARD_CMD_BASE)
_Static_assert(ARRAY_SIZE(rows) == NR_BPF + NR_BOARD, "a row for every command");

const struct cmd_row *cmd_row_at(uint32_t i)
{
	return i < ARRAY_SIZE(rows) ? &rows[i] : NULL;
}

const struct cmd_row *cmd_row(uint32_t cmd)
{
	if (cmd < NR_BPF)
		return &rows[cmd];
	if (cmd >= BOARD_CMD_BASE && cmd < BOARD_CMD_END)
		return &rows[NR_BPF + cmd - BOARD_CMD_BASE];
	return NULL;
}

const char *marshal_cmd_name(uint32_t cmd)
{
	const struct cmd_row *row = cmd_row(cmd);

	return row ? row->name : NULL;
}

unsigned int cmd_ptr_dir(const struct cmd_row *row, uint32_t off)
{
	const struct cmd_field *f;
	unsigned int dir = 0;

	for (f = row->fields; f->kind; f++) {
		if (f->kind == CMD_PTR && f->off == off)
			dir |= f->dir;
	}
	return dir;
}

bool cmd_info_ptr(uint32_t off)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(info_ptrs); i++) {
		if (info_ptrs[i] == off)
			return true;
	}
	return false;
}

uint32_t cmd_scalar_bytes(const struct cmd_row *row)
{
	const struct cmd_field *f;
	uint32_t n = 0;

	for (f = row->fields; f->kind; f++) {
		if (f->kind == CMD_SCALAR)
			n += f->size_bytes;
	}
	return n;
}
