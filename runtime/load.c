/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF_PROG_LOAD. Checks come in Linux's order, so that a client that probes for features gets the
 * errno it knows; nothing is findable before everything has succeeded.
 */
#include "runtime/load.h"

#include "bpf/ctx.h"
#include "bpf/interp.h"
#include "bpf/isa.h"
#include "bpf/verify.h"
#include "bpf/xlate.h"
#include "runtime/cmd.h"

#define LICENSE_BYTES_MAX 128

#define PROG_FLAGS                                                                                 \
	(BPF_F_STRICT_ALIGNMENT | BPF_F_ANY_ALIGNMENT | BPF_F_TEST_STATE_FREQ | BPF_F_SLEEPABLE |  \
	 BPF_F_TEST_RND_HI32 | BPF_F_XDP_HAS_FRAGS | BPF_F_XDP_DEV_BOUND_ONLY |                    \
	 BPF_F_TEST_REG_INVARIANTS | BPF_F_TOKEN_FD)

uint64_t load_features(void)
{
	return BOARD_FEAT_VERIFIER;
}

/* ---- attr ------------------------------------------------------------------------------------ */

/* Targets in other programs or in kernel BTF: no type on this board takes one. */
static int check_target(const struct rt *rt, const union bpf_attr *attr)
{
	const struct rt_handle *h;
	int err;

	if (!attr->attach_prog_fd)
		return attr->attach_btf_id ? -EINVAL : 0;
	h = rt_handle_find(rt, attr->attach_prog_fd, &err);
	return h && h->kind == RT_BTF ? -ENOTSUPP : -EINVAL;
}

static int check_attr(const struct rt *rt, const union bpf_attr *attr)
{
	int err;

	if (attr->prog_flags & ~(uint32_t)PROG_FLAGS)
		return -EINVAL;
	if (attr->prog_flags & BPF_F_TOKEN_FD)
		return cmd_token_error(rt, (uint32_t)attr->prog_token_fd);
	if (!attr->insn_cnt || attr->insn_cnt > BPF_PROG_INSNS_MAX)
		return -E2BIG;
	err = check_target(rt, attr);
	if (err)
		return err;
	if (attr->prog_type == BPF_PROG_TYPE_SYSCALL && attr->expected_attach_type)
		return -EINVAL;
	return 0;
}

static bool license_is_gpl(const char *license)
{
	static const char *const names[] = {
		"GPL",		"GPL v2",	"GPL and additional rights",
		"Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!__builtin_strcmp(license, names[i]))
			return true;
	}
	return false;
}

/* What Linux reads from the client's memory, and the checks between. */
static int take_program(struct load *l)
{
	const union bpf_attr *attr = l->attr;
	struct bpf_prog *prog = l->prog;
	uint64_t bytes = (uint64_t)attr->insn_cnt * sizeof(*prog->orig);
	const void *insns = call_in(l->call, attr->insns, bytes);
	const char *license;

	if (!insns)
		return -EFAULT;
	license = call_str(l->call, attr->license, LICENSE_BYTES_MAX);
	/* A longer licence is cut, so it is none that we know. */
	if (!license && !call_in(l->call, attr->license, LICENSE_BYTES_MAX - 1))
		return -EFAULT;
	prog->gpl = license && license_is_gpl(license);
	/* There are no network devices to bind a program to. */
	if (attr->prog_ifindex || !prog_type_get((enum bpf_prog_type)attr->prog_type))
		return -EINVAL;
	prog->type = (enum bpf_prog_type)attr->prog_type;
	prog->expected_attach_type = (enum bpf_attach_type)attr->expected_attach_type;
	prog->flags = attr->prog_flags;
	prog->load_time_ns = hal_ktime_ns();
	if (cmd_obj_name(prog->name, attr->prog_name))
		return -EINVAL;
	prog->orig = hal_alloc(bytes);
	if (!prog->orig)
		return -ENOMEM;
	__builtin_memcpy(prog->orig, insns, bytes);
	prog->orig_cnt = attr->insn_cnt;
	return 0;
}

