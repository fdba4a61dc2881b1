/* SPDX-License-Identifier: BSD-2-Clause */
/* The dispatcher: what every command has in common. */
#include "support_rt.h"
#include "test.h"
#include "wire/cmds.h"

#define NR_ATTR_BYTES ((uint32_t)sizeof(union bpf_call_attr))

TEST(unknown_commands)
{
	static const uint32_t cmds[] = { 20, 37, 38, 39, 100, 0xfff, BOARD_CMD_END, ~0u };
	struct rt *rt = rt_new(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		rt_call(cmds[i]);
		CHECK_EQ(rt_do(rt), -EINVAL);
	}
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* A byte behind what the board's header knows is -E2BIG, for unknown commands too, as in Linux. */
TEST(tail_beyond_attr)
{
	static const uint32_t cmds[] = { BPF_MAP_CREATE, BPF_ENABLE_STATS, 39, BOARD_INFO };
	struct rt *rt = rt_new(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		struct bpf_call *c = rt_call(cmds[i]);

		c->attr_size = NR_ATTR_BYTES;
		c->attr.bytes[NR_ATTR_BYTES - 1] = 1;
		CHECK_EQ(rt_do(rt), -E2BIG);
		rt_call(cmds[i])->attr_size = NR_ATTR_BYTES + 1;
		CHECK_EQ(rt_do(rt), -E2BIG);
	}
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* A byte behind a command's last field is -EINVAL, whatever else is wrong; each byte of each. */
TEST(tail_beyond_last_field)
{
	struct rt *rt = rt_new(NULL);
	const struct cmd_row *row;
	unsigned int checked = 0;

	for (uint32_t i = 0; (row = cmd_row_at(i)); i++) {
		size_t known = row->cmd < BOARD_CMD_BASE ? sizeof(union bpf_attr)
							 : sizeof(union board_attr);

		for (size_t at = row->attr_end; at < known; at++, checked++) {
			struct bpf_call *c = rt_call(row->cmd);

			c->attr.bytes[at] = 0x80;
			CHECK_EQ(rt_do(rt), -EINVAL);
		}
	}
	CHECK(checked > 1000);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* All zeros: an error (or an empty success), never a crash, and no object stays. */
TEST(zero_attr)
{
	struct rt *rt = rt_new(NULL);
	const struct cmd_row *row;

	for (uint32_t i = 0; (row = cmd_row_at(i)); i++) {
		struct bpf_call *c = rt_call(row->cmd);

		rt_do(rt);
		for (uint32_t b = 0; b < c->buf_cnt; b++)
			CHECK(!c->bufs[b].out_len);
	}
	rt_call_end();
	rt_session_end(rt, RT_TEST_SESSION);
	CHECK_EQ(rt_count(rt, RT_MAP) + rt_count(rt, RT_PROG) + rt_count(rt, RT_BTF), 0);
	CHECK_EQ(rt_free(rt), 0);
}

/* The sentinels that the host sends for a closed fd and for one that is no BPF object. */
TEST(handle_sentinels)
{
	static const uint32_t cmds[] = { BPF_MAP_LOOKUP_ELEM, BPF_MAP_UPDATE_ELEM,
					 BPF_MAP_DELETE_ELEM, BPF_MAP_GET_NEXT_KEY,
					 BPF_MAP_FREEZE };
	struct rt *rt = rt_new(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		rt_call(cmds[i])->attr.bpf.map_fd = BPF_HANDLE_EBADF;
		CHECK_EQ(rt_do(rt), -EBADF);
		rt_call(cmds[i])->attr.bpf.map_fd = BPF_HANDLE_EINVAL;
		CHECK_EQ(rt_do(rt), -EINVAL);
		rt_call(cmds[i])->attr.bpf.map_fd = 0;
		CHECK_EQ(rt_do(rt), -EBADF);
	}
	rt_call(BPF_OBJ_GET_INFO_BY_FD)->attr.bpf.info.bpf_fd = BPF_HANDLE_EBADF;
	CHECK_EQ(rt_do(rt), -EBADFD);
	rt_call(BPF_OBJ_PIN)->attr.bpf.bpf_fd = BPF_HANDLE_EBADF;
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call(BPF_LINK_CREATE)->attr.bpf.link_create.prog_fd = BPF_HANDLE_EBADF;
	CHECK_EQ(rt_do(rt), -EBADF);
	rt_call(BPF_LINK_DETACH)->attr.bpf.link_detach.link_fd = BPF_HANDLE_EINVAL;
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(enable_stats)
{
	struct rt *rt = rt_new(NULL);
	struct bpf_call *c;
	int64_t h;

	rt_call(BPF_ENABLE_STATS)->attr.bpf.enable_stats.type = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = rt_call(BPF_ENABLE_STATS);
	h = rt_do(rt);
	CHECK(h > 0);
	CHECK_EQ(c->obj.kind, 's');
	CHECK_EQ(c->obj.handle, h);
	CHECK_EQ(rt_close(rt, (uint32_t)h), 0);
	CHECK_EQ(rt_close(rt, (uint32_t)h), -EBADF);
	CHECK_EQ(rt_free(rt), 0);
}

/* Nothing can be attached yet; requests that are wrong in themselves say so first. */
TEST(attach_answers)
{
	struct rt *rt = rt_new(NULL);
	struct bpf_call *c = rt_call(BPF_PROG_QUERY);

	c->attr.bpf.query.attach_type = BPF_TCX_INGRESS;
	CHECK_EQ(rt_do(rt), -EOPNOTSUPP);
	c->attr.bpf.query.query_flags = 2;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = rt_call(BPF_PROG_QUERY);
	c->attr.bpf.query.attach_type = BPF_XDP;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c->attr.bpf.query.attach_type = 1000;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = rt_call(BPF_TOKEN_CREATE);
	c->attr.bpf.token_create.bpffs_fd = BPF_HANDLE_EINVAL;
	CHECK_EQ(rt_do(rt), -EOPNOTSUPP);
	c->attr.bpf.token_create.bpffs_fd = BPF_HANDLE_EBADF;
	CHECK_EQ(rt_do(rt), -EBADF);
	c->attr.bpf.token_create.flags = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = rt_call(BPF_ITER_CREATE);
	c->attr.bpf.iter_create.flags = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}
