/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link over a simulated line: wire/link.h. Time is simulated; the line has a rate, a delay and
 * faults, and at the board's end a receive ring of 4 KB that loses what does not fit.
 */
#include "test.h"

#include "hal_host.h"
#include "wire/link.h"

#define MS   1000000ull
#define RING 4096

static uint32_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(seed >> 8) * n >> 24);
}

/* ---- the line ---------------------------------------------------------------------------------
 */

/* Frames of 1000 that suffer each fault. */
struct faults {
	uint32_t damage, lose, twice, swap, cut, insert;
};

/* One direction: bytes with the time at which each piece has arrived. */
struct piece {
	uint64_t at_ns;
	size_t n;
	uint8_t *bytes;
};
struct wire_dir {
	struct piece pieces[4096];
	unsigned int first, last;
	uint64_t free_ns; /* when the last byte sent has left */
	uint64_t bytes;
	struct faults faults;
	struct piece held; /* to be sent after the next */
};

enum { TO_BOARD, TO_HOST };
static struct wire_dir dirs[2];
static struct link *host, *board;
static uint64_t now_ns, line_rate;
static uint64_t board_busy_ns, board_busy_until_ns; /* it reads nothing while it computes */

static uint64_t rx_peak;

static void append(struct wire_dir *d, const uint8_t *bytes, size_t n)
{
	struct piece *p = &d->pieces[d->last++ % ARRAY_SIZE(d->pieces)];

	if (d->last - d->first >= ARRAY_SIZE(d->pieces))
		abort();
	d->free_ns = MAX(d->free_ns, now_ns) + n * 1000000000ull / line_rate;
	p->at_ns = d->free_ns + 1 * MS;
	p->n = n;
	p->bytes = malloc(n + 1);
	memcpy(p->bytes, bytes, n);
	d->bytes += n;
}

static void line_send(struct wire_dir *d, const uint8_t *bytes, size_t n)
{
	static uint8_t copy[FRAME_LINE_MAX + 1];
	const struct faults *f = &d->faults;

	if (rnd(1000) < f->lose)
		return;
	memcpy(copy, bytes, n);
	if (rnd(1000) < f->damage)
		copy[rnd((uint32_t)n)] ^= (uint8_t)(1 + rnd(255));
	if (rnd(1000) < f->cut)
		n = rnd((uint32_t)n) + 1;
	if (rnd(1000) < f->insert)
		append(d, (const uint8_t *)"\x12\x00\xf5\x55noise", 9);
	if (!d->held.n && rnd(1000) < f->swap) {
		d->held.bytes = malloc(n);
		d->held.n = n;
		memcpy(d->held.bytes, copy, n);
		return;
	}
	append(d, copy, n);
	if (rnd(1000) < f->twice)
		append(d, copy, n);
	if (d->held.n) {
		append(d, d->held.bytes, d->held.n);
		free(d->held.bytes);
		d->held.n = 0;
	}
}

/* Everything that has arrived by now, in random pieces; true if there was something. */
static bool line_deliver(struct wire_dir *d, struct link *to, size_t room)
{
	static uint8_t in[1 << 17];
	size_t n = 0, at, step;

	while (d->first != d->last && d->pieces[d->first % ARRAY_SIZE(d->pieces)].at_ns <= now_ns) {
		struct piece *p = &d->pieces[d->first++ % ARRAY_SIZE(d->pieces)];

		memcpy(in + n, p->bytes, p->n);
		n += p->n;
		free(p->bytes);
	}
	if (to == board)
		rx_peak = MAX(rx_peak, n);
	n = MIN(n, room);
	for (at = 0; at < n && to; at += step) {
		step = MIN((size_t)rnd(3000) + 1, n - at);
		link_rx(to, in + at, step, now_ns);
	}
	return n;
}

static void line_clear(struct wire_dir *d)
{
	while (d->first != d->last)
		free(d->pieces[d->first++ % ARRAY_SIZE(d->pieces)].bytes);
	if (d->held.n)
		free(d->held.bytes);
	d->held.n = 0;
}

/* ---- the ends ---------------------------------------------------------------------------------
 */

/*
 * Requests are `u32 number, u32 size, bytes`; the board answers with the same number and as many
 * bytes as the request asks, made from the number. Events are numbered, too.
 */
