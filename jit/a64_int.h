/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the encoder's files share: a64_asm.c (state), a64_data.c (data processing), a64_mem.c
 * (loads, stores, atomics, branches, system instructions).
 */
#pragma once

#include "jit/a64.h"

/* Register number for a slot where 31 is XZR, or SP; the wrong one is a sticky error. */
uint32_t a64_gp(struct a64_asm *a, enum a64_reg r);
uint32_t a64_gp_sp(struct a64_asm *a, enum a64_reg r);
/* v as a field of so many bits; more is a sticky error. */
uint32_t a64_field(struct a64_asm *a, uint64_t v, uint32_t bits, const char *why);
/* Write word, to be patched by a64_link. */
void a64_fix(struct a64_asm *a, uint32_t word, enum a64_fix_kind kind, uint32_t label,
	     uint64_t ext);
