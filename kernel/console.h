/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The board's human shell on the serial line: a line editor and the commands of commands.def. It
 * sees the bytes that arrive outside frames. While a file is received (YMODEM) it must see all of
 * them: console_is_raw() then tells the line's reader to pass frames by.
 *
 * One instance, thread context on CPU 0.
 */
#pragma once

#include "include/base.h"

struct rt;

/*
 * What `load` does with a bundle that has arrived whole: 0, or -errno with *at the number of the
 * recorded call that failed.
 */
typedef int (*console_replay_fn)(struct rt *rt, const void *image, size_t len, uint32_t *at);

/* rt and replay may be NULL: commands that need them then say so. */
void console_init(struct rt *rt, console_replay_fn replay);
/* Bytes that a human (or a YMODEM sender) has sent. */
void console_rx(const uint8_t *bytes, size_t n);
/* All received bytes are to be given to console_rx(), undecoded. */
bool console_is_raw(void);
/* Time has passed. Returns when to call again at the latest, ~0: no need. */
uint64_t console_poll(uint64_t now_ns);

/* ---- for commands ---- */

#define CONSOLE_ARGS_MAX 12

/* Text for the human; waits for room on the line. */
void console_printf(const char *fmt, ...) __printf_like(1, 2);
struct rt *console_get_rt(void);
console_replay_fn console_get_replay(void);

/*
 * A row of commands.def. run gets the words of the line, argv[0] the command's own name, and
 * returns 0 or -errno; -EINVAL makes the console show the usage. What else went wrong run has said
 * itself.
 */
struct console_command {
	const char *name;
	const char *usage; /* arguments, "" for none */
	const char *help;
	int (*run)(int argc, char **argv);
};
/* Row i, NULL past the end. */
const struct console_command *console_get_command(unsigned int i);

/* Begin to receive a bundle by YMODEM; the console answers nothing else until it has ended. */
int console_begin_load(void);