static uint32_t requests_sent, requests_done, replies, events_sent, events_got;
static unsigned int host_resets, board_resets, downs, losts, bad_order, bad_bytes, texts;
static uint64_t host_peer;
static uint32_t reply_size;

static void fill(uint8_t *p, uint32_t number, size_t n)
{
	memcpy(p, &number, 4);
	for (size_t i = 4; i < n; i++)
		p[i] = (uint8_t)(i * 7 + number * 13 + (i >> 8));
}

static bool filled(const uint8_t *p, uint32_t number, size_t n)
{
	for (size_t i = 4; i < n; i++) {
		if (p[i] != (uint8_t)(i * 7 + number * 13 + (i >> 8)))
			return false;
	}
	return true;
}

static void host_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	line_send(&dirs[TO_BOARD], bytes, n);
}

static void board_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	line_send(&dirs[TO_HOST], bytes, n);
}

static void text(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	(void)bytes;
	texts += (unsigned int)n;
}

static void send_reply(uint32_t number)
{
	uint8_t *rep = malloc(reply_size + 4);

	fill(rep, number, reply_size);
	if (link_send(board, LINK_CHAN_REP, rep, reply_size, now_ns))
		TEST_FAIL("reply not sent");
	free(rep);
}

static void board_msg(void *arg, enum link_chan chan, const uint8_t *msg, size_t len)
{
	uint32_t number;

	(void)arg;
	memcpy(&number, msg, 4);
	if (chan != LINK_CHAN_REQ || number != requests_done)
		bad_order++;
	if (!filled(msg, number, len))
		bad_bytes++;
	requests_done++;
	if (board_busy_ns) {
		board_busy_until_ns = now_ns + board_busy_ns;
		rx_peak = 0;
	} else {
		send_reply(number);
	}
}

static void board_lost(void *arg, enum link_chan chan, int err)
{
	(void)arg;
	losts++;
	if (chan == LINK_CHAN_REQ) {
		requests_done++;
		if (link_send(board, LINK_CHAN_REP, &err, sizeof(err), now_ns))
			TEST_FAIL("reply not sent");
	}
}

static void host_msg(void *arg, enum link_chan chan, const uint8_t *msg, size_t len)
{
	uint32_t number;

	(void)arg;
	memcpy(&number, msg, 4);
	if (number != (chan == LINK_CHAN_REP ? replies : events_got))
		bad_order++;
	if (!filled(msg, number, len))
		bad_bytes++;
	if (chan == LINK_CHAN_REP)
		replies++;
	else
		events_got++;
}

static void host_lost(void *arg, enum link_chan chan, int err)
{
	(void)arg;
	(void)err;
	losts++;
	if (chan == LINK_CHAN_REP)
		replies++;
}

static void host_reset(void *arg, uint64_t id)
{
	(void)arg;
	host_resets++;
	host_peer = id;
}

static void board_reset(void *arg, uint64_t id)
{
	(void)arg;
	(void)id;
	board_resets++;
	requests_done = 0;
	events_sent = 0;
}

static void host_down(void *arg)
{
	(void)arg;
	downs++;
	requests_sent = replies = events_got = 0;
}

static const struct link_ops host_ops = { .tx = host_tx,
					  .text = text,
					  .msg = host_msg,
					  .lost = host_lost,
					  .peer_reset = host_reset,
					  .down = host_down };
static const struct link_ops board_ops = { .tx = board_tx,
					   .text = text,
					   .msg = board_msg,
					   .lost = board_lost,
					   .peer_reset = board_reset };

static void start(uint32_t with_seed)
{
	memset(dirs, 0, sizeof(dirs));
	seed = with_seed;
	now_ns = 1000 * MS;
	line_rate = 300000;
	board_busy_ns = board_busy_until_ns = 0;
	rx_peak = 0;
	requests_sent = requests_done = replies = events_sent = events_got = 0;
	host_resets = board_resets = downs = losts = bad_order = bad_bytes = texts = 0;
	reply_size = 16;
	host = link_new(LINK_HOST, 0x1111000000000000u + with_seed, &host_ops);
	board = link_new(LINK_BOARD, 0x2222000000000000u + with_seed, &board_ops);
}

static void finish(void)
{
	line_clear(&dirs[0]);
	line_clear(&dirs[1]);
	link_free(host);
	link_free(board);
	host = board = NULL;
}

