/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF_PROG_LOAD: checks and their order, logs, maps in programs, libbpf's probes. */
#include "hal_host.h"
#include "support_rt_load.h"
#include "test.h"

static const struct bpf_insn ret_zero[] = { MOV_IMM(0, 0), EXIT() };

static union bpf_attr *good(void)
{
	return &good_load(ret_zero, 2)->attr.bpf;
}

TEST(attr_checks)
{
	struct rt *rt = rt_new(NULL);
	union bpf_attr *a;

	good();
	CHECK(rt_do(rt) > 0);
	a = good(), a->prog_flags = 1u << 20;
	CHECK_EQ(rt_do(rt), -EINVAL);
	a = good(), a->prog_flags = BPF_F_TOKEN_FD, a->prog_token_fd = (int)BPF_HANDLE_EBADF;
	CHECK_EQ(rt_do(rt), -EBADF);
	a = good(), a->insn_cnt = 0;
	CHECK_EQ(rt_do(rt), -E2BIG);
	a = good(), a->insn_cnt = 1000001;
	CHECK_EQ(rt_do(rt), -E2BIG);
	a = good(), a->insn_cnt = 3;
	CHECK_EQ(rt_do(rt), -EFAULT);
	a = good(), a->license = 0;
	CHECK_EQ(rt_do(rt), -EFAULT);
	a = good(), a->attach_btf_id = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	a = good(), a->attach_prog_fd = BPF_HANDLE_EBADF;
	CHECK_EQ(rt_do(rt), -EINVAL);
	a = good(), a->prog_ifindex = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	a = good(), a->prog_type = BPF_PROG_TYPE_CGROUP_SOCK;
	CHECK_EQ(rt_do(rt), -EINVAL);
	a = good(), a->prog_type = 1000;
	CHECK_EQ(rt_do(rt), -EINVAL);
	a = good(), strcpy(a->prog_name, "a b");
	CHECK_EQ(rt_do(rt), -EINVAL);
	a = good(), memset(a->prog_name, 'x', sizeof(a->prog_name));
	CHECK_EQ(rt_do(rt), -EINVAL);
	a = good(), a->prog_flags = BPF_F_SLEEPABLE;
	CHECK_EQ(rt_do(rt), -EINVAL);
	a = good(), a->prog_type = BPF_PROG_TYPE_SYSCALL;
	CHECK_EQ(rt_do(rt), -EINVAL);
	a = good(), a->prog_type = BPF_PROG_TYPE_SYSCALL, a->prog_flags = BPF_F_SLEEPABLE;
	CHECK(rt_do(rt) > 0);
	a->expected_attach_type = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	/* The same program passes in the types that Linux has and the board runs. */
	for (uint32_t type = 1; type < 32; type++) {
		static const uint32_t ours =
			1u << BPF_PROG_TYPE_SOCKET_FILTER | 1u << BPF_PROG_TYPE_SCHED_CLS |
			1u << BPF_PROG_TYPE_SCHED_ACT | 1u << BPF_PROG_TYPE_XDP |
			1u << BPF_PROG_TYPE_TRACEPOINT | 1u << BPF_PROG_TYPE_PERF_EVENT |
			1u << BPF_PROG_TYPE_RAW_TRACEPOINT |
			1u << BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE | 1u << BPF_PROG_TYPE_SYSCALL;
		bool sleepable = type == BPF_PROG_TYPE_SYSCALL;

		a = good(), a->prog_type = type, a->prog_flags = sleepable ? BPF_F_SLEEPABLE : 0;
		CHECK_EQ(rt_do(rt) > 0, ours >> type & 1);
	}
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- logs ------------------------------------------------------------------------------------ */

static const struct bpf_insn bad_opcode[] = { MOV_IMM(0, 0), I(0xff, 0, 0, 0, 0), EXIT() };

static struct bpf_call *logged_load(uint32_t level, uint32_t size)
{
	struct bpf_call *c = good_load(bad_opcode, 3);

	c->attr.bpf.log_level = level;
	c->attr.bpf.log_size = size;
	if (size)
		rt_out(&c->attr.bpf.log_buf, size);
	return c;
}

TEST(log_attr)
{
	struct rt *rt = rt_new(NULL);
	struct bpf_call *c;
	uint32_t true_size;

	c = logged_load(1, 1000);
	CHECK_EQ(rt_do(rt), -EINVAL);
	true_size = c->attr.bpf.log_true_size;
	CHECK(true_size > 5);
	/* Only the text goes back, not the client's whole buffer. */
	CHECK_EQ(rt_result_len(c->attr.bpf.log_buf), true_size);
	CHECK(strstr(rt_result(c->attr.bpf.log_buf, true_size), "unknown opcode"));
	/* A level without a buffer only measures. */
	c = logged_load(1, 0);
	CHECK_EQ(rt_do(rt), -EINVAL);
	CHECK_EQ(c->attr.bpf.log_true_size, true_size);
	c = logged_load(0, 0);
	CHECK_EQ(rt_do(rt), -EINVAL);
	CHECK_EQ(c->attr.bpf.log_true_size, 0);
	/* Too small: -ENOSPC takes the place of the verdict. */
	c = logged_load(1, 8);
	CHECK_EQ(rt_do(rt), -ENOSPC);
	CHECK_EQ(c->attr.bpf.log_true_size, true_size);
	CHECK_EQ(rt_result_len(c->attr.bpf.log_buf), 8);
	c = logged_load(0, 100);
	CHECK_EQ(rt_do(rt), -EINVAL);
	CHECK_EQ(rt_result_len(c->attr.bpf.log_buf), 0);
	c = logged_load(16, 100);
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = logged_load(1, 100);
	c->attr.bpf.log_buf = 0;
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	CHECK_EQ(rt_count(rt, RT_PROG), 0);
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- maps in programs ------------------------------------------------------------------------ */

TEST(map_operands)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0);
	uint32_t hash = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_HASH, 4, 16, 1, 0);
	int64_t prog = load_with_map(rt, BPF_PSEUDO_MAP_FD, map, 0);

	CHECK(prog > 0);
	CHECK_EQ(load_with_map(rt, BPF_PSEUDO_MAP_FD, map, 1), -EINVAL);
	CHECK_EQ(load_with_map(rt, BPF_PSEUDO_MAP_FD, BPF_HANDLE_EBADF, 0), -EBADF);
	CHECK_EQ(load_with_map(rt, BPF_PSEUDO_MAP_FD, (uint32_t)prog, 0), -EINVAL);
	CHECK(load_with_map(rt, BPF_PSEUDO_MAP_VALUE, map, 15) > 0);
	CHECK_EQ(load_with_map(rt, BPF_PSEUDO_MAP_VALUE, map, 16), -EINVAL);
	CHECK_EQ(load_with_map(rt, BPF_PSEUDO_MAP_VALUE, map, 1u << 29), -EINVAL);
	CHECK_EQ(load_with_map(rt, BPF_PSEUDO_MAP_VALUE, hash, 0), -EINVAL);
	CHECK_EQ(load_with_map(rt, BPF_PSEUDO_BTF_ID, 1, 0), -EINVAL);
	CHECK_EQ(load_with_map(rt, BPF_PSEUDO_MAP_IDX, 0, 0), -EPROTO);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(fd_array)
{
	struct rt *rt = rt_new(NULL);
	uint32_t fds[2] = { BPF_HANDLE_EBADF, 0 };
	const struct bpf_insn insns[] = { LDIMM64(1, BPF_PSEUDO_MAP_IDX, 1, 0),
					  LDIMM64(2, BPF_PSEUDO_MAP_IDX_VALUE, 1, 4), MOV_IMM(0, 0),
					  EXIT() };
	struct bpf_insn past = insns[0];
	struct bpf_call *c;

	fds[1] = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0);
	c = good_load(insns, ARRAY_SIZE(insns));
	rt_in(&c->attr.bpf.fd_array, fds, sizeof(fds));
	CHECK(rt_do(rt) > 0);
	past.imm = 2;
	c = good_load((const struct bpf_insn[]){ past, insns[1], MOV_IMM(0, 0), EXIT() }, 4);
	rt_in(&c->attr.bpf.fd_array, fds, sizeof(fds));
	CHECK_EQ(rt_do(rt), -EFAULT);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* A program keeps its maps; they go when it goes. */
