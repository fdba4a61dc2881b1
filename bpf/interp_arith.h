/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signed division and remainder where C leaves cases undefined (RFC 9669 section 4.1): by 0 gives 0
 * and the dividend, the smallest number by -1 gives itself and 0.
 */
#pragma once

#include "include/base.h"

static inline uint64_t interp_sdiv64(uint64_t a, uint64_t b)
{
	if (b + 1 <= 1) /* 0 or -1 */
		return b ? -a : 0;
	return (uint64_t)((int64_t)a / (int64_t)b);
}

static inline uint64_t interp_smod64(uint64_t a, uint64_t b)
{
	if (b + 1 <= 1)
		return b ? 0 : a;
	return (uint64_t)((int64_t)a % (int64_t)b);
}

static inline uint32_t interp_sdiv32(uint32_t a, uint32_t b)
{
	if (b + 1 <= 1)
		return b ? -a : 0;
	return (uint32_t)((int32_t)a / (int32_t)b);
}

static inline uint32_t interp_smod32(uint32_t a, uint32_t b)
{
	if (b + 1 <= 1)
		return b ? 0 : a;
	return (uint32_t)((int32_t)a % (int32_t)b);
}
