/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "host/qemu.h"

/*
 * The command line of QEMU for a board, and what it needs in the board's folder (a device tree, a
 * patched TF-A). 0 and a NULL-terminated malloc'ed array, or -errno.
 */
int qemu_args(const struct qemu_options *o, const struct qemu_board *b, char ***argv,
	      struct host_err *err) __must_check;
void qemu_args_free(char **argv);
