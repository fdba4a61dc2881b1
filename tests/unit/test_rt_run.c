/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF_PROG_TEST_RUN: XDP and plain contexts, data in and out, CPUs, runs that are ended. */
#include "hal_host.h"
#include "support_rt_load.h"
#include "support_rt_run.h"
#include "test.h"

/* r0 = *(u32 *)(r1 + off) */
#define CTX_U32(off) LDX(BPF_W, 0, 1, off), EXIT()
#define MD(field)    ((int16_t)offsetof(struct xdp_md, field))

/* ---- xdp ------------------------------------------------------------------------------------- */

TEST(xdp_retval_and_data)
{
	struct rt *rt = rt_new(NULL);
	/* if (data + 4 <= data_end) data[3] = 0x77 */
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_XDP, LDX(BPF_W, 2, 1, MD(data)),
			    LDX(BPF_W, 3, 1, MD(data_end)), MOV_REG(4, 2), ADD_IMM(4, 4),
			    I(BPF_JMP | BPF_JGT | BPF_X, 4, 3, 1, 0),
			    I(BPF_ST | BPF_MEM | BPF_B, 2, 0, 3, 0x77), MOV_IMM(0, XDP_TX), EXIT());
	struct bpf_call *c;

	CHECK(prog > 0);
	memset(packet, 0x11, sizeof(packet));
	c = run_call(prog, sizeof(packet));
	c->attr.bpf.test.repeat = 5;
	c->attr.bpf.test.data_size_out = 64;
	rt_out(&c->attr.bpf.test.data_out, 64);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.bpf.test.retval, XDP_TX);
	CHECK_EQ(c->attr.bpf.test.data_size_out, 64);
	CHECK(c->attr.bpf.test.duration > 0);
	packet[3] = 0x77;
	CHECK_MEM(rt_result(c->attr.bpf.test.data_out, 64), packet, 64);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* The size rules of data_out: clamped with -ENOSPC, unbounded without a size. */
TEST(data_out_sizes)
{
	struct rt *rt = rt_new(NULL);
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_XDP, MOV_IMM(0, 2), EXIT());
	struct bpf_call *c;

	c = run_call(prog, 64);
	c->attr.bpf.test.data_size_out = 20;
	rt_out(&c->attr.bpf.test.data_out, 20);
	CHECK_EQ(rt_do(rt), -ENOSPC);
	CHECK_EQ(c->attr.bpf.test.data_size_out, 64);
	CHECK_EQ(c->attr.bpf.test.retval, 2);
	CHECK_EQ(rt_result_len(c->attr.bpf.test.data_out), 20);
	c = run_call(prog, 64);
	rt_out(&c->attr.bpf.test.data_out, 1000);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(rt_result_len(c->attr.bpf.test.data_out), 64);
	c = run_call(prog, 64);
	c->attr.bpf.test.data_size_out = 64;
	rt_out(&c->attr.bpf.test.data_out, 63);
	CHECK_EQ(rt_do(rt), -EFAULT);
	c = run_call(prog, 64);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.bpf.test.data_size_out, 64);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(xdp_input_checks)
{
	struct rt *rt = rt_new(NULL);
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_XDP, MOV_IMM(0, 2), EXIT());
	struct bpf_call *c;

	run_call(prog, 13);
	CHECK_EQ(rt_do(rt), -EINVAL);
	run_call(prog, 14);
	CHECK_EQ(rt_do(rt), 0);
	c = run_call(prog, 64);
	c->attr.bpf.test.data_size_in = 65;
	CHECK_EQ(rt_do(rt), -EFAULT);
	c->attr.bpf.test.data_size_in = 70000;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = run_call(prog, 64);
	c->attr.bpf.test.batch_size = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = run_call(prog, 64);
	c->attr.bpf.test.flags = BPF_F_TEST_XDP_LIVE_FRAMES;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = run_call(prog, 64);
	c->attr.bpf.test.cpu = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = run_call(prog, 64);
	c->attr.bpf.test.ctx_size_in = 8;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = run_call(prog, 64);
	c->attr.bpf.test.ctx_size_out = 8;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = run_call(BPF_HANDLE_EBADF, 64);
	CHECK_EQ(rt_do(rt), -EBADF);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

