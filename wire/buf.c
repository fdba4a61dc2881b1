/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/buf.h"

#include "include/hal.h"

#define TOKEN_PAIR  0x80 /* zeros, then bytes */
#define TOKEN_ZEROS 0xc0
#define TOKEN_MANY  0xff
#define LITERAL_MAX 128
#define PAIR_MAX    8
#define ZEROS_MAX   63

void wire_buf_free(struct wire_buf *b)
{
	hal_free(b->data);
	*b = (struct wire_buf){ 0 };
}

uint8_t *wire_buf_grow(struct wire_buf *b, size_t n)
{
	size_t cap = b->cap;
	uint8_t *data;

	if (b->err)
		return NULL;
	if (n > cap - b->len) {
		if (n > SIZE_MAX / 4 - b->len) {
			b->err = -ENOMEM;
			return NULL;
		}
		cap += cap / 2 + 64;
		cap = MAX(cap, b->len + n);
		data = hal_alloc(cap);
		if (!data) {
			b->err = -ENOMEM;
			return NULL;
		}
		if (b->len)
			__builtin_memcpy(data, b->data, b->len);
		hal_free(b->data);
		b->data = data;
		b->cap = cap;
	}
	data = b->data + b->len;
	b->len += n;
	return data;
}

void wire_put_bytes(struct wire_buf *b, const void *data, size_t n)
{
	uint8_t *dst = n ? wire_buf_grow(b, n) : NULL;

	if (dst)
		__builtin_memcpy(dst, data, n);
}

size_t wire_num_code(uint8_t code[WIRE_NUM_MAX], uint64_t num)
{
	size_t n = 0;

	while (num > 0x7f) {
		code[n++] = (uint8_t)(num | 0x80);
		num >>= 7;
	}
	code[n++] = (uint8_t)num;
	return n;
}

void wire_put_num(struct wire_buf *b, uint64_t num)
{
	uint8_t code[WIRE_NUM_MAX];

	wire_put_bytes(b, code, wire_num_code(code, num));
}

void wire_put_snum(struct wire_buf *b, int64_t num)
{
	uint8_t code[WIRE_NUM_MAX];

	wire_put_bytes(b, code, wire_snum_code(code, num));
}

static size_t zeros_at(const uint8_t *p, size_t n)
{
	size_t z = 0;

	while (z < n && !p[z])
		z++;
	return z;
}

/* Bytes to copy before the next two zeros; a single zero costs no more than a token would. */
static size_t literal_at(const uint8_t *p, size_t n)
{
	size_t l = 0;

	while (l < n && (p[l] || (l + 1 < n && p[l + 1])))
		l++;
	return l;
}

void wire_put_sparse(struct wire_buf *b, const void *data, size_t n)
{
	const uint8_t *p = data, *end;
	uint8_t token;

	if (!n)
		return;
	end = p + n;
	while (p < end && !b->err) {
		size_t z = zeros_at(p, (size_t)(end - p));
		size_t l = literal_at(p + z, (size_t)(end - p) - z);

		if (z > ZEROS_MAX) {
			token = TOKEN_MANY;
			wire_put_bytes(b, &token, 1);
			wire_put_num(b, z - ZEROS_MAX - 1);
			l = 0;
		} else if (z && z <= PAIR_MAX && l) {
			l = MIN(l, (size_t)PAIR_MAX);
			token = (uint8_t)(TOKEN_PAIR | (z - 1) << 3 | (l - 1));
			wire_put_bytes(b, &token, 1);
		} else if (z) {
			token = (uint8_t)(TOKEN_ZEROS + z - 1);
			wire_put_bytes(b, &token, 1);
			l = 0;
		} else {
			l = MIN(l, (size_t)LITERAL_MAX);
			token = (uint8_t)(l - 1);
			wire_put_bytes(b, &token, 1);
		}
		wire_put_bytes(b, p + z, l);
		p += z + l;
	}
}

const uint8_t *wire_get_bytes(struct wire_in *in, size_t n)
{
	const uint8_t *p = in->p;

	if (in->err || n > (size_t)(in->end - p)) {
		in->err = -EBADMSG;
		return NULL;
	}
	in->p += n;
	return p;
}

uint64_t wire_get_num(struct wire_in *in)
{
	uint64_t num = 0;
	unsigned int shift;

	for (shift = 0; shift < 70; shift += 7) {
		const uint8_t *p = wire_get_bytes(in, 1);

		if (!p)
			return 0;
		if (shift == 63 && *p > 1)
			break;
		num |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p & 0x80))
			return num;
	}
	in->err = -EBADMSG;
	return 0;
}

int64_t wire_get_snum(struct wire_in *in)
{
	uint64_t num = wire_get_num(in);

	return (int64_t)(num >> 1 ^ (0 - (num & 1)));
}

uint32_t wire_get_u32(struct wire_in *in, uint32_t max)
{
	uint64_t num = wire_get_num(in);

	if (num > max) {
		in->err = -EBADMSG;
		return 0;
	}
	return (uint32_t)num;
}

/*
 * Tokens of at most 8 zeros and 8 bytes, which is most of them, by whole words. What a word writes
 * beyond its token is overwritten by the next ones, so it needs room for two words.
 */
static void get_short_tokens(struct wire_in *in, uint8_t **dst, const uint8_t *end)
{
	const uint8_t *p = in->p;
	uint8_t *d = *dst;

	while (end - d >= 16 && in->end - p > 8) {
		size_t z, l;
		uint8_t t = *p;

		if (t >= TOKEN_PAIR && t < TOKEN_ZEROS) {
			z = (t >> 3 & 7) + 1u;
			l = (t & 7) + 1u;
		} else if (t < 8) {
			z = 0;
			l = t + 1u;
		} else {
			break;
		}
		__builtin_memset(d, 0, 8);
		__builtin_memcpy(d + z, p + 1, 8);
		d += z + l;
		p += 1 + l;
	}
	*dst = d;
	in->p = p;
}

/* One token of any kind. */
static void get_token(struct wire_in *in, uint8_t **dst, const uint8_t *end)
{
	const uint8_t *p = wire_get_bytes(in, 1);
	uint64_t z = 0;
	size_t l = 0;
	uint8_t t;

	if (!p)
		return;
	t = *p;
	if (t < TOKEN_PAIR) {
		l = (size_t)t + 1;
	} else if (t < TOKEN_ZEROS) {
		z = (t >> 3 & 7) + 1u;
		l = (t & 7) + 1u;
	} else if (t < TOKEN_MANY) {
		z = (uint64_t)t - TOKEN_ZEROS + 1;
	} else {
		z = wire_get_num(in);
		z = z > UINT32_MAX ? UINT64_MAX : z + ZEROS_MAX + 1;
	}
	if (z > (size_t)(end - *dst) || l > (size_t)(end - *dst) - z) {
		in->err = -EBADMSG;
		return;
	}
	__builtin_memset(*dst, 0, (size_t)z);
	*dst += z;
	p = wire_get_bytes(in, l);
	if (p)
		__builtin_memcpy(*dst, p, l);
	*dst += l;
}

void wire_get_sparse(struct wire_in *in, void *dst, size_t n)
{
	uint8_t *d = dst;
	const uint8_t *end;

	if (!n)
		return;
	end = d + n;
	while (d < end && !in->err) {
		get_short_tokens(in, &d, end);
		if (d < end)
			get_token(in, &d, end);
	}
}
