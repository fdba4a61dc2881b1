/* SPDX-License-Identifier: BSD-2-Clause */
/* The YMODEM receiver against a sender written here, which can be made to misbehave. */
#include "ymodem_receiver.h"

/* The answers so far, which are then forgotten. */
static const char *answers(void)
{
	static char text[sizeof(receiver.answers) + 1];
	size_t n = 0;

	for (size_t i = 0; i < receiver.n_answers; i++) {
		uint8_t c = receiver.answers[i];

		text[n++] = c == 0x06	? 'A'
			    : c == 0x15 ? 'N'
			    : c == 0x18 ? 'X'
			    : c == 8	? '<'
					: (char)c;
	}
	text[n] = '\0';
	receiver.n_answers = 0;
	return text;
}

static void feed(const void *bytes, size_t n)
{
	ymodem_rx(&y, bytes, n, now_ns);
}

static void feed_byte(uint8_t byte)
{
	feed(&byte, 1);
}

/* Let the line be silent for that long. */
static void wait_ms(uint64_t ms)
{
	now_ns += ms * MS;
	ymodem_poll(&y, now_ns);
}

static uint16_t crc_by_division(const uint8_t *p, size_t n)
{
	uint32_t rest = 0;

	for (size_t i = 0; i < n + 2; i++)
		for (int bit = 7; bit >= 0; bit--) {
			rest = rest << 1 | (i < n ? p[i] >> bit & 1 : 0);
			if (rest & 0x10000)
				rest ^= 0x11021;
		}
	return (uint16_t)rest;
}

static size_t make_block(uint8_t *block, uint8_t number, const void *data, size_t n,
			 size_t data_bytes)
{
	uint16_t crc;

	block[0] = data_bytes == 1024 ? 0x02 : 0x01;
	block[1] = number;
	block[2] = (uint8_t)~number;
	memset(block + 3, number ? 0x1a : 0, data_bytes);
	memcpy(block + 3, data, n);
	crc = crc_by_division(block + 3, data_bytes);
	block[3 + data_bytes] = (uint8_t)(crc >> 8);
	block[4 + data_bytes] = (uint8_t)crc;
	return data_bytes + 5;
}

static void send_block(uint8_t number, const void *data, size_t n, size_t data_bytes)
{
	uint8_t block[YMODEM_BLOCK_MAX];

	feed(block, make_block(block, number, data, n, data_bytes));
}

static void send_header(const char *name, const char *rest)
{
	char data[128] = "";
	size_t at = strlen(name) + 1;

	strcpy(data, name);
	strcpy(data + at, rest);
	send_block(0, data, sizeof(data), 128);
}

/* The whole of a good transfer of n bytes from block `first` on. */
static void send_rest(size_t n, uint8_t first)
{
	size_t at = (first - 1u) * 1024u;

	for (uint8_t number = first; at < n; number++, at += 1024)
		send_block(number, file + at, n - at < 1024 ? n - at : 1024, 1024);
	feed_byte(0x04);
	feed_byte(0x04);
	send_block(0, "", 1, 128);
}

TEST(good)
{
	start();
	CHECK_STR(answers(), "C");
	send_header("boot.bundle", "3000 14000000000 100644");
	CHECK_STR(answers(), "AC");
	CHECK_STR(receiver.name, "boot.bundle");
	CHECK_EQ(receiver.size, 3000);
	send_block(1, file, 1024, 1024);
	send_block(2, file + 1024, 1024, 1024);
	/* Short blocks may be mixed in. */
	send_block(3, file + 2048, 128, 128);
	send_block(4, file + 2176, 824, 1024);
	CHECK_STR(answers(), "AAAA");
	feed_byte(0x04);
	CHECK_STR(answers(), "N");
	feed_byte(0x04);
	CHECK_STR(answers(), "AC");
	CHECK(!ymodem_has_ended(&y));
	send_block(0, "", 1, 128);
	CHECK_STR(answers(), "A");
	CHECK_EQ(y.state, YMODEM_DONE);
	CHECK_EQ(receiver.got, 3000);
	CHECK_MEM(received, file, 3000);
	/* What follows is not the receiver's. */
	CHECK_EQ(ymodem_rx(&y, (const uint8_t *)"help", 4, now_ns), 0);
	CHECK_EQ(ymodem_poll(&y, now_ns), UINT64_MAX);
}