/* Let time go on until done() or the limit; the simulated seconds that it took, or -1. */
static double run(bool (*done)(void), unsigned int limit_s)
{
	uint64_t from = now_ns, end = now_ns + limit_s * 1000ull * MS;

	while (now_ns < end) {
		uint64_t host_due = host ? link_poll(host, now_ns) : UINT64_MAX, next;

		if (board)
			link_poll(board, now_ns);
		if (board_busy_until_ns && now_ns >= board_busy_until_ns) {
			board_busy_until_ns = 0;
			send_reply(requests_done - 1);
		}
		if (!board_busy_until_ns)
			line_deliver(&dirs[TO_BOARD], board, RING);
		line_deliver(&dirs[TO_HOST], host, SIZE_MAX);
		if (done && done())
			return (double)(now_ns - from) / 1e9;
		next = MIN(host_due, now_ns + 20 * MS);
		for (int d = 0; d < 2; d++) {
			const struct wire_dir *w = &dirs[d];

			if (w->first != w->last)
				next = MIN(next, w->pieces[w->first % ARRAY_SIZE(w->pieces)].at_ns);
		}
		now_ns = MAX(next, now_ns + 1000);
	}
	return done ? -1 : 0;
}

static bool is_up(void)
{
	return link_is_up(host) && link_is_up(board);
}

static bool all_answered(void)
{
	return link_is_up(host) && replies == requests_sent && link_idle(host);
}

static bool all_events(void)
{
	return events_got == events_sent && link_idle(board);
}

static int request(size_t n)
{
	uint8_t *p = malloc(n + 4);
	int err;

	fill(p, requests_sent++, n);
	err = link_send(host, LINK_CHAN_REQ, p, n, now_ns);
	free(p);
	return err;
}

static int event(size_t n)
{
	uint8_t *p = malloc(n + 4);
	int err;

	fill(p, events_sent++, n);
	err = link_send(board, LINK_CHAN_EVENT, p, n, now_ns);
	free(p);
	return err;
}

static void set_faults(struct faults f)
{
	dirs[0].faults = dirs[1].faults = f;
}

#define CHECK_SOUND()                                                                              \
	do {                                                                                       \
		CHECK_EQ(bad_order, 0);                                                            \
		CHECK_EQ(bad_bytes, 0);                                                            \
	} while (0)

/* ---- tests ------------------------------------------------------------------------------------
 */

TEST(handshake)
{
	start(1);
	CHECK_EQ(event(4), -ENOTCONN);
	events_sent = 0;
	link_connect(host, now_ns);
	CHECK(run(is_up, 1) >= 0);
	CHECK_EQ(host_resets, 1);
	CHECK_EQ(board_resets, 1);
	CHECK(host_peer == 0x2222000000000001u);
	finish();
}

TEST(board_after_host)
{
	start(2);
	dirs[TO_BOARD].faults.lose = 1000; /* nobody there */
	link_connect(host, now_ns);
	run(NULL, 20);
	CHECK(!link_is_up(host));
	dirs[TO_BOARD].faults.lose = 0;
	link_connect(board, now_ns); /* it boots and says so */
	CHECK(run(is_up, 1) >= 0);
	CHECK_EQ(host_resets, 1);
	CHECK_EQ(downs, 0);
	finish();
}

TEST(requests_and_replies)
{
	struct link_stats s;

	start(3);
	link_connect(host, now_ns);
	for (int i = 0; i < 200; i++)
		CHECK_EQ(request(8 + (size_t)i * 17), 0);
	CHECK(run(all_answered, 60) >= 0);
	CHECK_SOUND();
	link_stats_get(host, &s);
	CHECK_EQ(s.retransmits, 0);
	CHECK_EQ(s.msgs_rx, 200);
	link_stats_get(board, &s);
	CHECK_EQ(s.retransmits, 0);
	CHECK_EQ(s.rx_bad, 0);
	CHECK_EQ(s.msgs_rx, 200);
	CHECK(rx_peak < RING);
	finish();
}

TEST(every_length_near_a_frame)
{
	static const size_t lens[] = { 4,    5,	   1019, 1020, 1023, 1024, 1025,
				       2047, 2048, 2049, 3071, 3072, 3073, 100000 };

	start(4);
	link_connect(host, now_ns);
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		reply_size = (uint32_t)lens[i];
		CHECK_EQ(request(lens[i]), 0);
		CHECK(run(all_answered, 60) >= 0);
	}
	CHECK_SOUND();
	finish();
}

