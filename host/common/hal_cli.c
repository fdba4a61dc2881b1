/* SPDX-License-Identifier: BSD-2-Clause */
/* What wire/ asks of the machine when it runs in host tools. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/hal.h"

void *hal_alloc(size_t bytes)
{
	return calloc(1, bytes ? bytes : 1);
}

void hal_free(void *p)
{
	free(p);
}

void hal_log(int level, const char *fmt, ...)
{
	va_list ap;

	if (level > 4)
		return;
	va_start(ap, fmt);
	vdprintf(2, fmt, ap);
	va_end(ap);
	dprintf(2, "\n");
}
