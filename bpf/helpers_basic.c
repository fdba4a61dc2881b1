/* SPDX-License-Identifier: BSD-2-Clause */
/* Time, chance, identity, control and strings. */
#include <string.h>

#include "bpf/helpers.h"
#include "bpf/interp.h"
#include "bpf/prog.h"

/* Ticks of jiffies64 a second (CONFIG_HZ of Debian's arm64 kernel). */
#define HZ 250

HELPER_DEF(ktime_get_ns)
{
	return hal_ktime_ns();
}

/* The board never sleeps, so time since boot is the monotonic time. */
HELPER_DEF(ktime_get_boot_ns)
{
	return hal_ktime_ns();
}

/* Without a wall clock, TAI too counts from boot. */
HELPER_DEF(ktime_get_tai_ns)
{
	return hal_ktime_ns();
}

/* The time of the last tick. */
HELPER_DEF(ktime_get_coarse_ns)
{
	uint64_t tick_ns = 1000000000ull / HZ, now_ns = hal_ktime_ns();

	return now_ns - now_ns % tick_ns;
}

HELPER_DEF(jiffies64)
{
	return hal_ktime_ns() / (1000000000ull / HZ);
}

HELPER_DEF(get_prandom_u32)
{
	return (uint32_t)hal_random_u64();
}

HELPER_DEF(get_smp_processor_id)
{
	return hal_cpu_id();
}

HELPER_DEF(get_numa_node_id)
{
	return 0;
}

/* ---- who runs: there are no processes, so the current task is always the idle one, root's ------
 */

static const char task_comm[16] = "barebpf";

HELPER_DEF(get_current_pid_tgid)
{
	return 0;
}

HELPER_DEF(get_current_uid_gid)
{
	return 0;
}

HELPER_DEF(get_current_comm)
{
	char *out = helper_ptr(r1);
	size_t size = (size_t)r2, n;

	if (!size)
		return helper_ret(-EINVAL);
	n = MIN(size, sizeof(task_comm));
	memset(out, 0, size);
	memcpy(out, task_comm, n);
	out[size - 1] = '\0';
	return 0;
}

/* An address that stands for the current task: one of its own for each CPU's idle task. */
HELPER_DEF(get_current_task)
{
	return (uintptr_t)hal_run_current();
}

/* ---- control --------------------------------------------------------------------------------- */

/*
 * A tail call is never a call: interpreter and JIT do it themselves (interp_tail_call). What comes
 * back here is a call through a function pointer, which fails as one out of range does.
 */
HELPER_DEF(tail_call)
{
	return helper_ret(-EINVAL);
}

HELPER_DEF(loop)
{
	struct run_ctx *rc = hal_run_current();
	uint32_t nr = (uint32_t)r1;

	if (r4)
		return helper_ret(-EINVAL);
	if (nr > BPF_LOOPS_MAX)
		return helper_ret(-E2BIG);
	for (uint32_t i = 0; i < nr; i++) {
		if (!rc->loops_left) {
			rc->end = (struct run_end){ .why = RUN_END_LOOPS,
						    .insn = ~0u,
						    .prog = rc->prog };
			hal_run_abort(rc);
		}
		rc->loops_left--;
		if (bpf_call_function(r2, i, r3, 0, 0, 0))
			return i + 1;
	}
	return nr;
}

/* ---- strings --------------------------------------------------------------------------------- */

HELPER_DEF(strncmp)
{
	const unsigned char *a = helper_ptr(r1), *b = helper_ptr(r3);

	for (uint32_t i = 0; i < (uint32_t)r2; i++) {
		if (a[i] != b[i])
			return helper_ret(a[i] < b[i] ? -1 : 1);
		if (!a[i])
			break;
	}
	return 0;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static uint32_t digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0');
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'z' ? (uint32_t)(c - 'a') + 10 : ~0u;
}

struct number {
	uint64_t magnitude;
	bool negative;
};

/* Base by prefix where it is 0: 0x, a leading 0, else decimal; a 0x is also skipped in base 16. */
static uint32_t number_base(const char *text, size_t len, size_t *at, uint32_t base)
{
	bool zero = *at < len && text[*at] == '0';
	bool hex = zero && *at + 2 < len && (text[*at + 1] | 0x20) == 'x' &&
		   digit_value(text[*at + 2]) < 16;

	if (!base)
		base = hex ? 16 : zero ? 8 : 10;
	if (base == 16 && hex)
		*at += 2;
	return base;
}

/*
 * A number at the start of text: spaces, sign, digits. Characters used, or -EINVAL (no number, bad
 * flags), -ERANGE (more than 64 bits).
 */
static int64_t parse_number(const char *text, size_t len, uint64_t flags, struct number *out)
{
	uint64_t base = flags & 31, value = 0;
	size_t at = 0, first;

	if ((base && base != 8 && base != 10 && base != 16) || flags & ~31ull || !len)
		return -EINVAL;
	while (at < len && is_space(text[at]))
		at++;
	if (at == len)
		return -EINVAL;
	out->negative = text[at] == '-';
	if (out->negative)
		at++;
	base = number_base(text, len, &at, (uint32_t)base);
	for (first = at; at < len && digit_value(text[at]) < base; at++) {
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, digit_value(text[at]), &value))
			return -ERANGE;
	}
	if (at == first)
		return -EINVAL;
	out->magnitude = value;
	return (int64_t)at;
}

HELPER_DEF(strtol)
{
	struct number number;
	int64_t used = parse_number(helper_ptr(r1), (size_t)r2, r3, &number);
	int64_t value;

	if (used < 0)
		return helper_ret(used);
	if (number.magnitude > (uint64_t)INT64_MAX + number.negative)
		return helper_ret(-ERANGE);
	value = (int64_t)(number.negative ? -number.magnitude : number.magnitude);
	memcpy(helper_ptr(r4), &value, sizeof(value));
	return helper_ret(used);
}

HELPER_DEF(strtoul)
{
	struct number number;
	int64_t used = parse_number(helper_ptr(r1), (size_t)r2, r3, &number);

	if (used < 0)
		return helper_ret(used);
	if (number.negative)
		return helper_ret(-EINVAL);
	memcpy(helper_ptr(r4), &number.magnitude, sizeof(number.magnitude));
	return helper_ret(used);
}
