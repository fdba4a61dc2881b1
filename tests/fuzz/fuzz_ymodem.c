/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The YMODEM receiver on any bytes: every byte of a file is handed on in order and no more of them
 * than promised, and silence always ends the transfer.
 *
 * Input, repeated: a length, that many bytes for the receiver, then some time. A length with its
 * top bit set stands for a good block, so that the states behind checksums are reached.
 */
#include <stdlib.h>
#include <string.h>

#include "include/base.h"
#include "include/err.h"
#include "kernel/ymodem.h"

#define MS 1000000ull

static uint64_t promised, got;
static bool begun;

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void on_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	require(bytes && n > 0 && n <= 16);
}

static int on_begin(void *arg, const char *name, uint64_t size_bytes)
{
	(void)arg;
	require(!begun && strlen(name) <= YMODEM_NAME_MAX);
	begun = true;
	promised = size_bytes;
	return size_bytes > 1u << 20 ? -EFBIG : 0;
}

static int on_data(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	require(bytes && begun && n > 0 && n <= promised - got);
	got += n;
	return 0;
}

static uint16_t crc16(const uint8_t *p, size_t n)
{
	uint16_t crc = 0;

	while (n--) {
		crc ^= (uint16_t)(*p++ << 8);
		for (int bit = 0; bit < 8; bit++)
			crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
	}
	return crc;
}

/* A block of 128 bytes that begins with these. */
static void feed_block(struct ymodem *y, const uint8_t *bytes, size_t n, uint64_t now_ns)
{
	uint8_t block[133] = { 1 };
	uint16_t crc;

	block[1] = n ? bytes[0] : 0;
	block[2] = (uint8_t)~block[1];
	if (n > 1)
		memcpy(block + 3, bytes + 1, n - 1);
	crc = crc16(block + 3, 128);
	block[131] = (uint8_t)(crc >> 8);
	block[132] = (uint8_t)crc;
	ymodem_rx(y, block, sizeof(block), now_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ymodem_ops ops = { .tx = on_tx, .begin = on_begin, .data = on_data };
	const uint8_t *p = data, *end = data + size;
	uint64_t now_ns = 0, next_ns;
	struct ymodem y;

	promised = got = 0;
	begun = false;
	ymodem_start(&y, &ops, now_ns);
	while (p < end) {
		uint8_t lead = *p++;
		size_t n = MIN((size_t)(lead & 0x7f), (size_t)(end - p));

		if (lead & 0x80)
			feed_block(&y, p, n, now_ns);
		else
			require(ymodem_rx(&y, p, n, now_ns) <= n);
		p += n;
		if (p < end)
			now_ns += *p++ * 20 * MS;
		ymodem_poll(&y, now_ns);
	}
	for (int i = 0; i < 100 && (next_ns = ymodem_poll(&y, now_ns)) != UINT64_MAX; i++)
		now_ns = MAX(next_ns, now_ns);
	require(ymodem_has_ended(&y));
	require(y.state != YMODEM_DONE || (begun && got == promised));
	require(y.state != YMODEM_FAILED || (y.error < 0 && y.why));
	return 0;
}
