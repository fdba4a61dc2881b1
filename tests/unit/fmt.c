/* SPDX-License-Identifier: BSD-2-Clause */
/* lib/fmt against the C library's snprintf, and what that has no word for. */
#include <limits.h>

#include "include/base.h"
#include "include/err.h"
#include "lib/fmt.h"
#include "test.h"

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat"

/* Every combination of flags, width, precision, length and conversion, on values at the edges. */
TEST(numbers_as_libc)
{
	static const char *const flags[] = { "",   "-",	 "+",  " ",  "0",  "#",
					     "-0", "+0", "#0", "-#", "+-", " 0" };
	static const char *const widths[] = { "", "1", "5", "12", "25" };
	static const char *const precisions[] = { "", ".", ".0", ".1", ".5", ".22" };
	static const char *const lengths[] = { "hh", "h", "", "l", "ll", "z", "t", "j" };
	static const uint64_t numbers[] = { 0,	       1,	   9,	       10,
					    127,       128,	   255,	       32768,
					    65535,     INT32_MAX,  1u << 31,   UINT32_MAX,
					    INT64_MAX, 1ull << 63, UINT64_MAX, 0x123456789abcdef0 };
	static const char conversions[] = "diuxXo";
	char spec[32], want[64], got[64];
	size_t n[5] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(flags) * ARRAY_SIZE(widths) * ARRAY_SIZE(precisions) *
				       ARRAY_SIZE(lengths) * (sizeof(conversions) - 1);
	     i++) {
		size_t left = i;

		n[0] = left % ARRAY_SIZE(flags), left /= ARRAY_SIZE(flags);
		n[1] = left % ARRAY_SIZE(widths), left /= ARRAY_SIZE(widths);
		n[2] = left % ARRAY_SIZE(precisions), left /= ARRAY_SIZE(precisions);
		n[3] = left % ARRAY_SIZE(lengths), left /= ARRAY_SIZE(lengths);
		snprintf(spec, sizeof(spec), "<%%%s%s%s%s%c>", flags[n[0]], widths[n[1]],
			 precisions[n[2]], lengths[n[3]], conversions[left]);
		for (size_t v = 0; v < ARRAY_SIZE(numbers); v++) {
			int want_len = snprintf(want, sizeof(want), spec, numbers[v]);

			CHECK_EQ(fmt_snprintf(got, sizeof(got), spec, numbers[v]), want_len);
			if (strcmp(got, want) != 0)
				printf("# %s of %#" PRIx64 "\n", spec, numbers[v]);
			CHECK_STR(got, want);
		}
	}
}

TEST(text_as_libc)
{
	static const char *const specs[] = { "%s",	"%10s|", "%-10s|", "%.2s|",
					     "%10.2s|", "%.0s|", "%-5.1s|" };
	static const char *const texts[] = { "", "a", "hello", "a long text that is cut" };
	char want[64], got[64];

	for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
		for (size_t t = 0; t < ARRAY_SIZE(texts); t++) {
			int want_len = snprintf(want, sizeof(want), specs[i], texts[t]);

			CHECK_EQ(fmt_snprintf(got, sizeof(got), specs[i], texts[t]), want_len);
			CHECK_STR(got, want);
		}
	}
	CHECK_EQ(fmt_snprintf(got, sizeof(got), "%c%5c%-3c|%%|%*d|%-*d|%.*s|%*s", 'a', 'b', 'c', 6,
			      -42, 4, 7, 2, "xyz", -4, "q"),
		 snprintf(want, sizeof(want), "%c%5c%-3c|%%|%*d|%-*d|%.*s|%*s", 'a', 'b', 'c', 6,
			  -42, 4, 7, 2, "xyz", -4, "q"));
	CHECK_STR(got, want);
	fmt_snprintf(got, sizeof(got), "%p %p %s", (void *)0, (void *)0xffff00001234, (char *)NULL);
	CHECK_STR(got, "0x0 0xffff00001234 (null)");
	/* The precision ends a text that has no terminator. */
	fmt_snprintf(got, sizeof(got), "%.3s", (const char[3]){ 'a', 'b', 'c' });
	CHECK_STR(got, "abc");
}