TEST(payload_share_of_the_line)
{
	double share, s;

	/* 1 MB up at 115200 baud: how much of all bytes, both ways, is payload, and how long? */
	start(5);
	line_rate = 11520;
	link_connect(host, now_ns);
	link_set_rate(host, line_rate);
	CHECK(run(is_up, 1) >= 0);
	dirs[0].bytes = dirs[1].bytes = 0;
	CHECK_EQ(request(1 << 20), 0);
	s = run(all_answered, 200);
	share = (1 << 20) / (double)(dirs[0].bytes + dirs[1].bytes);
	printf("# payload share %.4f, %.1f s at 11520 bytes/s\n", share, s);
	CHECK(share >= 0.95);
	CHECK(s > 0 && s < (1 << 20) / 11520.0 * 1.05);
	CHECK_SOUND();
	finish();
}

TEST(busy_board_is_not_flooded)
{
	struct link_stats s;

	/* The board computes for 20 s; nothing may be sent twice, and its ring must not overflow.
	 */
	start(6);
	link_connect(host, now_ns);
	CHECK(run(is_up, 1) >= 0);
	CHECK_EQ(request(3000), 0);
	board_busy_ns = 20000 * MS;
	CHECK(run(all_answered, 100) >= 0);
	CHECK_SOUND();
	link_stats_get(host, &s);
	CHECK_EQ(s.retransmits, 0);
	link_stats_get(board, &s);
	CHECK_EQ(s.retransmits, 0);
	CHECK_EQ(s.rx_dup, 0);
	CHECK(rx_peak > 100 && rx_peak < RING / 4); /* the polls that it had missed */
	finish();
}

TEST(events_without_requests)
{
	start(7);
	link_connect(host, now_ns);
	CHECK(run(is_up, 1) >= 0);
	for (int i = 0; i < 300; i++)
		CHECK_EQ(event(4 + rnd(900)), 0);
	CHECK(run(all_events, 60) >= 0);
	CHECK_EQ(events_got, 300);
	/* The last one is lost and nobody asks for anything. */
	dirs[TO_HOST].faults.lose = 1000;
	CHECK_EQ(event(50), 0);
	run(NULL, 1);
	dirs[TO_HOST].faults.lose = 0;
	CHECK(run(all_events, 10) >= 0);
	CHECK_EQ(events_got, 301);
	CHECK_SOUND();
	finish();
}

static void noisy(uint32_t with_seed, struct faults f, unsigned int nr, unsigned int limit_s)
{
	double s;

	start(with_seed);
	link_connect(host, now_ns);
	CHECK(run(is_up, 10) >= 0);
	set_faults(f);
	for (unsigned int i = 0; i < nr && downs == 0; i++) {
		reply_size = 4 + rnd(rnd(4) ? 100 : 5000);
		CHECK_EQ(request(8 + rnd(rnd(4) ? 200 : 6000)), 0);
		if (rnd(2))
			CHECK_EQ(event(4 + rnd(300)), 0);
		if (rnd(2)) {
			s = run(all_answered, limit_s);
			if (s < 0)
				TEST_FAIL("seed %u: stuck after %u requests", with_seed, i);
			CHECK(s >= 0);
		}
	}
	CHECK(run(all_answered, limit_s) >= 0);
	CHECK(run(all_events, limit_s) >= 0);
	CHECK_SOUND();
	CHECK_EQ(downs, 0);
	CHECK_EQ(requests_done, requests_sent);
	CHECK_EQ(losts, 0);
	finish();
}

TEST(one_percent_of_frames)
{
	for (uint32_t i = 0; i < 10; i++) {
		noisy(100 + i, (struct faults){ .damage = 10, .lose = 10, .twice = 10 }, 300, 20);
		if (!host)
			continue;
		finish();
		return;
	}
}

TEST(every_fault_at_a_high_rate)
{
	for (uint32_t i = 0; i < 40; i++) {
		struct faults f = { 0 };

		switch (i % 8) {
		case 0:
			f.damage = 200;
			break;
		case 1:
			f.lose = 200;
			break;
		case 2:
			f.twice = 300;
			break;
		case 3:
			f.swap = 300;
			break;
		case 4:
			f.cut = 200;
			break;
		case 5:
			f.insert = 200;
			break;
		default:
			f = (struct faults){ 60, 60, 60, 60, 60, 60 };
		}
		noisy(200 + i, f, 60, 300);
		if (!host)
			continue;
		finish();
		return;
	}
}

