/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memcpy and its kin for the whole image, with general registers only (compilers emit calls to them
 * everywhere, also where vector registers belong to somebody else). Declared in <string.h>; the C
 * library on the host has its own.
 *
 * Word accesses may be unaligned: after boot all memory that C code touches is Normal memory.
 */
#include <string.h>

#include "include/base.h"

typedef uint64_t __attribute__((may_alias, aligned(1))) word_t;
typedef uint32_t __attribute__((may_alias, aligned(1))) half_t;

#define WORD sizeof(word_t)

static __always_inline uint64_t load(const void *p)
{
	return *(const word_t *)p;
}

static __always_inline void store(void *p, uint64_t v)
{
	*(word_t *)p = v;
}

/* n < 16. Both ends are read before either is written, so overlap does no harm. */
static __always_inline void copy_small(unsigned char *d, const unsigned char *s, size_t n)
{
	if (n >= WORD) {
		uint64_t a = load(s), b = load(s + n - WORD);

		store(d, a);
		store(d + n - WORD, b);
	} else if (n >= 4) {
		uint32_t a = *(const half_t *)s, b = *(const half_t *)(s + n - 4);

		*(half_t *)d = a;
		*(half_t *)(d + n - 4) = b;
	} else if (n) {
		unsigned char a = s[0], b = s[n / 2], c = s[n - 1];

		d[0] = a;
		d[n / 2] = b;
		d[n - 1] = c;
	}
}

static void copy_up(unsigned char *d, const unsigned char *s, size_t n)
{
	unsigned char *end = d + n;
	uint64_t t0 = load(s + n - 16), t1 = load(s + n - 8);

	/* The last 16 bytes were read above, in case the loop overwrites them. */
	while (n > 32) {
		uint64_t a = load(s), b = load(s + 8), c = load(s + 16), e = load(s + 24);

		store(d, a);
		store(d + 8, b);
		store(d + 16, c);
		store(d + 24, e);
		d += 32;
		s += 32;
		n -= 32;
	}
	if (n > 16) {
		uint64_t a = load(s), b = load(s + 8);

		store(d, a);
		store(d + 8, b);
	}
	store(end - 16, t0);
	store(end - 8, t1);
}

void *memcpy(void *restrict dst, const void *restrict src, size_t n)
{
	if (n < 16)
		copy_small(dst, src, n);
	else
		copy_up(dst, src, n);
	return dst;
}

static void copy_down(unsigned char *d, const unsigned char *s, size_t n)
{
	uint64_t h0 = load(s), h1 = load(s + 8);

	while (n > 16) {
		uint64_t a = load(s + n - 8), b = load(s + n - 16);

		store(d + n - 8, a);
		store(d + n - 16, b);
		n -= 16;
	}
	store(d, h0);
	store(d + 8, h1);
}

void *memmove(void *dst, const void *src, size_t n)
{
	if (n < 16)
		copy_small(dst, src, n);
	else if ((uintptr_t)dst - (uintptr_t)src >= n)
		copy_up(dst, src, n);
	else
		copy_down(dst, src, n);
	return dst;
}

/* DC ZVA clears a whole line with one instruction; from this size on it is worth the set-up. */
#define ZVA_FROM 256

static unsigned char *zero_lines(unsigned char *d, size_t *n)
{
	uint64_t dczid;
	size_t line, head;

	__asm__("mrs %0, dczid_el0" : "=r"(dczid));
	if (dczid & 0x10)
		return d;
	line = (size_t)4 << (dczid & 0xf);
	head = -(uintptr_t)d & (line - 1);
	if (*n < head + 2 * line)
		return d;
	/* May clear a few bytes of the first line, too. */
	for (size_t i = 0; i < head; i += WORD)
		store(d + i, 0);
	d += head;
	*n -= head;
	for (; *n >= 4 * line; *n -= 4 * line, d += 4 * line)
		__asm__ volatile("dc zva, %0; dc zva, %1; dc zva, %2; dc zva, %3" ::"r"(d),
				 "r"(d + line), "r"(d + 2 * line), "r"(d + 3 * line)
				 : "memory");
	for (; *n >= line; *n -= line, d += line)
		__asm__ volatile("dc zva, %0" ::"r"(d) : "memory");
	return d;
}

