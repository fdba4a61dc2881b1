/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/frame.h"

#include "lib/crc32c.h"

#define ONES  0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

/* Bytes before the first 00, at most n: a byte-wise search would cost more than the CRC. */
static size_t run_length(const uint8_t *p, size_t n)
{
	size_t i = 0;

	while (i + 8 <= n) {
		uint64_t w;

		__builtin_memcpy(&w, p + i, 8);
		w = (w - ONES) & ~w & HIGHS;
		if (w)
			return i + (size_t)(__builtin_ctzll(w) / 8);
		i += 8;
	}
	while (i < n && p[i])
		i++;
	return i;
}

/* n bytes without 00 to dst (which may lie before src in the same buffer); length, or 0: bad. */
static size_t cobs_decode(const uint8_t *src, size_t n, uint8_t *dst)
{
	const uint8_t *end = src + n;
	uint8_t *d = dst;

	while (src < end) {
		size_t run = (size_t)*src++ - 1;

		if (run > (size_t)(end - src) || (size_t)(d - dst) + run > FRAME_BODY_MAX)
			return 0;
		__builtin_memmove(d, src, run);
		d += run;
		src += run;
		if (run < 254 && src < end) {
			if (d - dst >= FRAME_BODY_MAX)
				return 0;
			*d++ = 0;
		}
	}
	return (size_t)(d - dst);
}

static uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

/* The n code bytes at code (rx->body or the caller's) are a frame, or not. */
static enum frame_event judge(struct frame_rx *rx, const uint8_t *code, size_t n, struct frame *out)
{
	size_t len = cobs_decode(code, n, rx->body);
	uint32_t crc;

	if (len < FRAME_HEADER + FRAME_CRC) {
		rx->bad_cobs++;
		return FRAME_BAD;
	}
	len -= FRAME_CRC;
	__builtin_memcpy(&crc, rx->body + len, FRAME_CRC);
	if (crc != crc32c(0, rx->body, len)) {
		rx->bad_crc++;
		return FRAME_BAD;
	}
	out->type = rx->body[0];
	out->flags = rx->body[1];
	out->seq = get_u16(rx->body + 2);
	out->ack = get_u16(rx->body + 4);
	out->session = get_u16(rx->body + 6);
	out->len = (uint16_t)(len - FRAME_HEADER);
	out->payload = rx->body + FRAME_HEADER;
	return FRAME_GOOD;
}

/* In CODE: collect up to the delimiter. */
static enum frame_event feed_code(struct frame_rx *rx, const uint8_t *p, size_t n, size_t *used,
				  struct frame *out)
{
	size_t run = run_length(p, n);
	bool ended = run < n;
	size_t have = rx->len;
	enum frame_event ev;

	*used = run + ended;
	if (run > FRAME_CODE_MAX - have) {
		/* The same for bytes that come at once and one by one: the first too many ends it.
		 */
		*used = FRAME_CODE_MAX - have + 1;
		rx->too_long++;
		rx->state = FRAME_RX_NOISE;
		rx->len = 1;
		return FRAME_BAD;
	}
	if (!ended) {
		__builtin_memcpy(rx->body + have, p, run);
		rx->len = (uint32_t)(have + run);
		return FRAME_NOTHING;
	}
	rx->len = 0;
	if (!have) {
		ev = judge(rx, p, run, out);
	} else {
		__builtin_memcpy(rx->body + have, p, run);
		ev = judge(rx, rx->body, have + run, out);
	}
	/* After damage the delimiter may be a false one, in the middle of a frame. */
	rx->state = ev == FRAME_GOOD ? FRAME_RX_DELIM : FRAME_RX_NOISE;
	return ev;
}