/* ---- judging --------------------------------------------------------------------------------- */

static int check_sleepable(struct load *l)
{
	bool sleepable = l->prog->flags & BPF_F_SLEEPABLE;

	if (l->prog->type == BPF_PROG_TYPE_SYSCALL) {
		if (sleepable)
			return 0;
		bpf_log_printf(&l->log.log, "Syscall programs can only be sleepable\n");
		return -EINVAL;
	}
	if (!sleepable)
		return 0;
	bpf_log_printf(&l->log.log, "Only fentry/fexit/fmod_ret, lsm, iter, uprobe, and "
				    "struct_ops programs can be sleepable\n");
	return -EINVAL;
}

static int check_encoding(struct load *l)
{
	const struct bpf_prog *prog = l->prog;
	const char *why;
	uint32_t bad;

	/* The verifier judges the other fields, of instructions that can be reached. */
	if (!isa_check_opcodes(prog->orig, prog->orig_cnt, &bad, &why))
		return 0;
	bpf_log_printf(&l->log.log, "%s\n", why);
	bpf_log_printf(&l->log.log, "insn %u: code %02x dst r%u src r%u off %d imm %#x\n", bad,
		       prog->orig[bad].code, prog->orig[bad].dst_reg, prog->orig[bad].src_reg,
		       prog->orig[bad].off, (uint32_t)prog->orig[bad].imm);
	return -EINVAL;
}

/* A copy of the instructions to work on, its map operands resolved. */
static int make_insns(struct load *l)
{
	struct bpf_prog *prog = l->prog;
	size_t bytes = (size_t)prog->orig_cnt * sizeof(*prog->insns);
	const char *why = NULL;
	int err;

	prog->insns = hal_alloc(bytes);
	if (!prog->insns)
		return -ENOMEM;
	__builtin_memcpy(prog->insns, prog->orig, bytes);
	prog->insn_cnt = prog->orig_cnt;
	err = xlate_resolve_maps(prog, &why);
	if (err && why)
		bpf_log_printf(&l->log.log, "%s\n", why);
	return err;
}

enum { RUN_MODE_BEST, RUN_MODE_CHECKED, RUN_MODE_FAST, RUN_MODE_JIT };

/*
 * For tests and for learning what a program would do: with both knobs set the verifier is left out,
 * and the interpreter judges each access when it happens.
 */
static bool must_verify(const struct rt *rt)
{
	return !rt_knob(rt, KNOB_UNVERIFIED) || rt_knob(rt, KNOB_RUN_MODE) != RUN_MODE_CHECKED;
}

static int judge(struct load *l)
{
	struct bpf_prog *prog = l->prog;
	struct verify_verdict verdict = { 0 };
	int err;

	if (!must_verify(l->rt))
		return bpf_scan(prog, &l->log.log);
	err = bpf_verify(prog, &l->log.log, &verdict);
	prog->verified_insns = verdict.processed;
	prog->verified = !err;
	return err;
}

/* Test runs give a context of the client's size: it must hold what the program looks at. */
static void find_max_ctx_offset(struct bpf_prog *prog)
{
	for (uint32_t i = 0; i < prog->insn_cnt; i++) {
		const struct bpf_insn_aux *aux = &prog->aux[i];

		if (aux->ptr == AUX_PTR_CTX)
			prog->max_ctx_offset = MAX(prog->max_ctx_offset, aux->ctx_off + aux->size);
	}
}

/* The part of a load that writes to the client's log. */
static int check_program(struct load *l)
{
	int err = check_encoding(l);

	if (!err)
		err = load_info(l);
	if (!err) {
		load_tag(l->prog->orig, l->prog->orig_cnt, l->prog->tag);
		err = load_maps(l);
	}
	if (!err)
		err = make_insns(l);
	if (!err)
		err = check_sleepable(l);
	if (!err)
		err = judge(l);
	if (err)
		return err;
	find_max_ctx_offset(l->prog);
	return load_finish(l->rt, l->prog);
}

