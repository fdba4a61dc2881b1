/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf(2) calls over messages, both sides of wire/marshal.h: attr, fds, buffers, results. */
#include "test.h"

#include "hal_host.h"
#include "support_client.h"
#include "wire/cmds.h"
#include "wire/link.h"
#include "wire/marshal.h"

TEST(rows_in_order)
{
	const struct cmd_row *row;
	uint32_t i, scalars;

	for (i = 0; (row = cmd_row_at(i)); i++) {
		CHECK(cmd_row(row->cmd) == row);
		CHECK_EQ(row->cmd, i < 39 ? i : i - 39 + BOARD_CMD_BASE);
		CHECK(row->attr_end % 4 == 0 && row->attr_end <= BPF_CALL_ATTR_MAX);
		scalars = cmd_scalar_bytes(row);
		CHECK(scalars < BPF_CALL_ATTR_MAX);
		for (const struct cmd_field *f = row->fields; f->kind; f++)
			CHECK(f->off + f->size_bytes <= row->attr_end || row->cmd == BPF_PROG_LOAD);
	}
	CHECK_EQ(i, 39 + BOARD_CMD_END - BOARD_CMD_BASE);
	CHECK(!cmd_row(39) && !cmd_row(BOARD_CMD_END) && !cmd_row(BOARD_CMD_BASE - 1));
	CHECK_STR(marshal_cmd_name(0), "BPF_MAP_CREATE");
	CHECK_STR(marshal_cmd_name(BOARD_SYMS), "BOARD_SYMS");
	CHECK(!marshal_cmd_name(1000));
}

TEST(lookup_round_trip)
{
	uint32_t key = 7;
	union bpf_attr attr = { .map_fd = FD_HASH, .flags = BPF_F_LOCK };
	struct bpf_call call;
	int64_t ret = 99;
	uint8_t *value;

	client_start();
	attr.key = PUT(key);
	attr.value = client_put(NULL, 12);
	CHECK_EQ(client_send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.cmd, BPF_MAP_LOOKUP_ELEM);
	CHECK_EQ(call.attr_size, sizeof(attr));
	CHECK_EQ(call.attr.bpf.map_fd, HANDLE(FD_HASH));
	CHECK_EQ(call.attr.bpf.flags, BPF_F_LOCK);
	CHECK_EQ(call.buf_cnt, 2);
	CHECK_MEM(call_in(&call, call.attr.bpf.key, 4), &key, 4);
	CHECK(!call_in(&call, call.attr.bpf.key, 5));
	CHECK(!call_out(&call, call.attr.bpf.key, 1));
	CHECK(!call_in(&call, call.attr.bpf.value, 1));
	CHECK(!call_out(&call, call.attr.bpf.value, 13));
	CHECK(!call_out(&call, call.attr.bpf.value + 1, 12));
	value = call_out(&call, call.attr.bpf.value, 12);
	CHECK(value);
	memcpy(value, "hello, world", 12);
	call.ret = 0;
	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_EQ(ret, 0);
	CHECK_MEM((void *)(uintptr_t)attr.value, "hello, world\0\0\0\0", 16);
	/* The caller's attr is as it was: no handle or name of a buffer in it. */
	CHECK_MEM(client_attr(), &attr, sizeof(attr));
	CHECK_EQ(client.pokes, 1);
	CHECK(client.request.len < 24);
	client_finish();
}

