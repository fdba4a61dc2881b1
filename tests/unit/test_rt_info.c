/* SPDX-License-Identifier: BSD-2-Clause */
/* BTF, function and line records, and what BPF_OBJ_GET_INFO_BY_FD tells of them; tags. */
#include "lib/sha1.h"
#include "support_rt_load.h"
#include "test.h"

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
