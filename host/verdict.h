/* SPDX-License-Identifier: BSD-2-Clause */
/* Counts of return values, with the names that a program type gives them. */
#pragma once

#include "include/base.h"
#include "include/uapi_new.h"

#define VERDICTS_MAX 64

struct verdicts {
	enum bpf_prog_type type;
	struct {
		uint32_t value;
		uint64_t count;
	} rows[VERDICTS_MAX];
	uint32_t nr;
	uint64_t other; /* of further values */
};

void verdict_count(struct verdicts *v, uint32_t value);
/* "XDP_PASS", or the number; valid until the next call. */
const char *verdict_name(enum bpf_prog_type type, uint32_t value);