TEST(map_references)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0);
	int64_t prog = load_with_map(rt, BPF_PSEUDO_MAP_FD, map, 0);

	CHECK(prog > 0);
	CHECK_EQ(rt_close(rt, map), 0);
	CHECK_EQ(rt_count(rt, RT_MAP), 1);
	CHECK_EQ(rt_close(rt, (uint32_t)prog), 0);
	hal_quiesce_flush(true);
	CHECK_EQ(rt_count(rt, RT_MAP), 0);
	CHECK_EQ(rt_free(rt), 0);
}

TEST(bind_map)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0);
	uint32_t prog = (uint32_t)LOAD(rt, BPF_PROG_TYPE_XDP, MOV_IMM(0, 0), EXIT());
	struct bpf_prog_info info = { 0 };
	struct bpf_call *c;

	for (int i = 0; i < 2; i++) {
		c = rt_call(BPF_PROG_BIND_MAP);
		c->attr.bpf.prog_bind_map.prog_fd = prog;
		c->attr.bpf.prog_bind_map.map_fd = map;
		CHECK_EQ(rt_do(rt), 0);
	}
	c->attr.bpf.prog_bind_map.flags = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c->attr.bpf.prog_bind_map.flags = 0;
	c->attr.bpf.prog_bind_map.map_fd = prog;
	CHECK_EQ(rt_do(rt), -EINVAL);
	CHECK_EQ(rt_close(rt, map), 0);
	c = rt_call(BPF_OBJ_GET_INFO_BY_FD);
	c->attr.bpf.info.bpf_fd = prog;
	c->attr.bpf.info.info_len = sizeof(info);
	rt_inout(&c->attr.bpf.info.info, &info, sizeof(info), sizeof(info));
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(((const struct bpf_prog_info *)rt_result(c->attr.bpf.info.info, sizeof(info)))
			 ->nr_map_ids,
		 1);
	rt_call_end();
	CHECK_EQ(rt_count(rt, RT_MAP), 1);
	CHECK_EQ(rt_free(rt), 0);
}

