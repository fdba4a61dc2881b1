/* SPDX-License-Identifier: BSD-2-Clause */
/* xlate: splicing, removal of what is not reached, context accesses, map operands. */
#include "test.h"

#include "bpf/ctx.h"
#include "bpf/disasm.h"
#include "bpf/interp.h"
#include "bpf/isa.h"
#include "bpf/map.h"
#include "bpf/xlate.h"
#include "hal_host.h"
#include "include/err.h"
#include "include/hal.h"
#include "support_asm.h"
#include "support_map.h"
#include "support_vectors.h"

static uint64_t state = 1;

static uint32_t rnd(uint32_t below)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % below;
}

static struct bpf_prog *make(enum bpf_prog_type type, const char *text)
{
	return test_prog_asm(type, text, NULL, 0, false);
}

/* ---- splicing ---------------------------------------------------------------------------------
 */

/* A program as text, instruction by instruction. */
static const char *listing(const struct bpf_prog *p)
{
	static char text[4096];
	size_t at = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < p->insn_cnt; i++) {
		char line[DISASM_MAX];

		bpf_disasm(NULL, &p->insns[i], true, line, sizeof(line));
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", at ? "; " : "",
				       line + 5);
		i += p->insns[i].code == (BPF_LD | BPF_IMM | BPF_DW);
	}
	return text;
}

static int splice(struct bpf_prog *p, uint32_t at, uint32_t len, const char *text)
{
	struct bpf_insn insns[64];
	int nr = *text ? asm_text(text, insns, 64) : 0;

	return nr < 0 ? 1 : xlate_splice(p, at, len, insns, (uint32_t)nr);
}

TEST(splice_moves_jumps)
{
	struct bpf_prog *p = make(BPF_PROG_TYPE_XDP, "r0 = 1; if r1 == 0x0 goto pc+2; r0 = 2;"
						     "goto pc-3; r0 = 3; exit");

	CHECK(p);
	CHECK_EQ(splice(p, 2, 1, "r2 = 1; r2 = 2; r2 = 3"), 0);
	CHECK_STR(listing(p), "r0 = 1; if r1 == 0x0 goto pc+4; r2 = 1; r2 = 2; r2 = 3; goto pc-5; "
			      "r0 = 3; exit");
	CHECK_EQ(p->aux[2].orig_idx, 2);
	CHECK_EQ(p->aux[4].orig_idx, 2);
	CHECK_EQ(p->aux[5].orig_idx, 3);
	/* A branch to the replaced instruction goes to the first new one. */
	CHECK_EQ(splice(p, 1, 1, "r3 = 1; r3 = 2"), 0);
	CHECK_STR(listing(p), "r0 = 1; r3 = 1; r3 = 2; r2 = 1; r2 = 2; r2 = 3; goto pc-6; r0 = 3; "
			      "exit");
	/* Nothing in place of something: the branch goes to what follows. */
	CHECK_EQ(splice(p, 1, 2, ""), 0);
	CHECK_STR(listing(p), "r0 = 1; r2 = 1; r2 = 2; r2 = 3; goto pc-4; r0 = 3; exit");
	test_prog_free(p);
}

TEST(splice_moves_functions_and_records)
{
	struct bpf_prog *p = make(BPF_PROG_TYPE_XDP, "r6 = subprog[f]; call f; exit; f: r0 = 1;"
						     "exit");
	struct bpf_line_info lines[3] = { { .insn_off = 0 }, { .insn_off = 2 }, { .insn_off = 4 } };
	struct bpf_func_info funcs[2] = { { .insn_off = 0 }, { .insn_off = 4 } };

	CHECK(p);
	p->line_info = lines;
	p->line_info_cnt = 3;
	p->func_info = funcs;
	p->func_info_cnt = 2;
	CHECK_EQ(splice(p, 2, 1, "r7 = 7; call pc+2; r8 = 8"), 0);
	CHECK_STR(listing(p), "r6 = subprog[+5]; r7 = 7; call pc+2; r8 = 8; exit; r0 = 1; exit");
	CHECK_EQ(p->subprogs[0].end, 6);
	CHECK_EQ(p->subprogs[1].start, 6);
	CHECK_EQ(p->subprogs[1].end, 8);
	CHECK_EQ(lines[1].insn_off, 2);
	CHECK_EQ(lines[2].insn_off, 6);
	CHECK_EQ(funcs[1].insn_off, 6);
	test_prog_free(p);
}

TEST(splice_refuses_and_changes_nothing)
{
	static struct bpf_insn many[33000];
	struct bpf_prog *p = make(BPF_PROG_TYPE_XDP, "if r1 == 0x0 goto pc+1; r0 = 2; exit");
	struct bpf_insn *before = p->insns;

	CHECK_EQ(splice(p, 3, 0, "r0 = 1"), -EINVAL);
	CHECK_EQ(splice(p, 1, 3, "r0 = 1"), -EINVAL);
	CHECK_EQ(splice(p, 0, 3, ""), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV };
	CHECK_EQ(xlate_splice(p, 1, 1, many, ARRAY_SIZE(many)), -EINVAL);
	for (unsigned long n = 1; n <= 3; n++) {
		hal_host_fail_alloc(n, false);
		CHECK_EQ(splice(p, 1, 1, "r0 = 3; r0 = 4"), -ENOMEM);
	}
	hal_host_fail_alloc(0, false);
	CHECK(p->insns == before && p->insn_cnt == 3);
	test_prog_free(p);
}