TEST(error_changes_nothing)
{
	uint32_t key = 7;
	union bpf_attr attr = { .map_fd = FD_HASH };
	struct bpf_call call;
	int64_t ret = 99;

	client_start();
	attr.key = PUT(key);
	attr.value = client_put(NULL, 12);
	CHECK_EQ(client_send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	call.ret = -ENOENT;
	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_EQ(ret, -ENOENT);
	CHECK_EQ(client.pokes, 0);
	CHECK_EQ(client.obj.kind, 0);
	client_finish();
}

TEST(fds_become_handles_or_sentinels)
{
	union bpf_attr attr = { .prog_bind_map = { .prog_fd = FD_FILE, .map_fd = 77 } };
	struct bpf_call call;

	client_start();
	CHECK_EQ(client_send_bpf(BPF_PROG_BIND_MAP, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.prog_bind_map.prog_fd, BPF_HANDLE_EINVAL);
	CHECK_EQ(call.attr.bpf.prog_bind_map.map_fd, BPF_HANDLE_EBADF);
	bpf_call_free(&call);
	/* 0 is an fd where one is needed ... */
	memset(&attr, 0, sizeof(attr));
	CHECK_EQ(client_send_bpf(BPF_MAP_FREEZE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.map_fd, BPF_HANDLE_EBADF);
	bpf_call_free(&call);
	/* ... and means none, as -1 does, where it may be absent. */
	attr.inner_map_fd = ~0u;
	CHECK_EQ(client_send_bpf(BPF_MAP_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.inner_map_fd, ~0u);
	CHECK_EQ(call.attr.bpf.btf_fd, 0);
	CHECK_EQ(call.attr.bpf.map_token_fd, 0);
	bpf_call_free(&call);
	/* Only a flag makes this one an fd. */
	attr.value_type_btf_obj_fd = FD_BTF;
	CHECK_EQ(client_send_bpf(BPF_MAP_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.value_type_btf_obj_fd, FD_BTF);
	bpf_call_free(&call);
	attr.map_flags = BPF_F_VTYPE_BTF_OBJ_FD;
	CHECK_EQ(client_send_bpf(BPF_MAP_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.value_type_btf_obj_fd, HANDLE(FD_BTF));
	bpf_call_free(&call);
	client_finish();
}

TEST(short_attr)
{
	union bpf_attr attr = { .map_fd = FD_HASH };
	uint32_t key = 1;
	struct bpf_call call;

	client_start();
	attr.key = PUT(key);
	attr.value = attr.key;
	/* value lies beyond what the caller gave, so it is not touched */
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_ELEM, &attr, 16, &call), 0);
	CHECK_EQ(call.attr_size, 16);
	CHECK_EQ(call.buf_cnt, 1);
	CHECK_EQ(call.attr.bpf.value, 0);
	bpf_call_free(&call);
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_ELEM, &attr, 20, &call), 0);
	CHECK_EQ(call.attr_size, 20);
	CHECK_EQ(call.buf_cnt, 1);
	bpf_call_free(&call);
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_ELEM, &attr, 0, &call), 0);
	CHECK_EQ(call.attr_size, 0);
	CHECK_EQ(call.attr.bpf.map_fd, 0);
	bpf_call_free(&call);
	/* Results beyond it are not written back. */
	memset(&attr, 0, sizeof(attr));
	CHECK_EQ(client_send_bpf(BPF_PROG_LOAD, &attr, 128, &call), 0);
	call.attr.bpf.log_true_size = 5;
	call.ret = -EINVAL;
	int64_t ret;

	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_EQ(ret, -EINVAL);
	CHECK_EQ(client_attr()->log_true_size, 0);
	client_finish();
}

TEST(long_attr)
{
	uint8_t attr[5000] = { FD_HASH };
	struct bpf_call call;

	client_start();
	CHECK_EQ(client_send_attr(BPF_MAP_FREEZE, PUT(attr), 4096, &call), 0);
	CHECK_EQ(call.attr_size, BPF_CALL_ATTR_MAX);
	CHECK_EQ(call.attr.bpf.map_fd, HANDLE(FD_HASH));
	bpf_call_free(&call);
	CHECK(client.request.len < 12);
	CHECK_EQ(client_send_attr(BPF_MAP_FREEZE, PUT(attr), 4097, &call), -E2BIG);
	attr[4095] = 1;
	CHECK_EQ(client_send_attr(BPF_MAP_FREEZE, PUT(attr), 4096, &call), -E2BIG);
	CHECK_EQ(client_send_attr(BPF_MAP_FREEZE, PUT(attr), 4095, &call), 0);
	bpf_call_free(&call);
	/* What lies between our attr and the command's end is the board's to refuse. */
	attr[200] = 1;
	CHECK_EQ(client_send_attr(BPF_MAP_FREEZE, PUT(attr), 256, &call), 0);
	CHECK_EQ(call.attr.bytes[200], 1);
	bpf_call_free(&call);
	CHECK_EQ(client_send_attr(BPF_MAP_FREEZE, BAD_PTR, 8, &call), -EFAULT);
	CHECK_EQ(client_send_attr(BPF_MAP_FREEZE, BAD_PTR, 1000, &call), -EFAULT);
	CHECK_EQ(client_send_attr(1000, PUT(attr), 8, &call), -EINVAL);
	CHECK_EQ(client_send_attr(BPF_TASK_FD_QUERY, PUT(attr), 48, &call), -ENOTSUPP);
	client_finish();
}

TEST(unreadable_buffers_reach_the_board)
{
	union bpf_attr attr = { .map_fd = FD_HASH, .key = BAD_PTR, .value = BAD_PTR };
	struct bpf_call call;
	int64_t ret;

	client_start();
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.buf_cnt, 2);
	CHECK(call.attr.bpf.key && call.attr.bpf.value);
	CHECK(!call_in(&call, call.attr.bpf.key, 4));
	CHECK(!call_in(&call, call.attr.bpf.value, 12));
	CHECK(call_in(&call, call.attr.bpf.key, 0));
	bpf_call_free(&call);
	/* Results that cannot be written are -EFAULT after the fact. */
	attr.key = client_put("abcd", 4);
	CHECK_EQ(client_send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK(call_out(&call, call.attr.bpf.value, 12));
	CHECK_EQ(client_answer(&call, &ret), -EFAULT);
	/* A string that runs out of memory. */
	memset(&attr, 0, sizeof(attr));
	memset(client_mem + sizeof(client_mem) - 20, 'x', 20);
	attr.pathname = (uintptr_t)client_mem + sizeof(client_mem) - 20;
	CHECK_EQ(client_send_bpf(BPF_OBJ_GET, &attr, sizeof(attr), &call), 0);
	CHECK(call.attr.bpf.pathname);
	CHECK(!call_str(&call, call.attr.bpf.pathname, 4096));
	bpf_call_free(&call);
	client_mem[sizeof(client_mem) - 1] = 0;
	CHECK_EQ(client_send_bpf(BPF_OBJ_GET, &attr, sizeof(attr), &call), 0);
	CHECK_STR(call_str(&call, call.attr.bpf.pathname, 4096), "/cwd/xxxxxxxxxxxxxxxxxxx");
	CHECK(!call_str(&call, call.attr.bpf.pathname, 24));
	CHECK(call_str(&call, call.attr.bpf.pathname, 25));
	CHECK_STR(call_str(&call, call.attr.bpf.pathname + 24, 1), "");
	CHECK(!call_str(&call, call.attr.bpf.pathname + 25, 1));
	bpf_call_free(&call);
	client_finish();
}

