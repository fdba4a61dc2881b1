/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Check of the live translation tables: no physical page is writable in one place and executable in
 * another (or the same), nothing is open to EL0, and the direct map consists of whole 2 MB blocks
 * that are not executable. Follows the descriptors that the hardware follows and believes no record
 * of mm/.
 */
#pragma once

#include "include/base.h"

struct wx_report {
	uint64_t tables;			 /* table pages visited */
	uint64_t blocks;			 /* leaf descriptors of 2 MB and 1 GB */
	uint64_t pages;				 /* leaf descriptors of 4 KB */
	uint64_t exec_bytes, rw_bytes, ro_bytes; /* of VA */
	uint64_t violations;
	/* The first violation: what, where, and the descriptor. */
	const char *bad_what;
	uint64_t bad_va;
	uint64_t bad_desc;
};

/*
 * Walk the tree of each half, given by its level 1 table (0: none). Returns 0, or -EPERM if
 * violations were found. Context: thread; a mapping that comes and goes meanwhile may be missed.
 */
int wx_check(uint64_t lower_pa, uint64_t upper_pa, struct wx_report *out) __must_check;

/* The two trees this CPU uses now. */
int wx_check_live(struct wx_report *out) __must_check;
