/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linux/bpf.h for board, host and tests, plus the few constants newer than the oldest header that
 * we build with (linux-libc-dev 6.12). Numbers are the kernel's ABI.
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