TEST(null_and_absent_keys)
{
	union bpf_attr attr = { .map_fd = FD_QUEUE };
	struct bpf_call call;

	client_start();
	attr.value = client_put("0123456789abcdef", 16);
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.key, 0);
	CHECK_MEM(call_in(&call, call.attr.bpf.value, 16), "0123456789abcdef", 16);
	bpf_call_free(&call);
	/* A key where the map has none stays visible, so that the board can refuse it. */
	attr.key = attr.value;
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK(call.attr.bpf.key);
	bpf_call_free(&call);
	/* No map, no lengths: the board sees the fd and the caller's pointers go nowhere. */
	attr.map_fd = FD_PROG;
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.map_fd, HANDLE(FD_PROG));
	CHECK_EQ(call.buf_cnt, 0);
	CHECK_EQ(call.attr.bpf.key, 0);
	bpf_call_free(&call);
	client_finish();
}

TEST(results_in_readonly_memory)
{
	union bpf_attr attr = { .start_id = 3 };
	struct bpf_call call;
	int64_t ret;

	/* Nothing changed, nothing to write. */
	client_start();
	client.readonly_to = sizeof(client_mem);
	CHECK_EQ(client_send_bpf(BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr), &call), 0);
	call.ret = -ENOENT;
	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_EQ(ret, -ENOENT);
	CHECK_EQ(client_send_bpf(BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr), &call), 0);
	call.attr.bpf.next_id = 4;
	CHECK_EQ(client_answer(&call, &ret), -EFAULT);
	client.readonly_to = 0;
	CHECK_EQ(client_send_bpf(BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr), &call), 0);
	call.attr.bpf.next_id = 4;
	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_EQ(client_attr()->next_id, 4);
	CHECK_EQ(client_attr()->start_id, 3);
	client_finish();
}

TEST(refusal_without_a_look)
{
	union bpf_attr attr = { .start_id = 1, .next_id = 77 };
	struct wire_buf b = { 0 };
	struct bpf_call call;
	int64_t ret;

	client_start();
	CHECK_EQ(client_send_bpf(BPF_MAP_GET_NEXT_ID, &attr, sizeof(attr), &call), 0);
	bpf_call_free(&call);
	wire_put_snum(&b, -ENOMEM);
	CHECK_EQ(marshal_reply(&client.mc, b.data, b.len, &client_io, &ret, &client.obj), 0);
	CHECK_EQ(ret, -ENOMEM);
	CHECK_EQ(client.pokes, 0);
	/* Success cannot be that short. */
	b.len = 0;
	wire_put_snum(&b, 0);
	CHECK_EQ(marshal_reply(&client.mc, b.data, b.len, &client_io, &ret, &client.obj), -EBADMSG);
	wire_buf_free(&b);
	client_finish();
}

TEST(call_out_grows)
{
	struct bpf_call call = { .cmd = BPF_MAP_LOOKUP_ELEM };
	uint8_t *p;

	CHECK_EQ(bpf_call_add_buf(&call, &call.attr.bpf.value, "ab", 2, 100, true), 0);
	CHECK_EQ(bpf_call_add_buf(&call, &call.attr.bpf.key, "abc", 3, 2, false), -EINVAL);
	p = call_out(&call, call.attr.bpf.value + 1, 3);
	CHECK(p);
	memcpy(p, "xyz", 3);
	p = call_out(&call, call.attr.bpf.value, 100);
	CHECK(p);
	CHECK_MEM(p, "axyz\0\0", 6);
	CHECK(!call_out(&call, call.attr.bpf.value, 101));
	CHECK(!call_out(&call, call.attr.bpf.value + 100, 1));
	CHECK(!call_out(&call, call.attr.bpf.value, UINT64_MAX));
	CHECK(!call_out(&call, call_buf_ptr(1), 1));
	CHECK(!call_out(&call, 0, 1));
	CHECK(!call_in(&call, (uintptr_t)p, 1));
	CHECK_EQ(call.bufs[0].out_len, 100);
	bpf_call_free(&call);
}
