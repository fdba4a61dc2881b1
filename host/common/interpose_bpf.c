/* SPDX-License-Identifier: BSD-2-Clause */
#include <linux/perf_event.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/common/client.h"
#include "host/common/interpose.h"

/*
 * libbpf attaches by perf events where it cannot otherwise. The host's events cannot run a program
 * of the board, and making a kprobe would change the host.
 */
static bool perf_event_for_bpf(const struct perf_event_attr *user)
{
	struct perf_event_attr attr = { 0 };

	if (client_peek(&attr, (uintptr_t)user, PERF_ATTR_SIZE_VER0))
		return false;
	return attr.type == PERF_TYPE_TRACEPOINT || attr.type >= PERF_TYPE_MAX ||
	       (attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_BPF_OUTPUT);
}

INTERPOSE long syscall(long nr, ...)
{
	va_list ap;
	long a[6];
	long rc;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (!client_is_active())
		return REAL(syscall)(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (nr == SYS_bpf) {
		rc = client_bpf((uint32_t)a[0], (const void *)a[1], (uint32_t)a[2]);
		return interpose_result(rc);
	}
	if (nr == SYS_perf_event_open && perf_event_for_bpf((const void *)a[0]))
		return interpose_result(-EOPNOTSUPP);
	return REAL(syscall)(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}
