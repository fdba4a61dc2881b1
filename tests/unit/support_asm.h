/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An assembler for tests: the disassembler's text back to instructions, by the patterns of
 * bpf/isa.def. Instructions end at ';' or at the end of the line; "name:" before one is a label,
 * which "goto name", "gotol name", "call name" and "subprog[name]" refer to. A helper is called as
 * "call bpf_ktime_get_ns" or by number. A '#' where an
 * instruction would begin starts a comment.
 */
#pragma once

#include "include/uapi_new.h"

/* Number of instructions (slots), or -1 with a message on stdout. */
int asm_text(const char *text, struct bpf_insn *insns, int room);
