/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One bpf(2) call as the board sees it: the attr, and the client's buffers that came with it. Made
 * by wire/marshal.c from a message, by runtime/bundle.c from a recorded call, by tests by hand;
 * consumed by runtime/bpf_syscall.c.
 *
 * Pointers in attr are addresses of the buffers below. The runtime never dereferences one without
 * asking call_in / call_out, which play the part of copy_from_user: a pointer that is no buffer, or
 * a length beyond it, gives -EFAULT.
 */
#pragma once

#include "include/base.h"
#include "include/uapi_board.h"
#include "include/uapi_new.h"

#define BPF_CALL_BUFS_MAX 24

/* Handles on the wire. 0 is never one. */
#define BPF_HANDLE_EBADF  0xfffffffeu /* the client gave a closed fd */
#define BPF_HANDLE_EINVAL 0xfffffffdu /* the client gave an fd that is no BPF object */

struct bpf_call_buf {
	uint8_t *data;
	uint32_t cap;	  /* bytes the client has room for, allocated here */
	uint32_t in_len;  /* bytes that came with the call (<= cap), the rest is zero */
	uint32_t out_len; /* set by the runtime: bytes to send back, from the start */
	uint8_t out;	  /* the row says that it goes back */
};

union bpf_call_attr {
	union bpf_attr bpf;
	union board_attr board;
	uint8_t bytes[256];
};

/* What the host needs to know of a new handle without another round trip. */
struct bpf_obj_info {
	uint32_t handle;
	uint8_t kind; /* 'm' map 'p' prog 'b' btf 'l' link 's' stats */
	uint8_t pad[3];
	uint32_t type, id;
	uint32_t key_size, value_size, max_entries, map_flags; /* maps */
};

struct bpf_call {
	uint32_t cmd;
	uint32_t attr_size; /* as the client gave it, <= sizeof(attr) */
	union bpf_call_attr attr;
	struct bpf_call_buf bufs[BPF_CALL_BUFS_MAX];
	uint32_t buf_cnt;
	int64_t ret;		 /* 0, a handle or -errno */
	struct bpf_obj_info obj; /* of a returned handle; kind 0: none */
	uint32_t session;	 /* owner of the handles made by this call */
};

/* len readable bytes at the client's pointer p, or NULL (-EFAULT). len 0: any non-NULL dummy. */
const void *call_in(const struct bpf_call *call, uint64_t p, uint64_t len);
/*
 * len writable bytes at p, or NULL (-EFAULT); marks them to be sent back (out_len grows to cover
 * them).
 */
void *call_out(struct bpf_call *call, uint64_t p, uint64_t len);
/* NUL-terminated string of at most max bytes with the NUL, or NULL. */
const char *call_str(const struct bpf_call *call, uint64_t p, uint32_t max);
/* Free the buffers' memory (hal_alloc). */
void bpf_call_free(struct bpf_call *call);
