/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "include/base.h"

/*
 * Copy a string from an address that may be bad: bytes copied, NUL included, at most size, always
 * terminated; or -EFAULT, with dst zeroed. size 0 gives 0. Context: any.
 */
int64_t probe_read_str(char *dst, size_t size, const char *src);
