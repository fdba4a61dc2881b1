/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(2) calls to messages and back. Everything comes from wire/bpf_cmds.def, one row per command:
 * which attr fields are pointers, in which direction, how long; which are fds; which scalars come
 * back. Encodings (num, snum, sparse): wire/buf.h.
 *
 * Request:
 *   num cmd, num attr_size, sparse attr (pointers as 0), num buffers, then per buffer
 *     num parent * 64 + off / 8   where its pointer lies: parent 0 attr, n buffer n-1
 *     num in_len                  if the pointer is IN or INOUT
 *     num cap                     if it is OUT or INOUT
 *     sparse in_len bytes
 * Reply:
 *   snum ret; nothing more if the request itself was refused, else
 *   sparse SCALAR fields, one after another
 *   num kind, and if that is not 0, sparse u32 handle, type, id, key_size, value_size, max_entries,
 *     map_flags
 *   num buffers, then per buffer that comes back: num index, num len, sparse len bytes
 *
 * Both sides check every length; a bad message is -EBADMSG and changes nothing.
 */
#pragma once

#include "include/base.h"
#include "wire/bpf_call.h"
#include "wire/buf.h"

/* dirfd of abs_path: the working directory (AT_FDCWD). */
#define MARSHAL_CWD (-100)

/* How the host side reaches its caller (itself, or a supervised process). */
struct marshal_io {
	/*
	 * 0 or -EFAULT. Strings are read in pieces that end at multiples of 64, so a few bytes
	 * behind a string's end may be asked for, never bytes of another page.
	 */
	int (*peek)(void *arg, void *dst, uint64_t addr, size_t n);
	int (*poke)(void *arg, uint64_t addr, const void *src, size_t n); /* 0 or -EFAULT */
	/* Object behind a client's fd: 0, -EBADF (closed), -EINVAL (not one of ours). */
	int (*fd_info)(void *arg, int fd, struct bpf_obj_info *info);
	/*
	 * Make a relative path (OBJ_PIN, OBJ_GET) absolute in place; dirfd is the client's or
	 * MARSHAL_CWD. 0 or -errno for the client. NULL: paths are sent as they are.
	 */
	int (*abs_path)(void *arg, int dirfd, char *path, size_t room);
	/*
	 * A handle was put in place of an fd: 4 bytes at off of attr (buf -1) or of a buffer, as
	 * the board will see it. NULL: nobody asks. For recorders.
	 */
	void (*handle_ref)(void *arg, int buf, uint32_t off, uint32_t handle);
	void *arg;
	uint32_t cpus; /* possible CPUs of the board: sizes of per-CPU values */
};

/* What must be remembered between request and reply (caller addresses of buffers). */
struct marshal_call {
	uint32_t cmd, attr_size;
	uint64_t uattr;
	union bpf_call_attr sent;
	struct {
		uint64_t user;
		uint32_t cap, in_len;
		int16_t parent; /* -1: the pointer is in attr */
		uint16_t off;
		uint8_t out;
	} bufs[BPF_CALL_BUFS_MAX];
	uint32_t buf_cnt;
};

/*
 * Host: the caller's (cmd, uattr, size) to a request, appended to *out. 0 or -errno that bpf(2)
 * shall return: -EINVAL (no such command), -EFAULT (attr), -E2BIG (attr tail, or more than a
 * message holds), -ENAMETOOLONG, -ENOTSUPP (a command about host processes), -ENOMEM.
 */
int marshal_request(struct marshal_call *mc, uint32_t cmd, uint64_t uattr, uint32_t size,
		    const struct marshal_io *io, struct wire_buf *out) __must_check;
/*
 * Host: a reply into the caller's memory. 0 and *ret (what the call returned), *obj. -EBADMSG,
 * -ENOMEM: nothing was written. -EFAULT: the caller's memory could not be written, wholly or
 * partly; *obj tells of a handle that is now to be closed.
 */
int marshal_reply(const struct marshal_call *mc, const uint8_t *msg, size_t len,
		  const struct marshal_io *io, int64_t *ret, struct bpf_obj_info *obj) __must_check;

/*
 * For whoever passes replies on: what the call returned, and the object of a new handle (kind 0:
 * none), without the buffers. 0 or -EBADMSG.
 */
int marshal_reply_peek(uint32_t cmd, const uint8_t *msg, size_t len, int64_t *ret,
		       struct bpf_obj_info *obj) __must_check;

/*
 * Board: a request to a call (buffers by hal_alloc), all fields set but session. 0, -EBADMSG,
 * -ENOMEM; after an error there is nothing to free.
 */
int unmarshal_request(const uint8_t *msg, size_t len, struct bpf_call *call) __must_check;
/* Board: a finished call to a reply, appended to *out. 0 or -ENOMEM. */
int unmarshal_reply(const struct bpf_call *call, struct wire_buf *out) __must_check;

/*
 * A call back to the request that it came from, appended to *out: for recorders, which change calls
 * before they keep them. 0, -EINVAL (a buffer that no pointer names), -ENOMEM.
 */
int marshal_call_request(const struct bpf_call *call, struct wire_buf *out) __must_check;

/* Name of a command ("BPF_MAP_CREATE", "BOARD_INFO") or NULL. */
const char *marshal_cmd_name(uint32_t cmd);
