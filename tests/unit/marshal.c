/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf(2) calls over messages: wire/marshal.h, both sides, against a caller and a board made here.
 */
#include "test.h"

#include "hal_host.h"
#include "wire/cmds.h"
#include "wire/link.h"
#include "wire/marshal.h"

/* ---- the caller: memory that exists, memory that does not, and some fds -----------------------
 */

/* All of the caller's memory, whole pages; everything else faults. */
static uint8_t mem[1 << 16] __aligned(4096);
static size_t mem_used;
static size_t readonly_from, readonly_to; /* offsets in mem that cannot be written */
static struct wire_buf request, reply;
static struct marshal_call mc;
static struct bpf_obj_info new_obj;
static unsigned int pokes, refs;
static uint32_t last_ref_off, last_ref_handle;
static int last_ref_buf;
static char cwd_seen[64];

#define FD_HASH	   10 /* u32 -> 12 bytes, 100 entries */
#define FD_PERCPU  11 /* u32 -> 12 bytes */
#define FD_PROGS   12 /* prog array */
#define FD_LPM	   13 /* 8-byte keys */
#define FD_DEVMAP  14 /* 8-byte values */
#define FD_QUEUE   15 /* no key, 16-byte values */
#define FD_BLOOM   16
#define FD_STORAGE 17 /* keys are fds */
#define FD_PROG	   20
#define FD_BTF	   21
#define FD_LINK	   22
#define FD_FILE	   30 /* open, but not one of ours */
#define HANDLE(fd) ((uint32_t)(fd) + 1000)

static const struct bpf_obj_info objs[] = {
	{ .handle = FD_HASH, 'm', .type = BPF_MAP_TYPE_HASH, 0, 4, 12, 100, 0 },
	{ .handle = FD_PERCPU, 'm', .type = BPF_MAP_TYPE_PERCPU_ARRAY, 0, 4, 12, 5, 0 },
	{ .handle = FD_PROGS, 'm', .type = BPF_MAP_TYPE_PROG_ARRAY, 0, 4, 4, 8, 0 },
	{ .handle = FD_LPM, 'm', .type = BPF_MAP_TYPE_LPM_TRIE, 0, 8, 4, 10, 0 },
	{ .handle = FD_DEVMAP, 'm', .type = BPF_MAP_TYPE_DEVMAP, 0, 4, 8, 4, 0 },
	{ .handle = FD_QUEUE, 'm', .type = BPF_MAP_TYPE_QUEUE, 0, 0, 16, 4, 0 },
	{ .handle = FD_BLOOM, 'm', .type = BPF_MAP_TYPE_BLOOM_FILTER, 0, 0, 8, 4, 0 },
	{ .handle = FD_STORAGE, 'm', .type = BPF_MAP_TYPE_SK_STORAGE, 0, 4, 8, 0, 0 },
	{ .handle = FD_PROG, 'p', .type = BPF_PROG_TYPE_XDP, 0, 0, 0, 0, 0 },
	{ .handle = FD_BTF, 'b' },
	{ .handle = FD_LINK, 'l', .type = BPF_LINK_TYPE_CGROUP },
};

static bool mem_has(uint64_t addr, size_t n)
{
	uint64_t off = addr - (uintptr_t)mem;

	return off <= sizeof(mem) && n <= sizeof(mem) - off;
}

static int peek(void *arg, void *dst, uint64_t addr, size_t n)
{
	(void)arg;
	if (!mem_has(addr, n))
		return -EFAULT;
	memcpy(dst, (void *)(uintptr_t)addr, n);
	return 0;
}

static int poke(void *arg, uint64_t addr, const void *src, size_t n)
{
	uint64_t off = addr - (uintptr_t)mem;

	(void)arg;
	if (!mem_has(addr, n) || (off < readonly_to && off + n > readonly_from))
		return -EFAULT;
	memcpy((void *)(uintptr_t)addr, src, n);
	pokes++;
	return 0;
}

static int fd_info(void *arg, int fd, struct bpf_obj_info *info)
{
	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(objs); i++) {
		if ((int)objs[i].handle == fd) {
			*info = objs[i];
			info->handle = HANDLE(fd);
			return 0;
		}
	}
	return fd == FD_FILE ? -EINVAL : -EBADF;
}

static int abs_path(void *arg, int dirfd, char *path, size_t room)
{
	char text[300];

	(void)arg;
	snprintf(cwd_seen, sizeof(cwd_seen), "%d", dirfd);
	if (dirfd == 99)
		return -EBADF;
	snprintf(text, sizeof(text), "/cwd/%.200s", path);
	snprintf(path, room, "%s", text);
	return 0;
}

static void handle_ref(void *arg, int buf, uint32_t off, uint32_t handle)
{
	(void)arg;
	refs++;
	last_ref_buf = buf;
	last_ref_off = off;
	last_ref_handle = handle;
}

static const struct marshal_io io = { .peek = peek,
				      .poke = poke,
				      .fd_info = fd_info,
				      .abs_path = abs_path,
				      .handle_ref = handle_ref,
				      .cpus = 4 };

static void start(void)
{
	memset(mem, 0, sizeof(mem));
	mem_used = 0;
	readonly_from = readonly_to = 0;
	pokes = refs = 0;
}

static void finish(void)
{
	wire_buf_free(&request);
	wire_buf_free(&reply);
}

