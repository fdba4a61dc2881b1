/* SPDX-License-Identifier: BSD-2-Clause */
/* Board commands as functions, over client_bpf(). All return 0 or -errno. */
#pragma once

#include "host/common/client.h"

/* Longest path of the pin name space, with the NUL. */
#define BOARD_PATH_MAX 256

int board_knob_get(const char *name, struct board_attr_knob *out) __must_check;
int board_knob_set(const char *name, int64_t value) __must_check;
/* The knob after `name` ("" first); -ENOENT at the end. */
int board_knob_next(const char *name, struct board_attr_knob *out) __must_check;

/* mode as in struct board_attr_path. */
int board_path_stat(const char *path, uint32_t *mode) __must_check;
int board_path_mkdir(const char *path) __must_check;
/* mode: 0 removes anything, 1 only a directory, 2 no directory. */
int board_path_unlink(const char *path, uint32_t mode) __must_check;
/* Names, one a line, directories end in '/'. *names is malloc'ed, NUL-terminated. */
int board_path_list(const char *path, char **names) __must_check;

/* Text of all symbols, as in /proc/kallsyms. *text is malloc'ed, *len bytes. */
int board_syms(char **text, size_t *len) __must_check;
/* One piece of log (which as in struct board_attr_log) from *pos; *n bytes into buf. */
int board_log_read(uint32_t which, char *buf, uint32_t room, uint32_t *n, uint64_t *pos,
		   uint64_t *lost) __must_check;
int board_info(struct board_info_reply *info) __must_check;
int board_reset(uint32_t how, uint32_t status) __must_check;