static int64_t run_md(struct rt *rt, int64_t prog, struct xdp_md md, struct xdp_md *out)
{
	struct bpf_call *c = run_call(prog, sizeof(packet));
	int64_t ret;

	c->attr.bpf.test.ctx_size_in = c->attr.bpf.test.ctx_size_out = sizeof(md);
	rt_in(&c->attr.bpf.test.ctx_in, &md, sizeof(md));
	rt_out(&c->attr.bpf.test.ctx_out, sizeof(md));
	ret = rt_do(rt);
	if (!ret)
		memcpy(out, rt_result(c->attr.bpf.test.ctx_out, sizeof(md)), sizeof(md));
	rt_call_end();
	return ret;
}

TEST(xdp_context)
{
	struct rt *rt = rt_new(NULL);
	int64_t ifindex = LOAD(rt, BPF_PROG_TYPE_XDP, CTX_U32(MD(ingress_ifindex)));
	/* data - data_meta */
	int64_t meta = LOAD(rt, BPF_PROG_TYPE_XDP, LDX(BPF_W, 0, 1, MD(data)),
			    LDX(BPF_W, 2, 1, MD(data_meta)),
			    I(BPF_ALU64 | BPF_SUB | BPF_X, 0, 2, 0, 0), EXIT());
	struct xdp_md out;
	struct bpf_call *c;

	CHECK_EQ(run_value(rt, ifindex), 1);
	CHECK_EQ(run_value(rt, meta), 0);
	CHECK_EQ(run_md(rt, ifindex, (struct xdp_md){ .data_end = 64, .ingress_ifindex = 1 }, &out),
		 0);
	CHECK_EQ(out.data, 0);
	CHECK_EQ(out.data_end, 64);
	CHECK_EQ(out.ingress_ifindex, 1);
	CHECK_EQ(run_md(rt, meta, (struct xdp_md){ .data = 8, .data_end = 64 }, &out), 0);
	CHECK_EQ(out.data, 8);
	CHECK_EQ(out.data_end, 64);
	CHECK_EQ(run_md(rt, meta, (struct xdp_md){ .data = 6, .data_end = 64 }, &out), -EINVAL);
	CHECK_EQ(run_md(rt, meta, (struct xdp_md){ .data = 52, .data_end = 64 }, &out), -EINVAL);
	CHECK_EQ(run_md(rt, meta, (struct xdp_md){ .data = 8, .data_end = 4 }, &out), -EINVAL);
	CHECK_EQ(run_md(rt, meta, (struct xdp_md){ .data_end = 65 }, &out), -EINVAL);
	CHECK_EQ(run_md(rt, meta, (struct xdp_md){ .data_end = 64, .data_meta = 1 }, &out),
		 -EINVAL);
	CHECK_EQ(run_md(rt, meta, (struct xdp_md){ .data_end = 64, .egress_ifindex = 1 }, &out),
		 -EINVAL);
	CHECK_EQ(run_md(rt, meta, (struct xdp_md){ .data_end = 64, .ingress_ifindex = 2 }, &out),
		 -ENODEV);
	CHECK_EQ(run_md(rt, meta, (struct xdp_md){ .data_end = 64, .rx_queue_index = 1 }, &out),
		 -EINVAL);
	/* The board's structure is longer than the client's room. */
	c = run_call(ifindex, 64);
	c->attr.bpf.test.ctx_size_out = 8;
	rt_out(&c->attr.bpf.test.ctx_out, 8);
	CHECK_EQ(rt_do(rt), -ENOSPC);
	CHECK_EQ(c->attr.bpf.test.ctx_size_out, sizeof(struct xdp_md));
	CHECK_EQ(rt_result_len(c->attr.bpf.test.ctx_out), 8);
	/* ... or the client's is longer than the board's, and not zero there. */
	c = run_call(ifindex, 64);
	c->attr.bpf.test.ctx_size_in = 28;
	rt_in(&c->attr.bpf.test.ctx_in, (uint8_t[28]){ [4] = 64, [27] = 1 }, 28);
	CHECK_EQ(rt_do(rt), -E2BIG);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- contexts of plain bytes ----------------------------------------------------------------- */

TEST(raw_tp)
{
	struct rt *rt = rt_new(NULL);
	/* args[0] + args[1] */
	int64_t prog =
		LOAD(rt, BPF_PROG_TYPE_RAW_TRACEPOINT, LDX(BPF_DW, 0, 1, 0), LDX(BPF_DW, 2, 1, 8),
		     I(BPF_ALU64 | BPF_ADD | BPF_X, 0, 2, 0, 0), EXIT());
	const uint64_t args[12] = { 40, 2 };
	struct bpf_call *c = rt_call(BPF_PROG_TEST_RUN);

	CHECK(prog > 0);
	c->attr.bpf.test.prog_fd = (uint32_t)prog;
	c->attr.bpf.test.ctx_size_in = 16;
	rt_in(&c->attr.bpf.test.ctx_in, args, 16);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.bpf.test.retval, 42);
	c->attr.bpf.test.cpu = 2;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c->attr.bpf.test.flags = BPF_F_TEST_RUN_ON_CPU;
	c->attr.bpf.test.retval = 0;
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.bpf.test.retval, 42);
	c->attr.bpf.test.cpu = 99;
	CHECK_EQ(rt_do(rt), -ENXIO);
	hal_host_set_online(3, false);
	c->attr.bpf.test.cpu = 3;
	CHECK_EQ(rt_do(rt), -ENXIO);
	c->attr.bpf.test.cpu = 0;
	c->attr.bpf.test.repeat = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c->attr.bpf.test.repeat = 0;
	/* Less context than the program reads, and more than a tracepoint has. */
	c->attr.bpf.test.ctx_size_in = 8;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = rt_call(BPF_PROG_TEST_RUN);
	c->attr.bpf.test.prog_fd = (uint32_t)prog;
	c->attr.bpf.test.ctx_size_in = 104;
	rt_in(&c->attr.bpf.test.ctx_in, (uint64_t[13]){ 0 }, 104);
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(syscall_prog)
{
	struct rt *rt = rt_new(NULL);
	/* ctx[1] = ctx[0] + 1; return 3 */
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_SYSCALL, LDX(BPF_W, 2, 1, 0), ADD_IMM(2, 1),
			    STX(BPF_W, 1, 2, 4), MOV_IMM(0, 3), EXIT());
	uint32_t ctx[2] = { 9, 0 };
	struct bpf_call *c = rt_call(BPF_PROG_TEST_RUN);

	CHECK(prog > 0);
	c->attr.bpf.test.prog_fd = (uint32_t)prog;
	c->attr.bpf.test.ctx_size_in = 8;
	rt_inout(&c->attr.bpf.test.ctx_in, ctx, 8, 8);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.bpf.test.retval, 3);
	ctx[1] = 10;
	CHECK_MEM(rt_result(c->attr.bpf.test.ctx_in, 8), ctx, 8);
	c->attr.bpf.test.flags = BPF_F_TEST_RUN_ON_CPU;
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(types_without_test_run)
{
	static const uint32_t types[] = { BPF_PROG_TYPE_TRACEPOINT, BPF_PROG_TYPE_PERF_EVENT,
					  BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE };
	struct rt *rt = rt_new(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		run_call(LOAD(rt, types[i], MOV_IMM(0, 0), EXIT()), 64);
		CHECK_EQ(rt_do(rt), -ENOTSUPP);
	}
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- CPUs, statistics, limits ---------------------------------------------------------------- */

TEST(chosen_cpu)
{
	struct rt *rt = rt_new(NULL);
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_XDP, CALL(BPF_FUNC_get_smp_processor_id), EXIT());

	CHECK(prog > 0);
	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		struct bpf_call *c = run_call(prog, 64);

		c->attr.bpf.test.flags = BPF_F_TEST_RUN_ON_CPU;
		c->attr.bpf.test.cpu = cpu;
		CHECK_EQ(rt_do(rt), 0);
		CHECK_EQ(c->attr.bpf.test.retval, cpu);
	}
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

