/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF_PROG_LOAD and BPF_BTF_LOAD: checks and their order, logs, records, info, libbpf's probes. */
#include "lib/sha1.h"
#include "hal_host.h"
#include "support_rt.h"
#include "test.h"

static const struct bpf_insn ret_zero[] = { MOV_IMM(0, 0), EXIT() };

/* A load that succeeds, to be spoilt by the caller. */
static struct bpf_call *good_load(const struct bpf_insn *insns, uint32_t cnt)
{
	struct bpf_call *c = rt_call(BPF_PROG_LOAD);

	c->attr.bpf.prog_type = BPF_PROG_TYPE_XDP;
	c->attr.bpf.insn_cnt = cnt;
	rt_in(&c->attr.bpf.insns, insns, cnt * 8);
	rt_in(&c->attr.bpf.license, "GPL", 4);
	return c;
}

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

static int64_t load_with_map(struct rt *rt, uint8_t src, uint32_t imm, uint32_t imm2)
{
	const struct bpf_insn insns[] = { LDIMM64(1, src, (int32_t)imm, (int32_t)imm2),
					  MOV_IMM(0, 0), EXIT() };

	good_load(insns, ARRAY_SIZE(insns));
	return rt_do(rt);
}

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

/* ---- BTF, function and line records ---------------------------------------------------------- */

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
static struct test_btf make_btf(void)
{
	struct test_btf b = {
		.hdr = { .magic = 0xeb9f,
			 .version = 1,
			 .hdr_len = sizeof(struct btf_header),
			 .type_len = offsetof(struct test_btf, strings) - sizeof(struct btf_header),
			 .str_off = offsetof(struct test_btf, strings) - sizeof(struct btf_header),
			 .str_len = 64 },
		.integer = { { .name_off = STR_INT, .info = BTF_KIND_INT << 24, .size = 4 },
			     BTF_INT_SIGNED << 24 | 32 },
		.proto = { .info = BTF_KIND_FUNC_PROTO << 24, .type = 1 },
		.func = { { .name_off = STR_MAIN, .info = BTF_KIND_FUNC << 24 | 1, .type = 2 },
			  { .name_off = STR_SUB, .info = BTF_KIND_FUNC << 24, .type = 2 } },
	};

	memcpy(b.strings + STR_INT, "int", 4);
	memcpy(b.strings + STR_MAIN, "main", 5);
	memcpy(b.strings + STR_SUB, "sub", 4);
	memcpy(b.strings + STR_FILE, "a.c", 4);
	memcpy(b.strings + STR_LINE, "  return 0;", 12);
	return b;
}

static int64_t load_btf(struct rt *rt)
{
	struct test_btf btf = make_btf();
	struct bpf_call *c = rt_call(BPF_BTF_LOAD);
	int64_t ret;

	rt_in(&c->attr.bpf.btf, &btf, sizeof(btf));
	c->attr.bpf.btf_size = sizeof(btf);
	ret = rt_do(rt);
	rt_call_end();
	return ret;
}

TEST(btf_load)
{
	struct rt *rt = rt_new(NULL);
	struct test_btf btf = make_btf();
	struct bpf_call *c;

	CHECK(load_btf(rt) > 0);
	c = rt_call(BPF_BTF_LOAD);
	c->attr.bpf.btf_size = (16 << 20) + 1;
	CHECK_EQ(rt_do(rt), -E2BIG);
	c->attr.bpf.btf_size = 10;
	CHECK_EQ(rt_do(rt), -EFAULT);
	c->attr.bpf.btf_flags = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	btf.hdr.magic = 1;
	c = rt_call(BPF_BTF_LOAD);
	rt_in(&c->attr.bpf.btf, &btf, sizeof(btf));
	c->attr.bpf.btf_size = sizeof(btf);
	c->attr.bpf.btf_log_level = 1;
	c->attr.bpf.btf_log_size = 200;
	rt_out(&c->attr.bpf.btf_log_buf, 200);
	CHECK_EQ(rt_do(rt), -EINVAL);
	CHECK(c->attr.bpf.btf_log_true_size > 1);
	CHECK_EQ(rt_result_len(c->attr.bpf.btf_log_buf), c->attr.bpf.btf_log_true_size);
	c->attr.bpf.btf_log_level = 0;
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	CHECK_EQ(rt_count(rt, RT_BTF), 1);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/b", (uint32_t)load_btf(rt)), -EINVAL);
	CHECK_EQ(rt_free(rt), 0);
}