/* n bytes of the caller's memory with that content (NULL: 0xee); the address. */
static uint64_t put(const void *data, size_t n)
{
	uint8_t *p = mem + mem_used;

	mem_used += ROUND_UP(n, 8) + 8;
	if (data)
		memcpy(p, data, n);
	else
		memset(p, 0xee, n);
	return (uintptr_t)p;
}

#define PUT(x) put(&(x), sizeof(x))
/* An address that the caller cannot read. */
#define BAD_PTR 0x1000

/* The caller's request as the board gets it. */
static int send_attr(uint32_t cmd, uint64_t attr, uint32_t size, struct bpf_call *call)
{
	int err;

	wire_buf_free(&request);
	err = marshal_request(&mc, cmd, attr, size, &io, &request);
	if (err)
		return err;
	return unmarshal_request(request.data, request.len, call);
}

static uint64_t attr_at;
static int send_bpf(uint32_t cmd, const union bpf_attr *attr, uint32_t size, struct bpf_call *call)
{
	attr_at = put(attr, sizeof(*attr));
	return send_attr(cmd, attr_at, size, call);
}

/* The board's answer as the caller gets it. The call is freed. */
static int answer(struct bpf_call *call, int64_t *ret)
{
	struct bpf_obj_info peeked;
	int64_t peeked_ret;
	int err, peek_err;

	wire_buf_free(&reply);
	err = unmarshal_reply(call, &reply);
	bpf_call_free(call);
	if (err)
		return err;
	err = marshal_reply(&mc, reply.data, reply.len, &io, ret, &new_obj);
	/* A broker sees the same without decoding it all. */
	peek_err = marshal_reply_peek(mc.cmd, reply.data, reply.len, &peeked_ret, &peeked);
	if (!err && (peek_err || peeked_ret != *ret || memcmp(&peeked, &new_obj, sizeof(peeked))))
		return -EILSEQ;
	return err;
}