TEST(sizes)
{
	static const size_t sizes[] = { 0, 1, 1023, 1024, 1025, 65000 };
	char text[16];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		start();
		snprintf(text, sizeof(text), "%zu", sizes[i]);
		send_header("f", text);
		send_rest(sizes[i], 1);
		CHECK_EQ(y.state, YMODEM_DONE);
		CHECK_EQ(receiver.got, sizes[i]);
		CHECK_MEM(received, file, sizes[i]);
	}
}

/* Block numbers are 8 bits wide. */
TEST(number_wraps)
{
	start();
	send_header("f", "64000");
	for (size_t i = 0; i < 500; i++)
		send_block((uint8_t)(i + 1), file + i * 128, 128, 128);
	feed("\x04\x04", 2);
	send_block(0, "", 1, 128);
	CHECK_EQ(y.state, YMODEM_DONE);
	CHECK_EQ(receiver.got, 64000);
	CHECK_MEM(received, file, 64000);
}

/* Every single byte of a block damaged, in turn: asked for again, then taken. */
TEST(damaged_block)
{
	uint8_t block[YMODEM_BLOCK_MAX];

	for (size_t at = 0; at < 133; at++) {
		size_t n;

		start();
		send_header("f", "128");
		answers();
		n = make_block(block, 1, file, 128, 128);
		block[at] ^= 0x40;
		feed(block, n);
		CHECK_STR(answers(), "");
		wait_ms(1100);
		CHECK_STR(answers(), "N");
		send_rest(128, 1);
		CHECK_EQ(y.state, YMODEM_DONE);
		CHECK_MEM(received, file, 128);
	}
}

TEST(lost_bytes)
{
	uint8_t block[YMODEM_BLOCK_MAX];

	start();
	send_header("f", "1024");
	answers();
	feed(block, make_block(block, 1, file, 1024, 1024) - 1);
	wait_ms(500);
	CHECK_STR(answers(), "");
	wait_ms(600);
	CHECK_STR(answers(), "N");
	send_rest(1024, 1);
	CHECK_EQ(y.state, YMODEM_DONE);
	CHECK_MEM(received, file, 1024);
}

/* Answers that got lost: the sender repeats. */
TEST(lost_answers)
{
	start();
	send_header("f", "2048");
	send_header("f", "2048");
	CHECK_STR(answers(), "CACAC");
	send_block(1, file, 1024, 1024);
	send_block(1, file, 1024, 1024);
	CHECK_STR(answers(), "AA");
	send_block(2, file + 1024, 1024, 1024);
	feed_byte(0x04);
	feed_byte(0x04);
	answers();
	feed_byte(0x04);
	CHECK_STR(answers(), "AC");
	send_block(0, "", 1, 128);
	CHECK_EQ(y.state, YMODEM_DONE);
	CHECK_EQ(receiver.got, 2048);
	CHECK_MEM(received, file, 2048);
}

TEST(refused)
{
	static const struct {
		const char *size;
		int error;
	} headers[] = { { "", -ENODATA },
			{ "x", -ENODATA },
			{ "99999999999999999999999", -EFBIG },
			{ "70001", -EFBIG } };

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		start();
		answers();
		send_header("f", headers[i].size);
		CHECK_EQ(y.state, YMODEM_FAILED);
		CHECK_EQ(y.error, headers[i].error);
		CHECK_STR(answers(), "XXXXX<<<<<");
		CHECK(y.why && *y.why);
	}
	start();
	send_block(0, "", 1, 128);
	CHECK_EQ(y.error, -ENODATA);
	start();
	send_block(1, file, 128, 128);
	CHECK_EQ(y.error, -EPROTO);
	start();
	receiver.begin_error = -EBUSY;
	send_header("f", "1");
	CHECK_EQ(y.error, -EBUSY);
	/* A header without any terminator. */
	start();
	memset(received, 'x', 1024);
	send_block(0, received, 1024, 1024);
	CHECK_EQ(y.error, -ENODATA);
}

TEST(broken_promises)
{
	start();
	send_header("f", "3000");
	send_block(1, file, 1024, 1024);
	send_block(3, file, 1024, 1024);
	CHECK_EQ(y.error, -EPROTO);

	start();
	send_header("f", "3000");
	send_block(1, file, 1024, 1024);
	feed_byte(0x04);
	feed_byte(0x04);
	CHECK_EQ(y.error, -ENODATA);

	start();
	send_header("f", "1000");
	send_block(1, file, 1024, 1024);
	send_block(2, file, 1024, 1024);
	CHECK_EQ(y.error, -EFBIG);

	start();
	send_header("f", "10");
	send_block(1, file, 10, 128);
	feed_byte(0x04);
	feed_byte(0x04);
	send_header("second", "10");
	CHECK_EQ(y.error, -E2BIG);
}

