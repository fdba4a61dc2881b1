/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linux/bpf.h for board, host and tests, plus the few constants newer than the oldest header that
 * we build with (linux-libc-dev 6.12). Numbers and layouts are the kernel's ABI. Where a newer
 * header has an enumerator, the macro of the same name and value stands before it.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/btf.h>

/* Linux 6.14: BPF_ATOMIC with these imm values is a plain ordered load or store (RFC 9669 style).
 */
#ifndef BPF_LOAD_ACQ
#define BPF_LOAD_ACQ  0x100
#define BPF_STORE_REL 0x110
#endif

/* Linux 6.17 and 6.19. */
#define BPF_PROG_STREAM_READ_BY_FD 37
#define BPF_PROG_ASSOC_STRUCT_OPS  38

/* Parts of union bpf_attr that the oldest header lacks. */
union bpf_attr_newer {
	struct {
		__u8 older[148];
		__u32 fd_array_cnt; /* Linux 6.14 */
	} prog_load;
	struct {
		__aligned_u64 stream_buf;
		__u32 stream_buf_len;
		__u32 stream_id;
		__u32 prog_fd;
	} prog_stream_read;
	struct {
		__u32 map_fd;
		__u32 prog_fd;
		__u32 flags;
	} prog_assoc_struct_ops;
};
