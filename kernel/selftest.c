/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/selftest.h"

#include <string.h>

#include "include/err.h"
#include "lib/fmt.h"

static const struct {
	const char *name;
	void (*run)(struct selftest *t);
} tests[] = {
	{ "wx", selftest_wx },		 { "xlat", selftest_xlat },
	{ "memory", selftest_memory },	 { "faults", selftest_faults },
	{ "timers", selftest_timers },	 { "cpus", selftest_cpus },
	{ "strings", selftest_strings },
};

void selftest_note(struct selftest *t, const char *fmt, ...)
{
	__builtin_va_list ap;
	int n;

	if (t->len + 1 >= t->size)
		return;
	__builtin_va_start(ap, fmt);
	n = fmt_vsnprintf(t->log + t->len, t->size - t->len, fmt, ap);
	__builtin_va_end(ap);
	t->len = MIN(t->len + (size_t)n, t->size - 1);
}

bool selftest_check(struct selftest *t, bool ok, const char *file, int line, const char *what)
{
	t->checks++;
	if (!ok) {
		t->failed++;
		selftest_note(t, "  failed: %s (%s:%d)\n", what, file, line);
	}
	return ok;
}

int selftest_run(const char *name, char *log, uint32_t len, uint32_t *failed)
{
	struct selftest t = { .log = log, .size = len };
	bool all = name[0] == 0 || strcmp(name, "all") == 0, found = false;

	if (len == 0)
		return -EINVAL;
	log[0] = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++) {
		uint32_t before = t.failed, checks = t.checks;

		if (!all && strcmp(name, tests[i].name))
			continue;
		found = true;
		tests[i].run(&t);
		selftest_note(&t, "%s %s: %u checks\n", t.failed == before ? "ok" : "FAILED",
			      tests[i].name, t.checks - checks);
	}
	if (!found) {
		for (unsigned int i = 0; i < ARRAY_SIZE(tests); i++)
			selftest_note(&t, "%s\n", tests[i].name);
		return -ENOENT;
	}
	*failed = t.failed;
	return (int)t.len;
}
