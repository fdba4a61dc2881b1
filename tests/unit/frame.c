/* SPDX-License-Identifier: BSD-2-Clause */
/* Frames and text on one line: wire/frame.h. */
#include "test.h"

#include "wire/frame.h"

static uint32_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

/* What a stream of bytes came to. */
struct got {
	char text[8192];
	size_t text_len;
	struct frame frames[64];
	uint8_t payloads[64][FRAME_PAYLOAD_MAX];
	unsigned int good, bad;
};
static struct got got;
static struct frame_rx rx;

static void start(void)
{
	memset(&rx, 0, sizeof(rx));
	memset(&got, 0, sizeof(got));
}

static void feed(const uint8_t *bytes, size_t n)
{
	size_t at = 0, used, text;
	struct frame f;

	while (at < n) {
		switch (frame_feed(&rx, bytes + at, n - at, &used, &f, &text)) {
		case FRAME_GOOD:
			if (got.good < 64) {
				got.frames[got.good] = f;
				memcpy(got.payloads[got.good], f.payload, f.len);
			}
			got.good++;
			break;
		case FRAME_BAD:
			got.bad++;
			break;
		case FRAME_TEXT:
			if (got.text_len + used - text < sizeof(got.text)) {
				memcpy(got.text + got.text_len, bytes + at + text, used - text);
				got.text_len += used - text;
			}
			break;
		case FRAME_NOTHING:
			break;
		}
		if (!used) {
			TEST_FAIL("nothing consumed");
			return;
		}
		at += used;
	}
}

/* Feed in pieces of random length. */
static void feed_pieces(const uint8_t *bytes, size_t n, uint32_t max)
{
	for (size_t at = 0; at < n;) {
		size_t piece = MIN((size_t)rnd(max) + 1, n - at);

		feed(bytes + at, piece);
		at += piece;
	}
}

static struct frame make(const uint8_t *payload, uint16_t len)
{
	return (struct frame){ .type = (uint8_t)rnd(256),
			       .flags = (uint8_t)rnd(256),
			       .seq = (uint16_t)rnd(65536),
			       .ack = (uint16_t)rnd(65536),
			       .session = (uint16_t)rnd(65536),
			       .len = len,
			       .payload = payload };
}

static void fill(uint8_t *p, size_t n)
{
	uint32_t kind = rnd(5);

	for (size_t i = 0; i < n; i++) {
		if (kind == 0)
			p[i] = 0;
		else if (kind == 1)
			p[i] = (uint8_t)(rnd(255) + 1);
		else if (kind == 2)
			p[i] = rnd(3) ? 0 : (uint8_t)rnd(256);
		else if (kind == 3)
			p[i] = rnd(300) ? 7 : 0;
		else
			p[i] = (uint8_t)rnd(256);
	}
}

static bool same(const struct frame *a, const struct frame *b)
{
	return a->type == b->type && a->flags == b->flags && a->seq == b->seq && a->ack == b->ack &&
	       a->session == b->session && a->len == b->len;
}

TEST(known_bytes)
{
	/* Worked out by hand: an empty frame, all header bytes zero but type 3. */
	const struct frame f = { .type = 3, .payload = NULL };
	uint8_t line[FRAME_LINE_MAX];
	size_t n = frame_encode(&f, line);

	CHECK_EQ(n, 3 + FRAME_HEADER + FRAME_CRC + 1);
	CHECK_MEM(line, "\x00\xf5\x02\x03\x01\x01\x01\x01\x01\x01", 10);
	CHECK_EQ(line[n - 1], 0);
	CHECK(!memchr(line + 1, 0, n - 2));
	start();
	feed(line, n);
	CHECK_EQ(got.good, 1);
	CHECK(same(&got.frames[0], &f));
}

