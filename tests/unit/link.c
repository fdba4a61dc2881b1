/* SPDX-License-Identifier: BSD-2-Clause */
/* The link on a good line: wire/link.h. */
#include "test.h"

#include "hal_host.h"
#include "support_line.h"
#include "wire/link.h"

TEST(handshake)
{
	sim_start(1);
	CHECK_EQ(sim_event(4), -ENOTCONN);
	sim.events_sent = 0;
	link_connect(sim.host, sim.now_ns);
	CHECK(sim_run(sim_is_up, 1) >= 0);
	CHECK_EQ(sim.host_resets, 1);
	CHECK_EQ(sim.board_resets, 1);
	CHECK(sim.host_peer == 0x2222000000000001u);
	sim_finish();
}

TEST(board_after_host)
{
	sim_start(2);
	sim.dirs[TO_BOARD].faults.lose = 1000; /* nobody there */
	link_connect(sim.host, sim.now_ns);
	sim_run(NULL, 20);
	CHECK(!link_is_up(sim.host));
	sim.dirs[TO_BOARD].faults.lose = 0;
	link_connect(sim.board, sim.now_ns); /* it boots and says so */
	CHECK(sim_run(sim_is_up, 1) >= 0);
	CHECK_EQ(sim.host_resets, 1);
	CHECK_EQ(sim.downs, 0);
	sim_finish();
}

TEST(requests_and_replies)
{
	struct link_stats s;

	sim_start(3);
	link_connect(sim.host, sim.now_ns);
	for (int i = 0; i < 200; i++)
		CHECK_EQ(sim_request(8 + (size_t)i * 17), 0);
	CHECK(sim_run(sim_all_answered, 60) >= 0);
	CHECK_SOUND();
	link_stats_get(sim.host, &s);
	CHECK_EQ(s.retransmits, 0);
	CHECK_EQ(s.msgs_rx, 200);
	link_stats_get(sim.board, &s);
	CHECK_EQ(s.retransmits, 0);
	CHECK_EQ(s.rx_bad, 0);
	CHECK_EQ(s.msgs_rx, 200);
	CHECK(sim.rx_peak < SIM_RING);
	sim_finish();
}

TEST(every_length_near_a_frame)
{
	static const size_t lens[] = { 4,    5,	   1019, 1020, 1023, 1024, 1025,
				       2047, 2048, 2049, 3071, 3072, 3073, 100000 };

	sim_start(4);
	link_connect(sim.host, sim.now_ns);
	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		sim.reply_size = (uint32_t)lens[i];
		CHECK_EQ(sim_request(lens[i]), 0);
		CHECK(sim_run(sim_all_answered, 60) >= 0);
	}
	CHECK_SOUND();
	sim_finish();
}

TEST(payload_share_of_the_line)
{
	double share, s;

	/* 1 MB up at 115200 baud: how much of all bytes, both ways, is payload, and how long? */
	sim_start(5);
	sim.line_rate = 11520;
	link_connect(sim.host, sim.now_ns);
	link_set_rate(sim.host, sim.line_rate);
	CHECK(sim_run(sim_is_up, 1) >= 0);
	sim.dirs[0].bytes = sim.dirs[1].bytes = 0;
	CHECK_EQ(sim_request(1 << 20), 0);
	s = sim_run(sim_all_answered, 200);
	share = (1 << 20) / (double)(sim.dirs[0].bytes + sim.dirs[1].bytes);
	printf("# payload share %.4f, %.1f s at 11520 bytes/s\n", share, s);
	CHECK(share >= 0.95);
	CHECK(s > 0 && s < (1 << 20) / 11520.0 * 1.05);
	CHECK_SOUND();
	sim_finish();
}

TEST(busy_board_is_not_flooded)
{
	struct link_stats s;

	/* The board computes for 20 s; nothing may be sent twice, and its ring must not overflow.
	 */
	sim_start(6);
	link_connect(sim.host, sim.now_ns);
	CHECK(sim_run(sim_is_up, 1) >= 0);
	CHECK_EQ(sim_request(3000), 0);
	sim.board_busy_ns = 20000 * SIM_MS;
	CHECK(sim_run(sim_all_answered, 100) >= 0);
	CHECK_SOUND();
	link_stats_get(sim.host, &s);
	CHECK_EQ(s.retransmits, 0);
	link_stats_get(sim.board, &s);
	CHECK_EQ(s.retransmits, 0);
	CHECK_EQ(s.rx_dup, 0);
	CHECK(sim.rx_peak > 100 && sim.rx_peak < SIM_RING / 4); /* the polls that it had missed */
	sim_finish();
}

