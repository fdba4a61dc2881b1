/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(2) calls to messages and back. Everything comes from wire/bpf_cmds.def, one row per command:
 * which attr fields are pointers, in which direction, how long; which are fds; which scalars come
 * back.
 *
 * Request message (little endian; runs of zeros are elided as described in docs/protocol.md):
 *   u16 cmd, u16 attr_size, attr, u8 buf_cnt, then per buffer: where its pointer lies (parent
 * buffer or attr, offset), cap, in_len, bytes Reply message: s64 ret, written-back scalars, object
 * info if a handle was made, returned buffers. Both sides check every length; a bad message is
 * -EBADMSG and changes nothing.
 */
#pragma once

#include "include/base.h"
#include "wire/bpf_call.h"

/* How the host side reaches its caller (itself, or a supervised process). */
struct marshal_io {
	int (*peek)(void *arg, void *dst, uint64_t addr, size_t n);	  /* 0 or -EFAULT */
	int (*poke)(void *arg, uint64_t addr, const void *src, size_t n); /* 0 or -EFAULT */
	/* Object behind a client's fd: 0, -EBADF (closed), -EINVAL (not one of ours). */
	int (*fd_info)(void *arg, int fd, struct bpf_obj_info *info);
	/* Make a relative path absolute in place (OBJ_PIN, OBJ_GET). */
	void (*abs_path)(void *arg, char *path, size_t room);
	void *arg;
	uint32_t cpus; /* possible CPUs of the board: sizes of per-CPU values */
};

/* What must be remembered between request and reply (caller addresses of buffers). */
struct marshal_call {
	uint32_t cmd, attr_size;
	uint64_t uattr;
	struct {
		uint64_t user;
		uint32_t cap, in_len;
		int16_t parent;
		uint16_t off;
		uint8_t out;
	} bufs[BPF_CALL_BUFS_MAX];
	uint32_t buf_cnt;
};

/* Growing byte buffer (hal_alloc). */
struct wire_buf {
	uint8_t *data;
	size_t len, cap;
};
void wire_buf_free(struct wire_buf *b);

/* Host: the caller's (cmd, uattr, size) to a request. 0 or -errno that bpf(2) shall return. */
int marshal_request(struct marshal_call *mc, uint32_t cmd, uint64_t uattr, uint32_t size,
		    const struct marshal_io *io, struct wire_buf *out) __must_check;
/*
 * Host: a reply into the caller's memory. 0 and *ret (what the call returned), *obj; or -EBADMSG,
 * -EFAULT.
 */
int marshal_reply(const struct marshal_call *mc, const uint8_t *msg, size_t len,
		  const struct marshal_io *io, int64_t *ret, struct bpf_obj_info *obj) __must_check;

/* Board: a request to a call (buffers by hal_alloc). 0, -EBADMSG, -ENOMEM. */
int unmarshal_request(const uint8_t *msg, size_t len, struct bpf_call *call) __must_check;
/* Board: a finished call to a reply. 0 or -ENOMEM. */
int unmarshal_reply(const struct bpf_call *call, struct wire_buf *out) __must_check;

/* Name of a command ("BPF_MAP_CREATE", "BOARD_INFO") or NULL. */
const char *marshal_cmd_name(uint32_t cmd);
