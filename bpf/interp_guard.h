/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a checked run may do: accesses and helper calls judged as they happen. `at` is the
 * instruction's index, for the report; a refusal ends the run. Context: run.
 */
#pragma once

#include "include/base.h"
#include "bpf/helper.h"
#include "bpf/prog.h"

/* Load or store of `size` bytes (1 2 4 8), zero-extended; also through the context. */
uint64_t guard_load(struct run_ctx *rc, uint64_t addr, uint32_t size, uint32_t at);
void guard_store(struct run_ctx *rc, uint64_t addr, uint32_t size, uint64_t value, uint32_t at);
/* A naturally aligned place in plain memory for an atomic access. */
void *guard_atomic(struct run_ctx *rc, uint64_t addr, uint32_t size, uint32_t at);

/* May [addr, addr+size) be read (written)? The context is not memory in this sense. */
bool guard_allows(struct run_ctx *rc, uint64_t addr, uint64_t size, bool write);

/* Arguments regs[1..5] against the helper's row. */
void guard_call(struct run_ctx *rc, const struct bpf_helper *helper, const uint64_t *regs,
		uint32_t at);
/* Remember what a lookup in a map of maps gave out. */
void guard_called(struct run_ctx *rc, const struct bpf_helper *helper, uint64_t map, uint64_t ret);
/* The map operand of a tail call. */
void guard_tail_call(struct run_ctx *rc, const uint64_t *regs, uint32_t at);
