/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/crc32c.h"

/*
 * Slicing by four: table k holds the remainder of each byte value followed by k zero bytes. The
 * remainder is linear, so a table entry is the xor of the remainders of its value's single bits,
 * and eight numbers define a table. The compiler does the rest.
 */
#define ENTRY(i, b0, b1, b2, b3, b4, b5, b6, b7)                                                   \
	(((i) & 1 ? b0 : 0) ^ ((i) & 2 ? b1 : 0) ^ ((i) & 4 ? b2 : 0) ^ ((i) & 8 ? b3 : 0) ^       \
	 ((i) & 16 ? b4 : 0) ^ ((i) & 32 ? b5 : 0) ^ ((i) & 64 ? b6 : 0) ^ ((i) & 128 ? b7 : 0))

#define BITS_0(i)                                                                                  \
	ENTRY(i, 0xf26b8303u, 0xe13b70f7u, 0xc79a971fu, 0x8ad958cfu, 0x105ec76fu, 0x20bd8edeu,     \
	      0x417b1dbcu, 0x82f63b78u)
#define BITS_1(i)                                                                                  \
	ENTRY(i, 0x13a29877u, 0x274530eeu, 0x4e8a61dcu, 0x9d14c3b8u, 0x3fc5f181u, 0x7f8be302u,     \
	      0xff17c604u, 0xfbc3faf9u)
#define BITS_2(i)                                                                                  \
	ENTRY(i, 0xa541927eu, 0x4f6f520du, 0x9edea41au, 0x38513ec5u, 0x70a27d8au, 0xe144fb14u,     \
	      0xc76580d9u, 0x8b277743u)
#define BITS_3(i)                                                                                  \
	ENTRY(i, 0xdd45aab8u, 0xbf672381u, 0x7b2231f3u, 0xf64463e6u, 0xe964b13du, 0xd725148bu,     \
	      0xaba65fe7u, 0x52a0c93fu)

#define ROW4(f, i)   f(i), f(i + 1), f(i + 2), f(i + 3)
#define ROW16(f, i)  ROW4(f, i), ROW4(f, i + 4), ROW4(f, i + 8), ROW4(f, i + 12)
#define ROW64(f, i)  ROW16(f, i), ROW16(f, i + 16), ROW16(f, i + 32), ROW16(f, i + 48)
#define ROW256(f, i) ROW64(f, i), ROW64(f, i + 64), ROW64(f, i + 128), ROW64(f, i + 192)

static const uint32_t table[4][256] = {
	{ ROW256(BITS_0, 0) },
	{ ROW256(BITS_1, 0) },
	{ ROW256(BITS_2, 0) },
	{ ROW256(BITS_3, 0) },
};

static uint32_t step_byte(uint32_t crc, uint8_t byte)
{
	return table[0][(crc ^ byte) & 0xff] ^ crc >> 8;
}

static uint32_t by_tables(uint32_t crc, const uint8_t *p, size_t len)
{
	while (len && (uintptr_t)p % 4) {
		crc = step_byte(crc, *p++);
		len--;
	}
	for (; len >= 4; len -= 4, p += 4) {
		uint32_t word;

		__builtin_memcpy(&word, __builtin_assume_aligned(p, 4), 4);
		crc ^= word;
		crc = table[3][crc & 0xff] ^ table[2][crc >> 8 & 0xff] ^
		      table[1][crc >> 16 & 0xff] ^ table[0][crc >> 24];
	}
	while (len--)
		crc = step_byte(crc, *p++);
	return crc;
}

#ifdef __aarch64__
/* Arm ARM, "ID_AA64ISAR0_EL1": CRC32 instructions are optional in Armv8.0. */
static bool has_crc(void)
{
	uint64_t isar0;

	__asm__("mrs %0, id_aa64isar0_el1" : "=r"(isar0));
	return isar0 >> 16 & 0xf;
}

static uint32_t by_instructions(uint32_t crc, const uint8_t *p, size_t len)
{
	for (; len >= 8; len -= 8, p += 8) {
		uint64_t word;

		__builtin_memcpy(&word, p, 8);
		__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %1" : "+r"(crc) : "r"(word));
	}
	for (; len; len--, p++)
		__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(*p));
	return crc;
}
#else
static bool has_crc(void)
{
	return false;
}

static uint32_t by_instructions(uint32_t crc, const uint8_t *p, size_t len)
{
	return by_tables(crc, p, len);
}
#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t len)
{
	return has_crc() ? ~by_instructions(~crc, data, len) : ~by_tables(~crc, data, len);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "words are folded in little endian order");
