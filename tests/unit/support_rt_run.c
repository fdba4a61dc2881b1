/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/support_rt_run.h"

uint8_t packet[64];

struct bpf_call *run_call(int64_t prog, uint32_t size)
{
	struct bpf_call *c = rt_call(BPF_PROG_TEST_RUN);

	c->attr.bpf.test.prog_fd = (uint32_t)prog;
	c->attr.bpf.test.data_size_in = size;
	rt_in(&c->attr.bpf.test.data_in, packet, size);
	return c;
}

int64_t run_value(struct rt *rt, int64_t prog)
{
	struct bpf_call *c = run_call(prog, sizeof(packet));
	int64_t ret = rt_do(rt);

	if (!ret)
		ret = c->attr.bpf.test.retval;
	rt_call_end();
	return ret;
}

int64_t run_unverified(struct rt *rt)
{
	int64_t ret = rt_knob_put(rt, "bpf.unverified", 1);

	return ret ? ret : rt_knob_put(rt, "bpf.run_mode", 1);
}
