/* SPDX-License-Identifier: BSD-2-Clause */
/* Bitmaps against the same functions over an array of bool. */
#include "lib/bitmap.h"
#include "test.h"

#define N_BITS 200

static uint64_t map[BITMAP_WORDS(N_BITS) + 2];
static bool model[N_BITS];

/* map + 1: the words around it must keep their values. */
static uint64_t *bits(void)
{
	return map + 1;
}

static void start(void)
{
	memset(map, 0, sizeof(map));
	map[0] = map[BITMAP_WORDS(N_BITS) + 1] = 0xdeadbeef;
	memset(model, 0, sizeof(model));
}

static bool is_as_model(void)
{
	for (size_t i = 0; i < N_BITS; i++)
		if (bitmap_test(bits(), i) != model[i])
			return false;
	return map[0] == 0xdeadbeef && map[BITMAP_WORDS(N_BITS) + 1] == 0xdeadbeef;
}

TEST(ranges)
{
	for (size_t from = 0; from < N_BITS; from += 3) {
		for (size_t n = 0; from + n <= N_BITS; n += n < 5 ? 1 : 7) {
			start();
			bitmap_set_range(bits(), from, n);
			for (size_t i = from; i < from + n; i++)
				model[i] = true;
			CHECK(is_as_model());
			CHECK_EQ(bitmap_count(bits(), N_BITS), n);
			bitmap_clear_range(bits(), from + n / 3, n / 3);
			for (size_t i = from + n / 3; i < from + n / 3 * 2; i++)
				model[i] = false;
			CHECK(is_as_model());
			CHECK_EQ(bitmap_count(bits(), N_BITS), n - n / 3);
		}
	}
}

static size_t model_find(size_t n_bits, size_t from, bool want)
{
	while (from < n_bits && model[from] != want)
		from++;
	return from < n_bits ? from : n_bits;
}

static size_t model_find_run(size_t n_bits, size_t from, size_t n, size_t align)
{
	for (; from + n <= n_bits; from++) {
		size_t k = 0;

		if (from % align)
			continue;
		while (k < n && !model[from + k])
			k++;
		if (k == n)
			return from;
	}
	return n_bits;
}

TEST(find)
{
	uint32_t random = 1;

	for (int round = 0; round < 300; round++) {
		start();
		/* From nearly empty to nearly full, in runs. */
		for (int k = 0; k < round / 10; k++) {
			size_t from = (random = random * 1664525 + 1013904223) >> 16, n;

			from %= N_BITS;
			n = MIN((size_t)(random >> 8 & 15), N_BITS - from);
			bitmap_set_range(bits(), from, n);
			for (size_t i = from; i < from + n; i++)
				model[i] = true;
		}
		for (size_t n_bits = N_BITS - 70; n_bits <= N_BITS; n_bits += 7) {
			for (size_t from = 0; from < N_BITS; from += 13) {
				CHECK_EQ(bitmap_find_set(bits(), n_bits, from),
					 model_find(n_bits, from, true));
				CHECK_EQ(bitmap_find_clear(bits(), n_bits, from),
					 model_find(n_bits, from, false));
				for (size_t n = 1; n < 90; n += n < 6 ? 1 : 17)
					for (size_t align = 1; align <= 64; align = align * 3 + 1)
						CHECK_EQ(bitmap_find_clear_run(bits(), n_bits, from,
									       n, align),
							 model_find_run(n_bits, from, n, align));
			}
		}
	}
}

TEST(single_bits)
{
	start();
	for (size_t i = 0; i < N_BITS; i += 9) {
		bitmap_set(bits(), i);
		model[i] = true;
	}
	CHECK(is_as_model());
	for (size_t i = 0; i < N_BITS; i += 18) {
		bitmap_clear(bits(), i);
		model[i] = false;
	}
	CHECK(is_as_model());
	CHECK_EQ(bitmap_count(bits(), N_BITS), 11);
}
