/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs and BTF to load, for tests of BPF_PROG_LOAD (support_rt.h). */
#pragma once

#include "support_rt.h"

/* A load of an XDP program that succeeds, to be changed by the caller and run by rt_do. */
struct bpf_call *good_load(const struct bpf_insn *insns, uint32_t cnt);
/* `r1 = OPERAND; r0 = 0; exit`, where the operand is an ldimm64 of that kind. */
int64_t load_with_map(struct rt *rt, uint8_t src, uint32_t imm, uint32_t imm2);

struct test_btf {
	struct btf_header hdr;
	struct {
		struct btf_type t;
		uint32_t encoding;
	} integer;
	struct btf_type proto;
	struct btf_type func[2];
	char strings[64];
};

#define STR_INT	 1
#define STR_MAIN 5
#define STR_SUB	 10
#define STR_FILE 14
#define STR_LINE 20

/* [1] int, [2] int (*)(void), [3] main, [4] sub. */
struct test_btf make_btf(void);
int64_t load_btf(struct rt *rt);

/* main calls sub: 4 instructions, functions at 0 and 2. */
extern const struct bpf_insn two_funcs[4];

struct infos {
	struct bpf_func_info func[2];
	struct bpf_line_info line[3];
};
/* Records that fit two_funcs. */
struct infos good_infos(void);
/* Load two_funcs with that many of the records. The call stays for a look at it. */
int64_t load_infos(struct rt *rt, uint32_t btf, const struct infos *in, uint32_t funcs,
		   uint32_t lines);
