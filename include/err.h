/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Error numbers are Linux's on every machine, since bpf(2) clients see them. Functions return 0 or
 * -errno. newlib's own <errno.h> numbers differ and are never used for results.
 */
#pragma once

#include <asm-generic/errno.h>

/* In the kernel's linux/errno.h, not in the UAPI; libbpf and bpftool know it by number. */
#ifndef ENOTSUPP
#define ENOTSUPP 524
#endif
