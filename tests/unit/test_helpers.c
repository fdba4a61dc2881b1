/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of helpers; time, strings, formats, reads. */
#include "test.h"

#include "bpf/format.h"
#include "bpf/helpers.h"
#include "bpf/probe.h"
#include "hal_host.h"
#include "include/barebpf_helpers.h"
#include "include/err.h"

#define CALL(name, ...) CALL5(name, __VA_ARGS__, 0, 0, 0, 0, 0)
#define CALL5(name, a, b, c, d, e, ...)                                                            \
	((int64_t)helper_##name((uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d),        \
				(uint64_t)(e)))

/* ---- the table --------------------------------------------------------------------------------
 */

TEST(rows_are_in_order_and_found)
{
	const struct bpf_helper *h, *last = NULL;
	uint32_t n = 0;

	for (; (h = bpf_helper_at(n)) != NULL; n++) {
		CHECK(h->fn && h->name && h->progs);
		CHECK(!last || last->id < h->id);
		CHECK(bpf_helper_get(h->id) == h);
		last = h;
	}
	CHECK(n > 80);
	CHECK(!bpf_helper_get(0));
	CHECK(!bpf_helper_get(0xffffffff));
	CHECK(!bpf_helper_get(BPF_FUNC_sk_lookup_tcp));
	CHECK_STR(bpf_helper_get(1)->name, "map_lookup_elem");
}

static bool is_mem(uint8_t arg)
{
	return arg == ARG_PTR_TO_MEM || arg == ARG_PTR_TO_MEM_OR_NULL ||
	       arg == ARG_PTR_TO_UNINIT_MEM || arg == ARG_PTR_TO_MEM_RW;
}

static bool is_size(uint8_t arg)
{
	return arg == ARG_CONST_SIZE || arg == ARG_CONST_SIZE_OR_ZERO;
}

/* What readers of the rows rely on. */
TEST(rows_are_consistent)
{
	const struct bpf_helper *h;

	for (uint32_t n = 0; (h = bpf_helper_at(n)) != NULL; n++) {
		bool takes_map = false, ended = false;

		for (int i = 0; i < 5; i++) {
			bool sized = i < 4 && is_size(h->arg[i + 1]);

			takes_map |= h->arg[i] == ARG_CONST_MAP_PTR;
			/* No argument after a gap. */
			CHECK(!ended || h->arg[i] == ARG_NONE);
			ended |= h->arg[i] == ARG_NONE;
			/* Memory and its size stand together. */
			CHECK(is_mem(h->arg[i]) == sized);
		}
		if (takes_map != (h->maps != 0) && h->id != BPF_FUNC_timer_init)
			TEST_FAIL("%s: map column", h->name);
	}
}

/* ---- time, identity ---------------------------------------------------------------------------
 */

TEST(clocks)
{
	hal_host_set_time_ns(5000000123);
	CHECK(CALL(ktime_get_ns, 0) >= 5000000123);
	CHECK(CALL(ktime_get_boot_ns, 0) >= 5000000123);
	CHECK(CALL(ktime_get_tai_ns, 0) >= 5000000123);
	CHECK_EQ(CALL(ktime_get_coarse_ns, 0), 5000000000);
	CHECK_EQ(CALL(jiffies64, 0), 1250);
}

TEST(identity)
{
	char comm[16], small[4];

	hal_host_set_cpu(2);
	CHECK_EQ(CALL(get_smp_processor_id, 0), 2);
	CHECK_EQ(CALL(get_numa_node_id, 0), 0);
	CHECK_EQ(CALL(get_current_comm, comm, sizeof(comm)), 0);
	CHECK_STR(comm, "barebpf");
	CHECK_EQ(CALL(get_current_comm, small, sizeof(small)), 0);
	CHECK_STR(small, "bar");
	CHECK_EQ(CALL(get_current_comm, small, 0), -EINVAL);
}