TEST(large_message_over_noise)
{
	start(8);
	link_connect(host, now_ns);
	CHECK(run(is_up, 10) >= 0);
	set_faults((struct faults){ .damage = 10, .lose = 10, .twice = 10, .cut = 10 });
	reply_size = 300000;
	CHECK_EQ(request(500000), 0);
	CHECK(run(all_answered, 100) >= 0);
	CHECK_SOUND();
	finish();
}

TEST(host_restarts_at_any_time)
{
	/* Whatever the old host had under way, the new one starts clean and finds a sound board. */
	for (uint32_t i = 0; i < 300; i++) {
		start(1000 + i);
		link_connect(host, now_ns);
		CHECK(run(is_up, 1) >= 0);
		reply_size = 3000;
		CHECK_EQ(request(5000), 0);
		CHECK_EQ(request(100), 0);
		now_ns += 1; /* any point of the exchange, half-sent frames included */
		for (uint32_t k = 0; k < rnd(60); k++) {
			line_deliver(&dirs[TO_BOARD], board, RING);
			line_deliver(&dirs[TO_HOST], host, SIZE_MAX);
			now_ns += rnd(1000000);
		}
		link_free(host);
		if (rnd(2) && dirs[TO_BOARD].first != dirs[TO_BOARD].last) {
			struct wire_dir *d = &dirs[TO_BOARD];
			struct piece *p = &d->pieces[(d->last - 1) % ARRAY_SIZE(d->pieces)];

			p->n = rnd((uint32_t)p->n) + 1; /* it died while writing */
		}
		host = link_new(LINK_HOST, 0x3333000000000000u + i, &host_ops);
		requests_sent = replies = events_got = host_resets = 0;
		link_connect(host, now_ns);
		CHECK_EQ(request(700), 0);
		CHECK_EQ(request(7000), 0);
		CHECK(run(all_answered, 10) >= 0);
		CHECK_EQ(host_resets, 1);
		CHECK_EQ(board_resets, 2);
		CHECK_EQ(requests_done, 2);
		CHECK_EQ(downs, 0);
		CHECK_SOUND();
		finish();
	}
}

TEST(board_restarts_at_any_time)
{
	for (uint32_t i = 0; i < 300; i++) {
		bool silent = rnd(2); /* its first words may be lost */
		uint32_t k, steps;

		start(2000 + i);
		link_connect(host, now_ns);
		CHECK(run(is_up, 1) >= 0);
		reply_size = 3000;
		CHECK_EQ(request(5000), 0);
		CHECK_EQ(request(100), 0);
		steps = rnd(60);
		for (k = 0; k < steps; k++) {
			line_deliver(&dirs[TO_BOARD], board, RING);
			line_deliver(&dirs[TO_HOST], host, SIZE_MAX);
			now_ns += rnd(1000000);
		}
		link_free(board);
		line_clear(&dirs[TO_BOARD]);
		board = link_new(LINK_BOARD, 0x4444000000000000u + i, &board_ops);
		requests_done = 0;
		if (!silent)
			link_connect(board, now_ns);
		host_peer = 0;
		for (k = 0; k < 200 && !downs; k++)
			run(NULL, 1);
		CHECK_EQ(downs, 1);
		CHECK(run(is_up, 10) >= 0);
		CHECK(host_peer == 0x4444000000000000u + i);
		CHECK_EQ(request(700), 0);
		CHECK_EQ(request(7000), 0);
		CHECK(run(all_answered, 10) >= 0);
		CHECK_EQ(requests_done, 2);
		CHECK_EQ(downs, 1);
		CHECK_SOUND();
		finish();
	}
}

