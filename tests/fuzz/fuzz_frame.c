/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes from a line, as they come: frames, link and text. First byte: what the rest is.
 *
 *   even  raw bytes for the receiver, in pieces
 *   odd   a row of frames (length, then header and payload; the CRC is made right), for both ends
 * of a link whose session is open
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/hal_host.h"
#include "wire/frame.h"
#include "wire/link.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* The text and frames of some bytes do not depend on the pieces in which they come. */
static uint64_t digest(const uint8_t *data, size_t size, size_t piece)
{
	static struct frame_rx rx;
	uint64_t sum = 1;
	size_t at = 0;

	memset(&rx, 0, sizeof(rx));
	while (at < size) {
		size_t n = size - at < piece ? size - at : piece, done = 0;

		while (done < n) {
			size_t used = 0, text = 0;
			struct frame f;
			enum frame_event ev =
				frame_feed(&rx, data + at + done, n - done, &used, &f, &text);

			must(used > 0 && used <= n - done);
			if (ev == FRAME_TEXT) {
				must(text < used);
				for (size_t i = text; i < used; i++)
					sum = sum * 31 + data[at + done + i];
			} else if (ev == FRAME_GOOD) {
				must(f.len <= FRAME_PAYLOAD_MAX);
				sum = sum * 33 + f.type + f.len;
				for (size_t i = 0; i < f.len; i++)
					sum = sum * 37 + f.payload[i];
			}
			done += used;
		}
		at += n;
	}
	return sum;
}

/* What is encoded comes back, also behind any bytes that leave the receiver outside a frame. */
static void round_trip(const uint8_t *data, size_t size)
{
	uint8_t line[FRAME_LINE_MAX];
	static struct frame_rx rx;
	struct frame f = { .type = (uint8_t)size, .payload = data, .len = 0 }, back;
	size_t n, used, text;

	f.len = (uint16_t)(size < FRAME_PAYLOAD_MAX ? size : FRAME_PAYLOAD_MAX);
	n = frame_encode(&f, line);
	must(n <= sizeof(line));
	memset(&rx, 0, sizeof(rx));
	must(frame_feed(&rx, line, n, &used, &back, &text) == FRAME_GOOD && used == n);
	must(back.len == f.len && !memcmp(back.payload, data, f.len));
}

/* ---- a pair of links that talk, with frames thrown in between ----------------------------------
 */

static struct link *ends[2];
static uint8_t queue[2][1 << 16];
static size_t queued[2];
static unsigned int delivered;

static void tx(int to, const uint8_t *bytes, size_t n)
{
	if (queued[to] + n <= sizeof(queue[to])) {
		memcpy(queue[to] + queued[to], bytes, n);
		queued[to] += n;
	}
}

static void tx_to_board(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	tx(LINK_BOARD, bytes, n);
}

static void tx_to_host(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	tx(LINK_HOST, bytes, n);
}

static void on_text(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	must(n && bytes[0]);
}

static void on_msg(void *arg, enum link_chan chan, const uint8_t *msg, size_t len)
{
	(void)arg;
	must(chan >= LINK_CHAN_REQ && chan <= LINK_CHAN_EVENT && len <= LINK_MSG_MAX);
	if (len)
		delivered += msg[len - 1];
}

static void on_reset(void *arg, uint64_t id)
{
	(void)arg;
	(void)id;
}

static const struct link_ops ops[2] = {
	[LINK_HOST] = { tx_to_board, on_text, on_msg, NULL, on_reset, NULL, NULL },
	[LINK_BOARD] = { tx_to_host, on_text, on_msg, NULL, on_reset, NULL, NULL },
};

static void exchange(uint64_t *now_ns)
{
	static uint8_t copy[1 << 16];

	for (int round = 0; round < 8 && (queued[0] || queued[1]); round++) {
		for (int end = 0; end < 2; end++) {
			size_t n = queued[end];

			memcpy(copy, queue[end], n);
			queued[end] = 0;
			link_rx(ends[end], copy, n, *now_ns);
		}
		*now_ns += 1000000;
	}
}

static void talk(const uint8_t *data, size_t size)
{
	uint64_t now_ns = 1000000000;
	size_t at = 0;

	queued[0] = queued[1] = 0;
	for (int end = 0; end < 2; end++) {
		ends[end] = link_new((enum link_role)end, 7 + (unsigned int)end, &ops[end]);
		must(ends[end] != NULL);
	}
	link_connect(ends[LINK_HOST], now_ns);
	exchange(&now_ns);
	must(link_is_up(ends[LINK_HOST]));
	while (size - at >= 9) {
		uint8_t line[FRAME_LINE_MAX];
		int to = data[at] & 1;
		struct frame f = { .type = data[at + 1],
				   .flags = data[at + 2],
				   .seq = data[at + 3],
				   .ack = data[at + 4],
				   .len = data[at + 8],
				   .payload = data + at + 9 };

		memcpy(&f.session, data + at + 5, 2);
		if (data[at + 7] & 1 && link_send(ends[to], to ? LINK_CHAN_EVENT : LINK_CHAN_REQ,
						  data + at, 9, now_ns) == -EMSGSIZE)
			abort();
		at += 9;
		if (f.len > size - at)
			f.len = (uint16_t)(size - at);
		at += f.len;
		link_rx(ends[to], line, frame_encode(&f, line), now_ns);
		exchange(&now_ns);
		now_ns += 150000000;
		link_poll(ends[LINK_HOST], now_ns);
		exchange(&now_ns);
	}
	link_free(ends[0]);
	link_free(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t whole;

	if (!size)
		return 0;
	test_reset();
	if (data[0] & 1) {
		talk(data + 1, size - 1);
	} else {
		whole = digest(data + 1, size - 1, size);
		must(whole == digest(data + 1, size - 1, 1));
		must(whole == digest(data + 1, size - 1, 2 + data[0] / 2));
		round_trip(data + 1, size - 1);
	}
	must(!test_leaked_bytes());
	return 0;
}