static struct bpf_prog_info prog_info(struct rt *rt, int64_t prog)
{
	struct bpf_prog_info info = { 0 };
	struct bpf_call *c = rt_call(BPF_OBJ_GET_INFO_BY_FD);

	c->attr.bpf.info.bpf_fd = (uint32_t)prog;
	c->attr.bpf.info.info_len = sizeof(info);
	rt_inout(&c->attr.bpf.info.info, &info, sizeof(info), sizeof(info));
	if (rt_do(rt))
		abort();
	memcpy(&info, rt_result(c->attr.bpf.info.info, sizeof(info)), sizeof(info));
	rt_call_end();
	return info;
}

TEST(statistics)
{
	struct rt *rt = rt_new(NULL);
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_XDP, MOV_IMM(0, 0), EXIT()), stats;

	CHECK_EQ(run_value(rt, prog), 0);
	CHECK_EQ(prog_info(rt, prog).run_cnt, 0);
	rt_call(BPF_ENABLE_STATS);
	stats = rt_do(rt);
	for (uint32_t cpu = 0; cpu < 4; cpu++) {
		struct bpf_call *c = run_call(prog, 64);

		c->attr.bpf.test.repeat = 10;
		c->attr.bpf.test.flags = BPF_F_TEST_RUN_ON_CPU;
		c->attr.bpf.test.cpu = cpu;
		CHECK_EQ(rt_do(rt), 0);
	}
	CHECK_EQ(prog_info(rt, prog).run_cnt, 40);
	CHECK(prog_info(rt, prog).run_time_ns >= 40);
	CHECK_EQ(rt_close(rt, (uint32_t)stats), 0);
	CHECK_EQ(run_value(rt, prog), 0);
	CHECK_EQ(prog_info(rt, prog).run_cnt, 40);
	CHECK_EQ(rt_knob_put(rt, "bpf.stats", 1), 0);
	CHECK_EQ(run_value(rt, prog), 0);
	CHECK_EQ(prog_info(rt, prog).run_cnt, 41);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* A bad access ends the run, not the board; the log names program, instruction and cause. */
