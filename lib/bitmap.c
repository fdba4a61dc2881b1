/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/bitmap.h"

/* Bits [lo, hi) of one word, 0 <= lo < hi <= 64. */
static uint64_t word_mask(size_t lo, size_t hi)
{
	return (~0ull >> (64 - (hi - lo))) << lo;
}

static void change_range(uint64_t *map, size_t from, size_t n, bool set)
{
	size_t end = from + n;

	while (from < end) {
		size_t lo = from % 64;
		size_t hi = MIN((size_t)64, lo + (end - from));
		uint64_t mask = word_mask(lo, hi);

		if (set)
			map[from / 64] |= mask;
		else
			map[from / 64] &= ~mask;
		from += hi - lo;
	}
}

void bitmap_set_range(uint64_t *map, size_t from, size_t n)
{
	change_range(map, from, n, true);
}

void bitmap_clear_range(uint64_t *map, size_t from, size_t n)
{
	change_range(map, from, n, false);
}

/* First bit in [from, n_bits) that is set in the map xor'ed with flip. */
static size_t find_bit(const uint64_t *map, size_t n_bits, size_t from, uint64_t flip)
{
	while (from < n_bits) {
		uint64_t word = (map[from / 64] ^ flip) >> (from % 64);

		if (word) {
			from += (size_t)__builtin_ctzll(word);
			return MIN(from, n_bits);
		}
		from = ROUND_DOWN(from, 64) + 64;
	}
	return n_bits;
}

size_t bitmap_find_set(const uint64_t *map, size_t n_bits, size_t from)
{
	return find_bit(map, n_bits, from, 0);
}

size_t bitmap_find_clear(const uint64_t *map, size_t n_bits, size_t from)
{
	return find_bit(map, n_bits, from, ~0ull);
}

size_t bitmap_find_clear_run(const uint64_t *map, size_t n_bits, size_t from, size_t n,
			     size_t align)
{
	for (;;) {
		size_t start = bitmap_find_clear(map, n_bits, from);
		size_t skip = start % align ? align - start % align : 0;
		size_t end;

		if (start >= n_bits || skip > n_bits - start || n > n_bits - start - skip)
			return n_bits;
		start += skip;
		end = bitmap_find_set(map, start + n, start);
		if (end == start + n)
			return start;
		from = end + 1;
	}
}

/* Sums of 2, 4, 8 bits, then all bytes added up in the top one. __builtin_popcountll() would call
 * libgcc. */
static size_t count_bits(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555ull;
	word = (word & 0x3333333333333333ull) + (word >> 2 & 0x3333333333333333ull);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (size_t)(word * 0x0101010101010101ull >> 56);
}

size_t bitmap_count(const uint64_t *map, size_t n_bits)
{
	size_t count = 0;

	for (size_t i = 0; i < n_bits / 64; i++)
		count += count_bits(map[i]);
	if (n_bits % 64)
		count += count_bits(map[n_bits / 64] & word_mask(0, n_bits % 64));
	return count;
}
