/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Emulated boards: a folder of run-time state each, STATE/board-NAME/:
 *   serial.sock  the line      console.log  all that the board ever sent on it
 *   qmp.sock     QEMU's own    uart2.log    the Pi's other UART
 *   pid          of QEMU       exit         its exit status, when it has ended
 *   command      how it was started
 */
#pragma once

#include <sys/types.h>

#include "include/base.h"
#include "host/target.h"

#define QEMU_EXTRA_MAX 16

struct qemu_board {
	char dir[160];
	char name[64];
	pid_t pid;  /* 0: has ended */
	int status; /* of QEMU when it has ended; -1 unknown */
	char target[TARGET_MAX];
};

struct qemu_options {
	const char *board; /* "virt", "raspi4b" */
	const char *name;  /* of the folder; NULL: as board */
	const char *cpu, *image, *bundle, *append, *gic;
	unsigned int smp, mem_mb;
	bool icount, u_boot, tfa, el1, semihosting;
	const char *extra[QEMU_EXTRA_MAX]; /* further arguments for QEMU */
	unsigned int extra_nr;
};

/* The target of the only emulated board that is up. 0 or -ENOENT (none), -EEXIST (several). */
int qemu_only_target(char *target, size_t room, struct host_err *err) __must_check;
/* All boards that have a folder; malloc'ed array. */
int qemu_list(struct qemu_board **boards, unsigned int *nr, struct host_err *err) __must_check;
/* The board behind a target name, up or ended. 0 or -ENOENT. */
int qemu_find(const char *target, struct qemu_board *board) __must_check;
/* Start it; returns when QEMU runs. */
int qemu_start(const struct qemu_options *o, struct qemu_board *board,
	       struct host_err *err) __must_check;
/* Fresh state: pid and status. */
void qemu_refresh(struct qemu_board *board);
/* Wait until QEMU has ended: 0, -ETIMEDOUT. */
int qemu_wait(struct qemu_board *board, unsigned int timeout_ms) __must_check;
/* Wait until the board has sent a frame: 0, -ETIMEDOUT, -ESRCH (QEMU ended). */
int qemu_wait_frame(struct qemu_board *board, unsigned int timeout_ms) __must_check;
/* Make QEMU end, politely and then not. */
void qemu_kill(struct qemu_board *board);
/* Remove the folder of a board that has ended. */
void qemu_forget(const struct qemu_board *board);
