/* SPDX-License-Identifier: BSD-2-Clause */
#include "support_run.h"

#include "bpf/ctx.h"
#include "support_vectors.h"

const enum prog_mode modes[2] = { PROG_MODE_FAST, PROG_MODE_CHECKED };

uint64_t run_mode(const char *text, struct bpf_map **maps, uint32_t nr, enum prog_mode mode)
{
	uint8_t packet[64] = { 1, 2, 3, 4 };
	struct ctx_xdp xdp = { .pkt = { packet, packet + 64, packet, packet, packet + 64 } };
	struct run_ctx rc = { .insns_max = 100000 };
	struct bpf_prog *prog =
		test_prog_asm(BPF_PROG_TYPE_XDP, text, maps, nr, mode == PROG_MODE_FAST);
	void *r1 = ctx_run_begin(&rc, BPF_PROG_TYPE_XDP, &xdp);
	uint64_t ret = 0;

	if (!prog)
		return ENDED(99);
	prog->mode = mode;
	if (test_prog_run(prog, mode, r1, NULL, &rc, &ret))
		ret = ENDED(rc.end.why);
	test_prog_free(prog);
	return ret;
}

uint64_t run_checked(const char *text, struct bpf_map **maps, uint32_t nr)
{
	return run_mode(text, maps, nr, PROG_MODE_CHECKED);
}

uint64_t run(const char *text, struct bpf_map **maps, uint32_t nr)
{
	uint64_t fast = run_mode(text, maps, nr, PROG_MODE_FAST);
	uint64_t checked = run_checked(text, maps, nr);

	return fast == checked ? fast : ENDED(98);
}
