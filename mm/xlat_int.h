/* SPDX-License-Identifier: BSD-2-Clause */
/* For mm/ only: what mm/xlat.c does not check. */
#pragma once

#include "include/base.h"

#define TABLE_ENTRIES 512

/*
 * Map n stretches of physical memory, bytes each, one after another from va on, with these
 * descriptor attributes. The caller answers for the addresses and for W^X. 0, -EEXIST or -ENOMEM;
 * nothing is mapped on error.
 */
int xlat_map_unchecked(uint64_t va, const uint64_t *pa, unsigned int n, uint64_t bytes,
		       uint64_t attrs) __must_check;
