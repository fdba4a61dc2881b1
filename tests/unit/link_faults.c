/* SPDX-License-Identifier: BSD-2-Clause */
/* The link on a bad line and between ends that restart: wire/link.h. */
#include "test.h"

#include "hal_host.h"
#include "support_line.h"
#include "wire/link.h"

static void noisy(uint32_t with_seed, struct faults f, unsigned int nr, unsigned int limit_s)
{
	double s;

	sim_start(with_seed);
	link_connect(sim.host, sim.now_ns);
	CHECK(sim_run(sim_is_up, 10) >= 0);
	sim_set_faults(f);
	for (unsigned int i = 0; i < nr && sim.downs == 0; i++) {
		sim.reply_size = 4 + sim_rnd(sim_rnd(4) ? 100 : 5000);
		CHECK_EQ(sim_request(8 + sim_rnd(sim_rnd(4) ? 200 : 6000)), 0);
		if (sim_rnd(2))
			CHECK_EQ(sim_event(4 + sim_rnd(300)), 0);
		if (sim_rnd(2)) {
			s = sim_run(sim_all_answered, limit_s);
			if (s < 0)
				TEST_FAIL("seed %u: stuck after %u requests", with_seed, i);
			CHECK(s >= 0);
		}
	}
	CHECK(sim_run(sim_all_answered, limit_s) >= 0);
	CHECK(sim_run(sim_all_events, limit_s) >= 0);
	CHECK_SOUND();
	CHECK_EQ(sim.downs, 0);
	CHECK_EQ(sim.requests_done, sim.requests_sent);
	CHECK_EQ(sim.losts, 0);
	sim_finish();
}

TEST(one_percent_of_frames)
{
	for (uint32_t i = 0; i < 10; i++) {
		noisy(100 + i, (struct faults){ .damage = 10, .lose = 10, .twice = 10 }, 300, 20);
		if (!sim.host)
			continue;
		sim_finish();
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
		if (!sim.host)
			continue;
		sim_finish();
		return;
	}
}

TEST(large_message_over_noise)
{
	sim_start(8);
	link_connect(sim.host, sim.now_ns);
	CHECK(sim_run(sim_is_up, 10) >= 0);
	sim_set_faults((struct faults){ .damage = 10, .lose = 10, .twice = 10, .cut = 10 });
	sim.reply_size = 300000;
	CHECK_EQ(sim_request(500000), 0);
	CHECK(sim_run(sim_all_answered, 100) >= 0);
	CHECK_SOUND();
	sim_finish();
}

TEST(host_restarts_at_any_time)
{
	/* Whatever the old host had under way, the new one starts clean and finds a sound board. */
	for (uint32_t i = 0; i < 300; i++) {
		sim_start(1000 + i);
		link_connect(sim.host, sim.now_ns);
		CHECK(sim_run(sim_is_up, 1) >= 0);
		sim.reply_size = 3000;
		CHECK_EQ(sim_request(5000), 0);
		CHECK_EQ(sim_request(100), 0);
		sim.now_ns += 1; /* any point of the exchange, half-sent frames included */
		for (uint32_t k = 0; k < sim_rnd(60); k++) {
			sim_line_deliver(&sim.dirs[TO_BOARD], sim.board, SIM_RING);
			sim_line_deliver(&sim.dirs[TO_HOST], sim.host, SIZE_MAX);
			sim.now_ns += sim_rnd(1000000);
		}
		link_free(sim.host);
		if (sim_rnd(2) && sim.dirs[TO_BOARD].first != sim.dirs[TO_BOARD].last) {
			struct wire_dir *d = &sim.dirs[TO_BOARD];
			struct piece *p = &d->pieces[(d->last - 1) % ARRAY_SIZE(d->pieces)];

			p->n = sim_rnd((uint32_t)p->n) + 1; /* it died while writing */
		}
		sim.host = link_new(LINK_HOST, 0x3333000000000000u + i, &sim_host_ops);
		sim.requests_sent = sim.replies = sim.events_got = sim.host_resets = 0;
		link_connect(sim.host, sim.now_ns);
		CHECK_EQ(sim_request(700), 0);
		CHECK_EQ(sim_request(7000), 0);
		CHECK(sim_run(sim_all_answered, 10) >= 0);
		CHECK_EQ(sim.host_resets, 1);
		CHECK_EQ(sim.board_resets, 2);
		CHECK_EQ(sim.requests_done, 2);
		CHECK_EQ(sim.downs, 0);
		CHECK_SOUND();
		sim_finish();
	}
}