/* A random program that ends: forward jumps only, then a checksum of the registers. */
static uint32_t random_program(struct bpf_insn *insns, uint32_t body)
{
	uint32_t n = 0;

	for (uint8_t r = 0; r < 6; r++)
		insns[n++] = (struct bpf_insn){ BPF_ALU64 | BPF_MOV | BPF_K, r & 15, 0, 0,
						(int)rnd(1000) };
	for (uint32_t end = n + body; n < end;) {
		uint8_t dst = (uint8_t)rnd(6), src = (uint8_t)rnd(6);
		uint32_t left = end - n - 1;

		switch (rnd(4)) {
		case 0:
			insns[n++] = (struct bpf_insn){ BPF_JMP | BPF_JGT | BPF_X, dst & 15,
							src & 15, (short)rnd(left + 1), 0 };
			break;
		case 1:
			insns[n++] = (struct bpf_insn){ BPF_ALU64 | BPF_MUL | BPF_K, dst & 15, 0, 0,
							(int)rnd(77) };
			break;
		default:
			insns[n++] = (struct bpf_insn){ BPF_ALU64 | BPF_ADD | BPF_X, dst & 15,
							src & 15, 0, 0 };
			break;
		}
	}
	for (uint8_t r = 1; r < 6; r++)
		insns[n++] = (struct bpf_insn){ BPF_ALU64 | BPF_XOR | BPF_X, 0, r & 15, 0, 0 };
	insns[n++] = (struct bpf_insn){ .code = BPF_JMP | BPF_EXIT };
	return n;
}

static uint64_t run(struct bpf_prog *p)
{
	struct run_ctx rc = { .insns_max = 100000 };
	uint64_t ret = 0;

	if (interp_prepare(p) || test_prog_run(p, PROG_MODE_CHECKED, NULL, NULL, &rc, &ret))
		return ~0ull;
	return ret;
}

/* Nothing that a splice puts in changes the result, wherever it goes. */
TEST(random_splices_keep_the_meaning)
{
	static const char *const fill[] = { "", "r7 = 5", "r7 = 0x123456789; r8 = 3",
					    "r7 = 1; if r7 == 0x1 goto pc+1; r8 = 1; r9 = 2" };

	for (int round = 0; round < 300; round++) {
		struct bpf_insn insns[256];
		uint32_t cnt = random_program(insns, 30 + rnd(50));
		struct bpf_prog *p = test_prog_new(BPF_PROG_TYPE_XDP, insns, cnt, false);
		uint64_t want = run(p);

		for (int i = 0; i < 12; i++) {
			uint32_t at = rnd(p->insn_cnt);
			bool second = !p->insns[at].code;

			if (!second)
				CHECK_EQ(splice(p, at, 0, fill[rnd(4)]), 0);
		}
		CHECK_EQ(run(p), want);
		test_prog_free(p);
	}
}

/* ---- finishing --------------------------------------------------------------------------------
 */

TEST(finish_removes_what_is_not_reached)
{
	struct bpf_prog *p = make(BPF_PROG_TYPE_UNSPEC,
				  "r0 = 0; goto pc+2; r0 = 0x77; r0 += 1; goto pc+1; r0 += 2;"
				  "goto pc+0; exit; r0 = 9; exit");

	CHECK(p);
	CHECK_EQ(xlate_finish(p), 0);
	CHECK_STR(listing(p), "r0 = 0; r0 += 1; exit");
	CHECK_EQ(run(p), 1);
	test_prog_free(p);
}

TEST(finish_drops_decided_jumps)
{
	struct bpf_prog *p = make(BPF_PROG_TYPE_UNSPEC, "if r1 == 0x0 goto pc+1; r0 = 1;"
							"if r1 == 0x0 goto pc+1; r0 = 2; exit");

	CHECK(p);
	p->aux[0].flags |= AUX_JUMP_NEVER;
	p->aux[2].flags |= AUX_JUMP_ALWAYS;
	p->aux[3].flags = 0;
	CHECK_EQ(xlate_finish(p), 0);
	CHECK_STR(listing(p), "r0 = 1; exit");
	test_prog_free(p);
}

