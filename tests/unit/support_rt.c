/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/support_rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/hal_host.h"

static struct bpf_call call;
static unsigned long fail_from;

static void must(int err)
{
	if (err) {
		fprintf(stderr, "support_rt: %d\n", err);
		abort();
	}
}

void rt_call_end(void)
{
	bpf_call_free(&call);
	memset(&call, 0, sizeof(call));
}

struct bpf_call *rt_call(uint32_t cmd)
{
	rt_call_end();
	call.cmd = cmd;
	call.attr_size = cmd < BOARD_CMD_BASE ? sizeof(call.attr.bpf) : sizeof(call.attr.board);
	call.session = RT_TEST_SESSION;
	return &call;
}

void rt_inout(__u64 *ptr, const void *data, uint32_t len, uint32_t cap)
{
	must(bpf_call_add_buf(&call, ptr, data, len, cap, true));
}

void rt_in(__u64 *ptr, const void *data, uint32_t len)
{
	must(bpf_call_add_buf(&call, ptr, data, len, len, false));
}

void rt_out(__u64 *ptr, uint32_t cap)
{
	must(bpf_call_add_buf(&call, ptr, NULL, 0, cap, true));
}

void rt_fail_from(unsigned long n)
{
	fail_from = n;
}

int64_t rt_do(struct rt *rt)
{
	unsigned long before = hal_host_allocs(), used;
	int64_t ret;

	hal_host_fail_alloc(fail_from, true);
	ret = bpf_syscall(rt, &call);
	hal_host_fail_alloc(0, false);
	used = hal_host_allocs() - before;
	if (fail_from)
		fail_from = used < fail_from ? fail_from - used : 1;
	if (ret != call.ret)
		must(-1);
	return ret;
}

static const struct bpf_call_buf *buf_of(uint64_t ptr)
{
	for (uint32_t i = 0; i < call.buf_cnt; i++) {
		if (ptr == call_buf_ptr(i))
			return &call.bufs[i];
	}
	return NULL;
}

uint32_t rt_result_len(uint64_t ptr)
{
	const struct bpf_call_buf *b = buf_of(ptr);

	return b ? b->out_len : 0;
}

const void *rt_result(uint64_t ptr, uint32_t len)
{
	const struct bpf_call_buf *b = buf_of(ptr);

	return b && b->out_len >= len ? b->data : NULL;
}

int64_t rt_map_create(struct rt *rt, uint32_t type, uint32_t key, uint32_t value, uint32_t max,
		      uint32_t flags)
{
	struct bpf_call *c = rt_call(BPF_MAP_CREATE);
	int64_t ret;

	c->attr.bpf.map_type = type;
	c->attr.bpf.key_size = key;
	c->attr.bpf.value_size = value;
	c->attr.bpf.max_entries = max;
	c->attr.bpf.map_flags = flags;
	strcpy(c->attr.bpf.map_name, "test");
	ret = rt_do(rt);
	rt_call_end();
	return ret;
}

int64_t rt_map_put(struct rt *rt, uint32_t map, const void *key, uint32_t key_len,
		   const void *value, uint32_t value_len)
{
	struct bpf_call *c = rt_call(BPF_MAP_UPDATE_ELEM);
	int64_t ret;

	c->attr.bpf.map_fd = map;
	if (key)
		rt_in(&c->attr.bpf.key, key, key_len);
	rt_in(&c->attr.bpf.value, value, value_len);
	ret = rt_do(rt);
	rt_call_end();
	return ret;
}

int64_t rt_map_look(struct rt *rt, uint32_t map, const void *key, uint32_t key_len, void *value,
		    uint32_t value_len)
{
	struct bpf_call *c = rt_call(BPF_MAP_LOOKUP_ELEM);
	int64_t ret;

	c->attr.bpf.map_fd = map;
	if (key)
		rt_in(&c->attr.bpf.key, key, key_len);
	rt_out(&c->attr.bpf.value, value_len);
	ret = rt_do(rt);
	if (!ret)
		memcpy(value, rt_result(c->attr.bpf.value, value_len), value_len);
	rt_call_end();
	return ret;
}

int64_t rt_load(struct rt *rt, uint32_t type, const struct bpf_insn *insns, uint32_t cnt)
{
	struct bpf_call *c = rt_call(BPF_PROG_LOAD);
	int64_t ret;

	c->attr.bpf.prog_type = type;
	c->attr.bpf.insn_cnt = cnt;
	rt_in(&c->attr.bpf.insns, insns, cnt * (uint32_t)sizeof(*insns));
	rt_in(&c->attr.bpf.license, "Dual BSD/GPL", 13);
	if (type == BPF_PROG_TYPE_SYSCALL)
		c->attr.bpf.prog_flags = BPF_F_SLEEPABLE;
	c->attr.bpf.log_level = 1;
	c->attr.bpf.log_size = 4096;
	rt_out(&c->attr.bpf.log_buf, 4096);
	ret = rt_do(rt);
	if (ret < 0 && rt_result(c->attr.bpf.log_buf, 1))
		printf("# %s", (const char *)rt_result(c->attr.bpf.log_buf, 1));
	rt_call_end();
	return ret;
}

int64_t rt_close(struct rt *rt, uint32_t handle)
{
	struct bpf_call *c = rt_call(BOARD_CLOSE);
	int64_t ret;

	rt_in(&c->attr.board.close.handles, &handle, sizeof(handle));
	c->attr.board.close.nr = 1;
	ret = rt_do(rt);
	rt_call_end();
	return ret;
}

int64_t rt_path(struct rt *rt, uint32_t cmd, const char *path, uint32_t handle)
{
	struct bpf_call *c = rt_call(cmd);
	int64_t ret;

	if (cmd < BOARD_CMD_BASE) {
		c->attr.bpf.bpf_fd = handle;
		rt_in(&c->attr.bpf.pathname, path, (uint32_t)strlen(path) + 1);
	} else {
		rt_in(&c->attr.board.path.path, path, (uint32_t)strlen(path) + 1);
	}
	ret = rt_do(rt);
	rt_call_end();
	return ret;
}

int64_t rt_knob_put(struct rt *rt, const char *name, int64_t value)
{
	struct bpf_call *c = rt_call(BOARD_KNOB_SET);
	int64_t ret;

	strcpy(c->attr.board.knob.name, name);
	c->attr.board.knob.value = value;
	ret = rt_do(rt);
	rt_call_end();
	return ret;
}

unsigned int rt_count(struct rt *rt, enum rt_kind kind)
{
	unsigned int n = 0;
	uint32_t id = 0;

	while (!rt_next_id(rt, kind, id, &id))
		n++;
	return n;
}
