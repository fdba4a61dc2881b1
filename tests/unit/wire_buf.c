/* SPDX-License-Identifier: BSD-2-Clause */
/* Message encodings: wire/buf.h. */
#include "test.h"

#include "hal_host.h"
#include "wire/buf.h"

static uint32_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

/* Encode and decode n bytes; the encoded length, or -1. */
static long sparse_trip(const uint8_t *data, size_t n)
{
	struct wire_buf b = { 0 };
	struct wire_in in;
	uint8_t *back = malloc(n + 1);
	long len = -1;

	memset(back, 0x5a, n + 1);
	wire_put_sparse(&b, data, n);
	in = wire_in(b.data, b.len);
	wire_get_sparse(&in, back, n);
	if (!b.err && !in.err && in.p == in.end && !memcmp(back, data, n) && back[n] == 0x5a)
		len = (long)b.len;
	free(back);
	wire_buf_free(&b);
	return len;
}

TEST(sparse_lengths)
{
	uint8_t data[1000];

	memset(data, 0, sizeof(data));
	CHECK_EQ(sparse_trip(data, 0), 0);
	CHECK_EQ(sparse_trip(data, 1), 1);
	CHECK_EQ(sparse_trip(data, 63), 1);
	CHECK_EQ(sparse_trip(data, 64), 2);
	CHECK_EQ(sparse_trip(data, 191), 2);
	CHECK_EQ(sparse_trip(data, 1000), 3);
	memset(data, 1, sizeof(data));
	CHECK_EQ(sparse_trip(data, 1), 2);
	CHECK_EQ(sparse_trip(data, 128), 129);
	CHECK_EQ(sparse_trip(data, 129), 131);
	/* insn `r1 = 5`: b7 01, two zeros, 5, three zeros */
	memcpy(data, "\xb7\x01\0\0\x05\0\0\0", 8);
	CHECK_EQ(sparse_trip(data, 8), 3 + 2 + 1);
}

TEST(sparse_random)
{
	static uint8_t data[5000];

	seed = 7;
	for (int i = 0; i < 3000; i++) {
		size_t n = rnd(i % 10 ? 300 : sizeof(data));
		uint32_t zeros = rnd(5);
		uint8_t last = 0;

		/* runs, with a density that varies */
		for (size_t k = 0; k < n; k++) {
			if (rnd(8) < zeros)
				last = 0;
			else if (rnd(3))
				last = (uint8_t)rnd(256);
			data[k] = last;
		}
		long len = sparse_trip(data, n);

		CHECK(len >= 0);
		CHECK((size_t)len <= n + n / 128 + 1);
	}
}

TEST(sparse_bad)
{
	static const struct {
		const char *code;
		size_t code_len, n;
	} bad[] = {
		{ "", 0, 1 }, /* nothing */
		{ "\x03"
		  "abc",
		  4, 4 }, /* bytes missing */
		{ "\x03"
		  "abcd",
		  5, 3 },	      /* too many bytes */
		{ "\xc4", 1, 4 },     /* too many zeros */
		{ "\xc2", 1, 4 },     /* too few */
		{ "\x81\x01", 2, 3 }, /* a pair without its last byte */
		{ "\x89"
		  "ab",
		  3, 3 },	    /* a pair that is too long */
		{ "\xff", 1, 100 }, /* no number */
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, 100 },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x01", 11, 100 },
		{ "\xff\x25", 2, 100 }, /* 101 zeros */
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		uint8_t dst[101];
		struct wire_in in = wire_in(bad[i].code, bad[i].code_len);

		memset(dst, 0x77, sizeof(dst));
		wire_get_sparse(&in, dst, bad[i].n);
		if (in.err != -EBADMSG)
			TEST_FAIL("case %zu accepted", i);
		CHECK_EQ(dst[bad[i].n], 0x77);
	}
}

TEST(numbers)
{
	static const uint64_t nums[] = { 0,	 1,	   0x7f,       0x80,	       0x3fff,
					 0x4000, 1u << 31, UINT32_MAX, UINT64_MAX / 2, UINT64_MAX };
	static const int64_t snums[] = { 0, -1, 1, 63, -64, 64, -65, INT64_MAX, INT64_MIN };
	struct wire_buf b = { 0 };
	struct wire_in in;

	for (size_t i = 0; i < ARRAY_SIZE(nums); i++)
		wire_put_num(&b, nums[i]);
	for (size_t i = 0; i < ARRAY_SIZE(snums); i++)
		wire_put_snum(&b, snums[i]);
	CHECK_EQ(b.err, 0);
	in = wire_in(b.data, b.len);
	for (size_t i = 0; i < ARRAY_SIZE(nums); i++)
		CHECK_EQ(wire_get_num(&in), nums[i]);
	for (size_t i = 0; i < ARRAY_SIZE(snums); i++)
		CHECK_EQ(wire_get_snum(&in), snums[i]);
	CHECK_EQ(in.err, 0);
	CHECK(in.p == in.end);
	CHECK_EQ(wire_get_num(&in), 0);
	CHECK_EQ(in.err, -EBADMSG);
	/* The error stays, though there are bytes again. */
	in.p = b.data;
	CHECK(!wire_get_bytes(&in, 1));
	wire_buf_free(&b);
}

TEST(number_bounds)
{
	struct wire_in in = wire_in("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);

	CHECK_EQ(wire_get_num(&in), UINT64_MAX);
	in = wire_in("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10);
	wire_get_num(&in);
	CHECK_EQ(in.err, -EBADMSG);
	in = wire_in("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11);
	wire_get_num(&in);
	CHECK_EQ(in.err, -EBADMSG);
	in = wire_in("\x80\x01", 2);
	CHECK_EQ(wire_get_u32(&in, 127), 0);
	CHECK_EQ(in.err, -EBADMSG);
	in = wire_in("\x80\x01", 2);
	CHECK_EQ(wire_get_u32(&in, 128), 128);
	CHECK_EQ(in.err, 0);
}

TEST(buf_without_memory)
{
	for (unsigned long n = 1;; n++) {
		struct wire_buf b = { 0 };

		hal_host_fail_alloc(n, false);
		for (int i = 0; i < 200; i++)
			wire_put_bytes(&b, "0123456789", 10);
		if (!hal_host_fail_hit()) {
			CHECK_EQ(b.err, 0);
			CHECK_EQ(b.len, 2000);
			CHECK(n > 3);
			wire_buf_free(&b);
			break;
		}
		CHECK_EQ(b.err, -ENOMEM);
		CHECK(!wire_buf_grow(&b, 1));
		CHECK(b.len < 2000);
		wire_buf_free(&b);
	}
	struct wire_buf b = { 0 };

	wire_put_bytes(&b, "x", 1);
	CHECK(!wire_buf_grow(&b, SIZE_MAX - 1));
	CHECK_EQ(b.err, -ENOMEM);
	wire_buf_free(&b);
}
