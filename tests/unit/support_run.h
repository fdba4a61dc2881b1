/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests of helpers: a program as text, run once on an XDP packet of 64 bytes. */
#pragma once

#include "include/base.h"
#include "bpf/prog.h"

/* How a run ended that has no R0; other values are R0. */
#define ENDED(why) (0xdead000000000000 + (uint64_t)(why))

extern const enum prog_mode modes[2];

uint64_t run_mode(const char *text, struct bpf_map **maps, uint32_t nr, enum prog_mode mode);
uint64_t run_checked(const char *text, struct bpf_map **maps, uint32_t nr);
/* In both modes; they must agree. */
uint64_t run(const char *text, struct bpf_map **maps, uint32_t nr);