TEST(short_buffer)
{
	char got[8], spec[32];

	for (size_t size = 0; size <= sizeof(got); size++) {
		memset(got, 'Z', sizeof(got));
		CHECK_EQ(fmt_snprintf(got, size, "%d-%s", 1234, "abcdef"), 11);
		for (size_t i = 0; i < sizeof(got); i++)
			CHECK_EQ(got[i], i + 1 < size ? "1234-abcdef"[i] : i + 1 == size ? 0 : 'Z');
	}
	CHECK_EQ(fmt_snprintf(NULL, 0, "%s", "abc"), 3);
	/* Widths that no buffer holds are counted, not written. */
	CHECK_EQ(fmt_snprintf(got, sizeof(got), "%2000000000d", 1), 2000000000);
	strcpy(spec, "%99999999999d%99999999999d");
	CHECK_EQ(fmt_snprintf(got, sizeof(got), spec, 1, 1), INT_MAX);
	CHECK_EQ(fmt_snprintf(got, sizeof(got), "%.2147483647x", 1), INT_MAX);
	CHECK_STR(got, "0000000");
}

/* An unknown conversion cannot be skipped: the rest is shown as it stands. */
TEST(unknown_conversion)
{
	char got[32];

	fmt_snprintf(got, sizeof(got), "%d %f %d", 1, 2.0, 3);
	CHECK_STR(got, "1 %f %d");
	fmt_snprintf(got, sizeof(got), "%n%s", NULL, "x");
	CHECK_STR(got, "%n%s");
	fmt_snprintf(got, sizeof(got), "100%");
	CHECK_STR(got, "100%");
	fmt_snprintf(got, sizeof(got), "%l");
	CHECK_STR(got, "%l");
}

TEST(append)
{
	char got[10] = "";
	size_t len = 0;

	CHECK_EQ(fmt_append(got, sizeof(got), &len, "%d", 12), 2);
	CHECK_EQ(fmt_append(got, sizeof(got), &len, "%s", "abc"), 5);
	CHECK_STR(got, "12abc");
	CHECK_EQ(fmt_append(got, sizeof(got), &len, "%s", "defghijk"), 9);
	CHECK_STR(got, "12abcdefg");
	CHECK_EQ(fmt_append(got, sizeof(got), &len, "%s", "more"), 9);
	CHECK_STR(got, "12abcdefg");
	len = 100;
	CHECK_EQ(fmt_append(got, sizeof(got), &len, "x"), 9);
}

static int read_str(void *ctx, uint64_t addr, char *dst, size_t size)
{
	(void)ctx;
	if (addr != 0x1000)
		return -EFAULT;
	snprintf(dst, size, "text");
	return 4;
}

TEST(words)
{
	static const uint64_t words[] = { (uint64_t)-5, 0xfffffffff, 0x1000, 7 };
	struct fmt_words args = { .words = words, .n_words = 4, .read_str = read_str };
	char got[64];

	CHECK_EQ(fmt_words(got, sizeof(got), "%d %x %s %llu!", 99, &args), 19);
	CHECK_STR(got, "-5 ffffffff text 7!");
	CHECK_EQ(fmt_words(got, sizeof(got), "%lld %lx", 99, &args), 12);
	CHECK_STR(got, "-5 fffffffff");
	/* fmt need not be terminated. */
	CHECK_EQ(fmt_words(got, sizeof(got), "%d%d", 2, &args), 2);
	CHECK_STR(got, "-5");
	CHECK_EQ(fmt_words(got, sizeof(got), "%d%d", 3, &args), -EINVAL);
	CHECK_STR(got, "");
	CHECK_EQ(fmt_words(got, sizeof(got), "%d %d %d %d %d", 99, &args), -E2BIG);
	CHECK_EQ(fmt_words(got, sizeof(got), "%s", 99, &args), -EFAULT);
	CHECK_EQ(fmt_words(got, sizeof(got), "%f", 99, &args), -EINVAL);
	CHECK_EQ(fmt_words(got, sizeof(got), "50%% %.*s", 99,
			   &(struct fmt_words){ .words = (const uint64_t[]){ 2, 0x1000 },
						.n_words = 2,
						.read_str = read_str }),
		 6);
	CHECK_STR(got, "50% te");
	args.read_str = NULL;
	CHECK_EQ(fmt_words(got, sizeof(got), "%d%d%s", 99, &args), -EINVAL);
}
