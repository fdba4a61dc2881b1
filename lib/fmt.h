/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Formatted text without libc: safe in interrupts and in panic, general registers only, no memory
 * but the caller's buffer and the stack.
 *
 * Conversions: %d %i %u %x %X %o %c %s %p %%, length hh h l ll z t j, flags - + space 0 #, width
 * and precision as digits or `*`. %p prints 0x and 16 hex digits less leading zeros. A NULL string
 * prints
 * "(null)". Anything else (%n and floating point among it) is copied as it stands and ends the
 * conversion of what follows, since the arguments can no longer be matched to it.
 *
 * Results are snprintf's: the length that the whole text needs, without NUL; the buffer holds a
 * terminated prefix of it whenever size > 0. INT_MAX stands for anything longer.
 */
#pragma once

#include <stdarg.h>

#include "include/base.h"

int fmt_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap);
int fmt_snprintf(char *buf, size_t size, const char *fmt, ...) __printf_like(3, 4);

/*
 * The same, appended to a text of *len bytes in buf; *len never passes size - 1. For lines that are
 * built in steps. Returns the new length. size must be > 0.
 */
size_t fmt_append(char *buf, size_t size, size_t *len, const char *fmt, ...) __printf_like(4, 5);

/*
 * Arguments as 64-bit words, one a conversion (and one a `*`): for formats that come from a program
 * rather than from our source. Conversions narrower than 64 bits use the low bits.
 *
 * @fmt:      need not be terminated; @fmt_bytes long at most, ends early at a NUL.
 * @read_str: copies a string at address @addr, at most @size bytes with its NUL, to @dst: returns
 * its length, or -errno when it cannot be read.
 *
 * Returns the length as above; -EINVAL for a conversion that is not in the list above or a lone %,
 * -E2BIG when the words do not suffice, or the error of @read_str. buf is then an empty string.
 */
struct fmt_words {
	const uint64_t *words;
	unsigned int n_words;
	int (*read_str)(void *ctx, uint64_t addr, char *dst, size_t size);
	void *ctx;
};
int fmt_words(char *buf, size_t size, const char *fmt, size_t fmt_bytes,
	      const struct fmt_words *args);
