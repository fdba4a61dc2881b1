/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(2) as a client may call it: a sequence of calls with attrs, buffers and handles of the
 * input's choice. No call may crash or touch memory that is not its own; when the session has ended
 * and the pins are gone, everything must have been freed.
 *
 * Input, repeated: command, length of attr, attr, then per pointer field of the command's row a
 * byte that says what lies behind it, and per fd field one that may put a live handle there.
 */
#include <stdlib.h>
#include <string.h>

#include "include/err.h"
#include "include/hal.h"
#include "runtime/rt.h"
#include "tests/unit/hal_host.h"
#include "wire/cmds.h"

#define SESSION	    3
#define CALLS_MAX   64
#define HANDLES_MAX 32

struct input {
	const uint8_t *p;
	size_t left;
};

static uint8_t take8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->p++;
}

static size_t take(struct input *in, void *dst, size_t n)
{
	n = MIN(n, in->left);
	memcpy(dst, in->p, n);
	in->p += n;
	in->left -= n;
	return n;
}

static uint32_t handles[HANDLES_MAX];
static uint32_t handle_nr, handle_made;

static void fill_fd(struct input *in, struct bpf_call *call, uint32_t off)
{
	uint8_t pick = take8(in);

	if (pick & 0x80)
		return;
	if (handle_nr)
		memcpy(call->attr.bytes + off, &handles[pick % handle_nr], 4);
}

/* Pins need paths that exist now and then. */
static const char *const paths[] = { "/sys/fs/bpf/a", "/sys/fs/bpf/d", "/sys/fs/bpf/d/b",
				     "/sys/fs/bpf/../bpf/a/", "/sys/fs/bpf" };

static void fill_ptr(struct input *in, struct bpf_call *call, uint32_t off, unsigned int dir)
{
	uint8_t kind = take8(in), data[512];
	uint64_t ptr = 0;
	uint32_t in_len = 0, cap;
	int err;

	if (kind == 0xff)
		return; /* the attr's own bytes: a wild pointer */
	if (kind >= 0xf0) {
		const char *path = paths[kind % ARRAY_SIZE(paths)];

		in_len = (uint32_t)strlen(path) + 1;
		memcpy(data, path, in_len);
	} else if (dir & CMD_IN) {
		in_len = (uint32_t)take(in, data, kind * 2u);
	}
	cap = MAX(in_len, (uint32_t)kind * 16);
	err = bpf_call_add_buf(call, (__u64 *)&ptr, in_len ? data : NULL, in_len, cap,
			       dir & CMD_OUT);
	if (!err)
		memcpy(call->attr.bytes + off, &ptr, 8);
}

/* Bounds of what one input may cost, not of what is checked. */
static void tame(struct bpf_call *call)
{
	union bpf_attr *a = &call->attr.bpf;

	switch (call->cmd) {
	case BPF_MAP_CREATE:
		a->max_entries %= 8192;
		if (a->key_size > 4096)
			a->key_size %= 512;
		if (a->value_size > 4096)
			a->value_size %= 512;
		break;
	case BPF_PROG_TEST_RUN:
		a->test.repeat %= 8;
		break;
	case BOARD_RAW_RUN:
		call->attr.board.raw.repeat %= 8;
		break;
	case BOARD_KNOB_SET:
		/* The time of a run stays bounded. */
		if (strstr(call->attr.board.knob.name, "_ms"))
			call->attr.board.knob.name[0] = 'x';
		break;
	default:
		break;
	}
}

static void one_call(struct rt *rt, struct input *in)
{
	static struct bpf_call call;
	const struct cmd_row *row = cmd_row_at(take8(in) % 60u);
	uint32_t len;

	memset(&call, 0, sizeof(call));
	if (!row)
		return;
	call.cmd = row->cmd;
	call.session = SESSION;
	len = take8(in) % (row->attr_end + 8u);
	call.attr_size = len;
	take(in, call.attr.bytes, len);
	for (const struct cmd_field *f = row->fields; f->kind; f++) {
		if (f->kind == CMD_FD)
			fill_fd(in, &call, f->off);
		else if (f->kind == CMD_PTR)
			fill_ptr(in, &call, f->off, f->dir);
	}
	tame(&call);
	bpf_syscall(rt, &call);
	if (call.ret > 0 && call.obj.kind) {
		if (call.obj.handle != (uint32_t)call.ret)
			abort();
		handles[handle_made++ % HANDLES_MAX] = call.obj.handle;
		handle_nr = MIN(handle_made, (uint32_t)HANDLES_MAX);
	}
	for (uint32_t i = 0; i < call.buf_cnt; i++) {
		if (call.bufs[i].out_len > call.bufs[i].cap ||
		    (!call.bufs[i].out && call.bufs[i].out_len))
			abort();
	}
	bpf_call_free(&call);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct rt *rt;

	test_reset();
	hal_host_use_real_time();
	handle_nr = handle_made = 0;
	rt = rt_new(NULL);
	if (rt_knob_set(rt, "bpf.run_budget_ms", 2) || rt_knob_set(rt, "bpf.test_run_ms", 20) ||
	    rt_knob_set(rt, "bpf.unverified", 1))
		abort();
	for (int i = 0; i < CALLS_MAX && in.left; i++)
		one_call(rt, &in);
	rt_session_end(rt, SESSION);
	if (rt_free(rt) || test_leaked_bytes())
		abort();
	return 0;
}