static const union bpf_attr *attr_now(void)
{
	return (const void *)(uintptr_t)attr_at;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

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

/* ---- single calls -----------------------------------------------------------------------------
 */

TEST(lookup_round_trip)
{
	uint32_t key = 7;
	union bpf_attr attr = { .map_fd = FD_HASH, .flags = BPF_F_LOCK };
	struct bpf_call call;
	int64_t ret = 99;
	uint8_t *value;

	start();
	attr.key = PUT(key);
	attr.value = put(NULL, 12);
	CHECK_EQ(send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
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
	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_EQ(ret, 0);
	CHECK_MEM((void *)(uintptr_t)attr.value, "hello, world\0\0\0\0", 16);
	/* The caller's attr is as it was: no handle or name of a buffer in it. */
	CHECK_MEM(attr_now(), &attr, sizeof(attr));
	CHECK_EQ(pokes, 1);
	CHECK(request.len < 24);
	finish();
}

TEST(error_changes_nothing)
{
	uint32_t key = 7;
	union bpf_attr attr = { .map_fd = FD_HASH };
	struct bpf_call call;
	int64_t ret = 99;

	start();
	attr.key = PUT(key);
	attr.value = put(NULL, 12);
	CHECK_EQ(send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	call.ret = -ENOENT;
	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_EQ(ret, -ENOENT);
	CHECK_EQ(pokes, 0);
	CHECK_EQ(new_obj.kind, 0);
	finish();
}

TEST(fds_become_handles_or_sentinels)
{
	union bpf_attr attr = { .prog_bind_map = { .prog_fd = FD_FILE, .map_fd = 77 } };
	struct bpf_call call;

	start();
	CHECK_EQ(send_bpf(BPF_PROG_BIND_MAP, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.prog_bind_map.prog_fd, BPF_HANDLE_EINVAL);
	CHECK_EQ(call.attr.bpf.prog_bind_map.map_fd, BPF_HANDLE_EBADF);
	bpf_call_free(&call);
	/* 0 is an fd where one is needed ... */
	memset(&attr, 0, sizeof(attr));
	CHECK_EQ(send_bpf(BPF_MAP_FREEZE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.map_fd, BPF_HANDLE_EBADF);
	bpf_call_free(&call);
	/* ... and means none, as -1 does, where it may be absent. */
	attr.inner_map_fd = ~0u;
	CHECK_EQ(send_bpf(BPF_MAP_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.inner_map_fd, ~0u);
	CHECK_EQ(call.attr.bpf.btf_fd, 0);
	CHECK_EQ(call.attr.bpf.map_token_fd, 0);
	bpf_call_free(&call);
	/* Only a flag makes this one an fd. */
	attr.value_type_btf_obj_fd = FD_BTF;
	CHECK_EQ(send_bpf(BPF_MAP_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.value_type_btf_obj_fd, FD_BTF);
	bpf_call_free(&call);
	attr.map_flags = BPF_F_VTYPE_BTF_OBJ_FD;
	CHECK_EQ(send_bpf(BPF_MAP_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.value_type_btf_obj_fd, HANDLE(FD_BTF));
	bpf_call_free(&call);
	finish();
}

TEST(short_attr)
{
	union bpf_attr attr = { .map_fd = FD_HASH };
	uint32_t key = 1;
	struct bpf_call call;

	start();
	attr.key = PUT(key);
	attr.value = attr.key;
	/* value lies beyond what the caller gave, so it is not touched */
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_ELEM, &attr, 16, &call), 0);
	CHECK_EQ(call.attr_size, 16);
	CHECK_EQ(call.buf_cnt, 1);
	CHECK_EQ(call.attr.bpf.value, 0);
	bpf_call_free(&call);
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_ELEM, &attr, 20, &call), 0);
	CHECK_EQ(call.attr_size, 20);
	CHECK_EQ(call.buf_cnt, 1);
	bpf_call_free(&call);
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_ELEM, &attr, 0, &call), 0);
	CHECK_EQ(call.attr_size, 0);
	CHECK_EQ(call.attr.bpf.map_fd, 0);
	bpf_call_free(&call);
	/* Results beyond it are not written back. */
	memset(&attr, 0, sizeof(attr));
	CHECK_EQ(send_bpf(BPF_PROG_LOAD, &attr, 128, &call), 0);
	call.attr.bpf.log_true_size = 5;
	call.ret = -EINVAL;
	int64_t ret;

	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_EQ(ret, -EINVAL);
	CHECK_EQ(attr_now()->log_true_size, 0);
	finish();
}

TEST(long_attr)
{
	uint8_t attr[5000] = { FD_HASH };
	struct bpf_call call;

	start();
	CHECK_EQ(send_attr(BPF_MAP_FREEZE, PUT(attr), 4096, &call), 0);
	CHECK_EQ(call.attr_size, BPF_CALL_ATTR_MAX);
	CHECK_EQ(call.attr.bpf.map_fd, HANDLE(FD_HASH));
	bpf_call_free(&call);
	CHECK(request.len < 12);
	CHECK_EQ(send_attr(BPF_MAP_FREEZE, PUT(attr), 4097, &call), -E2BIG);
	attr[4095] = 1;
	CHECK_EQ(send_attr(BPF_MAP_FREEZE, PUT(attr), 4096, &call), -E2BIG);
	CHECK_EQ(send_attr(BPF_MAP_FREEZE, PUT(attr), 4095, &call), 0);
	bpf_call_free(&call);
	/* What lies between our attr and the command's end is the board's to refuse. */
	attr[200] = 1;
	CHECK_EQ(send_attr(BPF_MAP_FREEZE, PUT(attr), 256, &call), 0);
	CHECK_EQ(call.attr.bytes[200], 1);
	bpf_call_free(&call);
	CHECK_EQ(send_attr(BPF_MAP_FREEZE, BAD_PTR, 8, &call), -EFAULT);
	CHECK_EQ(send_attr(BPF_MAP_FREEZE, BAD_PTR, 1000, &call), -EFAULT);
	CHECK_EQ(send_attr(1000, PUT(attr), 8, &call), -EINVAL);
	CHECK_EQ(send_attr(BPF_TASK_FD_QUERY, PUT(attr), 48, &call), -ENOTSUPP);
	finish();
}

TEST(unreadable_buffers_reach_the_board)
{
	union bpf_attr attr = { .map_fd = FD_HASH, .key = BAD_PTR, .value = BAD_PTR };
	struct bpf_call call;
	int64_t ret;

	start();
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.buf_cnt, 2);
	CHECK(call.attr.bpf.key && call.attr.bpf.value);
	CHECK(!call_in(&call, call.attr.bpf.key, 4));
	CHECK(!call_in(&call, call.attr.bpf.value, 12));
	CHECK(call_in(&call, call.attr.bpf.key, 0));
	bpf_call_free(&call);
	/* Results that cannot be written are -EFAULT after the fact. */
	attr.key = put("abcd", 4);
	CHECK_EQ(send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK(call_out(&call, call.attr.bpf.value, 12));
	CHECK_EQ(answer(&call, &ret), -EFAULT);
	/* A string that runs out of memory. */
	memset(&attr, 0, sizeof(attr));
	memset(mem + sizeof(mem) - 20, 'x', 20);
	attr.pathname = (uintptr_t)mem + sizeof(mem) - 20;
	CHECK_EQ(send_bpf(BPF_OBJ_GET, &attr, sizeof(attr), &call), 0);
	CHECK(call.attr.bpf.pathname);
	CHECK(!call_str(&call, call.attr.bpf.pathname, 4096));
	bpf_call_free(&call);
	mem[sizeof(mem) - 1] = 0;
	CHECK_EQ(send_bpf(BPF_OBJ_GET, &attr, sizeof(attr), &call), 0);
	CHECK_STR(call_str(&call, call.attr.bpf.pathname, 4096), "/cwd/xxxxxxxxxxxxxxxxxxx");
	CHECK(!call_str(&call, call.attr.bpf.pathname, 24));
	CHECK(call_str(&call, call.attr.bpf.pathname, 25));
	CHECK_STR(call_str(&call, call.attr.bpf.pathname + 24, 1), "");
	CHECK(!call_str(&call, call.attr.bpf.pathname + 25, 1));
	bpf_call_free(&call);
	finish();
}

TEST(null_and_absent_keys)
{
	union bpf_attr attr = { .map_fd = FD_QUEUE };
	struct bpf_call call;

	start();
	attr.value = put("0123456789abcdef", 16);
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.key, 0);
	CHECK_MEM(call_in(&call, call.attr.bpf.value, 16), "0123456789abcdef", 16);
	bpf_call_free(&call);
	/* A key where the map has none stays visible, so that the board can refuse it. */
	attr.key = attr.value;
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK(call.attr.bpf.key);
	bpf_call_free(&call);
	/* No map, no lengths: the board sees the fd and the caller's pointers go nowhere. */
	attr.map_fd = FD_PROG;
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.map_fd, HANDLE(FD_PROG));
	CHECK_EQ(call.buf_cnt, 0);
	CHECK_EQ(call.attr.bpf.key, 0);
	bpf_call_free(&call);
	finish();
}