TEST(run_ended)
{
	struct rt *rt = rt_new(NULL);
	struct bpf_call *c;
	int64_t prog;

	CHECK_EQ(run_unverified(rt), 0);
	prog = LOAD(rt, BPF_PROG_TYPE_XDP, MOV_IMM(2, 64), LDX(BPF_W, 0, 2, 8), EXIT());
	CHECK(prog > 0);
	c = run_call(prog, 64);
	c->attr.bpf.test.data_size_out = 64;
	rt_out(&c->attr.bpf.test.data_out, 64);
	CHECK_EQ(rt_do(rt), -EFAULT);
	CHECK_EQ(rt_result_len(c->attr.bpf.test.data_out), 0);
	CHECK(strstr(hal_host_log_text(), "prog 1 insn 1: access outside"));
	CHECK(strstr(hal_host_log_text(), "load of 4 bytes at 0x48"));
	/* And the next one runs. */
	CHECK_EQ(run_value(rt, LOAD(rt, BPF_PROG_TYPE_XDP, MOV_IMM(0, 2), EXIT())), 2);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* With line records the log names the line of C. */
TEST(run_ended_line)
{
	static const struct bpf_insn insns[] = { CALL_REL(1), EXIT(), LDX(BPF_W, 0, 10, 8),
						 EXIT() };
	struct rt *rt = rt_new(NULL);
	struct infos in = good_infos();
	struct bpf_call *c;
	uint32_t btf;
	int64_t prog;

	CHECK_EQ(run_unverified(rt), 0);
	btf = (uint32_t)load_btf(rt);
	c = good_load(insns, ARRAY_SIZE(insns));
	strcpy(c->attr.bpf.prog_name, "lines");
	c->attr.bpf.prog_btf_fd = btf;
	c->attr.bpf.func_info_rec_size = sizeof(in.func[0]);
	c->attr.bpf.func_info_cnt = 2;
	rt_in(&c->attr.bpf.func_info, in.func, sizeof(in.func));
	c->attr.bpf.line_info_rec_size = sizeof(in.line[0]);
	c->attr.bpf.line_info_cnt = 3;
	rt_in(&c->attr.bpf.line_info, in.line, sizeof(in.line));
	prog = rt_do(rt);
	CHECK(prog > 0);
	CHECK_EQ(run_value(rt, prog), -EFAULT);
	CHECK(strstr(hal_host_log_text(), "prog 1 (lines) insn 2: access outside"));
	CHECK(strstr(hal_host_log_text(), "; a.c:5: return 0;"));
	CHECK_EQ(rt_free(rt), 0);
}

/* Endless programs meet the time budget. */
TEST(run_budget)
{
	struct rt *rt = rt_new(NULL);
	int64_t prog;

	CHECK_EQ(run_unverified(rt), 0);
	prog = LOAD(rt, BPF_PROG_TYPE_XDP, MOV_IMM(0, 0), JA(-2), EXIT());
	CHECK(prog > 0);
	hal_host_use_real_time();
	CHECK_EQ(rt_knob_put(rt, "bpf.run_budget_ms", 20), 0);
	CHECK_EQ(run_value(rt, prog), -EFAULT);
	CHECK(strstr(hal_host_log_text(), "time used up"));
	CHECK_EQ(rt_free(rt), 0);
}

/* A program that the verifier accepts though it takes hours: bpf_loop in bpf_loop. */
#define CALL_LOOP(distance)                                                                        \
	MOV_IMM(1, 1 << 23), LDIMM64(2, BPF_PSEUDO_FUNC, distance, 0), MOV_IMM(3, 0),              \
		MOV_IMM(4, 0), CALL(BPF_FUNC_loop)

static int64_t run_loops(struct rt *rt, int64_t mode)
{
	static const struct bpf_insn insns[] = { CALL_LOOP(6),
						 MOV_IMM(0, 0),
						 EXIT(),
						 /* 8: */ CALL_LOOP(6),
						 MOV_IMM(0, 0),
						 EXIT(),
						 /* 16: */ MOV_IMM(0, 0),
						 EXIT() };
	static const struct bpf_func_info funcs[] = { { 0, 3 }, { 8, 4 }, { 16, 4 } };
	uint32_t btf = (uint32_t)load_btf(rt);
	struct bpf_call *c;
	int64_t prog;

	if (rt_knob_put(rt, "bpf.run_mode", mode) || rt_knob_put(rt, "bpf.run_budget_ms", 20))
		return -EINVAL;
	c = good_load(insns, ARRAY_SIZE(insns));
	c->attr.bpf.prog_btf_fd = btf;
	c->attr.bpf.func_info_rec_size = sizeof(funcs[0]);
	c->attr.bpf.func_info_cnt = ARRAY_SIZE(funcs);
	rt_in(&c->attr.bpf.func_info, funcs, sizeof(funcs));
	prog = rt_do(rt);
	hal_host_use_real_time();
	return prog < 0 ? prog : run_value(rt, prog);
}

TEST(run_budget_of_loops_fast)
{
	struct rt *rt = rt_new(NULL);

	CHECK_EQ(run_loops(rt, 2), -EFAULT);
	CHECK(strstr(hal_host_log_text(), "time used up"));
	CHECK_EQ(rt_free(rt), 0);
}

TEST(run_budget_of_loops_checked)
{
	struct rt *rt = rt_new(NULL);

	CHECK_EQ(run_loops(rt, 1), -EFAULT);
	CHECK(strstr(hal_host_log_text(), "time used up"));
	CHECK_EQ(rt_free(rt), 0);
}

/* Many short runs meet the limit of the call. */
TEST(call_limit)
{
	struct rt *rt = rt_new(NULL);
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_XDP, MOV_IMM(0, 0), EXIT());
	struct bpf_call *c;

	hal_host_use_real_time();
	CHECK_EQ(rt_knob_put(rt, "bpf.test_run_ms", 20), 0);
	c = run_call(prog, 64);
	c->attr.bpf.test.repeat = ~0u;
	CHECK_EQ(rt_do(rt), -EINTR);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(no_memory)
{
	struct rt *rt = rt_new(NULL);
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_SCHED_CLS, MOV_IMM(0, 0), EXIT());
	unsigned long n;

	for (n = 1; n < 20; n++) {
		struct bpf_call *c = run_call(prog, 64);
		int64_t ret;

		c->attr.bpf.test.data_size_out = 64;
		rt_out(&c->attr.bpf.test.data_out, 64);
		rt_fail_from(n);
		ret = rt_do(rt);
		rt_fail_from(0);
		if (!ret)
			break;
		CHECK(ret == -ENOMEM || ret == -EFAULT);
	}
	CHECK(n > 1 && n < 20);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}
