/* SPDX-License-Identifier: BSD-2-Clause */
/* Verdicts on small programs: accepted, or refused for the reason named. Wording is not looked at.
 */
#include "bpf/helper.h"
#include "bpf/log.h"
#include "bpf/verifier/env.h"
#include "bpf/verify.h"
#include "include/hal.h"

#include "hal_host.h"
#include "test.h"

#define I(c, d, s, o, i)   { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }
#define MOV_I(d, i)	   I(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOV_R(d, s)	   I(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD_I(d, i)	   I(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define ADD_R(d, s)	   I(BPF_ALU64 | BPF_ADD | BPF_X, d, s, 0, 0)
#define AND_I(d, i)	   I(BPF_ALU64 | BPF_AND | BPF_K, d, 0, 0, i)
#define LDX(sz, d, s, o)   I(BPF_LDX | BPF_MEM | (sz), d, s, o, 0)
#define STX(sz, d, o, s)   I(BPF_STX | BPF_MEM | (sz), d, s, o, 0)
#define ST(sz, d, o, i)	   I(BPF_ST | BPF_MEM | (sz), d, 0, o, i)
#define JMP_I(op, d, i, o) I(BPF_JMP | (op) | BPF_K, d, 0, o, i)
#define JMP_R(op, d, s, o) I(BPF_JMP | (op) | BPF_X, d, s, o, 0)
#define JA(o)		   I(BPF_JMP | BPF_JA, 0, 0, o, 0)
#define HELPER_CALL(id)	   I(BPF_JMP | BPF_CALL, 0, 0, 0, id)
#define FUNC_CALL(rel)	   I(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, rel)
#define EXIT		   I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
/* Map slots are filled in by judge(). */
#define LD_MAP(d) I(BPF_LD | BPF_IMM | BPF_DW, d, BPF_PSEUDO_MAP_FD, 0, 0), I(0, 0, 0, 0, 0)

static enum bpf_prog_type prog_type = BPF_PROG_TYPE_XDP;
static uint32_t prog_flags;
static struct bpf_map *prog_map;

static void set_map(struct bpf_insn *insns, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		if (insns[i].code != (BPF_LD | BPF_IMM | BPF_DW) ||
		    insns[i].src_reg != BPF_PSEUDO_MAP_FD)
			continue;
		insns[i].imm = (int)(uint32_t)(uintptr_t)prog_map;
		insns[i + 1].imm = (int)((uintptr_t)prog_map >> 32);
	}
}

static struct verify_verdict judge(const struct bpf_insn *insns, uint32_t cnt)
{
	struct bpf_insn *copy = malloc(cnt * sizeof(*copy));
	struct bpf_prog prog = { .type = prog_type,
				 .flags = prog_flags,
				 .gpl = 1,
				 .insns = copy,
				 .insn_cnt = cnt,
				 .maps = &prog_map,
				 .map_cnt = prog_map ? 1 : 0 };
	struct verify_verdict v;

	memcpy(copy, insns, cnt * sizeof(*copy));
	set_map(copy, cnt);
	if (!bpf_verify(&prog, NULL, &v)) {
		hal_free(prog.aux);
		hal_free(prog.subprogs);
	}
	free(copy);
	return v;
}

#define JUDGE(...)                                                                                 \
	({                                                                                         \
		const struct bpf_insn insns_[] = { __VA_ARGS__ };                                  \
		judge(insns_, ARRAY_SIZE(insns_));                                                 \
	})
#define ACCEPT(...)                                                                                \
	do {                                                                                       \
		struct verify_verdict v_ = JUDGE(__VA_ARGS__);                                     \
		CHECK_EQ(v_.reason, VR_NONE);                                                      \
		CHECK_EQ(v_.err, 0);                                                               \
	} while (0)
#define REFUSE(why, ...)                                                                           \
	do {                                                                                       \
		struct verify_verdict v_ = JUDGE(__VA_ARGS__);                                     \
		CHECK_EQ(v_.reason, VR_##why);                                                     \
		CHECK(v_.err < 0);                                                                 \
	} while (0)

static void setup(enum bpf_prog_type type)
{
	prog_type = type;
	prog_flags = 0;
	prog_map = NULL;
}

static int with_array(uint32_t value_size)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY,
				.key_size = 4,
				.value_size = value_size,
				.max_entries = 4 };

	setup(BPF_PROG_TYPE_XDP);
	return bpf_map_create(&attr, NULL, NULL, NULL, NULL, &prog_map);
}

