/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats of trace_printk, trace_vprintk and snprintf, which come from programs. */
#pragma once

#include "include/base.h"

/*
 * Format like printf into out (size bytes, NUL-terminated if size > 0). What Linux's
 * bpf_bprintf_prepare accepts: %d %i %u %x %X with l or ll, %c %s %p %px %pks %pus %pK %pS %pB,
 * %pI4 %pi4 %pI6 %pi6, %%, flags 0 + - space and a width. fmt must hold a NUL within fmt_size bytes
 * and only printable ASCII and white space.
 *
 * args: one 64-bit word a conversion; nr of them, surplus ones are ignored. Strings and addresses
 * are read with hal_probe_read: what cannot be read prints as empty or zeros.
 *
 * Returns the length of the whole text without NUL, or -EINVAL. Context: run.
 */
int bpf_format(char *out, size_t size, const char *fmt, size_t fmt_size, const uint64_t *args,
	       uint32_t nr);