/* ---- how it will run ------------------------------------------------------------------------- */

static enum prog_mode choose_mode(const struct rt *rt, const struct bpf_prog *prog)
{
	if (!prog->verified || rt_knob(rt, KNOB_RUN_MODE) == RUN_MODE_CHECKED)
		return PROG_MODE_CHECKED;
	return PROG_MODE_FAST;
}

int load_finish(struct rt *rt, struct bpf_prog *prog)
{
	int err = 0;

	prog->rt = rt;
	prog->mode = choose_mode(rt, prog);
	/* The checked interpreter performs context accesses by table: it keeps the UAPI offsets. */
	if (prog->mode != PROG_MODE_CHECKED)
		err = xlate_finish(prog);
	if (!err)
		err = interp_prepare(prog);
	if (err)
		return err;
	prog->stats = hal_percpu_alloc(sizeof(struct prog_stats), 8);
	return prog->stats ? 0 : -ENOMEM;
}

/* Prog arrays take programs of one kind; whoever uses one for tail calls is of that kind too. */
static int check_prog_arrays(const struct bpf_prog *prog)
{
	for (uint32_t i = 0; i < prog->map_cnt; i++) {
		int err = 0;

		if (prog->maps[i]->type == BPF_MAP_TYPE_PROG_ARRAY)
			err = bpf_prog_array_check(prog->maps[i], prog);
		if (err)
			return err;
	}
	return 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int load_prog(struct load *l, uint32_t *log_true_size)
{
	const union bpf_attr *attr = l->attr;
	int err = take_program(l), log_err;

	if (!err)
		err = load_log_begin(&l->log, attr->log_level, attr->log_buf, attr->log_size);
	if (err)
		return err;
	err = check_program(l);
	log_err = load_log_end(&l->log, l->call, attr->log_buf, log_true_size);
	if (log_err)
		err = log_err;
	if (!err)
		err = rt_id_reserve(l->rt, RT_PROG);
	if (!err)
		err = rt_handle_reserve(l->rt);
	if (!err)
		err = check_prog_arrays(l->prog);
	return err;
}

int64_t cmd_prog_load(struct rt *rt, struct bpf_call *call)
{
	struct load l = { .rt = rt, .call = call, .attr = &call->attr.bpf };
	uint32_t log_true_size = 0;
	int err = check_attr(rt, l.attr);

	if (err)
		return err;
	l.prog = hal_alloc(sizeof(*l.prog));
	if (!l.prog)
		return -ENOMEM;
	err = load_prog(&l, &log_true_size);
	call->attr.bpf.log_true_size = log_true_size;
	if (err) {
		load_prog_free(rt, l.prog);
		return err;
	}
	l.prog->refs = 1;
	rt_id_publish(rt, RT_PROG, l.prog);
	return rt_handle_return(rt, call, RT_PROG, l.prog, RT_PERM_ALL);
}

void load_prog_free(struct rt *rt, struct bpf_prog *prog)
{
	for (uint32_t i = 0; i < prog->map_cnt; i++)
		bpf_map_put(prog->maps[i]);
	if (prog->btf)
		rt_btf_put(rt, prog->btf);
	bpf_prog_free_parts(prog);
	hal_free(prog);
}

uint64_t load_prog_bytes(const struct bpf_prog *prog)
{
	uint64_t bytes = sizeof(*prog);

	bytes += (uint64_t)prog->orig_cnt * sizeof(*prog->orig);
	bytes += prog->insn_cnt * (uint64_t)(sizeof(*prog->insns) + sizeof(*prog->aux));
	bytes += prog->subprog_cnt * sizeof(*prog->subprogs);
	bytes += prog->map_cnt * sizeof(*prog->maps);
	bytes += prog->func_info_cnt * sizeof(*prog->func_info);
	bytes += prog->line_info_cnt * sizeof(*prog->line_info);
	bytes += hal_cpu_count() * sizeof(struct prog_stats);
	return bytes;
}