void *memset(void *dst, int byte, size_t n)
{
	uint64_t v = 0x0101010101010101ull * (unsigned char)byte;
	unsigned char *d = dst, *end = d + n;

	if (n < 16) {
		if (n >= WORD) {
			store(d, v);
			store(end - WORD, v);
		} else if (n >= 4) {
			*(half_t *)d = (uint32_t)v;
			*(half_t *)(end - 4) = (uint32_t)v;
		} else if (n) {
			d[0] = d[n / 2] = d[n - 1] = (unsigned char)v;
		}
		return dst;
	}
	if (v == 0 && n >= ZVA_FROM)
		d = zero_lines(d, &n);
	for (; n >= 32; n -= 32, d += 32) {
		store(d, v);
		store(d + 8, v);
		store(d + 16, v);
		store(d + 24, v);
	}
	for (; n >= 8; n -= 8, d += 8)
		store(d, v);
	if (n)
		store(end - 8, v);
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *p = a, *q = b;

	for (; n >= WORD; n -= WORD, p += WORD, q += WORD) {
		uint64_t x = load(p), y = load(q);

		if (x != y) {
			x = __builtin_bswap64(x);
			y = __builtin_bswap64(y);
			return x < y ? -1 : 1;
		}
	}
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p < *q ? -1 : 1;
	return 0;
}

/* A word that has a zero byte, by carries: exact for the lowest zero byte. */
static __always_inline uint64_t zero_bytes(uint64_t v)
{
	return (v - 0x0101010101010101ull) & ~v & 0x8080808080808080ull;
}

void *memchr(const void *s, int byte, size_t n)
{
	const unsigned char *p = s;
	uint64_t same = 0x0101010101010101ull * (unsigned char)byte;

	for (; n >= WORD; n -= WORD, p += WORD) {
		uint64_t z = zero_bytes(load(p) ^ same);

		if (z)
			return (void *)(uintptr_t)(p + (unsigned int)__builtin_ctzll(z) / 8);
	}
	for (; n; n--, p++)
		if (*p == (unsigned char)byte)
			return (void *)(uintptr_t)p;
	return NULL;
}

size_t strlen(const char *s)
{
	const char *p = s;
	uint64_t z;

	/* Aligned words never cross into a page that the string is not in. */
	for (; (uintptr_t)p & (WORD - 1); p++)
		if (!*p)
			return (size_t)(p - s);
	for (;; p += WORD) {
		z = zero_bytes(load(p));
		if (z)
			return (size_t)(p - s) + (unsigned int)__builtin_ctzll(z) / 8;
	}
}

size_t strnlen(const char *s, size_t max)
{
	const char *end = memchr(s, 0, max);

	return end ? (size_t)(end - s) : max;
}

int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (unsigned char)*a - (unsigned char)*b;
	return 0;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)(uintptr_t)s;
		if (!*s)
			return NULL;
	}
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	for (;; s++) {
		if (*s == (char)c)
			last = s;
		if (!*s)
			return (char *)(uintptr_t)last;
	}
}

char *strcpy(char *restrict dst, const char *restrict src)
{
	memcpy(dst, src, strlen(src) + 1);
	return dst;
}

char *strncpy(char *restrict dst, const char *restrict src, size_t n)
{
	size_t len = strnlen(src, n);

	memcpy(dst, src, len);
	memset(dst + len, 0, n - len);
	return dst;
}

char *strcat(char *restrict dst, const char *restrict src)
{
	strcpy(dst + strlen(dst), src);
	return dst;
}

char *strstr(const char *s, const char *word)
{
	size_t n = strlen(word);

	for (; *s; s++)
		if (strncmp(s, word, n) == 0)
			return (char *)(uintptr_t)s;
	return n ? NULL : (char *)(uintptr_t)s;
}
