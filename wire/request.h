/* SPDX-License-Identifier: BSD-2-Clause */
/* A request under construction; shared by the two files that make requests. */
#pragma once

#include "include/base.h"
#include "include/err.h"
#include "wire/marshal.h"

/* A request under construction. */
struct request {
	const struct marshal_io *io;
	struct marshal_call *mc;
	union bpf_call_attr attr; /* as the caller has it; mc->sent is the translated copy */
	struct wire_buf data;	  /* bytes of all buffers, one after another */
	size_t at[BPF_CALL_BUFS_MAX];
	int64_t max_index; /* highest fd_array index in the instructions, -1: none */
};

/* Replace the fd in the 4 bytes at p, which the board will see at off of buffer buf (-1: attr). */
void request_translate_fd(struct request *r, int buf, uint32_t off, void *p);
/* The map behind a client fd; false: the board will say what is wrong with it. */
bool request_map_info(const struct request *r, int fd, struct bpf_obj_info *map);
/* Its type, BPF_MAP_TYPE_UNSPEC when it is no map. */
uint32_t request_map_type(const struct request *r, int fd);

/*
 * The functions below add a buffer for the pointer user at off of the attr and return its index or
 * -errno. Where the caller's memory cannot be read it is one without room, so that the board says
 * -EFAULT in its own time.
 */

/* The last in_len bytes of r->data; parent -1: the pointer is in attr. */
int request_add_buf(struct request *r, int parent, uint32_t off, uint64_t user, uint64_t cap,
		    uint32_t in_len);
int request_take_bytes(struct request *r, uint32_t off, uint64_t user, uint64_t in_len,
		       uint64_t cap);
/* A string of at most max bytes with its NUL, cut when it is longer. */
int request_take_string(struct request *r, uint32_t off, uint64_t user, uint32_t max);
int request_take_path(struct request *r, uint32_t off, uint64_t user);
/* n pointers to strings; the strings go one after another. */
int request_take_names(struct request *r, uint32_t off, uint64_t user, uint64_t n);

/* Bytes of buffer i. */
static inline uint8_t *request_data(struct request *r, int i)
{
	return r->data.data + r->at[i];
}