TEST(chance)
{
	uint64_t seen = 0;

	for (int i = 0; i < 100; i++) {
		uint64_t v = (uint64_t)CALL(get_prandom_u32, 0);

		CHECK(v <= UINT32_MAX);
		seen |= v;
	}
	CHECK_EQ(seen, UINT32_MAX);
}

/* ---- the board's own ---------------------------------------------------------------------------
 */

TEST(board_devices)
{
	CHECK_EQ(CALL(board_id, 0), BOARD_ID_QEMU_VIRT);
	CHECK(CALL(board_counter, 0) > 0);
	CHECK_EQ(CALL(board_counter_hz, 0), 62500000);
	hal_host_set_pin(3, true);
	CHECK_EQ(CALL(board_gpio_get, 3), 1);
	CHECK_EQ(CALL(board_gpio_get, 2), 0);
	CHECK_EQ(CALL(board_gpio_direction, 2, BOARD_GPIO_OUT), 0);
	CHECK(hal_host_pin_is_output(2));
	CHECK_EQ(CALL(board_gpio_set, 2, 1), 0);
	CHECK_EQ(CALL(board_gpio_get, 2), 1);
	CHECK_EQ(CALL(board_gpio_direction, 2, BOARD_GPIO_IN), 0);
	CHECK(!hal_host_pin_is_output(2));
	CHECK_EQ(CALL(board_gpio_direction, 2, 2), -EINVAL);
	CHECK_EQ(CALL(board_gpio_set, 2, 2), -EINVAL);
	CHECK_EQ(CALL(board_gpio_get, 8), -EINVAL);
	CHECK_EQ(CALL(board_gpio_get, 7), -EBUSY);
	hal_host_set_gpio(false);
	CHECK_EQ(CALL(board_gpio_get, 3), -ENODEV);
}

TEST(board_line)
{
	char big[513];

	CHECK_EQ(CALL(board_uart_write, "hello\n", 6), 0);
	CHECK_STR(hal_host_line_text(), "hello\n");
	CHECK_EQ(CALL(board_uart_write, "a\0b", 3), -EINVAL);
	memset(big, 'x', sizeof(big));
	CHECK_EQ(CALL(board_uart_write, big, 513), -E2BIG);
	CHECK_EQ(CALL(board_uart_write, big, 512), 0);
	CHECK_EQ(CALL(board_uart_write, big, 512), -EAGAIN);
}

/* ---- strings ----------------------------------------------------------------------------------
 */

TEST(compare)
{
	CHECK_EQ(CALL(strncmp, "abc", 4, "abc"), 0);
	CHECK(CALL(strncmp, "abc", 4, "abd") < 0);
	CHECK(CALL(strncmp, "abd", 4, "abc") > 0);
	CHECK_EQ(CALL(strncmp, "abX", 2, "abY"), 0);
	CHECK(CALL(strncmp, "\xff", 2, "a") > 0);
	CHECK_EQ(CALL(strncmp, "ab\0x", 4, "ab"), 0);
}

struct number_case {
	const char *text;
	uint64_t flags;
	int64_t used;
	int64_t value;
};

