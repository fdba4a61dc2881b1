/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conformance vectors: tests/conformance/NAME.txt, one vector a line (a line that ends in ';' goes
 * on in the next):
 *
 *	NAME [mem HEX | pkt HEX] : INSN; INSN; ... => RESULT [mem HEX]
 *
 * RESULT is R0 in hexadecimal, or why the run ends: access, budget, loops, stack, insn, call. With
 * mem, R1 is the address of that memory and R2 its length; mem after the result is what it holds at
 * the end. With pkt the program is a sched_cls one, R1 its context, the bytes its packet.
 */
#pragma once

#include "bpf/prog.h"

#define VECTOR_INSNS_MAX 2048
#define VECTOR_MEM_MAX	 256

struct vector {
	char name[64];
	struct bpf_insn insns[VECTOR_INSNS_MAX];
	uint32_t insn_cnt;
	uint8_t mem[VECTOR_MEM_MAX], mem_after[VECTOR_MEM_MAX];
	uint32_t mem_len, mem_after_len;
	bool is_packet;
	enum run_end_why why; /* RUN_END_OK: ret holds */
	uint64_t ret;
};

/* All vectors of all files, in order; number of files read, or -1 (message on stdout). */
int vectors_each(void (*fn)(const struct vector *v, void *arg), void *arg);

/*
 * A program from a vector or any instructions, without verification: scanned, its context accesses
 * converted if asked, decoded. NULL on a refusal. Free with test_prog_free.
 */
struct bpf_prog *test_prog_new(enum bpf_prog_type type, const struct bpf_insn *insns, uint32_t cnt,
			       bool convert);
/* The same from text (support_asm.h), with maps for its map operands. */
struct bpf_prog *test_prog_asm(enum bpf_prog_type type, const char *text, struct bpf_map **maps,
			       uint32_t map_cnt, bool convert);
void test_prog_free(struct bpf_prog *prog);

/*
 * Run: rc->regions, ctx and insns_max are the caller's, the rest is set here. mode: how. Returns
 * hal_run_enter's result.
 */
int test_prog_run(struct bpf_prog *prog, enum prog_mode mode, void *r1, void *r2,
		  struct run_ctx *rc, uint64_t *ret);