TEST(btf_info)
{
	struct rt *rt = rt_new(NULL);
	struct test_btf btf = make_btf();
	uint32_t fd = (uint32_t)load_btf(rt);
	struct bpf_btf_info info = { .btf_size = 10 };
	const struct bpf_btf_info *out;
	struct bpf_call *c = rt_call(BPF_OBJ_GET_INFO_BY_FD);
	__u64 data;

	c->attr.bpf.info.bpf_fd = fd;
	c->attr.bpf.info.info_len = sizeof(info);
	rt_out(&data, 10);
	info.btf = data;
	rt_inout(&c->attr.bpf.info.info, &info, sizeof(info), sizeof(info));
	CHECK_EQ(rt_do(rt), 0);
	out = rt_result(c->attr.bpf.info.info, sizeof(info));
	CHECK_EQ(out->id, 1);
	CHECK_EQ(out->btf_size, sizeof(btf));
	CHECK_EQ(out->kernel_btf, 0);
	CHECK_EQ(rt_result_len(data), 10);
	CHECK_MEM(rt_result(data, 10), &btf, 10);
	info.btf_size = 0;
	info.name_len = 3;
	c = rt_call(BPF_OBJ_GET_INFO_BY_FD);
	c->attr.bpf.info.bpf_fd = fd;
	c->attr.bpf.info.info_len = sizeof(info);
	rt_inout(&c->attr.bpf.info.info, &info, sizeof(info), sizeof(info));
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* main calls sub. */
static const struct bpf_insn two_funcs[] = { CALL_REL(1), EXIT(), MOV_IMM(0, 0), EXIT() };

struct infos {
	struct bpf_func_info func[2];
	struct bpf_line_info line[3];
};

static struct infos good_infos(void)
{
	return (struct infos){
		.func = { { 0, 3 }, { 2, 4 } },
		.line = { { 0, STR_FILE, STR_LINE, 1 << 10 },
			  { 1, STR_FILE, STR_LINE, 2 << 10 },
			  { 2, STR_FILE, STR_LINE, 5 << 10 } },
	};
}

static int64_t load_infos(struct rt *rt, uint32_t btf, const struct infos *in, uint32_t funcs,
			  uint32_t lines)
{
	struct bpf_call *c = good_load(two_funcs, ARRAY_SIZE(two_funcs));

	c->attr.bpf.prog_btf_fd = btf;
	c->attr.bpf.func_info_rec_size = sizeof(in->func[0]);
	c->attr.bpf.func_info_cnt = funcs;
	rt_in(&c->attr.bpf.func_info, in->func, funcs * (uint32_t)sizeof(in->func[0]));
	c->attr.bpf.line_info_rec_size = sizeof(in->line[0]);
	c->attr.bpf.line_info_cnt = lines;
	rt_in(&c->attr.bpf.line_info, in->line, lines * (uint32_t)sizeof(in->line[0]));
	return rt_do(rt);
}

#define BROKEN(change)                                                                             \
	do {                                                                                       \
		struct infos in = good_infos();                                                    \
		change;                                                                            \
		CHECK_EQ(load_infos(rt, btf, &in, 2, 3), -EINVAL);                                 \
	} while (0)

TEST(records)
{
	struct rt *rt = rt_new(NULL);
	uint32_t btf = (uint32_t)load_btf(rt);
	struct infos ok = good_infos();

	CHECK(load_infos(rt, btf, &ok, 2, 3) > 0);
	CHECK(load_infos(rt, btf, &ok, 2, 0) > 0);
	CHECK(load_infos(rt, btf, &ok, 0, 3) > 0);
	CHECK_EQ(load_infos(rt, BPF_HANDLE_EBADF, &ok, 2, 3), -EBADF);
	CHECK_EQ(load_infos(rt, BPF_HANDLE_EINVAL, &ok, 2, 3), -EINVAL);
	CHECK_EQ(load_infos(rt, btf, &ok, 1, 3), -EINVAL);
	CHECK_EQ(load_infos(rt, btf, &ok, 2, 2), -EINVAL);
	BROKEN(in.func[0].insn_off = 1);
	BROKEN(in.func[1].insn_off = 0);
	BROKEN(in.func[1].insn_off = 3);
	BROKEN(in.func[1].type_id = 2);
	BROKEN(in.func[1].type_id = 99);
	BROKEN(in.line[0].insn_off = 1);
	BROKEN(in.line[1].insn_off = 0);
	BROKEN(in.line[2].insn_off = 3);
	BROKEN(in.line[2].insn_off = 4);
	BROKEN(in.line[1].line_off = 1000);
	BROKEN(in.line[1].file_name_off = 1000);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* Longer records of a newer client: fine as long as the rest is zero. */
TEST(record_sizes)
{
	struct rt *rt = rt_new(NULL);
	uint32_t btf = (uint32_t)load_btf(rt);
	struct {
		struct bpf_func_info rec;
		uint32_t more;
	} funcs[2] = { { { 0, 3 }, 0 }, { { 2, 4 }, 0 } };

	for (int i = 0; i < 2; i++) {
		struct bpf_call *c = good_load(two_funcs, ARRAY_SIZE(two_funcs));

		c->attr.bpf.prog_btf_fd = btf;
		c->attr.bpf.func_info_rec_size = sizeof(funcs[0]);
		c->attr.bpf.func_info_cnt = 2;
		rt_in(&c->attr.bpf.func_info, funcs, sizeof(funcs));
		if (!i)
			CHECK(rt_do(rt) > 0);
		else
			CHECK_EQ(rt_do(rt), -E2BIG);
		c->attr.bpf.func_info_rec_size = 4;
		CHECK_EQ(rt_do(rt), -EINVAL);
		c->attr.bpf.func_info_rec_size = 256;
		CHECK_EQ(rt_do(rt), -EINVAL);
		c->attr.bpf.func_info_rec_size = 10;
		CHECK_EQ(rt_do(rt), -EINVAL);
		funcs[1].more = 1;
	}
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- info ------------------------------------------------------------------------------------ */

TEST(prog_info)
{
	struct rt *rt = rt_new(NULL);
	uint32_t btf = (uint32_t)load_btf(rt), map;
	struct infos in = good_infos();
	uint32_t prog = (uint32_t)load_infos(rt, btf, &in, 2, 3);
	struct bpf_prog_info info = { .func_info_rec_size = 8, .line_info_rec_size = 16 };
	const struct bpf_prog_info *out;
	struct bpf_call *c = rt_call(BPF_OBJ_GET_INFO_BY_FD);
	__u64 p;

	(void)map;
	rt_out(&p, 32);
	info.xlated_prog_insns = p;
	info.xlated_prog_len = 32;
	rt_out(&p, 100);
	info.func_info = p;
	info.nr_func_info = 1;
	rt_out(&p, 100);
	info.line_info = p;
	info.nr_line_info = 6;
	rt_out(&p, 100);
	info.prog_tags = p;
	info.nr_prog_tags = 2;
	c->attr.bpf.info.bpf_fd = prog;
	c->attr.bpf.info.info_len = sizeof(info);
	rt_inout(&c->attr.bpf.info.info, &info, sizeof(info), sizeof(info));
	CHECK_EQ(rt_do(rt), 0);
	out = rt_result(c->attr.bpf.info.info, sizeof(info));
	CHECK_EQ(out->type, BPF_PROG_TYPE_XDP);
	CHECK_EQ(out->id, 1);
	CHECK_EQ(out->gpl_compatible, 1);
	CHECK_EQ(out->btf_id, 1);
	CHECK_EQ(out->xlated_prog_len, sizeof(two_funcs));
	CHECK_MEM(rt_result(info.xlated_prog_insns, sizeof(two_funcs)), two_funcs,
		  sizeof(two_funcs));
	CHECK_EQ(out->nr_func_info, 2);
	CHECK_EQ(rt_result_len(info.func_info), 8);
	CHECK_EQ(out->nr_line_info, 3);
	CHECK_EQ(rt_result_len(info.line_info), 48);
	CHECK_MEM(rt_result(info.line_info, 48), in.line, 48);
	CHECK_EQ(out->nr_prog_tags, 2);
	CHECK_EQ(out->jited_prog_len, 0);

	/* Record sizes that are not ours. */
	info.line_info_rec_size = 8;
	c = rt_call(BPF_OBJ_GET_INFO_BY_FD);
	c->attr.bpf.info.bpf_fd = prog;
	c->attr.bpf.info.info_len = sizeof(info);
	rt_inout(&c->attr.bpf.info.info, &info, sizeof(info), sizeof(info));
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* Clients with a shorter or a longer struct, and one whose longer part is not zero. */
TEST(info_lengths)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0);
	uint8_t bytes[200] = { 0 };
	struct bpf_call *c;

	for (uint32_t len = 8; len <= 200; len += 64) {
		c = rt_call(BPF_OBJ_GET_INFO_BY_FD);
		c->attr.bpf.info.bpf_fd = map;
		c->attr.bpf.info.info_len = len;
		rt_inout(&c->attr.bpf.info.info, bytes, len, len);
		CHECK_EQ(rt_do(rt), 0);
		CHECK_EQ(c->attr.bpf.info.info_len,
			 len < sizeof(struct bpf_map_info) ? len : sizeof(struct bpf_map_info));
		CHECK_EQ(*(const uint32_t *)rt_result(c->attr.bpf.info.info, 4),
			 BPF_MAP_TYPE_ARRAY);
	}
	bytes[199] = 1;
	c = rt_call(BPF_OBJ_GET_INFO_BY_FD);
	c->attr.bpf.info.bpf_fd = map;
	c->attr.bpf.info.info_len = 200;
	rt_inout(&c->attr.bpf.info.info, bytes, 200, 200);
	CHECK_EQ(rt_do(rt), -E2BIG);
	c->attr.bpf.info.info_len = 5000;
	CHECK_EQ(rt_do(rt), -E2BIG);
	c->attr.bpf.info.info_len = 80;
	c->attr.bpf.info.info = 0;
	CHECK_EQ(rt_do(rt), -EFAULT);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* Equal programs have equal tags, whatever map handles they were loaded with. */
TEST(tags)
{
	struct rt *rt = rt_new(NULL);
	uint8_t tags[3][BPF_TAG_SIZE], digest[SHA1_BYTES];
	struct sha1 s;

	for (int i = 0; i < 3; i++) {
		uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0);
		struct bpf_prog *prog;
		void *obj;
		int64_t fd;

		fd = load_with_map(rt, BPF_PSEUDO_MAP_VALUE, map, i == 2 ? 8 : 0);
		CHECK_EQ(rt_handle_get(rt, (uint32_t)fd, RT_PROG, &obj), 0);
		prog = obj;
		memcpy(tags[i], prog->tag, BPF_TAG_SIZE);
	}
	/* The offset in a value is half of the same operand, so it does not count either. */
	CHECK_MEM(tags[0], tags[1], BPF_TAG_SIZE);
	CHECK_MEM(tags[0], tags[2], BPF_TAG_SIZE);
	sha1_init(&s);
	sha1_update(&s,
		    ((const struct bpf_insn[]){ LDIMM64(1, BPF_PSEUDO_MAP_VALUE, 0, 0),
						MOV_IMM(0, 0), EXIT() }),
		    4 * 8);
	sha1_final(&s, digest);
	CHECK_MEM(tags[0], digest, BPF_TAG_SIZE);
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