TEST(too_many_maps)
{
	struct rt *rt = rt_new(NULL);
	struct bpf_insn insns[2 * 65 + 2];
	struct bpf_call *c;

	for (uint32_t i = 0; i < 65; i++) {
		int64_t map = rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0);

		insns[2 * i] = (struct bpf_insn)I(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD,
						  0, (int32_t)map);
		insns[2 * i + 1] = (struct bpf_insn){ 0 };
	}
	insns[130] = MOV_IMM(0, 0);
	insns[131] = EXIT();
	good_load(insns, 132);
	CHECK_EQ(rt_do(rt), -E2BIG);
	c = good_load(insns + 2, 130);
	CHECK(rt_do(rt) > 0);
	CHECK_EQ(c->obj.kind, 'p');
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- what libbpf asks to learn what a kernel can --------------------------------------------- */

TEST(libbpf_probes)
{
	struct rt *rt = rt_new(NULL);
	struct bpf_call *c;
	int64_t map, prog;

	CHECK(LOAD(rt, BPF_PROG_TYPE_SOCKET_FILTER, MOV_IMM(0, 0), EXIT()) > 0);
	CHECK(LOAD(rt, BPF_PROG_TYPE_SOCKET_FILTER, CALL(BPF_FUNC_ktime_get_coarse_ns), EXIT()) >
	      0);
	c = good_load(ret_zero, 2);
	strcpy(c->attr.bpf.prog_name, "libbpf_nametest");
	CHECK(rt_do(rt) > 0);
	/* Global data. */
	map = rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 32, 1, 0);
	CHECK(map > 0);
	prog = LOAD(rt, BPF_PROG_TYPE_SOCKET_FILTER,
		    LDIMM64(1, BPF_PSEUDO_MAP_VALUE, (int32_t)map, 16),
		    I(BPF_ST | BPF_MEM | BPF_DW, 1, 0, 0, 42), MOV_IMM(0, 0), EXIT());
	CHECK(prog > 0);
	CHECK(rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 4, 1, BPF_F_MMAPABLE) > 0);
	c = rt_call(BPF_PROG_BIND_MAP);
	c->attr.bpf.prog_bind_map.prog_fd = (uint32_t)prog;
	c->attr.bpf.prog_bind_map.map_fd = (uint32_t)map;
	CHECK_EQ(rt_do(rt), 0);
	/* perf links: success is -EBADF for target fd -1; anything else means they do not exist. */
	prog = LOAD(rt, BPF_PROG_TYPE_TRACEPOINT, MOV_IMM(0, 0), EXIT());
	CHECK(prog > 0);
	c = rt_call(BPF_LINK_CREATE);
	c->attr.bpf.link_create.prog_fd = (uint32_t)prog;
	c->attr.bpf.link_create.target_fd = (uint32_t)-1;
	c->attr.bpf.link_create.attach_type = BPF_PERF_EVENT;
	CHECK_EQ(rt_do(rt), -EOPNOTSUPP);
	c->attr.bpf.link_create.attach_type = BPF_XDP;
	CHECK_EQ(rt_do(rt), -EINVAL);
	CHECK(load_btf(rt) > 0);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* Many loads and closes: ids go on, memory comes back. */