TEST(values_by_map_type)
{
	union bpf_attr attr = { .map_fd = FD_PERCPU };
	uint32_t key = 0, fd = FD_PROG, devs[2] = { 3, FD_PROG }, none[2] = { 3, ~0u };
	struct bpf_call call;
	uint32_t *v;

	start();
	attr.key = PUT(key);
	attr.value = put(NULL, 64);
	CHECK_EQ(send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.bufs[1].cap, 4 * 16);
	bpf_call_free(&call);
	attr.map_fd = FD_PROGS;
	attr.value = PUT(fd);
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(*(const uint32_t *)call_in(&call, call.attr.bpf.value, 4), HANDLE(FD_PROG));
	CHECK_EQ(refs, 3);
	CHECK_EQ(last_ref_buf, 1);
	CHECK_EQ(last_ref_off, 0);
	CHECK_EQ(last_ref_handle, HANDLE(FD_PROG));
	bpf_call_free(&call);
	/* The caller's own copy still holds its fd. */
	v = (void *)(uintptr_t)attr.value;
	CHECK_EQ(*v, FD_PROG);
	attr.map_fd = FD_DEVMAP;
	attr.value = PUT(devs);
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	v = (uint32_t *)(uintptr_t)call_in(&call, call.attr.bpf.value, 8);
	CHECK(v && v[0] == 3 && v[1] == HANDLE(FD_PROG));
	bpf_call_free(&call);
	attr.value = PUT(none);
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &call), 0);
	v = (uint32_t *)(uintptr_t)call_in(&call, call.attr.bpf.value, 8);
	CHECK(v && v[0] == 3 && v[1] == ~0u);
	bpf_call_free(&call);
	fd = FD_FILE;
	attr.map_fd = FD_STORAGE;
	attr.key = PUT(fd);
	CHECK_EQ(send_bpf(BPF_MAP_DELETE_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(*(const uint32_t *)call_in(&call, call.attr.bpf.key, 4), BPF_HANDLE_EINVAL);
	bpf_call_free(&call);
	/* A bloom filter's lookup reads the value. */
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = FD_BLOOM;
	attr.value = put("8 bytes.", 8);
	CHECK_EQ(send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	CHECK_MEM(call_in(&call, call.attr.bpf.value, 8), "8 bytes.", 8);
	bpf_call_free(&call);
	finish();
}

TEST(batches)
{
	union bpf_attr attr = { .batch = { .map_fd = FD_HASH, .count = 4 } };
	uint32_t keys[] = { 1, 2 }, fds[] = { FD_PROG, 500 };
	struct bpf_call call;
	int64_t ret;

	start();
	attr.batch.out_batch = put(NULL, 4);
	attr.batch.keys = put(NULL, 16);
	attr.batch.values = put(NULL, 48);
	CHECK_EQ(send_bpf(BPF_MAP_LOOKUP_BATCH, &attr, sizeof(attr), &call), 0);
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
	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_EQ(ret, -ENOENT);
	CHECK_EQ(attr_now()->batch.count, 2);
	CHECK_EQ(attr_now()->batch.map_fd, FD_HASH);
	CHECK_MEM((void *)(uintptr_t)attr.batch.keys, "\1\0\0\0\2\0\0\0\xee\xee\xee\xee", 12);
	CHECK_MEM((void *)(uintptr_t)attr.batch.out_batch, "tokn", 4);

	/* A count beyond the map's size asks for no more room, and is the caller's again. */
	attr.batch.count = 4000000000u;
	CHECK_EQ(send_bpf(BPF_MAP_LOOKUP_BATCH, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.batch.count, 101);
	CHECK_EQ(call.bufs[2].cap, 101 * 12);
	call.ret = -EINVAL;
	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_EQ(attr_now()->batch.count, 4000000000u);
	/* The other way it is data, and there is not that much. */
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_BATCH, &attr, sizeof(attr), &call), -E2BIG);

	attr.batch.count = 1;
	attr.batch.map_fd = FD_LPM;
	attr.batch.in_batch = put("8bytekey", 8);
	CHECK_EQ(send_bpf(BPF_MAP_LOOKUP_AND_DELETE_BATCH, &attr, sizeof(attr), &call), 0);
	CHECK_MEM(call_in(&call, call.attr.bpf.batch.in_batch, 8), "8bytekey", 8);
	CHECK_EQ(call.bufs[1].cap, 8);
	bpf_call_free(&call);

	attr.batch.map_fd = FD_PROGS;
	attr.batch.count = 2;
	attr.batch.keys = PUT(keys);
	attr.batch.values = PUT(fds);
	CHECK_EQ(send_bpf(BPF_MAP_UPDATE_BATCH, &attr, sizeof(attr), &call), 0);
	const uint32_t *v = call_in(&call, call.attr.bpf.batch.values, 8);

	CHECK(v && v[0] == HANDLE(FD_PROG) && v[1] == BPF_HANDLE_EBADF);
	bpf_call_free(&call);
	finish();
}

TEST(prog_load)
{
	struct bpf_insn insns[] = {
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
	uint32_t fds[] = { 0, FD_BTF, FD_HASH, 888 };
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_XDP,
				.insn_cnt = ARRAY_SIZE(insns),
				.log_size = 16 << 20,
				.log_level = 1,
				.prog_name = "name",
				.prog_btf_fd = FD_BTF,
				.func_info_rec_size = 8,
				.func_info_cnt = 2,
				.line_info_rec_size = 16,
				.line_info_cnt = 1 };
	const struct bpf_insn *in;
	const uint32_t *sent;
	struct bpf_call call;
	int64_t ret;

	start();
	attr.insns = PUT(insns);
	attr.license = put("GPL", 4);
	attr.log_buf = put(NULL, 4096);
	attr.func_info = put("0123456789abcdef", 16);
	attr.line_info = put("fedcba9876543210", 16);
	attr.fd_array = PUT(fds);
	CHECK_EQ(send_bpf(BPF_PROG_LOAD, &attr, sizeof(attr), &call), 0);
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
	/* The client's room for a log costs nothing until there is one. */
	CHECK_EQ(call.bufs[2].cap, 16 << 20);
	CHECK_EQ(call.bufs[2].room, 0);
	strcpy(call_out(&call, call.attr.bpf.log_buf, 9), "verdict.");
	call.attr.bpf.log_true_size = 9;
	call.ret = 4242;
	call.obj = (struct bpf_obj_info){
		.handle = 4242, .kind = 'p', .type = BPF_PROG_TYPE_XDP, .id = 17
	};
	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_EQ(ret, 4242);
	CHECK_EQ(new_obj.handle, 4242);
	CHECK_EQ(new_obj.kind, 'p');
	CHECK_EQ(new_obj.type, BPF_PROG_TYPE_XDP);
	CHECK_EQ(new_obj.id, 17);
	CHECK_MEM((void *)(uintptr_t)attr.log_buf, "verdict.\0\xee", 10);
	CHECK_EQ(attr_now()->log_true_size, 9);
	CHECK_MEM((void *)(uintptr_t)attr.insns, insns, sizeof(insns));
	CHECK_MEM((void *)(uintptr_t)attr.fd_array, fds, sizeof(fds));
	finish();
}

TEST(fd_array_count)
{
	uint32_t fds[] = { FD_HASH, FD_PROG };
	struct bpf_insn exit_insn = { BPF_JMP | BPF_EXIT, 0, 0, 0, 0 };
	union bpf_call_attr attr = { .bpf = { .insn_cnt = 1 } };
	struct bpf_call call;

	start();
	attr.newer.prog_load.fd_array_cnt = 2;
	attr.bpf.insns = PUT(exit_insn);
	attr.bpf.fd_array = PUT(fds);
	CHECK_EQ(send_attr(BPF_PROG_LOAD, PUT(attr), 152, &call), 0);
	const uint32_t *sent = call_in(&call, call.attr.bpf.fd_array, 8);

	CHECK(sent && sent[0] == HANDLE(FD_HASH) && sent[1] == HANDLE(FD_PROG));
	bpf_call_free(&call);
	/* Without the count and without a use there is nothing to read. */
	CHECK_EQ(send_attr(BPF_PROG_LOAD, PUT(attr), 148, &call), 0);
	CHECK(!call_in(&call, call.attr.bpf.fd_array, 1));
	bpf_call_free(&call);
	finish();
}

TEST(strings)
{
	char text[300];
	union bpf_attr attr = { .bpf_fd = FD_PROG };
	struct bpf_call call;
	char *path = malloc(5000);

	start();
	memset(text, 'a', sizeof(text));
	attr.pathname = put("pins/x", 7);
	CHECK_EQ(send_bpf(BPF_OBJ_PIN, &attr, sizeof(attr), &call), 0);
	CHECK_STR(call_str(&call, call.attr.bpf.pathname, 4096), "/cwd/pins/x");
	CHECK_STR(cwd_seen, "-100");
	bpf_call_free(&call);
	attr.file_flags = BPF_F_PATH_FD;
	attr.path_fd = 9;
	CHECK_EQ(send_bpf(BPF_OBJ_PIN, &attr, sizeof(attr), &call), 0);
	CHECK_STR(cwd_seen, "9");
	CHECK_EQ(call.attr.bpf.file_flags, 0);
	CHECK_EQ(call.attr.bpf.path_fd, 0);
	bpf_call_free(&call);
	attr.path_fd = 99;
	CHECK_EQ(send_bpf(BPF_OBJ_PIN, &attr, sizeof(attr), &call), -EBADF);
	/* Linux cuts a licence at 127 bytes, but does not cut paths. */
	memset(&attr, 0, sizeof(attr));
	attr.license = put(text, sizeof(text));
	CHECK_EQ(send_bpf(BPF_PROG_LOAD, &attr, sizeof(attr), &call), 0);
	CHECK(call_str(&call, call.attr.bpf.license, 128));
	CHECK_EQ(strlen(call_str(&call, call.attr.bpf.license, 128)), 127);
	bpf_call_free(&call);
	memset(path, '/', 5000);
	attr.pathname = put(path, 5000);
	CHECK_EQ(send_bpf(BPF_OBJ_GET, &attr, sizeof(attr), &call), -ENAMETOOLONG);
	path[4095] = 0;
	attr.pathname = put(path, 5000);
	CHECK_EQ(send_bpf(BPF_OBJ_GET, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(strlen(call_str(&call, call.attr.bpf.pathname, 4096)), 4095);
	bpf_call_free(&call);
	free(path);
	finish();
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

	start();
	info.xlated_prog_insns = put(NULL, 80);
	info.map_ids = put(NULL, 8);
	info.line_info = put(NULL, 16);
	info.jited_prog_insns = put(NULL, 8); /* no length: the board sees a pointer without room */
	attr.info.info = PUT(info);
	CHECK_EQ(send_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr), &call), 0);
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
	CHECK_EQ(answer(&call, &ret), 0);
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
	CHECK_EQ(send_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.buf_cnt, 3);
	bpf_call_free(&call);
	finish();
}

TEST(info_of_links_by_type)
{
	struct bpf_link_info info = { 0 };
	union bpf_attr attr = { .info = { .bpf_fd = FD_LINK, .info_len = sizeof(info) } };
	const struct bpf_link_info *in;
	struct bpf_call call;

	start();
	/* A cgroup id that looks like a pointer is data. */
	info.cgroup.cgroup_id = 0x123456789;
	attr.info.info = PUT(info);
	CHECK_EQ(send_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.buf_cnt, 1);
	in = call_in(&call, call.attr.bpf.info.info, sizeof(info));
	CHECK(in && in->cgroup.cgroup_id == 0x123456789);
	bpf_call_free(&call);
	finish();
}

TEST(test_run)
{
	union bpf_attr attr = { .test = { .prog_fd = FD_PROG, .data_size_in = 64 } };
	struct bpf_call call;
	uint8_t *out;
	int64_t ret;

	start();
	attr.test.data_in = put(NULL, 64);
	attr.test.data_out = put(NULL, 256); /* size 0: old programs trust us */
	attr.test.ctx_size_in = 16;
	attr.test.ctx_in = put("0123456789abcdef", 16);
	CHECK_EQ(send_bpf(BPF_PROG_TEST_RUN, &attr, sizeof(attr), &call), 0);
	CHECK(call_may_write(&call, call.attr.bpf.test.data_out, 65536));
	out = call_out(&call, call.attr.bpf.test.data_out, 60);
	memset(out, 1, 60);
	/* SYSCALL programs write their context back. */
	memcpy(call_out(&call, call.attr.bpf.test.ctx_in, 16), "fedcba9876543210", 16);
	call.attr.bpf.test.data_size_out = 60;
	call.attr.bpf.test.retval = 2;
	call.attr.bpf.test.duration = 1000;
	call.ret = 0;
	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_EQ(attr_now()->test.retval, 2);
	CHECK_EQ(attr_now()->test.data_size_out, 60);
	CHECK_EQ(attr_now()->test.duration, 1000);
	CHECK_EQ(attr_now()->test.ctx_size_out, 0);
	CHECK_EQ(attr_now()->test.data_in, attr.test.data_in);
	CHECK_MEM((void *)(uintptr_t)attr.test.ctx_in, "fedcba9876543210", 16);
	CHECK_EQ(((uint8_t *)(uintptr_t)attr.test.data_out)[59], 1);
	CHECK_EQ(((uint8_t *)(uintptr_t)attr.test.data_out)[60], 0xee);
	finish();
}

TEST(results_in_readonly_memory)
{
	union bpf_attr attr = { .start_id = 3 };
	struct bpf_call call;
	int64_t ret;

	/* Nothing changed, nothing to write. */
	start();
	readonly_to = sizeof(mem);
	CHECK_EQ(send_bpf(BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr), &call), 0);
	call.ret = -ENOENT;
	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_EQ(ret, -ENOENT);
	CHECK_EQ(send_bpf(BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr), &call), 0);
	call.attr.bpf.next_id = 4;
	CHECK_EQ(answer(&call, &ret), -EFAULT);
	readonly_to = 0;
	CHECK_EQ(send_bpf(BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr), &call), 0);
	call.attr.bpf.next_id = 4;
	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_EQ(attr_now()->next_id, 4);
	CHECK_EQ(attr_now()->start_id, 3);
	finish();
}

