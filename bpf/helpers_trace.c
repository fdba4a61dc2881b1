/* SPDX-License-Identifier: BSD-2-Clause */
/* Tracing output and reads of addresses that may be bad. */
#include <string.h>

#include "bpf/format.h"
#include "bpf/helpers.h"
#include "bpf/probe.h"

#define TRACE_LINE_MAX	 512
#define PRINTK_ARGS_MAX	 3
#define VPRINTK_ARGS_MAX 12
#define FORMAT_MAX	 4096
/* Strings are read in pieces that cross no page. */
#define PROBE_CHUNK_BYTES 64

/* trace_pipe ends each line itself. */
static uint64_t trace_line(const char *fmt, size_t fmt_size, const uint64_t *args, uint32_t nr)
{
	char text[TRACE_LINE_MAX];
	int len = bpf_format(text, sizeof(text), fmt, fmt_size, args, nr);
	size_t kept;

	if (len < 0)
		return helper_ret(len);
	kept = MIN((size_t)len, sizeof(text) - 1);
	hal_trace(text, kept && text[kept - 1] == '\n' ? kept - 1 : kept);
	return (uint64_t)len;
}

HELPER_DEF(trace_printk)
{
	uint64_t args[PRINTK_ARGS_MAX] = { r3, r4, r5 };

	return trace_line(helper_ptr(r1), (size_t)r2, args, PRINTK_ARGS_MAX);
}

static bool args_bad(uint64_t data, uint64_t len)
{
	return len % 8 || len > VPRINTK_ARGS_MAX * 8 || (len && !data);
}

HELPER_DEF(trace_vprintk)
{
	if (args_bad(r3, r4))
		return helper_ret(-EINVAL);
	return trace_line(helper_ptr(r1), (size_t)r2, helper_ptr(r3), (uint32_t)(r4 / 8));
}

HELPER_DEF(snprintf)
{
	int len;

	if (args_bad(r4, r5))
		return helper_ret(-EINVAL);
	len = bpf_format(helper_ptr(r1), (size_t)r2, helper_ptr(r3), FORMAT_MAX, helper_ptr(r4),
			 (uint32_t)(r5 / 8));
	return helper_ret(len < 0 ? len : len + 1);
}

/* ---- reads ----------------------------------------------------------------------------------- */

int64_t probe_read_str(char *dst, size_t size, const char *src)
{
	size_t done = 0;

	while (done < size) {
		size_t to_line = PROBE_CHUNK_BYTES - (uintptr_t)(src + done) % PROBE_CHUNK_BYTES;
		size_t n = MIN(to_line, size - done);
		const char *end;

		if (hal_probe_read(dst + done, src + done, n)) {
			memset(dst, 0, size);
			return -EFAULT;
		}
		end = memchr(dst + done, 0, n);
		if (end)
			return end - dst + 1;
		done += n;
	}
	if (size)
		dst[size - 1] = '\0';
	return (int64_t)size;
}

static uint64_t probe_read(uint64_t dst, uint64_t size, uint64_t src)
{
	return helper_ret(hal_probe_read(helper_ptr(dst), helper_ptr(src), (size_t)size));
}

HELPER_DEF(probe_read)
{
	return probe_read(r1, r2, r3);
}

HELPER_DEF(probe_read_kernel)
{
	return probe_read(r1, r2, r3);
}

HELPER_DEF(probe_read_str)
{
	return helper_ret(probe_read_str(helper_ptr(r1), (size_t)r2, helper_ptr(r3)));
}

HELPER_DEF(probe_read_kernel_str)
{
	return helper_ret(probe_read_str(helper_ptr(r1), (size_t)r2, helper_ptr(r3)));
}

/* There is no user space: its addresses are all bad. */
static uint64_t probe_user(uint64_t dst, uint64_t size)
{
	memset(helper_ptr(dst), 0, (size_t)size);
	return helper_ret(-EFAULT);
}

HELPER_DEF(probe_read_user)
{
	return probe_user(r1, r2);
}

HELPER_DEF(probe_read_user_str)
{
	return probe_user(r1, r2);
}