TEST(ten_thousand_loads)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0);
	size_t used = 0;

	for (int i = 0; i < 10000; i++) {
		int64_t prog = load_with_map(rt, BPF_PSEUDO_MAP_FD, map, 0);

		CHECK(prog > 0);
		CHECK_EQ(rt_close(rt, (uint32_t)prog), 0);
		if (i == 100)
			used = test_leaked_bytes();
	}
	rt_call_end();
	hal_quiesce_flush(true);
	CHECK_EQ(test_leaked_bytes(), used);
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static int64_t load_everything(struct rt *rt)
{
	int64_t btf = load_btf(rt), map, prog;
	struct infos in = good_infos();

	if (btf < 0)
		return btf;
	map = rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0);
	if (map < 0)
		return map;
	prog = load_infos(rt, (uint32_t)btf, &in, 2, 3);
	rt_call_end();
	if (prog < 0)
		return prog;
	return load_with_map(rt, BPF_PSEUDO_MAP_FD, (uint32_t)map, 0);
}

/*
 * Every allocation fails in turn, with all that follow it (a call tries twice): the error is
 * -ENOMEM, nothing half-made is left, and the next attempt succeeds.
 */
TEST(no_memory)
{
	unsigned long n;

	for (n = 1; n < 200; n++) {
		struct rt *rt = rt_new(NULL);
		int64_t ret;

		CHECK(rt);
		rt_fail_from(n);
		ret = load_everything(rt);
		rt_call_end();
		rt_fail_from(0);
		if (ret >= 0) {
			CHECK_EQ(rt_free(rt), 0);
			break;
		}
		rt_session_end(rt, RT_TEST_SESSION);
		CHECK_EQ(rt_count(rt, RT_MAP) + rt_count(rt, RT_PROG) + rt_count(rt, RT_BTF), 0);
		CHECK(load_everything(rt) > 0);
		rt_call_end();
		CHECK_EQ(rt_free(rt), 0);
		CHECK_EQ(test_leaked_bytes(), 0);
	}
	CHECK(n > 10 && n < 200);
}