TEST(events_without_requests)
{
	sim_start(7);
	link_connect(sim.host, sim.now_ns);
	CHECK(sim_run(sim_is_up, 1) >= 0);
	for (int i = 0; i < 300; i++)
		CHECK_EQ(sim_event(4 + sim_rnd(900)), 0);
	CHECK(sim_run(sim_all_events, 60) >= 0);
	CHECK_EQ(sim.events_got, 300);
	/* The last one is lost and nobody asks for anything. */
	sim.dirs[TO_HOST].faults.lose = 1000;
	CHECK_EQ(sim_event(50), 0);
	sim_run(NULL, 1);
	sim.dirs[TO_HOST].faults.lose = 0;
	CHECK(sim_run(sim_all_events, 10) >= 0);
	CHECK_EQ(sim.events_got, 301);
	CHECK_SOUND();
	sim_finish();
}

TEST(other_versions_are_not_talked_to)
{
	static const uint8_t hello[9] = { LINK_VERSION + 1, 1, 2, 3, 4, 5, 6, 7, 8 };
	static const uint8_t welcome[17] = { LINK_VERSION + 1 };
	uint8_t line[FRAME_LINE_MAX];
	struct frame f = { .type = 1, .len = sizeof(hello), .payload = hello };
	struct link_stats s;

	sim_start(9);
	link_rx(sim.board, line, frame_encode(&f, line), sim.now_ns);
	CHECK(!link_is_up(sim.board));
	CHECK(sim.dirs[TO_HOST].bytes > 0); /* it says what it speaks */
	f = (struct frame){ .type = 2, .len = sizeof(welcome), .payload = welcome };
	link_connect(sim.host, sim.now_ns);
	link_rx(sim.host, line, frame_encode(&f, line), sim.now_ns);
	CHECK(!link_is_up(sim.host));
	link_stats_get(sim.host, &s);
	CHECK_EQ(s.peer_version, LINK_VERSION + 1);
	sim_finish();
}

TEST(message_limits)
{
	uint8_t *big = malloc(LINK_MSG_MAX + 1);

	sim_start(10);
	sim.line_rate = 1000000000;
	link_connect(sim.host, sim.now_ns);
	CHECK(sim_run(sim_is_up, 1) >= 0);
	sim_fill(big, 0, LINK_MSG_MAX);
	CHECK_EQ(link_send(sim.host, LINK_CHAN_REQ, big, LINK_MSG_MAX + 1, sim.now_ns), -EMSGSIZE);
	CHECK_EQ(link_send(sim.host, LINK_CHAN_REQ, big, LINK_MSG_MAX, sim.now_ns), 0);
	sim.requests_sent = 1;
	CHECK(sim_run(sim_all_answered, 100) >= 0);
	CHECK_SOUND();
	CHECK_EQ(sim.requests_done, 1);
	free(big);
	sim_finish();
}

TEST(no_memory)
{
	/* A board that cannot keep a request says so, and goes on with the next. */
	sim_start(11);
	link_connect(sim.host, sim.now_ns);
	CHECK(sim_run(sim_is_up, 1) >= 0);
	CHECK_EQ(sim_request(5000), 0);
	CHECK_EQ(sim_request(6000), 0);
	CHECK_EQ(sim_request(7000), 0);
	hal_host_fail_alloc(2, false); /* the second growth of the first message */
	sim.reply_size = 4;
	sim_run(sim_all_answered, 10);
	CHECK(hal_host_fail_hit());
	CHECK_EQ(sim.losts, 1);
	CHECK_EQ(sim.requests_done, 3);
	CHECK_EQ(sim.bad_bytes, 0);
	hal_host_fail_alloc(1, false);
	CHECK_EQ(sim_request(10), -ENOMEM);
	CHECK(link_idle(sim.host));
	hal_host_fail_alloc(1, false);
	CHECK(!link_new(LINK_HOST, 1, &sim_host_ops));
	sim_finish();
}

TEST(text_passes_between_frames)
{
	sim_start(12);
	link_connect(sim.host, sim.now_ns);
	for (int i = 0; i < 50; i++) {
		sim_line_append(&sim.dirs[TO_HOST], (const uint8_t *)"a line of the log\r\n", 19);
		CHECK_EQ(sim_request(500), 0);
		CHECK(sim_run(sim_all_answered, 10) >= 0);
	}
	sim_run(NULL, 1);
	CHECK_EQ(sim.texts, 50 * 19);
	CHECK_SOUND();
	sim_finish();
}
