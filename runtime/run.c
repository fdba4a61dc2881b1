/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/run.h"

#include "bpf/ctx.h"
#include "bpf/helpers.h"
#include "bpf/interp.h"
#include "lib/fmt.h"
#include "runtime/rt_int.h"

struct entry {
	struct bpf_prog *prog;
	void *r1, *r2;
	struct run_ctx *rc;
};

static uint64_t enter(void *arg)
{
	const struct entry *e = arg;

	switch (e->prog->mode) {
	case PROG_MODE_JIT:
		return e->prog->entry(e->r1, e->rc);
	case PROG_MODE_FAST:
		return interp_run_fast(e->prog, e->r1, e->r2, e->rc);
	default:
		return interp_run_checked(e->prog, e->r1, e->r2, e->rc);
	}
}

/* Start and end of a counted run. */
struct count {
	uint64_t start_ns, start_insns;
};

static void count_begin(const struct rt *rt, struct count *c)
{
	const struct rt_platform *p = rt->platform;

	c->start_insns = p->insns_retired ? p->insns_retired(p->arg) : 0;
	c->start_ns = hal_ktime_ns();
}

static void count_end(const struct rt *rt, const struct bpf_prog *prog, const struct count *c)
{
	const struct rt_platform *p = rt->platform;
	uint64_t ns = hal_ktime_ns() - c->start_ns;
	uint64_t insns = p->insns_retired ? p->insns_retired(p->arg) - c->start_insns : 0;
	/* A hook on this CPU may run the same program. */
	unsigned long flags = hal_irq_save();
	struct prog_stats *s = hal_percpu_ptr(prog->stats, hal_cpu_id());

	s->runs++;
	s->run_ns += ns;
	s->insns_retired += insns;
	hal_irq_restore(flags);
}

static void count_checked(struct rt *rt, const struct run_ctx *rc)
{
	__atomic_fetch_add(&rt->knobs[KNOB_CHECKED_INSNS], (int64_t)rc->insns, __ATOMIC_RELAXED);
}

static void count_abort(const struct bpf_prog *prog)
{
	unsigned long flags;

	if (!prog->stats)
		return;
	flags = hal_irq_save();
	((struct prog_stats *)hal_percpu_ptr(prog->stats, hal_cpu_id()))->aborts++;
	hal_irq_restore(flags);
}

int run_prepared(struct bpf_prog *prog, struct run_ctx *rc, void *r1, void *r2, uint64_t *ret)
{
	const struct rt *rt = prog->rt;
	struct entry entry = { prog, r1, r2, rc };
	bool counted = false;
	struct count count = { 0 };
	int err;

	rc->prog = prog;
	rc->cpu = hal_cpu_id();
	rc->tail_calls = 0;
	rc->depth = 0;
	rc->loops_left = BPF_LOOPS_MAX;
	rc->callbacks = 0;
	rc->deadline_ns = 0;
	rc->insns = 0;
	rc->insns_max = 0;
	rc->timer = NULL;
	rc->held_nr = 0;
	rc->seen_nr = 0;
	rc->checked = 0;
	rc->redirect_ifindex = 0;
	rc->redirect_flags = 0;
	rc->end.why = RUN_END_OK;
	if (rt) {
		uint64_t budget_ms = (uint64_t)READ_ONCE(rt->knobs[KNOB_RUN_BUDGET_MS]);

		if (budget_ms)
			rc->deadline_ns = hal_ktime_ns() + budget_ms * 1000000;
		counted = READ_ONCE(rt->stats_users) || READ_ONCE(rt->knobs[KNOB_STATS]);
	}
	if (counted)
		count_begin(rt, &count);
	err = hal_run_enter(rc, enter, &entry, ret);
	if (rt && rc->insns)
		count_checked(prog->rt, rc);
	if (unlikely(err)) {
		helper_release_held(rc);
		count_abort(prog);
		return err;
	}
	if (counted)
		count_end(rt, prog, &count);
	return 0;
}