TEST(links)
{
	union bpf_attr attr = { .link_create = { .prog_fd = FD_PROG,
						 .attach_type = BPF_XDP,
						 .target_ifindex = FD_HASH } };
	uint32_t iter[4] = { FD_HASH, 0, 0, 0 };
	uint64_t names[2];
	struct bpf_call call;

	start();
	/* An interface number that happens to be one of our fds. */
	CHECK_EQ(send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.link_create.target_ifindex, FD_HASH);
	CHECK_EQ(call.attr.bpf.link_create.prog_fd, HANDLE(FD_PROG));
	bpf_call_free(&call);
	attr.link_create.attach_type = BPF_CGROUP_INET_INGRESS;
	attr.link_create.target_fd = FD_FILE;
	CHECK_EQ(send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.attr.bpf.link_create.target_fd, BPF_HANDLE_EINVAL);
	bpf_call_free(&call);
	attr.link_create.target_fd = 0;
	attr.link_create.attach_type = BPF_TRACE_ITER;
	attr.link_create.iter_info = PUT(iter);
	attr.link_create.iter_info_len = sizeof(iter);
	CHECK_EQ(send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(*(const uint32_t *)call_in(&call, call.attr.bpf.link_create.iter_info, 16),
		 HANDLE(FD_HASH));
	bpf_call_free(&call);
	/* Names lie behind pointers; the board gets them as one text. */
	memset(&attr.link_create.target_btf_id, 0, sizeof(attr) - 16);
	names[0] = put("do_one", 7);
	names[1] = put("do_another", 11);
	attr.link_create.attach_type = BPF_TRACE_KPROBE_MULTI;
	attr.link_create.kprobe_multi.cnt = 2;
	attr.link_create.kprobe_multi.syms = PUT(names);
	CHECK_EQ(send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_MEM(call_in(&call, call.attr.bpf.link_create.kprobe_multi.syms, 18),
		  "do_one\0do_another", 18);
	bpf_call_free(&call);
	names[1] = BAD_PTR;
	attr.link_create.kprobe_multi.syms = PUT(names);
	CHECK_EQ(send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), 0);
	CHECK_EQ(call.bufs[0].cap, 0);
	bpf_call_free(&call);
	attr.link_create.kprobe_multi.cnt = ~0u;
	CHECK_EQ(send_bpf(BPF_LINK_CREATE, &attr, sizeof(attr), &call), -E2BIG);
	finish();
}

TEST(board_commands)
{
	union board_attr attr = { 0 };
	struct bpf_call call;
	uint64_t at;
	int64_t ret;

	start();
	strcpy(attr.knob.name, "bpf.stats");
	at = PUT(attr);
	CHECK_EQ(send_attr(BOARD_KNOB_NEXT, at, sizeof(attr), &call), 0);
	CHECK_STR(call.attr.board.knob.name, "bpf.stats");
	strcpy(call.attr.board.knob.name, "bpf.unverified");
	call.attr.board.knob.value = -7;
	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_STR(((union board_attr *)(uintptr_t)at)->knob.name, "bpf.unverified");
	CHECK_EQ(((union board_attr *)(uintptr_t)at)->knob.value, -7);

	memset(&attr, 0, sizeof(attr));
	attr.raw.mem_len = 5;
	attr.raw.mem = put("abcde", 5);
	at = PUT(attr);
	CHECK_EQ(send_attr(BOARD_RAW_RUN, at, sizeof(attr), &call), 0);
	CHECK_MEM(call_in(&call, call.attr.board.raw.mem, 5), "abcde", 5);
	memcpy(call_out(&call, call.attr.board.raw.mem, 5), "ABCDE", 5);
	call.attr.board.raw.ret = 1ull << 63;
	CHECK_EQ(answer(&call, &ret), 0);
	CHECK_MEM((void *)(uintptr_t)attr.raw.mem, "ABCDE", 5);
	CHECK_EQ(((union board_attr *)(uintptr_t)at)->raw.ret, 1ull << 63);
	finish();
}

/* ---- bad messages ------------------------------------------------------------------------------
 */

/* A message with everything in it: an info request with nested buffers. */
static void big_request(void)
{
	struct bpf_prog_info info = { .xlated_prog_len = 80, .nr_map_ids = 2 };
	union bpf_attr attr = { .info = { .bpf_fd = FD_PROG, .info_len = sizeof(info) } };
	struct bpf_call call;

	info.xlated_prog_insns = put(NULL, 80);
	info.map_ids = put(NULL, 8);
	attr.info.info = PUT(info);
	if (send_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr), &call))
		abort();
	bpf_call_free(&call);
}