TEST(board_restarts_at_any_time)
{
	for (uint32_t i = 0; i < 300; i++) {
		bool silent = sim_rnd(2); /* its first words may be lost */
		uint32_t k, steps;

		sim_start(2000 + i);
		link_connect(sim.host, sim.now_ns);
		CHECK(sim_run(sim_is_up, 1) >= 0);
		sim.reply_size = 3000;
		CHECK_EQ(sim_request(5000), 0);
		CHECK_EQ(sim_request(100), 0);
		steps = sim_rnd(60);
		for (k = 0; k < steps; k++) {
			sim_line_deliver(&sim.dirs[TO_BOARD], sim.board, SIM_RING);
			sim_line_deliver(&sim.dirs[TO_HOST], sim.host, SIZE_MAX);
			sim.now_ns += sim_rnd(1000000);
		}
		link_free(sim.board);
		sim_line_clear(&sim.dirs[TO_BOARD]);
		sim.board = link_new(LINK_BOARD, 0x4444000000000000u + i, &sim_board_ops);
		sim.requests_done = 0;
		if (!silent)
			link_connect(sim.board, sim.now_ns);
		sim.host_peer = 0;
		for (k = 0; k < 200 && !sim.downs; k++)
			sim_run(NULL, 1);
		CHECK_EQ(sim.downs, 1);
		CHECK(sim_run(sim_is_up, 10) >= 0);
		CHECK(sim.host_peer == 0x4444000000000000u + i);
		CHECK_EQ(sim_request(700), 0);
		CHECK_EQ(sim_request(7000), 0);
		CHECK(sim_run(sim_all_answered, 10) >= 0);
		CHECK_EQ(sim.requests_done, 2);
		CHECK_EQ(sim.downs, 1);
		CHECK_SOUND();
		sim_finish();
	}
}

TEST(forged_frames)
{
	/* Whole frames with any header: nothing may be delivered that was not sent. */
	uint8_t payload[64], line[FRAME_LINE_MAX];

	sim_start(13);
	link_connect(sim.host, sim.now_ns);
	CHECK(sim_run(sim_is_up, 1) >= 0);
	for (int i = 0; i < 20000; i++) {
		struct frame f = { .type = (uint8_t)sim_rnd(6),
				   .flags = (uint8_t)sim_rnd(256),
				   .seq = (uint16_t)sim_rnd(sim_rnd(2) ? 4 : 65536),
				   .ack = (uint16_t)sim_rnd(sim_rnd(2) ? 4 : 65536),
				   .session = (uint16_t)sim_rnd(65536),
				   .len = (uint16_t)sim_rnd(64),
				   .payload = payload };

		memset(payload, (int)sim_rnd(256), sizeof(payload));
		if (f.type != 2) /* WELCOME ends sessions, as it must */
			link_rx(sim.host, line, frame_encode(&f, line), sim.now_ns);
		if (f.type != 1)
			link_rx(sim.board, line, frame_encode(&f, line), sim.now_ns);
		sim_run(NULL, 0);
		sim_line_deliver(&sim.dirs[TO_BOARD], NULL, 0);
		sim_line_deliver(&sim.dirs[TO_HOST], NULL, 0);
		sim.now_ns += SIM_MS;
	}
	CHECK_EQ(sim.requests_done, 0);
	CHECK_EQ(sim.events_got, 0);
	sim_line_clear(&sim.dirs[0]);
	sim_line_clear(&sim.dirs[1]);
	CHECK_EQ(sim_request(100), 0);
	CHECK(sim_run(sim_all_answered, 10) >= 0);
	CHECK_SOUND();
	sim_finish();
}

TEST(human_after_a_dead_host)
{
	uint8_t half[300] = { 0, FRAME_MARK, 9, 1, 2, 3 };

	/* The host died in the middle of a frame. Somebody types on the line. */
	sim_start(14);
	memset(half + 6, 0x55, sizeof(half) - 6);
	link_rx(sim.board, half, sizeof(half), sim.now_ns);
	for (const char *key = "\r\r\rhelp\r"; *key; key++) {
		sim.now_ns += 100 * SIM_MS;
		link_rx(sim.board, (const uint8_t *)key, 1, sim.now_ns);
	}
	CHECK_EQ(sim.texts, 5);
	sim_finish();
}

TEST(clock_that_jumps)
{
	struct link_stats s;
	uint8_t line[FRAME_LINE_MAX];
	const uint8_t hello[9] = { LINK_VERSION, 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct frame f = { .type = 1, .len = sizeof(hello), .payload = hello };
	size_t n = frame_encode(&f, line);

	/* An emulated board sleeps for simulated minutes between the pieces of a frame. */
	sim_start(15);
	for (size_t at = 0; at < n; at += 5) {
		sim.now_ns += 100000 * SIM_MS;
		link_rx(sim.board, line + at, MIN((size_t)5, n - at), sim.now_ns);
	}
	CHECK(link_is_up(sim.board));
	link_stats_get(sim.board, &s);
	CHECK_EQ(s.rx_bad, 0);
	sim_finish();
}
