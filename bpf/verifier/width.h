/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Word widths of the number domains. A program works on 64-bit registers with 32-bit halves; the
 * same sources compile with 16-bit words and 8-bit halves, where brute force can check them.
 *   ux, sx  full word, unsigned and signed
 *   uh, sh  low half, unsigned and signed
 */
#pragma once

#include "include/base.h"

#ifdef VERIFIER_NARROW
typedef uint16_t ux;
typedef int16_t sx;
typedef uint8_t uh;
typedef int8_t sh;
#define VBITS 16u
#else
typedef uint64_t ux;
typedef int64_t sx;
typedef uint32_t uh;
typedef int32_t sh;
#define VBITS 64u
#endif

#define VHALF	(VBITS / 2u)
#define UX_MAX	((ux) ~(ux)0)
#define UH_MAX	((uh) ~(uh)0)
#define UX_SIGN ((ux)((ux)1 << (VBITS - 1u)))
#define UH_SIGN ((uh)((uh)1 << (VHALF - 1u)))
#define SX_MIN	((sx)UX_SIGN)
#define SX_MAX	((sx)(UX_SIGN - 1u))
#define SH_MIN	((sh)UH_SIGN)
#define SH_MAX	((sh)(UH_SIGN - 1u))
