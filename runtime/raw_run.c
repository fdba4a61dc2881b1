/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BOARD_RAW_RUN: unverified bytecode over a block of memory, for instruction set tests. Nothing is
 * published; the program lives as long as the call.
 */
#include "runtime/cmd.h"

#include "bpf/interp.h"
#include "bpf/isa.h"
#include "bpf/verify.h"
#include "runtime/load.h"
#include "runtime/run.h"

#define RAW_MEM_MAX (1u << 20)

enum { RAW_INTERP, RAW_JIT, RAW_CHECKED };

static int check_attr(const struct rt *rt, const struct board_attr_raw *attr)
{
	if (!rt_knob(rt, KNOB_UNVERIFIED))
		return -EPERM;
	if (attr->mode > RAW_CHECKED)
		return -EINVAL;
	if (!attr->insn_cnt || attr->insn_cnt > BPF_PROG_INSNS_MAX || attr->mem_len > RAW_MEM_MAX)
		return -E2BIG;
	return 0;
}

/* Operands that name objects mean nothing here. */
static int check_operands(const struct bpf_insn *insns, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		if (insns[i].code != (BPF_LD | BPF_IMM | BPF_DW))
			continue;
		if (insns[i].src_reg && insns[i].src_reg != BPF_PSEUDO_FUNC)
			return -EINVAL;
		i++;
	}
	return 0;
}

static int make(struct bpf_call *call, const struct board_attr_raw *attr, struct bpf_prog *prog)
{
	uint64_t bytes = (uint64_t)attr->insn_cnt * sizeof(struct bpf_insn);
	const void *insns = call_in(call, attr->insns, bytes);
	const char *why;
	uint32_t bad;
	int err;

	if (!insns)
		return -EFAULT;
	prog->insns = hal_alloc(bytes);
	if (!prog->insns)
		return -ENOMEM;
	__builtin_memcpy(prog->insns, insns, bytes);
	prog->insn_cnt = attr->insn_cnt;
	prog->gpl = 1;
	prog->mode = attr->mode == RAW_CHECKED ? PROG_MODE_CHECKED : PROG_MODE_FAST;
	err = isa_check(prog->insns, prog->insn_cnt, &bad, &why);
	if (err) {
		hal_log(4, "raw run: insn %u: %s", bad, why);
		return err;
	}
	err = check_operands(prog->insns, prog->insn_cnt);
	if (!err)
		err = bpf_scan(prog, NULL);
	if (!err)
		err = interp_prepare(prog);
	return err;
}

static int run(struct rt *rt, struct board_attr_raw *attr, struct bpf_prog *prog, void *mem)
{
	const struct rt_platform *p = rt->platform;
	uint64_t limit_ms = (uint64_t)rt_knob(rt, KNOB_TEST_RUN_MS);
	uint64_t insns = p->insns_retired ? p->insns_retired(p->arg) : 0;
	uint64_t start_ns = hal_ktime_ns(), ret = 0;
	uint32_t repeat = MAX(attr->repeat, 1u);
	struct run_ctx rc;
	int err = 0;

	for (uint32_t i = 0; !err && i < repeat; i++) {
		rc.ctx = mem;
		rc.cookie = 0;
		rc.regions_nr = 0;
		if (mem)
			rc.regions[rc.regions_nr++] = (struct run_region){
				.base = (uintptr_t)mem,
				.size = attr->mem_len,
				.kind = RUN_REGION_MEM,
				.writable = 1,
			};
		err = run_prepared(prog, &rc, mem, (void *)(uintptr_t)attr->mem_len, &ret);
		if (!err && limit_ms && hal_ktime_ns() - start_ns > limit_ms * 1000000)
			err = -EINTR;
	}
	if (err == -EFAULT)
		prog_log_end(&rc.end);
	if (err)
		return err;
	attr->run_ns = (hal_ktime_ns() - start_ns) / repeat;
	attr->insns_retired = p->insns_retired ? p->insns_retired(p->arg) - insns : 0;
	attr->ret = ret;
	return 0;
}

static int run_on_copy(struct rt *rt, struct bpf_call *call, struct bpf_prog *prog)
{
	struct board_attr_raw *attr = &call->attr.board.raw;
	const void *in = call_in(call, attr->mem, attr->mem_len);
	void *mem = NULL;
	int err;

	if (!in)
		return -EFAULT;
	if (attr->mem_len) {
		mem = hal_alloc(attr->mem_len);
		if (!mem)
			return -ENOMEM;
		__builtin_memcpy(mem, in, attr->mem_len);
	}
	prog->rt = rt;
	err = run(rt, attr, prog, mem);
	if (!err)
		err = cmd_put(call, attr->mem, mem, attr->mem_len);
	hal_free(mem);
	return err;
}

int64_t cmd_raw_run(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_raw *attr = &call->attr.board.raw;
	struct bpf_prog *prog;
	int err = check_attr(rt, attr);

	if (err)
		return err;
	if (attr->mode == RAW_JIT)
		return -EOPNOTSUPP;
	prog = hal_alloc(sizeof(*prog));
	if (!prog)
		return -ENOMEM;
	err = make(call, attr, prog);
	if (!err)
		err = run_on_copy(rt, call, prog);
	load_prog_free(rt, prog);
	return err;
}