#define LOOKUP                                                                                     \
	ST(BPF_W, 10, -4, 1), MOV_R(2, 10), ADD_I(2, -4), LD_MAP(1),                               \
		HELPER_CALL(BPF_FUNC_map_lookup_elem)

TEST(shape_of_programs)
{
	setup(BPF_PROG_TYPE_XDP);
	ACCEPT(MOV_I(0, 0), EXIT);
	REFUSE(UNREACHABLE, MOV_I(0, 0), EXIT, MOV_I(0, 1), EXIT);
	REFUSE(JUMP_RANGE, JA(5), MOV_I(0, 0), EXIT);
	REFUSE(LAST_INSN, MOV_I(0, 0), MOV_I(0, 1));
	REFUSE(INFINITE_LOOP, MOV_I(0, 0), JMP_I(BPF_JEQ, 0, 0, -1), EXIT);
	/* a bad instruction in code that no path reaches does not count */
	ACCEPT(MOV_I(0, 0), JMP_I(BPF_JEQ, 0, 0, 1), I(BPF_ALU64 | BPF_DIV | BPF_K, 0, 0, 0, 0),
	       EXIT);
	REFUSE(DIV_ZERO, MOV_I(0, 0), I(BPF_ALU64 | BPF_DIV | BPF_K, 0, 0, 0, 0), EXIT);
}

TEST(registers)
{
	setup(BPF_PROG_TYPE_XDP);
	REFUSE(UNINIT_REG, EXIT);
	REFUSE(UNINIT_REG, MOV_R(0, 2), EXIT);
	REFUSE(FRAME_POINTER, MOV_I(10, 0), MOV_I(0, 0), EXIT);
	REFUSE(UNINIT_REG, HELPER_CALL(BPF_FUNC_ktime_get_ns), MOV_R(0, 1), EXIT);
	REFUSE(PTR_OP, MOV_R(0, 10), I(BPF_ALU64 | BPF_MUL | BPF_K, 0, 0, 0, 3), EXIT);
	REFUSE(NOT_POINTER, MOV_I(1, 5), LDX(BPF_W, 0, 1, 0), EXIT);
}

TEST(stack)
{
	setup(BPF_PROG_TYPE_XDP);
	ACCEPT(ST(BPF_DW, 10, -8, 7), LDX(BPF_DW, 0, 10, -8), EXIT);
	REFUSE(STACK_RANGE, ST(BPF_DW, 10, -520, 7), MOV_I(0, 0), EXIT);
	REFUSE(STACK_RANGE, ST(BPF_W, 10, 0, 7), MOV_I(0, 0), EXIT);
	REFUSE(MISALIGNED, ST(BPF_DW, 10, -12, 7), MOV_I(0, 0), EXIT);
	REFUSE(STACK_SPILL, STX(BPF_W, 10, -4, 1), MOV_I(0, 0), EXIT);
	/* a spilled pointer is a pointer again after the fill */
	ACCEPT(STX(BPF_DW, 10, -8, 1), LDX(BPF_DW, 2, 10, -8), LDX(BPF_W, 3, 2, 0), MOV_I(0, 0),
	       EXIT);
}

TEST(map_values)
{
	CHECK_EQ(with_array(8), 0);
	ACCEPT(LOOKUP, JMP_I(BPF_JEQ, 0, 0, 1), LDX(BPF_DW, 0, 0, 0), MOV_I(0, 0), EXIT);
	REFUSE(MAYBE_NULL, LOOKUP, LDX(BPF_DW, 0, 0, 0), EXIT);
	REFUSE(MAP_VALUE_RANGE, LOOKUP, JMP_I(BPF_JEQ, 0, 0, 1), LDX(BPF_DW, 0, 0, 8), MOV_I(0, 0),
	       EXIT);
	REFUSE(PTR_ARITH, LOOKUP, ADD_I(0, 1), MOV_I(0, 0), EXIT);
	/* an index out of the value is bounded by a mask, or not at all */
	ACCEPT(LOOKUP, JMP_I(BPF_JEQ, 0, 0, 4), LDX(BPF_DW, 1, 0, 0), AND_I(1, 7), ADD_R(0, 1),
	       LDX(BPF_B, 0, 0, 0), MOV_I(0, 0), EXIT);
	REFUSE(PTR_UNBOUNDED, LOOKUP, JMP_I(BPF_JEQ, 0, 0, 3), LDX(BPF_DW, 1, 0, 0), ADD_R(0, 1),
	       LDX(BPF_B, 0, 0, 0), MOV_I(0, 0), EXIT);
	bpf_map_destroy(prog_map);
}

