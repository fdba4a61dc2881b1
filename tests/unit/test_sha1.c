/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/sha1.h"
#include "test.h"

static void digest_hex(const void *data, size_t len, size_t piece, char hex[2 * SHA1_BYTES + 1])
{
	uint8_t digest[SHA1_BYTES];
	struct sha1 s;

	sha1_init(&s);
	for (size_t at = 0; at < len; at += piece)
		sha1_update(&s, (const char *)data + at, len - at < piece ? len - at : piece);
	sha1_final(&s, digest);
	for (size_t i = 0; i < SHA1_BYTES; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* Messages and digests of FIPS 180-4's example document and of the NIST test suite. */
TEST(sha1_vectors)
{
	char hex[2 * SHA1_BYTES + 1];

	digest_hex("", 0, 1, hex);
	CHECK_STR(hex, "da39a3ee5e6b4b0d3255bfef95601890afd80709");
	digest_hex("abc", 3, 3, hex);
	CHECK_STR(hex, "a9993e364706816aba3e25717850c26c9cd0d89d");
	digest_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, 56, hex);
	CHECK_STR(hex, "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
}

TEST(sha1_million_a)
{
	char hex[2 * SHA1_BYTES + 1];
	char *text = malloc(1000000);

	CHECK(text);
	memset(text, 'a', 1000000);
	digest_hex(text, 1000000, 1000, hex);
	free(text);
	CHECK_STR(hex, "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

/* Every length around the padding's edges, in every size of piece, gives the whole's digest. */
TEST(sha1_pieces)
{
	char text[200], whole[2 * SHA1_BYTES + 1], parts[2 * SHA1_BYTES + 1];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * 7);
	for (size_t len = 50; len < 140; len++) {
		digest_hex(text, len, len, whole);
		for (size_t piece = 1; piece < 70; piece += 3) {
			digest_hex(text, len, piece, parts);
			CHECK_STR(parts, whole);
		}
	}
}
