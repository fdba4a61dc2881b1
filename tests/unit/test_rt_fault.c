/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every allocation inside bpf(2) fails in turn, in a session that uses all kinds of commands: the
 * call says -ENOMEM and has changed nothing, and in the end nothing is left.
 */
#include "hal_host.h"
#include "support_rt_load.h"
#include "support_rt_run.h"
#include "test.h"

/* A step of the session: what bpf(2) returned. */
typedef int64_t (*step)(struct rt *rt);

static uint32_t array, hash, outer, ring, prog, btf, pinned;

static int64_t keep(uint32_t *handle, int64_t ret)
{
	*handle = ret > 0 ? (uint32_t)ret : BPF_HANDLE_EBADF;
	return ret;
}

static int64_t make_array(struct rt *rt)
{
	return keep(&array, rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 16, 2, BPF_F_MMAPABLE));
}

static int64_t make_hash(struct rt *rt)
{
	return keep(&hash, rt_map_create(rt, BPF_MAP_TYPE_HASH, 4, 8, 8, BPF_F_NO_PREALLOC));
}

static int64_t make_outer(struct rt *rt)
{
	struct bpf_call *c = rt_call(BPF_MAP_CREATE);

	c->attr.bpf.map_type = BPF_MAP_TYPE_HASH_OF_MAPS;
	c->attr.bpf.key_size = c->attr.bpf.value_size = 4;
	c->attr.bpf.max_entries = 4;
	c->attr.bpf.inner_map_fd = hash;
	return keep(&outer, rt_do(rt));
}

static int64_t make_ring(struct rt *rt)
{
	return keep(&ring, rt_map_create(rt, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0));
}

static int64_t put_hash(struct rt *rt)
{
	return rt_map_put(rt, hash, &(uint32_t){ 3 }, 4, &(uint64_t){ 4 }, 8);
}

static int64_t put_outer(struct rt *rt)
{
	return rt_map_put(rt, outer, &(uint32_t){ 3 }, 4, &hash, 4);
}

static int64_t look_hash(struct rt *rt)
{
	uint64_t value;

	return rt_map_look(rt, hash, &(uint32_t){ 3 }, 4, &value, 8);
}

static int64_t batch_hash(struct rt *rt)
{
	struct bpf_call *c = rt_call(BPF_MAP_LOOKUP_BATCH);
	int64_t ret;

	c->attr.bpf.batch.map_fd = hash;
	c->attr.bpf.batch.count = 8;
	rt_out(&c->attr.bpf.batch.out_batch, 4);
	rt_out(&c->attr.bpf.batch.keys, 32);
	rt_out(&c->attr.bpf.batch.values, 64);
	ret = rt_do(rt);
	return ret == -ENOENT ? 0 : ret;
}

static int64_t make_btf_object(struct rt *rt)
{
	return keep(&btf, load_btf(rt));
}

static int64_t make_prog(struct rt *rt)
{
	struct infos in = good_infos();

	return keep(&prog, load_infos(rt, btf, &in, 2, 3));
}

static int64_t make_prog_with_map(struct rt *rt)
{
	return load_with_map(rt, BPF_PSEUDO_MAP_FD, array, 0);
}

static int64_t bind_map(struct rt *rt)
{
	struct bpf_call *c = rt_call(BPF_PROG_BIND_MAP);

	c->attr.bpf.prog_bind_map.prog_fd = prog;
	c->attr.bpf.prog_bind_map.map_fd = hash;
	return rt_do(rt);
}

static int64_t test_run(struct rt *rt)
{
	struct bpf_call *c = run_call(prog, 64);

	c->attr.bpf.test.data_size_out = 64;
	rt_out(&c->attr.bpf.test.data_out, 64);
	c->attr.bpf.test.ctx_size_out = sizeof(struct xdp_md);
	rt_out(&c->attr.bpf.test.ctx_out, sizeof(struct xdp_md));
	return rt_do(rt);
}

