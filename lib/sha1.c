/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/sha1.h"

static uint32_t rotl(uint32_t x, unsigned int n)
{
	return x << n | x >> (32 - n);
}

static uint32_t load_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

/* f_t(b, c, d) + K_t of FIPS 180-4 section 4.1.1 and 4.2.1. */
static uint32_t round_term(unsigned int t, uint32_t b, uint32_t c, uint32_t d)
{
	if (t < 20)
		return ((b & c) ^ (~b & d)) + 0x5a827999;
	if (t < 40)
		return (b ^ c ^ d) + 0x6ed9eba1;
	if (t < 60)
		return ((b & c) ^ (b & d) ^ (c & d)) + 0x8f1bbcdc;
	return (b ^ c ^ d) + 0xca62c1d6;
}

static void sha1_block(uint32_t h[5], const uint8_t *p)
{
	uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
	uint32_t w[16]; /* the last 16 words of the message schedule, indexed modulo 16 */

	for (unsigned int t = 0; t < 80; t++) {
		uint32_t *wt = &w[t % 16], sum;

		if (t < 16)
			*wt = load_be32(p + 4 * t);
		else
			*wt = rotl(w[(t - 3) % 16] ^ w[(t - 8) % 16] ^ w[(t - 14) % 16] ^ *wt, 1);
		sum = rotl(a, 5) + round_term(t, b, c, d) + e + *wt;
		e = d;
		d = c;
		c = rotl(b, 30);
		b = a;
		a = sum;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

void sha1_init(struct sha1 *s)
{
	s->h[0] = 0x67452301;
	s->h[1] = 0xefcdab89;
	s->h[2] = 0x98badcfe;
	s->h[3] = 0x10325476;
	s->h[4] = 0xc3d2e1f0;
	s->len_bytes = 0;
}

void sha1_update(struct sha1 *s, const void *data, size_t len)
{
	const uint8_t *p = data;
	size_t at = s->len_bytes % SHA1_BLOCK_BYTES;

	s->len_bytes += len;
	while (len) {
		size_t n = MIN(len, SHA1_BLOCK_BYTES - at);

		if (n == SHA1_BLOCK_BYTES) {
			sha1_block(s->h, p);
		} else {
			__builtin_memcpy(s->block + at, p, n);
			at = (at + n) % SHA1_BLOCK_BYTES;
			if (!at)
				sha1_block(s->h, s->block);
		}
		p += n;
		len -= n;
	}
}

void sha1_final(struct sha1 *s, uint8_t digest[SHA1_BYTES])
{
	static const uint8_t pad[SHA1_BLOCK_BYTES] = { 0x80 };
	uint64_t len_bits = s->len_bytes * 8;
	size_t at = s->len_bytes % SHA1_BLOCK_BYTES;
	uint8_t len_be[8];

	store_be32(len_be, (uint32_t)(len_bits >> 32));
	store_be32(len_be + 4, (uint32_t)len_bits);
	sha1_update(s, pad, (at < 56 ? 56 : 120) - at);
	sha1_update(s, len_be, sizeof(len_be));
	for (unsigned int i = 0; i < 5; i++)
		store_be32(digest + 4 * i, s->h[i]);
}
