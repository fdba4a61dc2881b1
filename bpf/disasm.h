/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Instructions as text, in the style of the kernel's verifier log and of bpftool:
 * "(07) r1 += -4", "(85) call bpf_map_lookup_elem#1", "(18) r1 = map[id:5]".
 */
#pragma once

#include "include/base.h"
#include "bpf/prog.h"

/* The longest text of an instruction, NUL included. */
#define DISASM_MAX 96

/*
 * Text of the instruction at insn, which has a second slot if have_next. prog, if not NULL, is the
 * program it belongs to, its map operands being addresses (xlate_resolve_maps): they print as map
 * ids; otherwise as numbers. Anything that isa_find refuses prints as "(xx) .." with its fields and
 * the reason. Result as snprintf's. Context: any.
 */
int bpf_disasm(const struct bpf_prog *prog, const struct bpf_insn *insn, bool have_next, char *buf,
	       size_t size);