/* In NOISE: drop what may be the rest of a frame, no more than one, unless a new one begins. */
static size_t feed_noise(struct frame_rx *rx, const uint8_t *p, size_t n)
{
	size_t run;

	if (!rx->len && *p == FRAME_MARK) {
		rx->state = FRAME_RX_CODE;
		return 1;
	}
	run = run_length(p, MIN(n, (size_t)(FRAME_CODE_MAX - rx->len)));
	rx->len += (uint32_t)run;
	if (run < n && !p[run]) {
		rx->state = FRAME_RX_DELIM;
		rx->len = 0;
		return run + 1;
	}
	if (rx->len >= FRAME_CODE_MAX) {
		rx->state = FRAME_RX_TEXT;
		rx->len = 0;
	}
	return run;
}

enum frame_event frame_feed(struct frame_rx *rx, const uint8_t *bytes, size_t n, size_t *used,
			    struct frame *out, size_t *text)
{
	enum frame_event ev;
	size_t at = 0, took;

	while (at < n) {
		switch (rx->state) {
		case FRAME_RX_TEXT:
			took = run_length(bytes + at, n - at);
			if (took) {
				*text = at;
				*used = at + took;
				return FRAME_TEXT;
			}
			rx->state = FRAME_RX_DELIM;
			at++;
			break;
		case FRAME_RX_DELIM:
			if (bytes[at] == FRAME_MARK) {
				rx->state = FRAME_RX_CODE;
				rx->len = 0;
				at++;
			} else if (bytes[at]) {
				rx->state = FRAME_RX_TEXT;
			} else {
				at++;
			}
			break;
		case FRAME_RX_CODE:
			ev = feed_code(rx, bytes + at, n - at, &took, out);
			at += took;
			if (ev != FRAME_NOTHING) {
				*used = at;
				return ev;
			}
			break;
		case FRAME_RX_NOISE:
			at += feed_noise(rx, bytes + at, n - at);
			break;
		}
	}
	*used = n;
	return FRAME_NOTHING;
}

enum frame_event frame_idle(struct frame_rx *rx)
{
	bool begun = rx->state == FRAME_RX_CODE;

	rx->state = FRAME_RX_TEXT;
	rx->len = 0;
	if (begun)
		rx->bad_cobs++;
	return begun ? FRAME_BAD : FRAME_NOTHING;
}

/* A COBS encoder that takes the body in pieces. */
struct cobs {
	uint8_t *code, *d; /* where the code byte of this run goes, where the next byte goes */
};

static void cobs_put(struct cobs *c, const uint8_t *p, size_t n)
{
	size_t at = 0;

	while (at < n) {
		size_t have = (size_t)(c->d - c->code) - 1, run;

		run = run_length(p + at, MIN(n - at, 254 - have));
		__builtin_memcpy(c->d, p + at, run);
		c->d += run;
		at += run;
		if (have + run == 254) {
			*c->code = 255;
		} else if (at < n && !p[at]) {
			*c->code = (uint8_t)(have + run + 1);
			at++;
		} else {
			continue;
		}
		c->code = c->d++;
	}
}

size_t frame_encode(const struct frame *f, uint8_t *line)
{
	uint8_t head[FRAME_HEADER] = { f->type,
				       f->flags,
				       (uint8_t)f->seq,
				       (uint8_t)(f->seq >> 8),
				       (uint8_t)f->ack,
				       (uint8_t)(f->ack >> 8),
				       (uint8_t)f->session,
				       (uint8_t)(f->session >> 8) };
	struct cobs c = { line + 2, line + 3 };
	uint32_t crc = crc32c(crc32c(0, head, sizeof(head)), f->payload, f->len);
	uint8_t tail[FRAME_CRC];

	__builtin_memcpy(tail, &crc, FRAME_CRC);
	line[0] = 0;
	line[1] = FRAME_MARK;
	cobs_put(&c, head, sizeof(head));
	cobs_put(&c, f->payload, f->len);
	cobs_put(&c, tail, sizeof(tail));
	*c.code = (uint8_t)(c.d - c.code);
	*c.d++ = 0;
	return (size_t)(c.d - line);
}