TEST(request_cut_or_damaged)
{
	struct bpf_call call;
	size_t i;

	start();
	big_request();
	for (i = 0; i < request.len; i++)
		CHECK_EQ(unmarshal_request(request.data, i, &call), -EBADMSG);
	CHECK(!wire_buf_grow(&request, 0) || wire_buf_grow(&request, 1));
	request.data[request.len - 1] = 0;
	CHECK_EQ(unmarshal_request(request.data, request.len, &call), -EBADMSG);
	request.len--;
	/* Any change is either refused or gives a call whose buffers are in order. */
	for (i = 0; i < request.len * 256; i++) {
		uint8_t *p = &request.data[i / 256], old = *p;

		*p = (uint8_t)i;
		if (!unmarshal_request(request.data, request.len, &call)) {
			for (uint32_t k = 0; k < call.buf_cnt; k++)
				CHECK(call.bufs[k].in_len <= call.bufs[k].room &&
				      call.bufs[k].room <= call.bufs[k].cap);
			bpf_call_free(&call);
		}
		*p = old;
	}
	finish();
}

TEST(request_with_forged_places)
{
	struct wire_buf b = { 0 };
	struct bpf_call call;
	uint8_t attr[64] = { 0 };
	static const struct {
		uint32_t cmd, place;
		int err;
	} cases[] = {
		{ BPF_MAP_UPDATE_ELEM, 1, 0 },		   /* key */
		{ BPF_MAP_UPDATE_ELEM, 0, -EBADMSG },	   /* map_fd is no pointer */
		{ BPF_MAP_UPDATE_ELEM, 3, -EBADMSG },	   /* nor are flags */
		{ BPF_MAP_UPDATE_ELEM, 64 + 1, -EBADMSG }, /* no nested ones here */
		{ BPF_MAP_UPDATE_ELEM, 20, -EBADMSG },	   /* beyond the attr */
		{ BPF_MAP_FREEZE, 1, -EBADMSG },
		{ BPF_OBJ_GET_INFO_BY_FD, 64 + 4, -EBADMSG }, /* parent does not exist */
		{ 500, 1, -EBADMSG },
	};

	start();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		b.len = 0;
		wire_put_num(&b, cases[i].cmd);
		wire_put_num(&b, sizeof(attr));
		wire_put_sparse(&b, attr, sizeof(attr));
		wire_put_num(&b, 1);
		wire_put_num(&b, cases[i].place);
		wire_put_num(&b, 4);
		wire_put_sparse(&b, "abcd", 4);
		if (unmarshal_request(b.data, b.len, &call) != cases[i].err)
			TEST_FAIL("case %zu", i);
		if (!cases[i].err)
			bpf_call_free(&call);
	}
	/* The same pointer twice. */
	b.len = 0;
	wire_put_num(&b, BPF_MAP_UPDATE_ELEM);
	wire_put_num(&b, sizeof(attr));
	wire_put_sparse(&b, attr, sizeof(attr));
	wire_put_num(&b, 2);
	for (int i = 0; i < 2; i++) {
		wire_put_num(&b, 1);
		wire_put_num(&b, 4);
		wire_put_sparse(&b, "abcd", 4);
	}
	CHECK_EQ(unmarshal_request(b.data, b.len, &call), -EBADMSG);
	/* More bytes than a message can mean, all of them zero. */
	b.len = 0;
	wire_put_num(&b, BPF_MAP_UPDATE_ELEM);
	wire_put_num(&b, sizeof(attr));
	wire_put_sparse(&b, attr, sizeof(attr));
	wire_put_num(&b, 1);
	wire_put_num(&b, 1);
	wire_put_num(&b, LINK_MSG_MAX + 1);
	wire_put_bytes(&b, "\xff", 1);
	wire_put_num(&b, LINK_MSG_MAX + 1 - 64);
	CHECK_EQ(unmarshal_request(b.data, b.len, &call), -EBADMSG);
	wire_buf_free(&b);
	finish();
}