int prog_run(struct bpf_prog *prog, void *ctx, uint64_t cookie, uint64_t *ret, struct run_end *end)
{
	struct run_ctx rc;
	void *r1 = ctx_run_begin(&rc, prog->type, ctx);
	int err;

	rc.cookie = cookie;
	err = run_prepared(prog, &rc, r1, NULL, ret);
	if (err && end)
		*end = rc.end;
	return err;
}

void rt_prog_sums(const struct bpf_prog *prog, struct rt_prog_sums *out)
{
	*out = (struct rt_prog_sums){ 0 };
	for (unsigned int cpu = 0; prog->stats && cpu < hal_cpu_count(); cpu++) {
		const struct prog_stats *s = hal_percpu_ptr(prog->stats, cpu);

		out->runs += READ_ONCE(s->runs);
		out->run_ns += READ_ONCE(s->run_ns);
		out->misses += READ_ONCE(s->misses);
	}
}

/* ---- telling about runs that were ended ------------------------------------------------------ */

static const char *const why_text[] = {
	[RUN_END_OK] = "ended",
	[RUN_END_FAULT] = "fault",
	[RUN_END_BAD_ACCESS] = "access outside the memory of the run",
	[RUN_END_BUDGET] = "time used up (knob bpf.run_budget_ms)",
	[RUN_END_LOOPS] = "too many bpf_loop iterations",
	[RUN_END_STACK] = "calls too deep",
	[RUN_END_BAD_INSN] = "instruction that cannot run",
	[RUN_END_BAD_CALL] = "helper refused its arguments",
};

/* The last line record at or before an instruction, or NULL. */
static const struct bpf_line_info *line_of(const struct bpf_prog *prog, uint32_t insn)
{
	uint32_t lo = 0, hi = prog->line_info_cnt;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (prog->line_info[mid].insn_off <= insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &prog->line_info[lo - 1] : NULL;
}

static void add_line(char *text, size_t room, size_t *len, const struct bpf_prog *prog,
		     uint32_t insn)
{
	const struct bpf_line_info *line = line_of(prog, insn);
	const char *file, *source;

	if (!line || !prog->btf)
		return;
	file = btf_name(prog->btf, line->file_name_off);
	source = btf_name(prog->btf, line->line_off);
	while (source && (*source == ' ' || *source == '\t'))
		source++;
	fmt_append(text, room, len, "; %s:%u: %s", file ? file : "?",
		   BPF_LINE_INFO_LINE_NUM(line->line_col), source ? source : "");
}

void prog_log_end(const struct run_end *end)
{
	const struct bpf_prog *prog = end->prog;
	const char *why = "ended";
	char text[256];
	size_t len = 0;

	if ((size_t)end->why < ARRAY_SIZE(why_text))
		why = why_text[end->why];
	if (prog && prog->id)
		fmt_append(text, sizeof(text), &len, "bpf: prog %u", prog->id);
	else
		fmt_append(text, sizeof(text), &len, "bpf: prog");
	if (prog && prog->name[0])
		fmt_append(text, sizeof(text), &len, " (%s)", prog->name);
	if (end->insn != ~0u)
		fmt_append(text, sizeof(text), &len, " insn %u", end->insn);
	fmt_append(text, sizeof(text), &len, ": %s", why);
	if (end->size)
		fmt_append(text, sizeof(text), &len, ": %s of %u bytes at %#llx",
			   end->write ? "store" : "load", end->size, (unsigned long long)end->addr);
	else if (end->addr)
		fmt_append(text, sizeof(text), &len, " at %#llx", (unsigned long long)end->addr);
	if (end->why == RUN_END_FAULT)
		fmt_append(text, sizeof(text), &len, ", esr %#llx, pc %#llx",
			   (unsigned long long)end->esr, (unsigned long long)end->pc);
	if (prog && end->insn != ~0u)
		add_line(text, sizeof(text), &len, prog, end->insn);
	hal_log(4, "%s\n", text);
}
