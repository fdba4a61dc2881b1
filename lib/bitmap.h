/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays of bits in 64-bit words; bit n is bit n % 64 of word n / 64. Not synchronised. Functions
 * that take a range touch no word outside it.
 */
#pragma once

#include "include/base.h"

#define BITMAP_WORDS(n_bits) (((n_bits) + 63) / 64)

static inline bool bitmap_test(const uint64_t *map, size_t bit)
{
	return map[bit / 64] >> (bit % 64) & 1;
}

static inline void bitmap_set(uint64_t *map, size_t bit)
{
	map[bit / 64] |= BIT(bit % 64);
}

static inline void bitmap_clear(uint64_t *map, size_t bit)
{
	map[bit / 64] &= ~BIT(bit % 64);
}

/* Set or clear n bits from bit `from` on. */
void bitmap_set_range(uint64_t *map, size_t from, size_t n);
void bitmap_clear_range(uint64_t *map, size_t from, size_t n);

/* First set (clear) bit in [from, n_bits), or n_bits when there is none. */
size_t bitmap_find_set(const uint64_t *map, size_t n_bits, size_t from);
size_t bitmap_find_clear(const uint64_t *map, size_t n_bits, size_t from);

/*
 * First run of n clear bits in [from, n_bits) whose start is a multiple of align (> 0), or n_bits
 * when there is none. n > 0.
 */
size_t bitmap_find_clear_run(const uint64_t *map, size_t n_bits, size_t from, size_t n,
			     size_t align);

/* Number of set bits in [0, n_bits). */
size_t bitmap_count(const uint64_t *map, size_t n_bits);