TEST(round_trips)
{
	uint8_t payload[FRAME_PAYLOAD_MAX], line[FRAME_LINE_MAX];

	seed = 1;
	for (int i = 0; i < 4000; i++) {
		uint16_t len = i < 1025 ? (uint16_t)i : (uint16_t)rnd(1025);
		struct frame f;
		size_t n;

		fill(payload, len);
		f = make(payload, len);
		n = frame_encode(&f, line);
		CHECK(n <= FRAME_LINE_MAX);
		CHECK(!memchr(line + 1, 0, n - 2));
		start();
		feed_pieces(line, n, i % 2 ? 2000 : 40);
		CHECK_EQ(got.good, 1);
		CHECK_EQ(got.bad, 0);
		CHECK_EQ(got.text_len, 0);
		CHECK(same(&got.frames[0], &f));
		CHECK_MEM(got.payloads[0], payload, len);
	}
}

TEST(longest_line)
{
	uint8_t payload[FRAME_PAYLOAD_MAX], line[FRAME_LINE_MAX + 1];
	struct frame f = { 0xff, 0xff, 0xffff, 0xffff, 0xffff, FRAME_PAYLOAD_MAX, payload };

	memset(payload, 0xff, sizeof(payload));
	line[FRAME_LINE_MAX] = 0x77;
	CHECK(frame_encode(&f, line) <= FRAME_LINE_MAX);
	CHECK_EQ(line[FRAME_LINE_MAX], 0x77);
	start();
	feed(line, frame_encode(&f, line));
	CHECK_EQ(got.good, 1);
}

TEST(text_and_frames_share_the_line)
{
	uint8_t line[8000], payload[300];
	size_t n = 0;
	struct frame f[20];

	seed = 2;
	for (int i = 0; i < 20; i++) {
		n += (size_t)sprintf((char *)line + n, "line %d of text\r\n", i);
		fill(payload, sizeof(payload));
		f[i] = make(payload, (uint16_t)rnd(300));
		n += frame_encode(&f[i], line + n);
		if (i % 3 == 0) { /* two in a row, one delimiter between them */
			size_t again = frame_encode(&f[i], line + n);

			memmove(line + n, line + n + 1, again - 1);
			n += again - 1;
		}
	}
	n += (size_t)sprintf((char *)line + n, "the end");
	for (uint32_t max = 1; max < 3000; max = max * 3 + 1) {
		char want[8192];
		size_t len = 0;

		start();
		feed_pieces(line, n, max);
		CHECK_EQ(got.good, 27);
		CHECK_EQ(got.bad, 0);
		for (int i = 0; i < 20; i++)
			len += (size_t)sprintf(want + len, "line %d of text\r\n", i);
		len += (size_t)sprintf(want + len, "the end");
		CHECK_EQ(got.text_len, len);
		CHECK_MEM(got.text, want, len);
	}
}

TEST(every_single_bit_is_noticed)
{
	uint8_t payload[60], line[FRAME_LINE_MAX];
	struct frame f;
	size_t n;

	seed = 3;
	fill(payload, sizeof(payload));
	f = make(payload, sizeof(payload));
	n = frame_encode(&f, line);
	for (size_t bit = 0; bit < n * 8; bit++) {
		start();
		line[bit / 8] ^= (uint8_t)(1 << bit % 8);
		feed(line, n);
		line[bit / 8] ^= (uint8_t)(1 << bit % 8);
		CHECK_EQ(got.good, 0);
		/* The next frame is whole again, unless the delimiter between them died. */
		feed(line, n);
		CHECK_EQ(got.good, 1);
	}
}

TEST(cut_at_any_byte)
{
	uint8_t payload[600], line[FRAME_LINE_MAX];
	struct frame f;
	size_t n;

	seed = 4;
	fill(payload, sizeof(payload));
	f = make(payload, sizeof(payload));
	n = frame_encode(&f, line);
	for (size_t cut = 0; cut < n; cut++) {
		start();
		feed(line, cut);
		feed(line, n);
		/* Only the delimiter is missing, and the next frame brings one. */
		CHECK_EQ(got.good, cut == n - 1 ? 2 : 1);
		CHECK_MEM(got.payloads[0], payload, sizeof(payload));
		/* and without its first bytes */
		start();
		feed(line + cut, n - cut);
		CHECK_EQ(got.good, cut == 0);
		feed(line, n);
		CHECK_EQ(got.good, 1 + (cut == 0));
	}
}

