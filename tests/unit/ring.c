/* SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <sched.h>

#include "lib/ring.h"
#include "test.h"

TEST(fill_and_empty)
{
	uint8_t buf[8], byte;
	struct ring r;

	ring_init(&r, buf, sizeof(buf));
	CHECK_EQ(ring_used(&r), 0);
	CHECK_EQ(ring_free(&r), 8);
	CHECK(!ring_get(&r, &byte));
	for (uint8_t i = 0; i < 8; i++)
		CHECK(ring_put(&r, i));
	CHECK(!ring_put(&r, 99));
	CHECK_EQ(ring_free(&r), 0);
	for (uint8_t i = 0; i < 8; i++) {
		CHECK(ring_get(&r, &byte));
		CHECK_EQ(byte, i);
	}
	CHECK(!ring_get(&r, &byte));
}

/* All block sizes from all positions, the counters' own wrap too. */
TEST(blocks_wrap)
{
	uint8_t buf[16], in[20], out[20];
	struct ring r;

	for (uint8_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i + 1);
	for (uint32_t at = 0xfffffff0; at != 0x20; at++) {
		for (uint32_t n = 0; n <= sizeof(in); n++) {
			uint32_t fits = n < 16 ? n : 16;

			ring_init(&r, buf, sizeof(buf));
			r.head = r.tail = at;
			CHECK_EQ(ring_write(&r, in, n), fits);
			CHECK_EQ(ring_used(&r), fits);
			CHECK_EQ(ring_free(&r), 16 - fits);
			memset(out, 0, sizeof(out));
			CHECK_EQ(ring_read(&r, out, n / 2), n / 2 < fits ? n / 2 : fits);
			CHECK_EQ(ring_read(&r, out + n / 2, sizeof(out) - n / 2), fits - n / 2);
			CHECK_MEM(out, in, fits);
			CHECK_EQ(ring_used(&r), 0);
		}
	}
}

#define STREAM_BYTES 200000u

static struct ring shared;

static void *write_stream(void *arg)
{
	uint32_t sent = 0;
	uint8_t block[37];

	(void)arg;
	while (sent < STREAM_BYTES) {
		uint32_t n = MIN(sent % sizeof(block) + 1, STREAM_BYTES - sent);

		for (uint32_t i = 0; i < n; i++)
			block[i] = (uint8_t)((sent + i) * 7);
		n = ring_write(&shared, block, n);
		sent += n;
		if (!n)
			sched_yield();
	}
	return NULL;
}

TEST(two_threads)
{
	static uint8_t buf[64];
	uint32_t got = 0;
	pthread_t writer;
	uint8_t byte;
	bool in_order = true;

	ring_init(&shared, buf, sizeof(buf));
	CHECK_EQ(pthread_create(&writer, NULL, write_stream, NULL), 0);
	while (got < STREAM_BYTES) {
		if (!ring_get(&shared, &byte)) {
			sched_yield();
			continue;
		}
		in_order &= byte == (uint8_t)(got * 7);
		got++;
	}
	pthread_join(writer, NULL);
	CHECK(in_order);
	CHECK_EQ(ring_used(&shared), 0);
}
