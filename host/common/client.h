/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(2) by way of the broker: what the shim and the CLI share. One client per process, its
 * target set once before the first call. Every function may be called from any thread and in a
 * forked child.
 */
#pragma once

#include "host/common/ipc.h"
#include "host/common/placeholder.h"

#define ENV_BROKER "BAREBPF_BROKER" /* path of the broker's socket */
#define ENV_TOKEN  "BAREBPF_TOKEN"  /* hex; lets other users' processes in */
#define ENV_QUIET  "BAREBPF_QUIET"  /* no messages on stderr */

/* Speak to the broker at path; token may be NULL. -ENAMETOOLONG. */
int client_open(const char *path, const uint8_t *token) __must_check;
/* From the environment that `barebpf exec` sets. -ENOENT: nothing there. */
int client_open_env(void) __must_check;
/* A broker is set: bpf(2) goes to the board. */
bool client_is_active(void);

/*
 * bpf(2), or a board command (include/uapi_board.h): 0, a file descriptor or -errno, as the
 * system call has it. -EIO: line or board lost, or the fd belongs to a board that has restarted.
 */
long client_bpf(uint32_t cmd, const void *attr, uint32_t size);

/*
 * What the board is. The copy is current: asks the broker when nothing is known yet. 0 or -errno
 * (-EIO: no board behind the line).
 */
int client_hello(struct ipc_hello *hello) __must_check;

/* Placeholder behind fd, judged by the current epoch: 0, -EBADF, -EINVAL, -EIO (board lost). */
int client_placeholder(int fd, struct placeholder *p) __must_check;

/* memfd for a mapping of the map behind the placeholder, or -errno. */
int client_mmap_fd(const struct placeholder *p) __must_check;
/* Bring mapped memory in step with the board. 0 or -errno. */
int client_sync(void);
/* A stream (IPC_TRACE, IPC_CONSOLE, IPC_KEEP): a socket or -errno. */
int client_stream(enum ipc_op op) __must_check;
int client_stats(struct ipc_stats *stats) __must_check;

/* Text that explains the last -EIO of this process, "" if there is none. */
const char *client_error(void);

/*
 * fn is called with the bytes of all requests sent since, after each and while a long one is on a
 * slow line. NULL: no more.
 */
void client_set_progress(void (*fn)(uint64_t sent_bytes));

/* A handle in a request: 4 bytes at off of attr (buf -1) or of a buffer. */
struct client_ref {
	int buf;
	uint32_t off, handle;
};

/*
 * Instead of a broker: every request message goes to call, which makes the reply message and, where
 * the call returns an object, a placeholder fd. mmap_fd gives a memfd for a map. For recorders.
 */
struct client_backend {
	int (*call)(void *arg, uint32_t cmd, const struct wire_buf *msg,
		    const struct client_ref *refs, uint32_t refs_nr, struct wire_buf *rep, int *fd);
	int (*mmap_fd)(void *arg, const struct placeholder *p);
	struct ipc_hello hello;
	void *arg;
};
void client_set_backend(const struct client_backend *backend);

/* Access to this process's own memory that fails with -EFAULT instead of faulting. */
int client_peek(void *dst, uint64_t addr, size_t n) __must_check;
int client_poke(uint64_t addr, const void *src, size_t n) __must_check;
