/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One bpf(2) call as the board sees it: the attr, and the client's buffers that came with it. Made
 * by wire/unmarshal.c from a message, by runtime/bundle.c from a recorded call, by tests with
 * bpf_call_add_buf; consumed by runtime/bpf_syscall.c.
 *
 * Pointers in attr are no addresses but names of the buffers below, non-canonical numbers that
 * would fault if followed. The runtime gives them to call_in / call_out, which play the part of
 * copy_from_user and copy_to_user: a pointer into no buffer, or a length beyond it, gives -EFAULT.
 *
 *   63        48 47     40 39            0
 *   +-----------+---------+---------------+
 *   |   4250    | index+1 |    offset     |
 *   +-----------+---------+---------------+
 */
#pragma once

#include "include/base.h"
#include "include/uapi_board.h"
#include "include/uapi_new.h"

#define BPF_CALL_BUFS_MAX 24
#define BPF_CALL_ATTR_MAX 256

/* Handles on the wire. 0 is never one. */
#define BPF_HANDLE_EBADF  0xfffffffeu /* the client gave a closed fd */
#define BPF_HANDLE_EINVAL 0xfffffffdu /* the client gave an fd that is no BPF object */

/*
 * A buffer of the client. One that the client's memory did not cover has cap 0, so that -EFAULT
 * comes where the runtime looks at it, in Linux's order of checks.
 */
struct bpf_call_buf {
	uint8_t *data;	  /* room bytes; call_out makes it as large as the result needs */
	uint32_t room;	  /* bytes at data (<= cap) */
	uint32_t cap;	  /* bytes that the client has room for; often far more than needed */
	uint32_t in_len;  /* bytes that came with the call (<= room) */
	uint32_t out_len; /* set by call_out: bytes to send back, from the start */
	bool out;	  /* may be written */
};

union bpf_call_attr {
	union bpf_attr bpf;
	union bpf_attr_newer newer;
	union board_attr board;
	uint8_t bytes[BPF_CALL_ATTR_MAX];
};

/* What the host needs to know of a new handle without another round trip. */
struct bpf_obj_info {
	uint32_t handle;
	uint8_t kind; /* 'm' map 'p' prog 'b' btf 'l' link 's' stats 'i' iterator; 0: none */
	uint8_t pad[3];
	uint32_t type, id;
	uint32_t key_size, value_size, max_entries, map_flags; /* maps */
};

struct bpf_call {
	uint32_t cmd;
	uint32_t attr_size; /* as the client gave it, <= sizeof(attr); attr is zero beyond it */
	union bpf_call_attr attr;
	struct bpf_call_buf bufs[BPF_CALL_BUFS_MAX];
	uint32_t buf_cnt;
	int64_t ret;		 /* 0, a handle or -errno */
	struct bpf_obj_info obj; /* of a returned handle; kind 0: none */
	uint32_t session;	 /* owner of the handles made by this call */
};

/*
 * len readable bytes at the client's pointer p, or NULL (-EFAULT); only bytes that came with the
 * call or were written by call_out are readable. len 0: any non-NULL dummy.
 */
const void *call_in(const struct bpf_call *call, uint64_t p, uint64_t len);
/*
 * len writable bytes at p, zero where nothing was yet, or NULL (-EFAULT; also when there is no
 * memory). They will be sent back (out_len grows to cover them), so ask for what the result has,
 * not for the client's whole room. A later call_out on the same buffer may move it.
 */
void *call_out(struct bpf_call *call, uint64_t p, uint64_t len);
/* Of what call_out gave at p, send back only the first len bytes: the rest was not needed. */
void call_trim(struct bpf_call *call, uint64_t p, uint64_t len);
/* NUL-terminated string of at most max bytes with the NUL, or NULL. */
const char *call_str(const struct bpf_call *call, uint64_t p, uint32_t max);
/* Is p, non-NULL, inside a buffer of at least len bytes of client room? Changes nothing. */
bool call_may_write(const struct bpf_call *call, uint64_t p, uint64_t len);

/* The pointer that names byte 0 of buffer index. */
uint64_t call_buf_ptr(uint32_t index);
/*
 * Build a call by hand: append a buffer that starts with in_len bytes of in and has room for cap,
 * and store its name in *ptr (a field of call->attr). 0, -EINVAL, -ENOMEM. Thread.
 */
int bpf_call_add_buf(struct bpf_call *call, __u64 *ptr, const void *in, uint32_t in_len,
		     uint32_t cap, bool out) __must_check;
/* Free the buffers' memory (hal_alloc) and forget them. Thread. */
void bpf_call_free(struct bpf_call *call);
