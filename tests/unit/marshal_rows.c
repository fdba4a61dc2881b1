/* SPDX-License-Identifier: BSD-2-Clause */
/* wire/marshal.h by command: what each row's lengths and conditions come to. */
#include "test.h"

#include "hal_host.h"
#include "support_client.h"
#include "wire/cmds.h"
#include "wire/link.h"
#include "wire/marshal.h"

TEST(values_by_map_type)
{
	union bpf_attr attr = { .map_fd = FD_PERCPU };
	uint32_t key = 0, fd = FD_PROG, devs[2] = { 3, FD_PROG }, none[2] = { 3, ~0u };
	struct bpf_call call;
	uint32_t *v;

	client_start();
	attr.key = PUT(key);
	attr.value = client_put(NULL, 64);
	CHECK_EQ(client_send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.bufs[1].cap, 4 * 16);
	bpf_call_free(&call);
	attr.map_fd = FD_PROGS;
	attr.value = PUT(fd);
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(*(const uint32_t *)call_in(&call, call.attr.bpf.value, 4), HANDLE(FD_PROG));
	CHECK_EQ(client.refs, 3);
	CHECK_EQ(client.last_ref.buf, 1);
	CHECK_EQ(client.last_ref.off, 0);
	CHECK_EQ(client.last_ref.handle, HANDLE(FD_PROG));
	bpf_call_free(&call);
	/* The caller's own copy still holds its fd. */
	v = (void *)(uintptr_t)attr.value;
	CHECK_EQ(*v, FD_PROG);
	attr.map_fd = FD_DEVMAP;
	attr.value = PUT(devs);
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	v = (uint32_t *)(uintptr_t)call_in(&call, call.attr.bpf.value, 8);
	CHECK(v && v[0] == 3 && v[1] == HANDLE(FD_PROG));
	bpf_call_free(&call);
	attr.value = PUT(none);
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	v = (uint32_t *)(uintptr_t)call_in(&call, call.attr.bpf.value, 8);
	CHECK(v && v[0] == 3 && v[1] == ~0u);
	bpf_call_free(&call);
	fd = FD_FILE;
	attr.map_fd = FD_STORAGE;
	attr.key = PUT(fd);
	CHECK_EQ(client_send_bpf(BPF_MAP_DELETE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(*(const uint32_t *)call_in(&call, call.attr.bpf.key, 4), BPF_HANDLE_EINVAL);
	bpf_call_free(&call);
	/* A bloom filter's lookup reads the value. */
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = FD_BLOOM;
	attr.value = client_put("8 bytes.", 8);
	CHECK_EQ(client_send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_MEM(call_in(&call, call.attr.bpf.value, 8), "8 bytes.", 8);
	bpf_call_free(&call);
	client_finish();
}

TEST(batches)
{
	union bpf_attr attr = { .batch = { .map_fd = FD_HASH, .count = 4 } };
	uint32_t keys[] = { 1, 2 }, fds[] = { FD_PROG, 500 };
	struct bpf_call call;
	int64_t ret;

	client_start();
	attr.batch.out_batch = client_put(NULL, 4);
	attr.batch.keys = client_put(NULL, 16);
	attr.batch.values = client_put(NULL, 48);
	CHECK_EQ(client_send_bpf(BPF_MAP_LOOKUP_BATCH, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.batch.map_fd, HANDLE(FD_HASH));
	CHECK_EQ(call.attr.bpf.batch.in_batch, 0);
	CHECK(!call_may_write(&call, call.attr.bpf.batch.out_batch, 5));
	CHECK(call_may_write(&call, call.attr.bpf.batch.keys, 16));
	CHECK(!call_may_write(&call, call.attr.bpf.batch.values, 49));
	memcpy(call_out(&call, call.attr.bpf.batch.keys, 8), keys, 8);
	memcpy(call_out(&call, call.attr.bpf.batch.out_batch, 4), "tokn", 4);
	memset(call_out(&call, call.attr.bpf.batch.values, 24), 0x33, 24);
	call.attr.bpf.batch.count = 2;
	call.ret = -ENOENT;
	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_EQ(ret, -ENOENT);
	CHECK_EQ(client_attr()->batch.count, 2);
	CHECK_EQ(client_attr()->batch.map_fd, FD_HASH);
	CHECK_MEM((void *)(uintptr_t)attr.batch.keys, "\1\0\0\0\2\0\0\0\xee\xee\xee\xee", 12);
	CHECK_MEM((void *)(uintptr_t)attr.batch.out_batch, "tokn", 4);

	/* A count beyond the map's size asks for no more room, and is the caller's again. */
	attr.batch.count = 4000000000u;
	CHECK_EQ(client_send_bpf(BPF_MAP_LOOKUP_BATCH, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.batch.count, 101);
	CHECK_EQ(call.bufs[2].cap, 101 * 12);
	call.ret = -EINVAL;
	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_EQ(client_attr()->batch.count, 4000000000u);
	/* The other way it is data, and there is not that much. */
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_BATCH, &attr, sizeof(attr), &call), -E2BIG);

	attr.batch.count = 1;
	attr.batch.map_fd = FD_LPM;
	attr.batch.in_batch = client_put("8bytekey", 8);
	CHECK_EQ(client_send_bpf(BPF_MAP_LOOKUP_AND_DELETE_BATCH, &attr, sizeof(attr), &call), 0);
	CHECK_MEM(call_in(&call, call.attr.bpf.batch.in_batch, 8), "8bytekey", 8);
	CHECK_EQ(call.bufs[1].cap, 8);
	bpf_call_free(&call);

	attr.batch.map_fd = FD_PROGS;
	attr.batch.count = 2;
	attr.batch.keys = PUT(keys);
	attr.batch.values = PUT(fds);
	CHECK_EQ(client_send_bpf(BPF_MAP_UPDATE_BATCH, &attr, sizeof(attr), &call), 0);
	const uint32_t *v = call_in(&call, call.attr.bpf.batch.values, 8);

	CHECK(v && v[0] == HANDLE(FD_PROG) && v[1] == BPF_HANDLE_EBADF);
	bpf_call_free(&call);
	client_finish();
}

/* A program that names objects in every way that there is. */
static const struct bpf_insn insns[] = {
	{ BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_FD, 0, FD_HASH },
	{ 0, 0, 0, 0, 0 },
	{ BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_VALUE, 0, 77 },
	{ 0, 0, 0, 0, 64 },
	{ BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_BTF_ID, 0, 5 },
	{ 0, 0, 0, 0, FD_BTF },
	{ BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_MAP_IDX, 0, 2 },
	{ 0, 0, 0, 0, 0 },
	{ BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_KFUNC_CALL, 1, 9 },
	{ BPF_LD | BPF_IMM | BPF_DW, 1, 0, 0, FD_HASH },
	{ 0, 0, 0, 0, FD_HASH },
	{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	{ BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_BTF_ID, 0, 5 }, /* second half missing */
};

static const uint32_t load_fds[] = { 0, FD_BTF, FD_HASH, 888 };

static int send_prog_load(union bpf_attr *attr, struct bpf_call *call)
{
	*attr = (union bpf_attr){ .prog_type = BPF_PROG_TYPE_XDP,
				  .insn_cnt = ARRAY_SIZE(insns),
				  .log_size = 16 << 20,
				  .log_level = 1,
				  .prog_name = "name",
				  .prog_btf_fd = FD_BTF,
				  .func_info_rec_size = 8,
				  .func_info_cnt = 2,
				  .line_info_rec_size = 16,
				  .line_info_cnt = 1 };
	client_start();
	attr->insns = PUT(insns);
	attr->license = client_put("GPL", 4);
	attr->log_buf = client_put(NULL, 4096);
	attr->func_info = client_put("0123456789abcdef", 16);
	attr->line_info = client_put("fedcba9876543210", 16);
	attr->fd_array = PUT(load_fds);
	return client_send_bpf(BPF_PROG_LOAD, attr, sizeof(*attr), call);
}

TEST(prog_load_request)
{
	union bpf_attr attr;
	const struct bpf_insn *in;
	const uint32_t *sent;
	struct bpf_call call;

	CHECK_EQ(send_prog_load(&attr, &call), 0);
	CHECK_EQ(call.attr.bpf.prog_btf_fd, HANDLE(FD_BTF));
	in = call_in(&call, call.attr.bpf.insns, sizeof(insns));
	CHECK(in);
	CHECK_EQ(in[0].imm, HANDLE(FD_HASH));
	CHECK_EQ((uint32_t)in[2].imm, BPF_HANDLE_EBADF);
	CHECK_EQ(in[3].imm, 64);
	CHECK_EQ(in[4].imm, 5);
	CHECK_EQ(in[5].imm, HANDLE(FD_BTF));
	CHECK_EQ(in[6].imm, 2);
	CHECK_EQ(in[8].imm, 9);
	CHECK_EQ(in[9].imm, FD_HASH);
	CHECK_EQ(in[10].imm, FD_HASH);
	CHECK_EQ(in[12].imm, 5);
	CHECK_STR(call_str(&call, call.attr.bpf.license, 128), "GPL");
	CHECK_MEM(call_in(&call, call.attr.bpf.func_info, 16), "0123456789abcdef", 16);
	CHECK_MEM(call_in(&call, call.attr.bpf.line_info, 16), "fedcba9876543210", 16);
	/* As many fds as the instructions refer to. */
	sent = call_in(&call, call.attr.bpf.fd_array, 12);
	CHECK(sent && sent[0] == 0 && sent[1] == HANDLE(FD_BTF) && sent[2] == HANDLE(FD_HASH));
	CHECK(!call_in(&call, call.attr.bpf.fd_array, 13));
	bpf_call_free(&call);
	client_finish();
}

TEST(prog_load_reply)
{
	union bpf_attr attr;
	struct bpf_call call;
	int64_t ret;

	CHECK_EQ(send_prog_load(&attr, &call), 0);
	/* The client's room for a log costs nothing until there is one. */
	CHECK_EQ(call.bufs[2].cap, 16 << 20);
	CHECK_EQ(call.bufs[2].room, 0);
	strcpy(call_out(&call, call.attr.bpf.log_buf, 9), "verdict.");
	call.attr.bpf.log_true_size = 9;
	call.ret = 4242;
	call.obj = (struct bpf_obj_info){
		.handle = 4242, .kind = 'p', .type = BPF_PROG_TYPE_XDP, .id = 17
	};
	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_EQ(ret, 4242);
	CHECK_EQ(client.obj.handle, 4242);
	CHECK_EQ(client.obj.kind, 'p');
	CHECK_EQ(client.obj.type, BPF_PROG_TYPE_XDP);
	CHECK_EQ(client.obj.id, 17);
	CHECK_MEM((void *)(uintptr_t)attr.log_buf, "verdict.\0\xee", 10);
	CHECK_EQ(client_attr()->log_true_size, 9);
	CHECK_MEM((void *)(uintptr_t)attr.insns, insns, sizeof(insns));
	CHECK_MEM((void *)(uintptr_t)attr.fd_array, load_fds, sizeof(load_fds));
	client_finish();
}

TEST(fd_array_count)
{
	uint32_t fds[] = { FD_HASH, FD_PROG };
	struct bpf_insn exit_insn = { BPF_JMP | BPF_EXIT, 0, 0, 0, 0 };
	union bpf_call_attr attr = { .bpf = { .insn_cnt = 1 } };
	struct bpf_call call;

	client_start();
	attr.newer.prog_load.fd_array_cnt = 2;
	attr.bpf.insns = PUT(exit_insn);
	attr.bpf.fd_array = PUT(fds);
	CHECK_EQ(client_send_attr(BPF_PROG_LOAD, PUT(attr), 152, &call), 0);
	const uint32_t *sent = call_in(&call, call.attr.bpf.fd_array, 8);

	CHECK(sent && sent[0] == HANDLE(FD_HASH) && sent[1] == HANDLE(FD_PROG));
	bpf_call_free(&call);
	/* Without the count and without a use there is nothing to read. */
	CHECK_EQ(client_send_attr(BPF_PROG_LOAD, PUT(attr), 148, &call), 0);
	CHECK(!call_in(&call, call.attr.bpf.fd_array, 1));
	bpf_call_free(&call);
	client_finish();
}

TEST(strings)
{
	char text[300];
	union bpf_attr attr = { .bpf_fd = FD_PROG };
	struct bpf_call call;
	char *path = malloc(5000);

	client_start();
	memset(text, 'a', sizeof(text));
	attr.pathname = client_put("pins/x", 7);
	CHECK_EQ(client_send_bpf(BPF_OBJ_PIN, &attr, sizeof(attr), &call), 0);
	CHECK_STR(call_str(&call, call.attr.bpf.pathname, 4096), "/cwd/pins/x");
	CHECK_STR(client.cwd, "-100");
	bpf_call_free(&call);
	attr.file_flags = BPF_F_PATH_FD;
	attr.path_fd = 9;
	CHECK_EQ(client_send_bpf(BPF_OBJ_PIN, &attr, sizeof(attr), &call), 0);
	CHECK_STR(client.cwd, "9");
	CHECK_EQ(call.attr.bpf.file_flags, 0);
	CHECK_EQ(call.attr.bpf.path_fd, 0);
	bpf_call_free(&call);
	attr.path_fd = 99;
	CHECK_EQ(client_send_bpf(BPF_OBJ_PIN, &attr, sizeof(attr), &call), -EBADF);
	/* Linux cuts a licence at 127 bytes, but does not cut paths. */
	memset(&attr, 0, sizeof(attr));
	attr.license = client_put(text, sizeof(text));
	CHECK_EQ(client_send_bpf(BPF_PROG_LOAD, &attr, sizeof(attr), &call), 0);
	CHECK(call_str(&call, call.attr.bpf.license, 128));
	CHECK_EQ(strlen(call_str(&call, call.attr.bpf.license, 128)), 127);
	bpf_call_free(&call);
	memset(path, '/', 5000);
	attr.pathname = client_put(path, 5000);
	CHECK_EQ(client_send_bpf(BPF_OBJ_GET, &attr, sizeof(attr), &call), -ENAMETOOLONG);
	path[4095] = 0;
	attr.pathname = client_put(path, 5000);
	CHECK_EQ(client_send_bpf(BPF_OBJ_GET, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(strlen(call_str(&call, call.attr.bpf.pathname, 4096)), 4095);
	bpf_call_free(&call);
	free(path);
	client_finish();
}

TEST(info_with_nested_buffers)
{
	struct bpf_prog_info info = {
		.xlated_prog_len = 80, .nr_map_ids = 2, .nr_line_info = 1, .line_info_rec_size = 16
	};
	union bpf_attr attr = { .info = { .bpf_fd = FD_PROG, .info_len = sizeof(info) } };
	struct bpf_prog_info *board;
	const struct bpf_prog_info *got;
	uint32_t ids[] = { 31, 32 };
	struct bpf_call call;
	int64_t ret;

	client_start();
	info.xlated_prog_insns = client_put(NULL, 80);
	info.map_ids = client_put(NULL, 8);
	info.line_info = client_put(NULL, 16);
	info.jited_prog_insns =
		client_put(NULL, 8); /* no length: the board sees a pointer without room */
	attr.info.info = PUT(info);
	CHECK_EQ(client_send_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.buf_cnt, 5);
	CHECK(call_in(&call, call.attr.bpf.info.info, sizeof(info)));
	board = call_out(&call, call.attr.bpf.info.info, sizeof(info));
	CHECK(board);
	CHECK(board->jited_prog_insns && !call_may_write(&call, board->jited_prog_insns, 1));
	CHECK(call_may_write(&call, board->line_info, 16));
	CHECK(!call_may_write(&call, board->line_info, 17));
	memset(call_out(&call, board->xlated_prog_insns, 16), 0xb7, 16);
	memcpy(call_out(&call, board->map_ids, 8), ids, 8);
	board->id = 5;
	board->line_info = 0; /* as Linux does where it hands out nothing */
	board->nr_line_info = 0;
	call.attr.bpf.info.info_len = sizeof(info);
	CHECK_EQ(client_answer(&call, &ret), 0);
	got = (const void *)(uintptr_t)attr.info.info;
	CHECK_EQ(got->id, 5);
	CHECK_EQ(got->xlated_prog_insns, info.xlated_prog_insns);
	CHECK_EQ(got->map_ids, info.map_ids);
	CHECK_EQ(got->jited_prog_insns, info.jited_prog_insns);
	CHECK_EQ(got->line_info, 0);
	CHECK_EQ(*(uint8_t *)(uintptr_t)info.xlated_prog_insns, 0xb7);
	CHECK_MEM((void *)(uintptr_t)info.map_ids, ids, 8);

	/* A short info has only the pointers that lie in it. */
	attr.info.info_len = offsetof(struct bpf_prog_info, map_ids) + 4;
	attr.info.info = PUT(info);
	CHECK_EQ(client_send_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.buf_cnt, 3);
	bpf_call_free(&call);
	client_finish();
}

TEST(info_of_links_by_type)
{
	struct bpf_link_info info = { 0 };
	union bpf_attr attr = { .info = { .bpf_fd = FD_LINK, .info_len = sizeof(info) } };
	const struct bpf_link_info *in;
	struct bpf_call call;

	client_start();
	/* A cgroup id that looks like a pointer is data. */
	info.cgroup.cgroup_id = 0x123456789;
	attr.info.info = PUT(info);
	CHECK_EQ(client_send_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.buf_cnt, 1);
	in = call_in(&call, call.attr.bpf.info.info, sizeof(info));
	CHECK(in && in->cgroup.cgroup_id == 0x123456789);
	bpf_call_free(&call);
	client_finish();
}

TEST(test_run)
{
	union bpf_attr attr = { .test = { .prog_fd = FD_PROG, .data_size_in = 64 } };
	struct bpf_call call;
	uint8_t *out;
	int64_t ret;

	client_start();
	attr.test.data_in = client_put(NULL, 64);
	attr.test.data_out = client_put(NULL, 256); /* size 0: old programs trust us */
	attr.test.ctx_size_in = 16;
	attr.test.ctx_in = client_put("0123456789abcdef", 16);
	CHECK_EQ(client_send_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr), &call), 0);
	CHECK(call_may_write(&call, call.attr.bpf.test.data_out, 65536));
	out = call_out(&call, call.attr.bpf.test.data_out, 60);
	memset(out, 1, 60);
	/* SYSCALL programs write their context back. */
	memcpy(call_out(&call, call.attr.bpf.test.ctx_in, 16), "fedcba9876543210", 16);
	call.attr.bpf.test.data_size_out = 60;
	call.attr.bpf.test.retval = 2;
	call.attr.bpf.test.duration = 1000;
	call.ret = 0;
	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_EQ(client_attr()->test.retval, 2);
	CHECK_EQ(client_attr()->test.data_size_out, 60);
	CHECK_EQ(client_attr()->test.duration, 1000);
	CHECK_EQ(client_attr()->test.ctx_size_out, 0);
	CHECK_EQ(client_attr()->test.data_in, attr.test.data_in);
	CHECK_MEM((void *)(uintptr_t)attr.test.ctx_in, "fedcba9876543210", 16);
	CHECK_EQ(((uint8_t *)(uintptr_t)attr.test.data_out)[59], 1);
	CHECK_EQ(((uint8_t *)(uintptr_t)attr.test.data_out)[60], 0xee);
	client_finish();
}

TEST(links)
{
	union bpf_attr attr = { .link_create = { .prog_fd = FD_PROG,
						 .attach_type = BPF_XDP,
						 .target_ifindex = FD_HASH } };
	uint32_t iter[4] = { FD_HASH, 0, 0, 0 };
	uint64_t names[2];
	struct bpf_call call;

	client_start();
	/* An interface number that happens to be one of our fds. */
	CHECK_EQ(client_send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.link_create.target_ifindex, FD_HASH);
	CHECK_EQ(call.attr.bpf.link_create.prog_fd, HANDLE(FD_PROG));
	bpf_call_free(&call);
	attr.link_create.attach_type = BPF_CGROUP_INET_INGRESS;
	attr.link_create.target_fd = FD_FILE;
	CHECK_EQ(client_send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.link_create.target_fd, BPF_HANDLE_EINVAL);
	bpf_call_free(&call);
	attr.link_create.target_fd = 0;
	attr.link_create.attach_type = BPF_TRACE_ITER;
	attr.link_create.iter_info = PUT(iter);
	attr.link_create.iter_info_len = sizeof(iter);
	CHECK_EQ(client_send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(*(const uint32_t *)call_in(&call, call.attr.bpf.link_create.iter_info, 16),
		 HANDLE(FD_HASH));
	bpf_call_free(&call);
	/* Names lie behind pointers; the board gets them as one text. */
	memset(&attr.link_create.target_btf_id, 0, sizeof(attr) - 16);
	names[0] = client_put("do_one", 7);
	names[1] = client_put("do_another", 11);
	attr.link_create.attach_type = BPF_TRACE_KPROBE_MULTI;
	attr.link_create.kprobe_multi.cnt = 2;
	attr.link_create.kprobe_multi.syms = PUT(names);
	CHECK_EQ(client_send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_MEM(call_in(&call, call.attr.bpf.link_create.kprobe_multi.syms, 18),
		  "do_one\0do_another", 18);
	bpf_call_free(&call);
	names[1] = BAD_PTR;
	attr.link_create.kprobe_multi.syms = PUT(names);
	CHECK_EQ(client_send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.bufs[0].cap, 0);
	bpf_call_free(&call);
	attr.link_create.kprobe_multi.cnt = ~0u;
	CHECK_EQ(client_send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), -E2BIG);
	client_finish();
}

TEST(board_commands)
{
	union board_attr attr = { 0 };
	struct bpf_call call;
	uint64_t at;
	int64_t ret;

	client_start();
	strcpy(attr.knob.name, "bpf.stats");
	at = PUT(attr);
	CHECK_EQ(client_send_attr(BOARD_KNOB_NEXT, at, sizeof(attr), &call), 0);
	CHECK_STR(call.attr.board.knob.name, "bpf.stats");
	strcpy(call.attr.board.knob.name, "bpf.unverified");
	call.attr.board.knob.value = -7;
	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_STR(((union board_attr *)(uintptr_t)at)->knob.name, "bpf.unverified");
	CHECK_EQ(((union board_attr *)(uintptr_t)at)->knob.value, -7);

	memset(&attr, 0, sizeof(attr));
	attr.raw.mem_len = 5;
	attr.raw.mem = client_put("abcde", 5);
	at = PUT(attr);
	CHECK_EQ(client_send_attr(BOARD_RAW_RUN, at, sizeof(attr), &call), 0);
	CHECK_MEM(call_in(&call, call.attr.board.raw.mem, 5), "abcde", 5);
	memcpy(call_out(&call, call.attr.board.raw.mem, 5), "ABCDE", 5);
	call.attr.board.raw.ret = 1ull << 63;
	CHECK_EQ(client_answer(&call, &ret), 0);
	CHECK_MEM((void *)(uintptr_t)attr.raw.mem, "ABCDE", 5);
	CHECK_EQ(((union board_attr *)(uintptr_t)at)->raw.ret, 1ull << 63);
	client_finish();
}
