/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A caller of bpf(2) for tests of wire/marshal.h: memory that exists and memory that does not, some
 * fds, and the way of a call to the board and back. State is one struct; client_start() begins a
 * test, client_finish() frees what it holds.
 */
#pragma once

#include "include/base.h"
#include "wire/marshal.h"

/* fds that the caller has; the board's handle of each is HANDLE(fd). */
#define FD_HASH	   10 /* u32 -> 12 bytes, 100 entries */
#define FD_PERCPU  11 /* u32 -> 12 bytes */
#define FD_PROGS   12 /* prog array */
#define FD_LPM	   13 /* 8-byte keys */
#define FD_DEVMAP  14 /* 8-byte values */
#define FD_QUEUE   15 /* no key, 16-byte values */
#define FD_BLOOM   16
#define FD_STORAGE 17 /* keys are fds */
#define FD_PROG	   20
#define FD_BTF	   21
#define FD_LINK	   22 /* of a cgroup */
#define FD_FILE	   30 /* open, but not one of ours */
#define HANDLE(fd) ((uint32_t)(fd) + 1000)

/* An address that the caller cannot read. */
#define BAD_PTR 0x1000

/* All of the caller's memory, whole pages; everything else faults. */
#define CLIENT_MEM_BYTES (1u << 16)
extern uint8_t client_mem[CLIENT_MEM_BYTES];

extern struct client {
	size_t mem_used;
	size_t readonly_from, readonly_to; /* offsets in client_mem that cannot be written */
	struct wire_buf request, reply;	   /* the last ones */
	struct marshal_call mc;
	struct bpf_obj_info obj; /* of the last reply */
	uint64_t attr_at;	 /* of the last client_send_bpf */
	unsigned int pokes, refs;
	struct {
		int buf;
		uint32_t off, handle;
	} last_ref;
	char cwd[64]; /* dirfd that abs_path was asked with last */
} client;

extern const struct marshal_io client_io; /* 4 CPUs; relative paths become /cwd/..., fd 99 is bad */

void client_start(void);
void client_finish(void);
/* n bytes of the caller's memory with that content (NULL: 0xee); their address. */
uint64_t client_put(const void *data, size_t n);
#define PUT(x) client_put(&(x), sizeof(x))
/* The caller's request as the board gets it. 0 or -errno of either side. */
int client_send_attr(uint32_t cmd, uint64_t attr, uint32_t size, struct bpf_call *call);
/* The same with attr copied to the caller's memory first. */
int client_send_bpf(uint32_t cmd, const union bpf_attr *attr, uint32_t size, struct bpf_call *call);
/* The board's answer as the caller gets it. The call is freed. */
int client_answer(struct bpf_call *call, int64_t *ret);
/* The caller's attr as it is now. */
const union bpf_attr *client_attr(void);
