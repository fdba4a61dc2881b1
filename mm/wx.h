/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Check of the live translation tables: no physical page is writable in one place and executable in
 * another (or the same), nothing is executable at EL0 or writable at EL0, and the direct map is
 * made of whole 2 MB blocks. Reads TTBR0_EL1 and TTBR1_EL1 and follows the descriptors that the
 * hardware follows; believes no record of mm/.
 */
#pragma once

#include "include/base.h"

struct wx_report {
	uint64_t tables;     /* table pages visited */
	uint64_t blocks;     /* leaf descriptors of 2 MB and 1 GB */
	uint64_t pages;	     /* leaf descriptors of 4 KB */
	uint64_t exec_bytes; /* of VA */
	uint64_t rw_bytes;   /* of VA */
	uint64_t violations;
	uint64_t bad_va; /* first violation: address and descriptor */
	uint64_t bad_desc;
};

/*
 * Walk the tables of this CPU. 0; -EPERM if violations were found (first one in the report);
 * -E2BIG if more than WX_MAX_EXEC executable stretches exist. Context: thread; changes to the
 * tables meanwhile may be missed.
 */
int wx_check(struct wx_report *out) __must_check;

/* Adjacent executable mappings count as one stretch. */
#define WX_MAX_EXEC 512