TEST(cancelled)
{
	start();
	send_header("f", "3000");
	feed("\x18\x18", 2);
	CHECK_EQ(y.state, YMODEM_FAILED);
	CHECK_EQ(y.error, -ECANCELED);
	/* One may be noise. */
	start();
	send_header("f", "10");
	feed_byte(0x18);
	send_rest(10, 1);
	CHECK_EQ(y.state, YMODEM_DONE);
	/* ctrl-C of a human who waits for nothing. */
	start();
	feed_byte(0x03);
	CHECK_EQ(y.error, -ECANCELED);
}

/* ymodem_poll tells when to come back; follow it until the receiver gives up. */
static uint64_t follow_timeouts(void)
{
	uint64_t begin = now_ns, next = ymodem_poll(&y, now_ns);

	while (next != UINT64_MAX && now_ns - begin < 1000000 * MS) {
		now_ns = next;
		next = ymodem_poll(&y, now_ns);
	}
	return (now_ns - begin) / MS;
}

TEST(silence)
{
	uint64_t ms;

	start();
	ms = follow_timeouts();
	CHECK_EQ(y.error, -ETIMEDOUT);
	CHECK(ms >= 50000 && ms < 90000);
	CHECK_STR(answers(), "CCCCCCCCCCCCCCCCCCCCCXXXXX<<<<<");
	start();
	send_header("f", "3000");
	send_block(1, file, 1024, 1024);
	ms = follow_timeouts();
	CHECK_EQ(y.error, -ETIMEDOUT);
	CHECK(ms >= 10000 && ms < 90000);
	/* A sender that leaves out the end of the batch: the file is whole. */
	start();
	send_header("f", "10");
	send_block(1, file, 10, 128);
	feed_byte(0x04);
	feed_byte(0x04);
	follow_timeouts();
	CHECK_EQ(y.state, YMODEM_DONE);
}

/* Whatever comes: it ends, and never says that a damaged file is good. */
TEST(noise)
{
	uint32_t random = 12345;

	for (int round = 0; round < 2000; round++) {
		uint8_t bytes[64];

		start();
		if (round % 2)
			send_header("f", "3000");
		for (int i = 0; i < 40 && !ymodem_has_ended(&y); i++) {
			for (size_t k = 0; k < sizeof(bytes); k++) {
				random = random * 1664525 + 1013904223;
				/* Mostly the bytes that mean something. */
				bytes[k] = random >> 31 ? (uint8_t)(random >> 16)
							: (uint8_t)(random >> 16 & 7);
			}
			feed(bytes, random >> 8 & 63);
			if (random >> 20 & 1)
				wait_ms(1100);
		}
		follow_timeouts();
		CHECK_EQ(y.state, YMODEM_FAILED);
	}
	start();
	send_header("f", "3000");
	for (int i = 0; i < 100000 && !ymodem_has_ended(&y); i++)
		feed("noise", 5);
	CHECK_EQ(y.error, -EPROTO);
}

/* A block of random damage now and then, a sender that follows the answers. */
TEST(unreliable_line)
{
	uint32_t random = 99;
	uint8_t block[YMODEM_BLOCK_MAX];
	size_t n = 20000, at = 0;
	uint8_t number = 1;

	start();
	send_header("f", "20000");
	answers();
	while (at < n && !ymodem_has_ended(&y)) {
		size_t chunk = n - at < 1024 ? n - at : 1024;
		size_t bytes = make_block(block, number, file + at, chunk, 1024);

		random = random * 1664525 + 1013904223;
		if (random >> 30 == 0)
			block[(random >> 8) % bytes] ^= (uint8_t)(1 << (random & 7));
		feed(block, random >> 28 == 1 ? bytes - 7 : bytes);
		if (!receiver.n_answers)
			wait_ms(1100);
		if (!strcmp(answers(), "A")) {
			at += chunk;
			number++;
		}
	}
	feed_byte(0x04);
	feed_byte(0x04);
	send_block(0, "", 1, 128);
	CHECK_EQ(y.state, YMODEM_DONE);
	CHECK_EQ(receiver.got, n);
	CHECK_MEM(received, file, n);
}
