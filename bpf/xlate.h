/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the client's instructions to the ones that run: map operands become addresses, context
 * accesses internal ones, dead code goes, helper calls that have a cheaper form are replaced. All
 * splicing goes through one function, which keeps jump offsets, aux, subprograms, line and function
 * info in step.
 */
#pragma once

#include "include/base.h"
#include "bpf/prog.h"

/*
 * Replace instructions [at, at+len) by cnt new ones; len or cnt may be 0, and at is an instruction
 * that exists. Branches into the range, and to at, go to the first new instruction. Branches among
 * the new ones are taken as they are, relative to the new arrangement. They inherit
 * aux[at].orig_idx. Info records follow. 0, -EINVAL (a branch offset no longer fits, nothing would
 * be left), -ENOMEM; unchanged on error. Thread.
 */
int xlate_splice(struct bpf_prog *prog, uint32_t at, uint32_t len, const struct bpf_insn *insns,
		 uint32_t cnt) __must_check;

/*
 * Resolve map operands: PSEUDO_MAP_FD and PSEUDO_MAP_VALUE whose imm is an index into prog->maps
 * become addresses (see prog.h). 0 or -errno, log line in *why. Before verification. Thread.
 */
int xlate_resolve_maps(struct bpf_prog *prog, const char **why) __must_check;

/*
 * After verification: remove what no path reaches, convert context accesses by aux (AUX_PTR_CTX),
 * drop decided branches. 0 or -errno. Thread.
 */
int xlate_finish(struct bpf_prog *prog) __must_check;

/*
 * What BPF_OBJ_GET_INFO_BY_FD shows as xlated: out has prog->insn_cnt elements; addresses become
 * map ids, helper calls keep their id. Context: thread.
 */
void xlate_dump(const struct bpf_prog *prog, struct bpf_insn *out);

/*
 * The used map of prog whose directly addressed value (BPF_PSEUDO_MAP_VALUE) holds addr, and the
 * offset in it; NULL: none. Context: any.
 */
struct bpf_map *xlate_value_map(const struct bpf_prog *prog, uintptr_t addr, uint32_t *off);