TEST(finish_drops_functions_that_nobody_calls)
{
	struct bpf_prog *p = make(BPF_PROG_TYPE_UNSPEC,
				  "call g; exit; call f; exit; f: r0 = 1; exit; g: r0 = 2; exit");
	struct bpf_func_info funcs[3] = { { .insn_off = 0, .type_id = 10 },
					  { .insn_off = 4, .type_id = 11 },
					  { .insn_off = 6, .type_id = 12 } };
	struct bpf_line_info lines[3] = { { .insn_off = 0, .line_off = 1 },
					  { .insn_off = 4, .line_off = 2 },
					  { .insn_off = 6, .line_off = 3 } };

	CHECK(p);
	p->func_info = funcs;
	p->func_info_cnt = 3;
	p->line_info = lines;
	p->line_info_cnt = 3;
	CHECK_EQ(xlate_finish(p), 0);
	CHECK_STR(listing(p), "call pc+1; exit; r0 = 2; exit");
	CHECK_EQ(p->subprog_cnt, 2);
	CHECK_EQ(p->func_info_cnt, 2);
	CHECK_EQ(funcs[1].type_id, 12);
	CHECK_EQ(funcs[1].insn_off, 2);
	CHECK_EQ(p->line_info_cnt, 2);
	CHECK_EQ(lines[1].line_off, 3);
	CHECK_EQ(run(p), 2);
	test_prog_free(p);
}

TEST(finish_converts_context_accesses)
{
	struct bpf_prog *p =
		make(BPF_PROG_TYPE_XDP,
		     "r2 = *(u32 *)(r1 +0); r3 = *(u32 *)(r1 +4); r0 = *(u32 *)(r1 +12);"
		     "exit");
	char want[256];

	CHECK(p);
	snprintf(want, sizeof(want),
		 "r2 = *(u64 *)(r1 +%zu); r3 = *(u64 *)(r1 +%zu); r0 = *(u32 *)(r1 +%zu); exit",
		 offsetof(struct ctx_xdp, pkt.data), offsetof(struct ctx_xdp, pkt.data_end),
		 offsetof(struct ctx_xdp, ingress_ifindex));
	CHECK_EQ(xlate_finish(p), 0);
	CHECK_STR(listing(p), want);
	CHECK_EQ(p->ctx_converted, 1);
	/* A second time changes nothing. */
	CHECK_EQ(xlate_finish(p), 0);
	CHECK_STR(listing(p), want);
	test_prog_free(p);

	p = make(BPF_PROG_TYPE_XDP, "r0 = *(u64 *)(r1 +4); exit");
	CHECK(p);
	CHECK_EQ(xlate_finish(p), -EINVAL);
	CHECK_EQ(p->ctx_converted, 0);
	CHECK_STR(listing(p), "r0 = *(u64 *)(r1 +4); exit");
	test_prog_free(p);

	/* Plain bytes stay as they are. */
	p = make(BPF_PROG_TYPE_TRACEPOINT, "r0 = *(u64 *)(r1 +8); exit");
	CHECK(p);
	CHECK_EQ(xlate_finish(p), 0);
	CHECK_STR(listing(p), "r0 = *(u64 *)(r1 +8); exit");
	CHECK_EQ(p->ctx_converted, 0);
	test_prog_free(p);
}

/* ---- maps -------------------------------------------------------------------------------------
 */

TEST(map_operands)
{
	struct bpf_map *maps[2] = { NULL, NULL };
	struct bpf_insn insns[16], dump[16];
	struct bpf_prog prog = { .insns = insns, .maps = maps, .map_cnt = 2 };
	const char *why = NULL;
	uint32_t off = 0;

	CHECK_EQ(map_new(&maps[0], BPF_MAP_TYPE_HASH, 4, 8, 4, 0), 0);
	CHECK_EQ(map_new(&maps[1], BPF_MAP_TYPE_ARRAY, 4, 64, 1, 0), 0);
	maps[0]->id = 70;
	maps[1]->id = 71;
	prog.insn_cnt = (uint32_t)asm_text("r1 = map[0]; r2 = map[1][0]+12; exit", insns, 16);
	CHECK_EQ(xlate_resolve_maps(&prog, &why), 0);
	CHECK_EQ(isa_imm64(&insns[0]), (uintptr_t)maps[0]);
	CHECK(xlate_value_map(&prog, (uintptr_t)isa_imm64(&insns[2]), &off) == maps[1]);
	CHECK_EQ(off, 12);
	xlate_dump(&prog, dump);
	CHECK_EQ(dump[0].imm, 70);
	CHECK_EQ(dump[1].imm, 0);
	CHECK_EQ(dump[2].imm, 71);
	CHECK_EQ(dump[3].imm, 12);
	CHECK_EQ(dump[2].src_reg, BPF_PSEUDO_MAP_VALUE);

	prog.insn_cnt = (uint32_t)asm_text("r1 = map[2]; exit", insns, 16);
	CHECK_EQ(xlate_resolve_maps(&prog, &why), -EBADF);
	CHECK(why);
	prog.insn_cnt = (uint32_t)asm_text("r1 = map[0][0]+0; exit", insns, 16);
	CHECK_EQ(xlate_resolve_maps(&prog, &why), -EINVAL);
	prog.insn_cnt = (uint32_t)asm_text("r1 = map[1][0]+64; exit", insns, 16);
	CHECK(xlate_resolve_maps(&prog, &why) < 0);
	map_end(maps[0]);
	map_end(maps[1]);
}