TEST(rest_of_a_damaged_frame_is_no_text)
{
	uint8_t payload[100], line[FRAME_LINE_MAX];
	struct frame f;
	size_t n;

	seed = 5;
	memset(payload, 'x', sizeof(payload));
	f = make(payload, sizeof(payload));
	n = frame_encode(&f, line);
	line[40] = 0; /* looks like the end */
	start();
	feed(line, n);
	CHECK_EQ(got.bad, 1);
	CHECK_EQ(got.text_len, 0);
	feed((const uint8_t *)"text", 4);
	CHECK_EQ(got.text_len, 4);
}

TEST(noise_does_not_last)
{
	uint8_t noise[3 * FRAME_LINE_MAX];

	/* A frame that never ends is dropped, and text is text again after one more. */
	memset(noise, 'n', sizeof(noise));
	noise[0] = 0;
	noise[1] = FRAME_MARK;
	start();
	feed(noise, sizeof(noise));
	CHECK_EQ(got.bad, 1);
	feed(noise + 2, FRAME_CODE_MAX);
	feed((const uint8_t *)"help\r", 5);
	CHECK(got.text_len >= 5);
	CHECK_MEM(got.text + got.text_len - 5, "help\r", 5);
	/* Silence ends a frame that was begun. */
	start();
	feed(noise, 100);
	CHECK_EQ(frame_idle(&rx), FRAME_BAD);
	CHECK_EQ(frame_idle(&rx), FRAME_NOTHING);
	feed((const uint8_t *)"help\r", 5);
	CHECK_EQ(got.text_len, 5);
	CHECK_MEM(got.text, "help\r", 5);
}

TEST(random_bytes)
{
	uint8_t bytes[3000], line[FRAME_LINE_MAX], payload[20];
	struct frame f;

	seed = 6;
	for (int i = 0; i < 300; i++) {
		for (size_t k = 0; k < sizeof(bytes); k++)
			bytes[k] = rnd(20) ? (uint8_t)rnd(256) : rnd(2) ? 0 : FRAME_MARK;
		start();
		feed_pieces(bytes, sizeof(bytes), 200);
		CHECK_EQ(got.good, 0);
		/* At most one good frame is needed to be in step again. */
		fill(payload, sizeof(payload));
		f = make(payload, sizeof(payload));
		feed(line, frame_encode(&f, line));
		feed(line, frame_encode(&f, line));
		CHECK(got.good >= 1);
	}
}

TEST(bad_codes)
{
	static const struct {
		const char *line;
		size_t n;
	} cases[] = {
		{ "\x00\xf5\x00", 3 },		   /* nothing in it */
		{ "\x00\xf5\x05\x01\x02\x00", 6 }, /* a run beyond the end */
		{ "\x00\xf5\x01\x01\x01\x00", 6 }, /* too short for a header */
	};
	uint8_t ones[FRAME_CODE_MAX + 3];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		start();
		feed((const uint8_t *)cases[i].line, cases[i].n);
		CHECK_EQ(got.good, 0);
		CHECK_EQ(got.bad, 1);
	}
	/* More zeros than a body has room for. */
	memset(ones, 1, sizeof(ones));
	ones[0] = 0;
	ones[1] = FRAME_MARK;
	ones[sizeof(ones) - 1] = 0;
	start();
	feed(ones, sizeof(ones));
	CHECK_EQ(got.bad, 1);
	CHECK_EQ(rx.bad_cobs + rx.bad_crc, 1);
}
