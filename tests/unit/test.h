/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The unit test framework. A file tests/unit/NAME.c is one binary:
 *
 *	#include "test.h"
 *	TEST(cobs_round_trip)
 *	{
 *		CHECK(frame_ok);
 *		CHECK_EQ(got, want);
 *	}
 *
 * TEST() defines and registers a test; main() is supplied here. Every test prints one line,
 * `ok NAME`, `not ok NAME` or `skip NAME reason`; a failed check prints where and what and ends
 * that test (it returns, so take no lock across a check). Arguments select tests by substring.
 * Exit status: 0 when no test failed and at least one ran. After every test the leak account of
 * the host's hal (test_leaks_bytes(), when hal_host.c is linked in) must be zero.
 */
#pragma once
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
	const char *name;
	void (*run)(void);
	struct test_case *next;
};

static struct test_case *test_first, **test_last = &test_first;
static int test_failed_checks;
static const char *test_skip_reason;

/* Supplied by the host's hal: bytes that the current test allocated and did not free. */
__attribute__((weak)) size_t test_leaked_bytes(void);
/* Supplied by the host's hal: forget allocations, fault injection, clock settings. */
__attribute__((weak)) void test_reset(void);

#define TEST(ident)                                                                                \
	static void test_##ident(void);                                                            \
	static struct test_case test_case_##ident = { #ident, test_##ident, NULL };                \
	__attribute__((constructor)) static void test_register_##ident(void)                       \
	{                                                                                          \
		*test_last = &test_case_##ident;                                                   \
		test_last = &test_case_##ident.next;                                               \
	}                                                                                          \
	static void test_##ident(void)

#define TEST_FAIL(...)                                                                             \
	do {                                                                                       \
		test_failed_checks++;                                                              \
		printf("# %s:%d: ", __FILE__, __LINE__);                                           \
		printf(__VA_ARGS__);                                                               \
		printf("\n");                                                                      \
	} while (0)

/* CHECK in a function that returns nothing: fail and return. */
#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			TEST_FAIL("%s", #cond);                                                    \
			return;                                                                    \
		}                                                                                  \
	} while (0)

/* Integers of any type, compared as 64-bit values. */
#define CHECK_EQ(got, want)                                                                        \
	do {                                                                                       \
		uint64_t got_ = (uint64_t)(got), want_ = (uint64_t)(want);                         \
		if (got_ != want_) {                                                               \
			TEST_FAIL("%s is %" PRId64 " (%#" PRIx64 "), not %" PRId64 " (%#" PRIx64   \
				  ")",                                                             \
				  #got, (int64_t)got_, got_, (int64_t)want_, want_);               \
			return;                                                                    \
		}                                                                                  \
	} while (0)

#define CHECK_STR(got, want)                                                                       \
	do {                                                                                       \
		const char *got_ = (got), *want_ = (want);                                         \
		if (!got_ || strcmp(got_, want_) != 0) {                                           \
			TEST_FAIL("%s is \"%s\", not \"%s\"", #got, got_ ? got_ : "(null)",        \
				  want_);                                                          \
			return;                                                                    \
		}                                                                                  \
	} while (0)

#define CHECK_MEM(got, want, len_bytes)                                                            \
	do {                                                                                       \
		const uint8_t *got_ = (const void *)(got), *want_ = (const void *)(want);          \
		for (size_t at_ = 0; at_ < (size_t)(len_bytes); at_++) {                           \
			if (got_[at_] != want_[at_]) {                                             \
				TEST_FAIL("%s[%zu] is %#x, not %#x", #got, at_, got_[at_],         \
					  want_[at_]);                                             \
				return;                                                            \
			}                                                                          \
		}                                                                                  \
	} while (0)

/* End the test as skipped, with the reason. */
#define SKIP(reason)                                                                               \
	do {                                                                                       \
		test_skip_reason = (reason);                                                       \
		return;                                                                            \
	} while (0)

static inline bool test_selected(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strstr(name, argv[i]))
			return true;
	}
	return argc < 2;
}

static inline bool test_run_one(const struct test_case *test)
{
	test_failed_checks = 0;
	test_skip_reason = NULL;
	if (test_reset)
		test_reset();
	test->run();
	if (!test_failed_checks && test_leaked_bytes && test_leaked_bytes())
		TEST_FAIL("%zu bytes not freed", test_leaked_bytes());
	if (test_failed_checks)
		printf("not ok %s\n", test->name);
	else if (test_skip_reason)
		printf("skip %s %s\n", test->name, test_skip_reason);
	else
		printf("ok %s\n", test->name);
	fflush(stdout);
	return !test_failed_checks;
}

int main(int argc, char **argv)
{
	int ran = 0, failed = 0;

	for (const struct test_case *test = test_first; test; test = test->next) {
		if (!test_selected(test->name, argc, argv))
			continue;
		ran++;
		if (!test_run_one(test))
			failed++;
	}
	if (!ran)
		printf("# no test selected\n");
	return failed || !ran;
}
