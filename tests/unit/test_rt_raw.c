/* SPDX-License-Identifier: BSD-2-Clause */
/* BOARD_RAW_RUN: unverified bytecode over a block of memory. */
#include "support_rt.h"
#include "test.h"

static struct bpf_call *raw_call(uint32_t mode, const struct bpf_insn *insns, uint32_t cnt)
{
	struct bpf_call *c = rt_call(BOARD_RAW_RUN);

	c->attr.board.raw.mode = mode;
	c->attr.board.raw.insn_cnt = cnt;
	rt_in(&c->attr.board.raw.insns, insns, cnt * 8);
	return c;
}

TEST(raw_run)
{
	/* mem[0] += 1; return mem_len */
	static const struct bpf_insn insns[] = { LDX(BPF_B, 3, 1, 0), ADD_IMM(3, 1),
						 STX(BPF_B, 1, 3, 0), MOV_REG(0, 2), EXIT() };
	static const uint32_t modes[] = { 0, 2 };
	struct rt *rt = rt_new(NULL);
	struct bpf_call *c = raw_call(0, insns, ARRAY_SIZE(insns));

	CHECK_EQ(rt_do(rt), -EPERM);
	CHECK_EQ(rt_knob_put(rt, "bpf.unverified", 1), 0);
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		c = raw_call(modes[i], insns, ARRAY_SIZE(insns));
		c->attr.board.raw.mem_len = 5;
		c->attr.board.raw.repeat = 3;
		rt_inout(&c->attr.board.raw.mem, "\x10zzzz", 5, 5);
		CHECK_EQ(rt_do(rt), 0);
		CHECK_EQ(c->attr.board.raw.ret, 5);
		CHECK(c->attr.board.raw.run_ns > 0);
		CHECK_MEM(rt_result(c->attr.board.raw.mem, 5), "\x13zzzz", 5);
	}
	c = raw_call(3, insns, ARRAY_SIZE(insns));
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = raw_call(0, insns, 0);
	CHECK_EQ(rt_do(rt), -E2BIG);
	c = raw_call(0, insns, 5);
	c->attr.board.raw.mem_len = 5;
	CHECK_EQ(rt_do(rt), -EFAULT);
	c->attr.board.raw.mem_len = 2 << 20;
	CHECK_EQ(rt_do(rt), -E2BIG);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* The full 64 bits of R0; illegal code; a run outside its memory. */
TEST(raw_run_ends)
{
	static const struct bpf_insn wide[] = { LDIMM64(0, 0, 0x55667788, 0x11223344), EXIT() };
	static const struct bpf_insn illegal[] = { I(0xff, 0, 0, 0, 0), EXIT() };
	static const struct bpf_insn with_map[] = { LDIMM64(0, BPF_PSEUDO_MAP_FD, 1, 0), EXIT() };
	static const struct bpf_insn outside[] = { LDX(BPF_B, 0, 1, 5), EXIT() };
	struct rt *rt = rt_new(NULL);
	struct bpf_call *c;

	CHECK_EQ(rt_knob_put(rt, "bpf.unverified", 1), 0);
	c = raw_call(2, wide, 3);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.raw.ret, 0x1122334455667788);
	raw_call(2, illegal, 2);
	CHECK_EQ(rt_do(rt), -EINVAL);
	raw_call(2, with_map, 3);
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = raw_call(2, outside, 2);
	c->attr.board.raw.mem_len = 5;
	rt_inout(&c->attr.board.raw.mem, "abcde", 5, 5);
	CHECK_EQ(rt_do(rt), -EFAULT);
	CHECK_EQ(rt_result_len(c->attr.board.raw.mem), 0);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}
