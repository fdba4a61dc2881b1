/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "include/base.h"

/* An error in the caller that mm/ cannot work around: reports and stops. Supplied by the kernel. */
void mm_oops(const char *fmt, ...) __printf_like(1, 2) __attribute__((noreturn));
