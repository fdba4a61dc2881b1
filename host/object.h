/* SPDX-License-Identifier: BSD-2-Clause */
/* eBPF object files by way of libbpf: what load, run and bundle share. */
#pragma once

#include <bpf/libbpf.h>

#include "host/cli.h"

/* libbpf's words: errors and warnings, with verbose all. */
void object_set_verbose(bool verbose);

/*
 * Open and load onto the board, all programs as `type` ("xdp", "tc", ...) when it is not NULL.
 * CLI_OK, or says what is wrong. progress: draw a bar.
 */
int object_load(const char *path, const char *type, bool progress,
		struct bpf_object **obj) __must_check;

/*
 * Pin the programs: a single one at path, several at path/NAME. CLI_OK or says; nothing stays
 * pinned after an error.
 */
int object_pin(struct bpf_object *obj, const char *path) __must_check;

/* The program called name; NULL: the only one. CLI_OK or says which there are. */
int object_program(struct bpf_object *obj, const char *path, const char *name,
		   struct bpf_program **prog) __must_check;
