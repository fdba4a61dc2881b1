/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Targets (how a board is reached), the folder of run-time state, and getting hold of a broker.
 *
 *   unix:PATH           a unix socket (an emulated board)
 *   tty:PATH[,BAUD]     a serial device, 115200 baud when not said
 *   PATH[,BAUD]         one of these, by what PATH is
 */
#pragma once

#include <termios.h>

#include "include/base.h"
#include "host/common/ipc.h"

#define TARGET_MAX 160

enum target_kind { TARGET_UNIX, TARGET_TTY };

struct target {
	enum target_kind kind;
	char path[108];
	unsigned int baud;
	char name[TARGET_MAX]; /* canonical: what `up` prints, and what names the broker */
};

/* A sentence that says what is wrong and what to do. */
struct host_err {
	char text[IPC_TEXT_MAX];
};
/* Set the sentence; returns rc. */
int host_fail(struct host_err *err, int rc, const char *fmt, ...) __printf_like(3, 4);

/* 0, or -EINVAL, -ENOENT. */
int target_parse(const char *text, struct target *t, struct host_err *err) __must_check;
/* termios speed of a baud rate, or B0 when there is none. */
speed_t target_speed(unsigned int baud);

/*
 * $XDG_RUNTIME_DIR/barebpf or /tmp/barebpf-UID, made when missing; refused when another user owns
 * it. 0 or -errno.
 */
int state_dir(char *path, size_t room, struct host_err *err) __must_check;

/* Where the broker of a target lives. */
struct broker_paths {
	char socket[108];
	char token[256]; /* file with the token in hex */
	char lock[256];
	char log[256];
};
int broker_paths(const struct target *t, struct broker_paths *p, struct host_err *err) __must_check;
int broker_token_read(const struct broker_paths *p, uint8_t *token) __must_check;

/*
 * Make client_*() speak to the target's broker, starting it when it does not run. -EIO, -ENOENT,
 * ... 0 does not mean that a board answers: client_hello() tells.
 */
int broker_attach(const struct target *t, struct host_err *err) __must_check;
/* Stop the target's broker if it runs; waits until it is gone. */
int broker_stop(const struct target *t, struct host_err *err) __must_check;
/* Body of `barebpf broker`: detaches and serves. Returns an exit status. */
int broker_main(const struct target *t, bool foreground);
