/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages from a host to bpf(2): unmarshalling and every command behind it. Programs run in the
 * checked interpreter. The input is a row of calls, each begun by a byte:
 *
 *   bit 0 clear  length (2 bytes), then a request message as it is
 *   bit 0 set    number of a row of wire/bpf_cmds.def, then values for its fields in the order of
 *                the row: an fd is one byte that picks a live handle, a buffer is a length (2
 * bytes) and its content, everything else of attr is taken as it is (length byte, bytes)
 *
 * After the calls nothing may be left: no object without a reference, no byte of memory.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/rt.h"
#include "tests/unit/hal_host.h"
#include "wire/buf.h"
#include "wire/cmds.h"
#include "wire/marshal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HANDLES_MAX 32
#define CALLS_MAX   48

static const struct rt_platform platform;
static struct rt *rt;
static uint32_t handles[HANDLES_MAX];
static unsigned int handles_nr;

static void must(bool ok)
{
	if (!ok)
		abort();
}

struct input {
	const uint8_t *p, *end;
};

static size_t take(struct input *in, void *dst, size_t n)
{
	size_t have = (size_t)(in->end - in->p);

	n = n < have ? n : have;
	memcpy(dst, in->p, n);
	in->p += n;
	return n;
}

static uint32_t take_num(struct input *in, size_t bytes)
{
	uint32_t v = 0;

	take(in, &v, bytes);
	return v;
}

/* ---- calls from rows ---------------------------------------------------------------------------
 */

static uint32_t pick_handle(struct input *in)
{
	uint32_t v = take_num(in, 1);

	if (v >= 250)
		return v == 250 ? BPF_HANDLE_EBADF : v == 251 ? BPF_HANDLE_EINVAL : 255 - v;
	return handles_nr ? handles[v % handles_nr] : v;
}

/* Instructions name maps by handle, which no input can know. */
static void name_maps(uint8_t *data, uint32_t len)
{
	for (uint32_t at = 0; at + 8 <= len; at += 8) {
		uint32_t imm;

		if (data[at] != 0x18 || !(data[at + 1] >> 4 & 3) || !handles_nr)
			continue;
		memcpy(&imm, data + at + 4, 4);
		imm = handles[imm % handles_nr];
		memcpy(data + at + 4, &imm, 4);
	}
}

static void add_buf(struct input *in, struct bpf_call *call, const struct cmd_field *f)
{
	unsigned int dir = cmd_ptr_dir(cmd_row(call->cmd), f->off);
	static uint8_t bytes[4096];
	uint32_t cap = take_num(in, 2), in_len = 0;
	__u64 *slot = (__u64 *)(void *)(call->attr.bytes + f->off);

	if (cap == 0xffff)
		return; /* NULL */
	cap %= sizeof(bytes) + 1;
	if (dir & CMD_IN) {
		in_len = (uint32_t)take(in, bytes, cap);
		if (!(dir & CMD_OUT))
			cap = in_len;
		if (call->cmd == BPF_PROG_LOAD && f->off == offsetof(union bpf_attr, insns))
			name_maps(bytes, in_len);
	}
	*slot = 0;
	if (bpf_call_add_buf(call, slot, bytes, in_len, cap, dir & CMD_OUT))
		*slot = 1;
}

static bool from_row(struct input *in, struct bpf_call *call)
{
	const struct cmd_row *row = cmd_row_at(take_num(in, 1));
	const struct cmd_field *f;

	memset(call, 0, sizeof(*call));
	if (!row)
		return false;
	call->cmd = row->cmd;
	call->attr_size = row->attr_end;
	take(in, call->attr.bytes, take_num(in, 1) % (row->attr_end + 1u));
	for (f = row->fields; f->kind; f++) {
		uint32_t *fd = (uint32_t *)(void *)(call->attr.bytes + f->off);

		if (f->kind == CMD_PTR && !(*(__u64 *)(void *)fd >> 48))
			add_buf(in, call, f);
		else if (f->kind == CMD_FD)
			*fd = pick_handle(in);
	}
	return true;
}

/* A call that a message could have brought gives a message that brings the same call. */
static void check_round_trip(const struct bpf_call *call)
{
	struct wire_buf b = { 0 };
	struct bpf_call back;

	if (!marshal_call_request(call, &b)) {
		must(!unmarshal_request(b.data, b.len, &back));
		must(back.cmd == call->cmd && back.attr_size == call->attr_size &&
		     back.buf_cnt == call->buf_cnt &&
		     !memcmp(&back.attr, &call->attr, sizeof(back.attr)));
		for (uint32_t i = 0; i < back.buf_cnt; i++) {
			must(back.bufs[i].cap == call->bufs[i].cap &&
			     back.bufs[i].in_len == call->bufs[i].in_len &&
			     (!back.bufs[i].in_len ||
			      !memcmp(back.bufs[i].data, call->bufs[i].data, back.bufs[i].in_len)));
		}
		bpf_call_free(&back);
	}
	wire_buf_free(&b);
}

/* ---- doing them --------------------------------------------------------------------------------
 */

/* What would take long, or trusts the program. */
static bool skip(struct bpf_call *call)
{
	if (call->cmd == BPF_PROG_TEST_RUN)
		call->attr.bpf.test.repeat %= 4;
	if (call->cmd == BPF_MAP_CREATE)
		call->attr.bpf.max_entries &= 0x80001fff;
	return call->cmd == BOARD_KNOB_SET;
}

static void do_call(struct bpf_call *call)
{
	struct wire_buf rep = { 0 };

	if (!skip(call)) {
		call->session = 1;
		must(bpf_syscall(rt, call) == call->ret);
		must(call->ret >= -4095);
		must(!call->obj.kind || call->ret == (int64_t)call->obj.handle);
		if (call->obj.kind && handles_nr < HANDLES_MAX)
			handles[handles_nr++] = call->obj.handle;
		must(!unmarshal_reply(call, &rep));
		wire_buf_free(&rep);
	}
	bpf_call_free(call);
}

static bool next_call(struct input *in, struct bpf_call *call)
{
	uint32_t len;

	if (take_num(in, 1) & 1) {
		if (!from_row(in, call))
			return false;
		check_round_trip(call);
		return true;
	}
	len = take_num(in, 2);
	if (len > (size_t)(in->end - in->p))
		len = (uint32_t)(in->end - in->p);
	in->p += len;
	if (unmarshal_request(in->p - len, len, call))
		return false;
	check_round_trip(call);
	return true;
}

static int start(void)
{
	test_reset();
	hal_host_use_real_time();
	handles_nr = 0;
	rt = rt_new(&platform);
	return rt ? rt_knob_set(rt, "bpf.run_budget_ms", 5) : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct bpf_call call;

	must(!start());
	for (int i = 0; i < CALLS_MAX && in.p < in.end; i++) {
		if (next_call(&in, &call))
			do_call(&call);
	}
	rt_session_end(rt, 1);
	must(!rt_free(rt));
	must(!test_leaked_bytes());
	return 0;
}
