/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/test_run.h"

/* ---- running --------------------------------------------------------------------------------- */

struct loop {
	struct test_run *t;
	void *ctx;
	int err;
	struct run_end end;
};

/* On the chosen CPU. */
static void loop_run(void *arg)
{
	struct loop *loop = arg;
	struct test_run *t = loop->t;
	uint64_t limit_ms = (uint64_t)rt_knob(t->rt, KNOB_TEST_RUN_MS);
	uint32_t repeat = MAX(t->attr->test.repeat, 1u), done = 0;
	uint64_t start_ns = hal_ktime_ns(), spent_ns, ret = 0;

	do {
		loop->err = prog_run(t->prog, loop->ctx, 0, &ret, &loop->end);
		done++;
		if (!loop->err && limit_ms && done % 16 == 0 &&
		    hal_ktime_ns() - start_ns > limit_ms * 1000000)
			loop->err = -EINTR;
	} while (!loop->err && done < repeat);
	spent_ns = (hal_ktime_ns() - start_ns) / repeat;
	t->retval = (uint32_t)ret;
	t->duration_ns = spent_ns > UINT32_MAX ? UINT32_MAX : (uint32_t)spent_ns;
}

int test_run_loop(struct test_run *t, void *ctx)
{
	struct loop loop = { .t = t, .ctx = ctx };
	int err = 0;

	if (t->attr->test.flags & BPF_F_TEST_RUN_ON_CPU)
		err = hal_cpu_call(t->attr->test.cpu, loop_run, &loop);
	else
		loop_run(&loop);
	if (err)
		return -ENXIO;
	if (loop.err == -EFAULT)
		prog_log_end(&loop.end);
	return loop.err;
}

/* ---- data and context of the client ---------------------------------------------------------- */

int test_run_finish(struct test_run *t, const void *data, uint32_t size)
{
	__typeof__(t->attr->test) *test = &t->attr->test;
	uint32_t copy_bytes = size;
	int err = 0;

	/* Without a size the client has room for anything: the interface's older form. */
	if (test->data_size_out && copy_bytes > test->data_size_out) {
		copy_bytes = test->data_size_out;
		err = -ENOSPC;
	}
	if (test->data_out) {
		int bad = cmd_put(t->call, test->data_out, data, copy_bytes);

		if (bad)
			return bad;
	}
	test->data_size_out = size;
	test->retval = t->retval;
	test->duration = t->duration_ns;
	return err;
}

int test_run_ctx_in(struct test_run *t, void *ctx, uint32_t size, bool *have)
{
	const __typeof__(t->attr->test) *test = &t->attr->test;

	*have = test->ctx_in || test->ctx_out;
	if (!test->ctx_in)
		return 0;
	return cmd_copy_struct(t->call, test->ctx_in, test->ctx_size_in, ctx, size);
}

int test_run_ctx_out(struct test_run *t, const void *ctx, uint32_t size)
{
	__typeof__(t->attr->test) *test = &t->attr->test;
	uint32_t copy_bytes = MIN(size, test->ctx_size_out);
	int err;

	if (!test->ctx_out)
		return 0;
	err = cmd_put(t->call, test->ctx_out, ctx, copy_bytes);
	if (err)
		return err;
	test->ctx_size_out = size;
	return copy_bytes < size ? -ENOSPC : 0;
}

int test_run_packet(struct test_run *t, uint32_t headroom, uint32_t tailroom, struct ctx_pkt *pkt)
{
	uint32_t size = t->attr->test.data_size_in;
	size_t room = (size_t)headroom + size + tailroom;
	const void *data;
	uint8_t *buf;

	if (size > TEST_RUN_PKT_MAX)
		return -EINVAL;
	data = call_in(t->call, t->attr->test.data_in, size);
	if (!data)
		return -EFAULT;
	buf = hal_alloc(room);
	if (!buf)
		return -ENOMEM;
	__builtin_memcpy(buf + headroom, data, size);
	pkt->hard_start = buf;
	pkt->hard_end = buf + room;
	pkt->data = pkt->data_meta = buf + headroom;
	pkt->data_end = pkt->data + size;
	return 0;
}

/* ---- contexts that are plain bytes ----------------------------------------------------------- */

#define RAW_TP_CTX_MAX	(12 * sizeof(uint64_t)) /* Linux: as many arguments as a tracepoint has */
#define SYSCALL_CTX_MAX UINT16_MAX

/* A copy of ctx_in, or no bytes when the client gives none. */
static int bytes_in(struct test_run *t, struct ctx_bytes *ctx, uint32_t max_bytes)
{
	uint32_t size = t->attr->test.ctx_size_in;
	const void *src;

	if (size < t->prog->max_ctx_offset || size > max_bytes)
		return -EINVAL;
	ctx->bytes = NULL;
	ctx->len = size;
	if (!size)
		return 0;
	src = call_in(t->call, t->attr->test.ctx_in, size);
	if (!src)
		return -EFAULT;
	ctx->bytes = hal_alloc(size);
	if (!ctx->bytes)
		return -ENOMEM;
	__builtin_memcpy(ctx->bytes, src, size);
	return 0;
}

static int test_run_raw_tp(struct test_run *t)
{
	__typeof__(t->attr->test) *test = &t->attr->test;
	struct ctx_bytes ctx;
	int err;

	if (test->data_in || test->data_out || test->ctx_out || test->duration || test->repeat ||
	    test->batch_size)
		return -EINVAL;
	if (!(test->flags & BPF_F_TEST_RUN_ON_CPU) && test->cpu)
		return -EINVAL;
	err = bytes_in(t, &ctx, RAW_TP_CTX_MAX);
	if (err)
		return err;
	err = test_run_loop(t, &ctx);
	hal_free(ctx.bytes);
	if (!err)
		test->retval = t->retval;
	return err;
}

static int test_run_syscall(struct test_run *t)
{
	__typeof__(t->attr->test) *test = &t->attr->test;
	struct ctx_bytes ctx;
	int err;

	if (test->data_in || test->data_out || test->ctx_out || test->duration || test->repeat ||
	    test->flags || test->batch_size)
		return -EINVAL;
	err = bytes_in(t, &ctx, SYSCALL_CTX_MAX);
	if (err)
		return err;
	err = test_run_loop(t, &ctx);
	if (!err) {
		test->retval = t->retval;
		err = cmd_put(t->call, test->ctx_in, ctx.bytes, ctx.len);
	}
	hal_free(ctx.bytes);
	return err;
}

/* ---- the command ----------------------------------------------------------------------------- */

int64_t cmd_test_run(struct rt *rt, struct bpf_call *call)
{
	union bpf_attr *attr = &call->attr.bpf;
	struct test_run t = { .rt = rt, .call = call, .attr = attr };
	void *prog;
	int err;

	if (!attr->test.ctx_size_in != !attr->test.ctx_in ||
	    !attr->test.ctx_size_out != !attr->test.ctx_out)
		return -EINVAL;
	err = rt_handle_get(rt, attr->test.prog_fd, RT_PROG, &prog);
	if (err)
		return err;
	t.prog = prog;
	switch (prog_type_get(t.prog->type)->test_run) {
	case TEST_RUN_XDP:
		return test_run_xdp(&t);
	case TEST_RUN_SKB:
		return test_run_skb(&t);
	case TEST_RUN_RAW_TP:
		return test_run_raw_tp(&t);
	case TEST_RUN_SYSCALL:
		return test_run_syscall(&t);
	default:
		return -ENOTSUPP;
	}
}
