/* SPDX-License-Identifier: BSD-2-Clause */
/* The structure of a program: functions, branch targets, what its calls refer to. */
#include "bpf/scan.h"

#include "bpf/helper.h"
#include "bpf/isa.h"
#include "bpf/verify.h"
#include "include/err.h"
#include "include/hal.h"

/*
 * What libbpf writes where a program cannot run on this kernel, reachable or not: a call of one
 * number for a failed CO-RE relocation, of numbers from another on for maps and functions that are
 * not there. Such a call ends the run if it is reached.
 */
#define POISON_CORE 0x0bad2310
#define POISON_BASE 2000000000

struct scan {
	struct bpf_prog *prog;
	struct bpf_log *log;
};

static bool is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static bool is_call(const struct bpf_insn *insn, uint8_t src)
{
	return insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == src;
}

static bool refers_to_function(const struct bpf_insn *insn)
{
	return is_call(insn, BPF_PSEUDO_CALL) ||
	       (is_wide(insn) && insn->src_reg == BPF_PSEUDO_FUNC);
}

static bool is_jump(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

static int encoding_check(struct scan *s)
{
	const char *why;
	uint32_t bad;

	if (!s->prog->insn_cnt || s->prog->insn_cnt > BPF_PROG_INSNS_MAX)
		return -E2BIG;
	if (!isa_check(s->prog->insns, s->prog->insn_cnt, &bad, &why))
		return 0;
	bpf_log_printf(s->log, "insn %u: %s\n", bad, why);
	return -EINVAL;
}

/* ---- functions ------------------------------------------------------------------------------- */

/* Insert a start into the sorted list, once. */
static int subprog_add(struct scan *s, int64_t start, uint32_t from)
{
	struct bpf_prog *prog = s->prog;
	uint32_t at = prog->subprog_cnt;

	if (start < 0 || start >= prog->insn_cnt) {
		bpf_log_printf(s->log, "call to invalid destination from insn %u\n", from);
		return -EINVAL;
	}
	/* Second slots are all zeros, which is no opcode. */
	if (!prog->insns[start].code) {
		bpf_log_printf(s->log, "function starts in the middle of ldimm64 insn %lld\n",
			       (long long)start);
		return -EINVAL;
	}
	while (at && prog->subprogs[at - 1].start > (uint64_t)start)
		at--;
	if (at && prog->subprogs[at - 1].start == (uint64_t)start)
		return 0;
	if (prog->subprog_cnt == BPF_SUBPROGS_MAX) {
		bpf_log_printf(s->log, "too many subprograms\n");
		return -E2BIG;
	}
	for (uint32_t i = prog->subprog_cnt; i > at; i--)
		prog->subprogs[i] = prog->subprogs[i - 1];
	prog->subprogs[at] = (struct bpf_subprog){ .start = (uint32_t)start };
	prog->subprog_cnt++;
	return 0;
}

static int subprogs_find(struct scan *s)
{
	struct bpf_prog *prog = s->prog;
	int err = subprog_add(s, 0, 0);

	for (uint32_t i = 0; !err && i < prog->insn_cnt; i++) {
		const struct bpf_insn *insn = &prog->insns[i];

		if (refers_to_function(insn))
			err = subprog_add(s, isa_target(insn, i), i);
		if (is_wide(insn))
			i++;
	}
	for (uint32_t i = 0; i < prog->subprog_cnt; i++)
		prog->subprogs[i].end =
			i + 1 < prog->subprog_cnt ? prog->subprogs[i + 1].start : prog->insn_cnt;
	return err;
}

/* ---- each function --------------------------------------------------------------------------- */

static int jump_check(struct scan *s, const struct bpf_subprog *sub, uint32_t i)
{
	int64_t target = isa_target(&s->prog->insns[i], i);

	if (target < sub->start || target >= sub->end) {
		bpf_log_printf(s->log, "jump out of range from insn %u to %lld\n", i,
			       (long long)target);
		return -EINVAL;
	}
	if (!s->prog->insns[target].code) {
		bpf_log_printf(s->log, "jump into the middle of ldimm64 insn %lld\n",
			       (long long)target);
		return -EINVAL;
	}
	return 0;
}

static void mark_callback(struct bpf_prog *prog, int64_t start)
{
	for (uint32_t i = 0; i < prog->subprog_cnt; i++) {
		if (prog->subprogs[i].start == (uint64_t)start)
			prog->subprogs[i].is_callback = 1;
	}
	prog->aux[start].flags |= AUX_CALLBACK;
}

static bool uses_stack(const struct bpf_insn *insn, const struct isa_row *row)
{
	return (row->flags & ISA_F_READS_SRC && insn->src_reg == BPF_REG_10) ||
	       (row->flags & ISA_F_READS_DST && insn->dst_reg == BPF_REG_10);
}

/* What an instruction says about its function and program. */
static void note_insn(struct bpf_prog *prog, struct bpf_subprog *sub, uint32_t i,
		      const struct isa_row *row)
{
	const struct bpf_insn *insn = &prog->insns[i];

	if (uses_stack(insn, row))
		sub->stack_bytes = BPF_STACK_MAX;
	if (row->flags & ISA_F_CALL)
		sub->is_leaf = 0;
	if (row->id == ISA_CALL_LOCAL)
		prog->has_subprog_calls = 1;
	if (row->id == ISA_CALL_HELPER && insn->imm == BPF_FUNC_tail_call)
		sub->has_tail_call = prog->has_tail_call = 1;
	if (row->group == GROUP_PACKET)
		sub->has_ld_abs = 1;
	if (row->id == ISA_LD_FUNC)
		mark_callback(prog, isa_target(insn, i));
}

static int subprog_scan(struct scan *s, struct bpf_subprog *sub)
{
	uint32_t last = sub->start;

	sub->is_leaf = 1;
	for (uint32_t i = sub->start; i < sub->end; i++) {
		const struct bpf_insn *insn = &s->prog->insns[i];
		const char *why;
		const struct isa_row *row = isa_find(insn, i + 1 < s->prog->insn_cnt, &why);
		int err;

		last = i;
		s->prog->aux[i].orig_idx = i;
		note_insn(s->prog, sub, i, row);
		err = is_jump(insn) ? jump_check(s, sub, i) : 0;
		if (err)
			return err;
		if (row->flags & ISA_F_WRITES_DST && insn->dst_reg == BPF_REG_10) {
			bpf_log_printf(s->log, "%u: frame pointer is read only\n", i);
			return -EACCES;
		}
		if (row->flags & ISA_F_WIDE && ++i < s->prog->insn_cnt)
			s->prog->aux[i].orig_idx = i;
	}
	if (s->prog->insns[last].code != (BPF_JMP | BPF_EXIT) &&
	    (!is_jump(&s->prog->insns[last]) || BPF_OP(s->prog->insns[last].code) != BPF_JA)) {
		bpf_log_printf(s->log, "last insn is not an exit or jmp\n");
		return -EINVAL;
	}
	return 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int helper_check(struct scan *s, uint32_t i)
{
	struct bpf_prog *prog = s->prog;
	uint32_t id = (uint32_t)prog->insns[i].imm;
	const struct bpf_helper *helper = bpf_helper_get(id);

	if (!helper) {
		if (id == POISON_CORE || id >= POISON_BASE)
			return 0;
		bpf_log_printf(s->log, "%u: invalid func unknown#%u\n", i, id);
		return -EINVAL;
	}
	if (!(helper->progs >> prog->type & 1)) {
		bpf_log_printf(s->log, "%u: program of this type cannot use helper bpf_%s#%u\n", i,
			       helper->name, id);
		return -EINVAL;
	}
	if (helper->flags & HELPER_GPL && !prog->gpl) {
		bpf_log_printf(s->log,
			       "%u: cannot call GPL-restricted function from non-GPL compatible "
			       "program\n",
			       i);
		return -EINVAL;
	}
	return 0;
}

static int calls_check(struct scan *s)
{
	struct bpf_prog *prog = s->prog;

	for (uint32_t i = 0; i < prog->insn_cnt; i++) {
		const struct bpf_insn *insn = &prog->insns[i];
		int err = 0;

		if (prog->aux[i].flags & AUX_REACHED && is_call(insn, 0))
			err = helper_check(s, i);
		if (prog->aux[i].flags & AUX_REACHED && is_call(insn, BPF_PSEUDO_KFUNC_CALL) &&
		    insn->imm < POISON_BASE) {
			bpf_log_printf(s->log, "%u: calling kernel function is not allowed\n", i);
			err = -EINVAL;
		}
		if (err)
			return err;
		if (is_wide(insn))
			i++;
	}
	return 0;
}

static int scan_all(struct scan *s)
{
	int err = subprogs_find(s);

	for (uint32_t i = 0; !err && i < s->prog->subprog_cnt; i++)
		err = subprog_scan(s, &s->prog->subprogs[i]);
	if (!err)
		err = scan_flow(s->prog);
	if (!err)
		err = calls_check(s);
	return err;
}

int bpf_scan(struct bpf_prog *prog, struct bpf_log *log)
{
	struct scan s = { prog, log };
	int err = encoding_check(&s);

	if (err)
		return err;
	hal_free(prog->aux);
	hal_free(prog->subprogs);
	prog->subprog_cnt = 0;
	prog->aux = hal_alloc(prog->insn_cnt * sizeof(*prog->aux));
	prog->subprogs = hal_alloc(BPF_SUBPROGS_MAX * sizeof(*prog->subprogs));
	err = prog->aux && prog->subprogs ? scan_all(&s) : -ENOMEM;
	if (err) {
		hal_free(prog->aux);
		hal_free(prog->subprogs);
		prog->aux = NULL;
		prog->subprogs = NULL;
		prog->subprog_cnt = 0;
	}
	return err;
}