TEST(packet_bounds)
{
	setup(BPF_PROG_TYPE_XDP);
	ACCEPT(LDX(BPF_W, 2, 1, 0), LDX(BPF_W, 3, 1, 4), MOV_R(4, 2), ADD_I(4, 14), MOV_I(0, 0),
	       JMP_R(BPF_JGT, 4, 3, 1), LDX(BPF_B, 0, 2, 13), EXIT);
	REFUSE(PKT_RANGE, LDX(BPF_W, 2, 1, 0), LDX(BPF_W, 3, 1, 4), MOV_R(4, 2), ADD_I(4, 14),
	       MOV_I(0, 0), JMP_R(BPF_JGT, 4, 3, 1), LDX(BPF_B, 0, 2, 14), EXIT);
	REFUSE(PKT_RANGE, LDX(BPF_W, 2, 1, 0), LDX(BPF_B, 0, 2, 0), EXIT);
	REFUSE(PTR_ARITH, LDX(BPF_W, 3, 1, 4), ADD_I(3, 1), MOV_I(0, 0), EXIT);
}

TEST(context)
{
	setup(BPF_PROG_TYPE_XDP);
	REFUSE(CTX_ACCESS, LDX(BPF_W, 0, 1, 400), EXIT);
	REFUSE(CTX_ACCESS, LDX(BPF_DW, 0, 1, 0), EXIT);
	REFUSE(CTX_PTR_MODIFIED, ADD_I(1, 4), LDX(BPF_W, 0, 1, 0), EXIT);
	REFUSE(CTX_ACCESS, ST(BPF_W, 1, 0, 0), MOV_I(0, 0), EXIT);
	setup(BPF_PROG_TYPE_SCHED_CLS);
	ACCEPT(ST(BPF_W, 1, 8, 3), MOV_I(0, 0), EXIT); /* skb->mark */
}

TEST(loops_and_calls)
{
	setup(BPF_PROG_TYPE_XDP);
	ACCEPT(MOV_I(0, 0), ADD_I(0, 1), JMP_I(BPF_JLT, 0, 100, -2), EXIT);
	ACCEPT(MOV_I(1, 5), FUNC_CALL(1), EXIT, MOV_R(0, 1), EXIT);
	REFUSE(UNINIT_REG, FUNC_CALL(2), MOV_R(0, 1), EXIT, MOV_I(0, 0), EXIT);
	REFUSE(CALL_DEPTH, MOV_I(0, 0), FUNC_CALL(-2), EXIT);
	REFUSE(UNKNOWN_FUNC, HELPER_CALL(9999), EXIT);
}

/* The loop above costs about two instructions a round, so pruning does not go wrong quietly. */
TEST(processed_is_counted)
{
	struct verify_verdict v;

	setup(BPF_PROG_TYPE_XDP);
	v = JUDGE(MOV_I(0, 0), ADD_I(0, 1), JMP_I(BPF_JLT, 0, 100, -2), EXIT);
	CHECK_EQ(v.processed, 202);
	/* two branches that meet in the same state: the second is covered by the first */
	v = JUDGE(HELPER_CALL(BPF_FUNC_get_prandom_u32), JMP_I(BPF_JEQ, 0, 0, 0), MOV_I(0, 0),
		  JMP_I(BPF_JEQ, 0, 0, 0), MOV_I(0, 1), EXIT);
	CHECK_EQ(v.err, 0);
}

TEST(every_allocation_may_fail)
{
	const struct bpf_insn insns[] = {
		MOV_I(6, 0), ADD_I(6, 1), ST(BPF_DW, 10, -16, 1), JMP_I(BPF_JLT, 6, 30, -3),
		MOV_I(0, 0), EXIT
	};
	struct verify_verdict v;
	int refused = 0;

	setup(BPF_PROG_TYPE_XDP);
	for (unsigned int n = 1; n < 200; n++) {
		hal_host_fail_alloc(n, false);
		v = judge(insns, ARRAY_SIZE(insns));
		hal_host_fail_alloc(0, false);
		if (!v.err)
			break;
		CHECK_EQ(v.err, -ENOMEM);
		refused++;
	}
	CHECK(refused > 5);
	CHECK_EQ(v.err, 0);
}