TEST(reply_cut_or_damaged)
{
	union bpf_attr attr = { .map_fd = FD_HASH };
	struct bpf_call call;
	uint8_t before[sizeof(mem)];
	int64_t ret;
	size_t i;

	start();
	attr.key = put("abcd", 4);
	attr.value = put(NULL, 12);
	CHECK_EQ(send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	memset(call_out(&call, call.attr.bpf.value, 12), 0x44, 12);
	call.obj.kind = 'm';
	call.obj.handle = 99;
	CHECK_EQ(unmarshal_reply(&call, &reply), 0);
	bpf_call_free(&call);
	memcpy(before, mem, sizeof(mem));
	for (i = 0; i < reply.len; i++) {
		ret = 12345;
		CHECK_EQ(marshal_reply(&mc, reply.data, i, &io, &ret, &new_obj), -EBADMSG);
		CHECK_EQ(ret, 12345);
	}
	CHECK_EQ(pokes, 0);
	CHECK_MEM(mem, before, sizeof(mem));
	/* A buffer that cannot come back, and one that is too long: index, then length */
	for (i = 0; i < reply.len * 256; i++) {
		uint8_t *p = &reply.data[i / 256], old = *p;

		*p = (uint8_t)i;
		(void)!marshal_reply(&mc, reply.data, reply.len, &io, &ret, &new_obj);
		*p = old;
		/* Whatever it said, only the 12 bytes of the value may have changed. */
		memcpy((void *)(uintptr_t)attr.value, before + (attr.value - (uintptr_t)mem), 12);
		CHECK(!memcmp(mem, before, sizeof(mem)));
	}
	finish();
}

TEST(refusal_without_a_look)
{
	union bpf_attr attr = { .start_id = 1, .next_id = 77 };
	struct wire_buf b = { 0 };
	struct bpf_call call;
	int64_t ret;

	start();
	CHECK_EQ(send_bpf(BPF_MAP_GET_NEXT_ID, &attr, sizeof(attr), &call), 0);
	bpf_call_free(&call);
	wire_put_snum(&b, -ENOMEM);
	CHECK_EQ(marshal_reply(&mc, b.data, b.len, &io, &ret, &new_obj), 0);
	CHECK_EQ(ret, -ENOMEM);
	CHECK_EQ(pokes, 0);
	/* Success cannot be that short. */
	b.len = 0;
	wire_put_snum(&b, 0);
	CHECK_EQ(marshal_reply(&mc, b.data, b.len, &io, &ret, &new_obj), -EBADMSG);
	wire_buf_free(&b);
	finish();
}

TEST(no_memory)
{
	struct bpf_call call;

	start();
	big_request();
	for (unsigned long n = 1;; n++) {
		hal_host_fail_alloc(n, false);
		int err = unmarshal_request(request.data, request.len, &call);

		if (!hal_host_fail_hit()) {
			CHECK_EQ(err, 0);
			CHECK(n > 1);
			break;
		}
		CHECK_EQ(err, -ENOMEM);
	}
	/* call_out without memory is a fault of this call, no more. */
	hal_host_fail_alloc(1, false);
	CHECK(!call_out(&call, call_buf_ptr(1), 80));
	CHECK(call_out(&call, call_buf_ptr(1), 80));
	hal_host_fail_alloc(1, false);
	CHECK_EQ(unmarshal_reply(&call, &reply), -ENOMEM);
	bpf_call_free(&call);
	for (unsigned long n = 1;; n++) {
		struct wire_buf b = { 0 };

		hal_host_fail_alloc(n, false);
		int err = marshal_request(&mc, BPF_OBJ_GET_INFO_BY_FD, attr_at,
					  sizeof(union bpf_attr), &io, &b);

		if (err)
			CHECK_EQ(b.len, 0);
		wire_buf_free(&b);
		if (!hal_host_fail_hit()) {
			CHECK_EQ(err, 0);
			break;
		}
		CHECK_EQ(err, -ENOMEM);
	}
	finish();
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