TEST(other_versions_are_not_talked_to)
{
	static const uint8_t hello[9] = { LINK_VERSION + 1, 1, 2, 3, 4, 5, 6, 7, 8 };
	static const uint8_t welcome[17] = { LINK_VERSION + 1 };
	uint8_t line[FRAME_LINE_MAX];
	struct frame f = { .type = 1, .len = sizeof(hello), .payload = hello };
	struct link_stats s;

	start(9);
	link_rx(board, line, frame_encode(&f, line), now_ns);
	CHECK(!link_is_up(board));
	CHECK(dirs[TO_HOST].bytes > 0); /* it says what it speaks */
	f = (struct frame){ .type = 2, .len = sizeof(welcome), .payload = welcome };
	link_connect(host, now_ns);
	link_rx(host, line, frame_encode(&f, line), now_ns);
	CHECK(!link_is_up(host));
	link_stats_get(host, &s);
	CHECK_EQ(s.peer_version, LINK_VERSION + 1);
	finish();
}

TEST(message_limits)
{
	uint8_t *big = malloc(LINK_MSG_MAX + 1);

	start(10);
	line_rate = 1000000000;
	link_connect(host, now_ns);
	CHECK(run(is_up, 1) >= 0);
	fill(big, 0, LINK_MSG_MAX);
	CHECK_EQ(link_send(host, LINK_CHAN_REQ, big, LINK_MSG_MAX + 1, now_ns), -EMSGSIZE);
	CHECK_EQ(link_send(host, LINK_CHAN_REQ, big, LINK_MSG_MAX, now_ns), 0);
	requests_sent = 1;
	CHECK(run(all_answered, 100) >= 0);
	CHECK_SOUND();
	CHECK_EQ(requests_done, 1);
	free(big);
	finish();
}

TEST(no_memory)
{
	/* A board that cannot keep a request says so, and goes on with the next. */
	start(11);
	link_connect(host, now_ns);
	CHECK(run(is_up, 1) >= 0);
	CHECK_EQ(request(5000), 0);
	CHECK_EQ(request(6000), 0);
	CHECK_EQ(request(7000), 0);
	hal_host_fail_alloc(2, false); /* the second growth of the first message */
	reply_size = 4;
	run(all_answered, 10);
	CHECK(hal_host_fail_hit());
	CHECK_EQ(losts, 1);
	CHECK_EQ(requests_done, 3);
	CHECK_EQ(bad_bytes, 0);
	hal_host_fail_alloc(1, false);
	CHECK_EQ(request(10), -ENOMEM);
	CHECK(link_idle(host));
	hal_host_fail_alloc(1, false);
	CHECK(!link_new(LINK_HOST, 1, &host_ops));
	finish();
}

TEST(text_passes_between_frames)
{
	start(12);
	link_connect(host, now_ns);
	for (int i = 0; i < 50; i++) {
		append(&dirs[TO_HOST], (const uint8_t *)"a line of the log\r\n", 19);
		CHECK_EQ(request(500), 0);
		CHECK(run(all_answered, 10) >= 0);
	}
	run(NULL, 1);
	CHECK_EQ(texts, 50 * 19);
	CHECK_SOUND();
	finish();
}

TEST(forged_frames)
{
	/* Whole frames with any header: nothing may be delivered that was not sent. */
	uint8_t payload[64], line[FRAME_LINE_MAX];

	start(13);
	link_connect(host, now_ns);
	CHECK(run(is_up, 1) >= 0);
	for (int i = 0; i < 20000; i++) {
		struct frame f = { .type = (uint8_t)rnd(6),
				   .flags = (uint8_t)rnd(256),
				   .seq = (uint16_t)rnd(rnd(2) ? 4 : 65536),
				   .ack = (uint16_t)rnd(rnd(2) ? 4 : 65536),
				   .session = (uint16_t)rnd(65536),
				   .len = (uint16_t)rnd(64),
				   .payload = payload };

		memset(payload, (int)rnd(256), sizeof(payload));
		if (f.type != 2) /* WELCOME ends sessions, as it must */
			link_rx(host, line, frame_encode(&f, line), now_ns);
		if (f.type != 1)
			link_rx(board, line, frame_encode(&f, line), now_ns);
		run(NULL, 0);
		line_deliver(&dirs[TO_BOARD], NULL, 0);
		line_deliver(&dirs[TO_HOST], NULL, 0);
		now_ns += MS;
	}
	CHECK_EQ(requests_done, 0);
	CHECK_EQ(events_got, 0);
	line_clear(&dirs[0]);
	line_clear(&dirs[1]);
	CHECK_EQ(request(100), 0);
	CHECK(run(all_answered, 10) >= 0);
	CHECK_SOUND();
	finish();
}
