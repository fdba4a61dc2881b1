/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file descriptor that stands for an object on the board: one end of a unix socket pair, bound
 * by the broker to an abstract name that says which object it is and, for maps, its shape. The
 * name survives dup, fork, exec and SCM_RIGHTS; the broker's end sees the last copy close.
 *
 * Anyone may bind such a name; the epoch in it is random and known to the broker's clients only,
 * and the broker checks handles against the placeholders that it made.
 */
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include "include/base.h"
#include "wire/bpf_call.h"

/* Handles from here on are the broker's: objects that the board does not have yet (lazy). */
#define HANDLE_VIRTUAL	   0x80000000u
#define HANDLE_VIRTUAL_END 0xfffffff0u
static inline bool handle_is_virtual(uint32_t handle)
{
	return handle >= HANDLE_VIRTUAL && handle < HANDLE_VIRTUAL_END;
}

struct placeholder {
	uint64_t epoch;
	uint32_t serial; /* names this placeholder; never reused within an epoch */
	struct bpf_obj_info obj;
};

/* The abstract address of *p; its length. */
socklen_t placeholder_name(const struct placeholder *p, struct sockaddr_un *sa);
/* 0, -EBADF (fd is closed), -EINVAL (fd is something else). */
int placeholder_read(int fd, struct placeholder *p) __must_check;
