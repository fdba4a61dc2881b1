/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line tool: what its commands share. A command is one row of the table in main.c and
 * one function here.
 */
#pragma once

#include "include/base.h"
#include "host/common/board_call.h"
#include "host/common/client.h"
#include "host/json.h"
#include "host/target.h"

struct cli {
	const char *target_arg; /* --target or the environment, NULL: look for a running board */
	bool json, verbose;
	struct target target; /* set by cli_connect */
};

/* Exit statuses of commands. */
enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

/*
 * One command. argv[0] is its name. Options of all commands (--target, --json, --verbose) have
 * been taken out already. Returns an exit status.
 */
typedef int (*command_fn)(struct cli *cli, int argc, char **argv);

int cmd_up(struct cli *cli, int argc, char **argv);
int cmd_down(struct cli *cli, int argc, char **argv);
int cmd_info(struct cli *cli, int argc, char **argv);
int cmd_console(struct cli *cli, int argc, char **argv);
int cmd_reset(struct cli *cli, int argc, char **argv);
int cmd_load(struct cli *cli, int argc, char **argv);
int cmd_run(struct cli *cli, int argc, char **argv);
int cmd_trace(struct cli *cli, int argc, char **argv);
int cmd_raw(struct cli *cli, int argc, char **argv);
int cmd_exec(struct cli *cli, int argc, char **argv);
int cmd_bundle(struct cli *cli, int argc, char **argv);
int cmd_map(struct cli *cli, int argc, char **argv);
int cmd_ls(struct cli *cli, int argc, char **argv);
int cmd_rm(struct cli *cli, int argc, char **argv);
int cmd_knob(struct cli *cli, int argc, char **argv);
int cmd_log(struct cli *cli, int argc, char **argv);
int cmd_mem(struct cli *cli, int argc, char **argv);
int cmd_selftest(struct cli *cli, int argc, char **argv);
int cmd_line(struct cli *cli, int argc, char **argv);
int cmd_broker(struct cli *cli, int argc, char **argv);
int cmd_help(struct cli *cli, int argc, char **argv);

/* "barebpf: ..." on stderr; returns CLI_FAILED, CLI_USAGE. */
int cli_fail(const char *fmt, ...) __printf_like(1, 2);
int cli_usage(const char *command, const char *fmt, ...) __printf_like(2, 3);
/* What -errno of a bpf(2) or board call means to a user. */
const char *cli_errno(long rc);

/* Find the target, start the broker. With hello: and have a board that answers. CLI_OK or says. */
int cli_connect(struct cli *cli, struct ipc_hello *hello) __must_check;

/* Whole file into malloc'ed memory (`-`: standard input). 0 or says what is wrong. */
int cli_read_file(const char *path, uint8_t **data, size_t *len) __must_check;
/* A number in [min, max], decimal or 0x; says what is wrong. */
int cli_number(const char *what, const char *text, uint64_t min, uint64_t max,
	       uint64_t *value) __must_check;
/* Folder of this program (build/host), where the shim lies. */
const char *cli_own_dir(void);
/* Path of something in the build folder beside build/host: malloc'ed. */
char *cli_build_path(const char *name);

/* ---- progress on a terminal (progress.c) ---- */

struct progress {
	const char *what;
	uint64_t total, done; /* bytes, estimated */
	bool on;
	uint64_t last_ns, begun_ns;
};
/* Lines only on a terminal or with force; total in bytes. */
void progress_begin(struct progress *p, const char *what, uint64_t total, bool force);
void progress_set(struct progress *p, uint64_t done);
void progress_end(struct progress *p, bool ok);