TEST(signed_numbers)
{
	static const struct number_case cases[] = {
		{ "123", 10, 3, 123 },
		{ "-123x", 10, 4, -123 },
		{ "  \t-7", 0, 5, -7 },
		{ "0x1F", 0, 4, 31 },
		{ "0x1f", 16, 4, 31 },
		{ "017", 0, 3, 15 },
		{ "017", 10, 3, 17 },
		{ "0", 0, 1, 0 },
		{ "08", 0, 1, 0 },
		{ "0x", 0, 1, 0 },
		{ "9223372036854775807", 10, 19, INT64_MAX },
		{ "-9223372036854775808", 10, 20, INT64_MIN },
		{ "9223372036854775808", 10, -ERANGE, 0 },
		{ "99999999999999999999", 10, -ERANGE, 0 },
		{ "", 10, -EINVAL, 0 },
		{ "  ", 10, -EINVAL, 0 },
		{ "-", 10, -EINVAL, 0 },
		{ "x", 10, -EINVAL, 0 },
		{ "12", 7, -EINVAL, 0 },
		{ "12", 32, -EINVAL, 0 },
		{ "12", 10 | 1ull << 40, -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct number_case *c = &cases[i];
		int64_t value = 77;

		CHECK_EQ(CALL(strtol, c->text, strlen(c->text), c->flags, &value), c->used);
		CHECK_EQ(value, c->used < 0 ? 77 : c->value);
	}
}

TEST(unsigned_numbers)
{
	uint64_t value = 77;

	CHECK_EQ(CALL(strtoul, "18446744073709551615", 20, 10, &value), 20);
	CHECK_EQ(value, UINT64_MAX);
	CHECK_EQ(CALL(strtoul, "18446744073709551616", 20, 10, &value), -ERANGE);
	CHECK_EQ(CALL(strtoul, "-1", 2, 10, &value), -EINVAL);
	/* Only the bytes that belong to it. */
	CHECK_EQ(CALL(strtoul, "12345", 3, 10, &value), 3);
	CHECK_EQ(value, 123);
}

/* ---- formats ----------------------------------------------------------------------------------
 */

static const char *format(const char *fmt, uint64_t a, uint64_t b, uint64_t c)
{
	static char text[256];
	uint64_t args[] = { a, b, c };
	int len = bpf_format(text, sizeof(text), fmt, strlen(fmt) + 1, args, 3);

	if (len < 0)
		return "refused";
	return strlen(text) == (size_t)len ? text : "wrong length";
}

TEST(format_numbers)
{
	CHECK_STR(format("plain", 0, 0, 0), "plain");
	CHECK_STR(format("100%%", 0, 0, 0), "100%");
	CHECK_STR(format("%d %u %x", (uint64_t)-5, (uint64_t)-5, 255), "-5 4294967291 ff");
	CHECK_STR(format("%ld %lu %lx", (uint64_t)-5, 5, 1ull << 40), "-5 5 10000000000");
	CHECK_STR(format("%lld %llu %llX", (uint64_t)INT64_MIN, UINT64_MAX, 0xabcull << 32),
		  "-9223372036854775808 18446744073709551615 ABC00000000");
	CHECK_STR(format("%d", 0x1ffffffff, 0, 0), "-1");
	CHECK_STR(format("[%5d|%-5d|%05d]", 42, 42, 42), "[   42|42   |00042]");
	CHECK_STR(format("%+d% d%i", 3, 4, 5), "+3 45");
	CHECK_STR(format("%c%c%3c", 'a', 'b', 'c'), "ab  c");
}

TEST(format_pointers)
{
	static const uint8_t v4[] = { 10, 0, 200, 1 };
	static const uint8_t v6[] = { 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
	uint64_t a4 = (uintptr_t)v4, a6 = (uintptr_t)v6;

	CHECK_STR(format("%s|%s", (uintptr_t)"str", (uintptr_t)"", 0), "str|");
	CHECK_STR(format("%5s|%-5s|", (uintptr_t)"ab", (uintptr_t)"cd", 0), "   ab|cd   |");
	CHECK_STR(format("%pks %pus.", (uintptr_t)"k", (uintptr_t)"u", 0), "k u.");
	CHECK_STR(format("%s", 8, 0, 0), "");
	CHECK_STR(format("%p,%px", 0x1234, 0xffff000012345678, 0),
		  "0000000000001234,ffff000012345678");
	CHECK_STR(format("%pI4 %pi4", a4, a4, 0), "10.0.200.1 010.000.200.001");
	CHECK_STR(format("%pI6", a6, 0, 0), "2001:0db8:0000:0000:0000:0000:0000:0001");
	CHECK_STR(format("%pi6", a6, 0, 0), "20010db8000000000000000000000001");
	CHECK_STR(format("%pI4", 8, 0, 0), "0.0.0.0");
}

TEST(format_refusals)
{
	static const char *const bad[] = { "%",	   "%z",       "%lc",  "%hd",  "%f",   "%n",
					   "%*d",  "%.3d",     "%sx",  "%pI5", "%pkx", "%pabc",
					   "\x01", "\xc3\xa4", "%lll", "%5",   "%o" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (strcmp(format(bad[i], 1, 2, 3), "refused"))
			TEST_FAIL("\"%s\"", bad[i]);
	}
	/* One conversion more than there are arguments; no end within the size. */
	CHECK_STR(format("%d %d %d %d", 1, 2, 3), "refused");
	CHECK_EQ(bpf_format(NULL, 0, "abc", 3, NULL, 0), -EINVAL);
	CHECK_EQ(bpf_format(NULL, 0, "abc", 4, NULL, 0), 3);
}

TEST(format_is_cut_to_the_buffer)
{
	char text[8];
	uint64_t arg = 123456789;

	memset(text, 'x', sizeof(text));
	CHECK_EQ(bpf_format(text, 4, "%d", 3, &arg, 1), 9);
	CHECK_MEM(text, "123\0xxxx", 8);
	CHECK_EQ(CALL(snprintf, text, 4, "%d", &arg, 8), 10);
	CHECK_EQ(CALL(snprintf, NULL, 0, "%d", &arg, 8), 10);
	CHECK_EQ(CALL(snprintf, text, 4, "%d", &arg, 4), -EINVAL);
	CHECK_EQ(CALL(snprintf, text, 4, "%d", &arg, 13 * 8), -EINVAL);
	CHECK_EQ(CALL(snprintf, text, 4, "%d", NULL, 8), -EINVAL);
	CHECK_EQ(CALL(snprintf, text, 4, "none", NULL, 0), 5);
}

TEST(trace_lines)
{
	uint64_t args[] = { 1, 2, 3, 4 };

	CHECK_EQ(CALL(trace_printk, "n %llu\n", 8, 1ull << 40, 0, 0), 16);
	CHECK(strstr(hal_host_trace_text(), "n 1099511627776"));
	CHECK_EQ(CALL(trace_vprintk, "%d-%d-%d-%d", 12, args, 32), 7);
	CHECK(strstr(hal_host_trace_text(), "1-2-3-4"));
	CHECK_EQ(CALL(trace_printk, "no end", 6), -EINVAL);
	CHECK_EQ(CALL(trace_printk, "%d%d%d%d", 9, 1, 2, 3), -EINVAL);
}

/* ---- reads ------------------------------------------------------------------------------------
 */

TEST(probing)
{
	char text[32];
	uint64_t v = 7, src = 0x1122334455667788;

	CHECK_EQ(CALL(probe_read_kernel, &v, 8, &src), 0);
	CHECK_EQ(v, src);
	CHECK_EQ(CALL(probe_read_kernel, &v, 8, 8), -EFAULT);
	CHECK_EQ(v, 0);
	CHECK_EQ(CALL(probe_read_kernel, &v, 0, 8), 0);
	CHECK_EQ(CALL(probe_read_kernel_str, text, sizeof(text), "hello"), 6);
	CHECK_STR(text, "hello");
	CHECK_EQ(CALL(probe_read_kernel_str, text, 3, "hello"), 3);
	CHECK_STR(text, "he");
	CHECK_EQ(CALL(probe_read_kernel_str, text, sizeof(text), 16), -EFAULT);
	CHECK_EQ(text[0], 0);
	CHECK_EQ(CALL(probe_read_kernel_str, text, 0, "hello"), 0);
	v = 7;
	CHECK_EQ(CALL(probe_read_user, &v, 8, &src), -EFAULT);
	CHECK_EQ(v, 0);
}