static int64_t prog_info(struct rt *rt)
{
	struct bpf_prog_info info = { .xlated_prog_len = 64, .nr_prog_tags = 2, .nr_map_ids = 4 };
	struct bpf_call *c = rt_call(BPF_OBJ_GET_INFO_BY_FD);
	__u64 ptr;

	rt_out(&ptr, 64);
	info.xlated_prog_insns = ptr;
	rt_out(&ptr, 16);
	info.prog_tags = ptr;
	rt_out(&ptr, 16);
	info.map_ids = ptr;
	c->attr.bpf.info.bpf_fd = prog;
	c->attr.bpf.info.info_len = sizeof(info);
	rt_inout(&c->attr.bpf.info.info, &info, sizeof(info), sizeof(info));
	return rt_do(rt);
}

static int64_t pin(struct rt *rt)
{
	return rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/pin", prog);
}

static int64_t make_dir(struct rt *rt)
{
	return rt_path(rt, BOARD_PATH_MKDIR, "/sys/fs/bpf/dir", 0);
}

static int64_t get_pin(struct rt *rt)
{
	return keep(&pinned, rt_path(rt, BPF_OBJ_GET, "/sys/fs/bpf/pin", 0));
}

static int64_t list_pins(struct rt *rt)
{
	struct bpf_call *c = rt_call(BOARD_PATH_LIST);

	rt_in(&c->attr.board.path.path, "/sys/fs/bpf", 12);
	rt_out(&c->attr.board.path.list, 64);
	c->attr.board.path.list_len = 64;
	return rt_do(rt);
}

static int64_t read_memory(struct rt *rt)
{
	struct bpf_call *c = rt_call(BOARD_MEM_READ);

	c->attr.board.mem.map_fd = array;
	c->attr.board.mem.len = 32;
	rt_out(&c->attr.board.mem.buf, 32);
	return rt_do(rt);
}

static int64_t raw_run(struct rt *rt)
{
	struct bpf_call *c = rt_call(BOARD_RAW_RUN);

	c->attr.board.raw.insn_cnt = 2;
	c->attr.board.raw.mem_len = 8;
	rt_in(&c->attr.board.raw.insns, (struct bpf_insn[]){ MOV_IMM(0, 0), EXIT() }, 16);
	rt_inout(&c->attr.board.raw.mem, "12345678", 8, 8);
	return rt_do(rt);
}

static int64_t show_fdinfo(struct rt *rt)
{
	struct bpf_call *c = rt_call(BOARD_FDINFO);

	c->attr.board.fdinfo.fd = prog;
	c->attr.board.fdinfo.len = 512;
	rt_out(&c->attr.board.fdinfo.buf, 512);
	return rt_do(rt);
}

static const step session[] = {
	make_array,	    make_hash, make_outer, make_ring,	    put_hash,
	put_outer,	    look_hash, batch_hash, make_btf_object, make_prog,
	make_prog_with_map, bind_map,  test_run,   prog_info,	    pin,
	make_dir,	    get_pin,   list_pins,  read_memory,	    raw_run,
	show_fdinfo,
};

/* Run the session with the n-th allocation failing; false: none failed. */
static bool run_session(unsigned long n, int *bad_step, int64_t *bad_ret)
{
	struct rt *rt = rt_new(NULL);
	bool failed = false;

	*bad_step = -1;
	if (rt_knob_put(rt, "bpf.unverified", 1))
		abort();
	rt_fail_from(n);
	for (size_t i = 0; i < ARRAY_SIZE(session); i++) {
		int64_t ret = session[i](rt);

		if (ret >= 0)
			continue;
		rt_fail_from(0);
		failed = true;
		/* With memory the same step succeeds: the failed one left nothing behind. */
		if (ret != -ENOMEM || session[i](rt) < 0) {
			*bad_step = (int)i;
			*bad_ret = ret;
		}
		break;
	}
	rt_fail_from(0);
	rt_call_end();
	rt_session_end(rt, RT_TEST_SESSION);
	if (rt_free(rt))
		abort();
	return failed;
}

TEST(each_allocation)
{
	unsigned long n = 0;
	int64_t bad_ret = 0;
	int bad_step;

	do {
		n++;
		CHECK(n < 2000);
		if (!run_session(n, &bad_step, &bad_ret))
			break;
		if (bad_step >= 0)
			TEST_FAIL("allocation %lu, step %d: %d", n, bad_step, (int)bad_ret);
		CHECK_EQ(test_leaked_bytes(), 0);
	} while (bad_step < 0);
	CHECK(n > 80);
}
