/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/crc32c.h"
#include "test.h"

/* Bit by bit, straight from the definition. */
static uint32_t crc_by_bits(uint32_t crc, const uint8_t *p, size_t len)
{
	crc = ~crc;
	while (len--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	return ~crc;
}

/* RFC 3720, section B.4. */
TEST(published_values)
{
	uint8_t data[32];

	CHECK_EQ(crc32c(0, "123456789", 9), 0xe3069283);
	CHECK_EQ(crc32c(0, "", 0), 0);
	memset(data, 0, sizeof(data));
	CHECK_EQ(crc32c(0, data, sizeof(data)), 0x8a9136aa);
	memset(data, 0xff, sizeof(data));
	CHECK_EQ(crc32c(0, data, sizeof(data)), 0x62a8ab43);
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)i;
	CHECK_EQ(crc32c(0, data, sizeof(data)), 0x46dd794e);
}

/* All lengths and alignments, and every entry of every table. */
TEST(as_by_bits)
{
	uint8_t data[1024 + 8];

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 167 + i / 256 * 13);
	for (size_t at = 0; at < 8; at++)
		for (size_t len = 0; len <= 1024; len += len < 40 ? 1 : 41)
			CHECK_EQ(crc32c(0, data + at, len), crc_by_bits(0, data + at, len));
	for (unsigned int slot = 0; slot < 4; slot++) {
		for (unsigned int value = 0; value < 256; value++) {
			_Alignas(4) uint8_t word[4] = { 0 };

			word[slot] = (uint8_t)value;
			CHECK_EQ(crc32c(0x1234567, word, 4), crc_by_bits(0x1234567, word, 4));
		}
	}
}

TEST(in_pieces)
{
	uint8_t data[100];
	uint32_t whole;

	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 31);
	whole = crc32c(0, data, sizeof(data));
	for (size_t cut = 0; cut <= sizeof(data); cut++)
		CHECK_EQ(crc32c(crc32c(0, data, cut), data + cut, sizeof(data) - cut), whole);
}
