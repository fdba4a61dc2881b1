/* SPDX-License-Identifier: BSD-2-Clause */
/* Console commands about programs, maps and settings. */
#include <string.h>

#include "bpf/ctx.h"
#include "bpf/map.h"
#include "bpf/prog.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/commands.h"
#include "kernel/console.h"
#include "runtime/rt.h"

static struct rt *get_rt(void)
{
	struct rt *rt = console_get_rt();

	if (!rt)
		console_printf("no runtime\n");
	return rt;
}

static const char *const mode_names[] = {
	[PROG_MODE_CHECKED] = "checked",
	[PROG_MODE_FAST] = "fast",
	[PROG_MODE_JIT] = "jit",
};

static void sum_stats(const struct bpf_prog *prog, struct prog_stats *sum)
{
	*sum = (struct prog_stats){ 0 };
	for (unsigned int cpu = 0; prog->stats && cpu < hal_cpu_count(); cpu++) {
		const struct prog_stats *s = hal_percpu_ptr(prog->stats, cpu);

		sum->runs += READ_ONCE(s->runs);
		sum->run_ns += READ_ONCE(s->run_ns);
		sum->aborts += READ_ONCE(s->aborts);
	}
}

int command_progs(int argc, char **argv)
{
	struct rt *rt = get_rt();
	const struct prog_type *type;
	struct prog_stats sum;
	uint32_t id = 0;

	(void)argv;
	if (argc != 1)
		return -EINVAL;
	if (!rt)
		return -ENODEV;
	console_printf("    id  name             type            mode     insns  maps        runs  "
		       "   ns/run\n");
	while (rt_next_id(rt, RT_PROG, id, &id) == 0) {
		const struct bpf_prog *prog = rt_by_id(rt, RT_PROG, id);

		if (!prog)
			continue;
		sum_stats(prog, &sum);
		type = prog_type_get(prog->type);
		console_printf("%6u  %-16.16s %-14s  %-7s %6u  %4u  %10lu %10lu%s\n", id,
			       prog->name, type ? type->name : "?", mode_names[prog->mode],
			       prog->insn_cnt, prog->map_cnt, sum.runs,
			       sum.runs ? sum.run_ns / sum.runs : 0,
			       sum.aborts ? "  aborted runs" : "");
	}
	return 0;
}

int command_maps(int argc, char **argv)
{
	struct rt *rt = get_rt();
	uint32_t id = 0;

	(void)argv;
	if (argc != 1)
		return -EINVAL;
	if (!rt)
		return -ENODEV;
	console_printf(
		"    id  name             type              key  value  entries      bytes\n");
	while (rt_next_id(rt, RT_MAP, id, &id) == 0) {
		struct bpf_map *map = rt_by_id(rt, RT_MAP, id);

		if (!map)
			continue;
		console_printf("%6u  %-16.16s %-15s %5u  %5u  %7u %10lu\n", id, map->name,
			       map->type_row ? map->type_row->name : "?", map->key_size,
			       map->value_size, map->max_entries,
			       map->ops->mem_usage ? map->ops->mem_usage(map) : 0);
	}
	return 0;
}

struct knob_row {
	const char *name;
	const char *text;
	int64_t min, max;
};

static const struct knob_row knob_rows[] = {
#define KNOB(id, knob_name, dflt, least, most, flags, what)                                        \
	[KNOB_##id] = { .name = knob_name, .text = what, .min = least, .max = most },
#include "runtime/knobs.def"
#undef KNOB
};

static void print_knob(const struct rt *rt, unsigned int i)
{
	console_printf("  %-20s %12ld   %s\n", knob_rows[i].name, rt_knob(rt, (enum rt_knob)i),
		       knob_rows[i].text);
}

static int parse_i64(const char *text, int64_t *out)
{
	bool negative = *text == '-';
	int64_t v = 0;

	text += negative;
	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, *text - '0', &v))
			return -EINVAL;
	}
	*out = negative ? -v : v;
	return 0;
}

int command_knobs(int argc, char **argv)
{
	struct rt *rt = get_rt();
	int64_t value = 0;
	unsigned int i;
	int err;

	if (argc > 3 || (argc == 3 && parse_i64(argv[2], &value)))
		return -EINVAL;
	if (!rt)
		return -ENODEV;
	for (i = 0; i < KNOB_NR; i++) {
		if (argc == 1)
			print_knob(rt, i);
		else if (strcmp(knob_rows[i].name, argv[1]) == 0)
			break;
	}
	if (argc == 1)
		return 0;
	if (i == KNOB_NR) {
		console_printf("%.64s: no such setting\n", argv[1]);
		return -ENOENT;
	}
	if (argc == 3) {
		err = rt_knob_set(rt, argv[1], value);
		if (err) {
			console_printf("%s: not changed, error %d (%ld to %ld)\n", argv[1], -err,
				       knob_rows[i].min, knob_rows[i].max);
			return -ERANGE;
		}
	}
	print_knob(rt, i);
	return 0;
}
