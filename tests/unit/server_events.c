/* SPDX-License-Identifier: BSD-2-Clause */
/* What the board says unasked: events of runtime/server.h. */
#include "test.h"

#include "hal_host.h"
#include "include/hal.h"
#include "support_server.h"

static void follow(enum wire_text which, uint64_t pos)
{
	struct wire_buf b = { 0 };

	wire_put_follow(&b, which, pos);
	if (link_send(srv.host, LINK_CHAN_REQ, b.data, b.len, srv.now_ns))
		TEST_FAIL("not sent");
	wire_buf_free(&b);
	srv_settle();
}

TEST(text_as_it_comes)
{
	srv_start();
	strcpy(srv.texts[WIRE_TEXT_TRACE], "first\nsecond\n");
	srv_settle();
	CHECK_EQ(srv.events_nr, 0);
	follow(WIRE_TEXT_TRACE, 6);
	CHECK_STR(srv.event_text, "second\n");
	CHECK_EQ(srv.events[0].pos, 6);
	CHECK_EQ(srv.events[0].lost, 0);
	strcat(srv.texts[WIRE_TEXT_TRACE], "third\n");
	srv_settle();
	CHECK_STR(srv.event_text, "second\nthird\n");
	CHECK_EQ(srv.events[1].pos, 13);
	follow(WIRE_TEXT_TRACE, WIRE_FOLLOW_NOT);
	strcat(srv.texts[WIRE_TEXT_TRACE], "fourth\n");
	srv_settle();
	CHECK_EQ(srv.events_nr, 2);
	/* Older text than is kept. */
	strcpy(srv.texts[WIRE_TEXT_LOG], "01234567");
	follow(WIRE_TEXT_LOG, 2);
	CHECK_EQ(srv.events_nr, 3);
	CHECK_EQ(srv.events[2].which, WIRE_TEXT_LOG);
	CHECK_EQ(srv.events[2].pos, 5);
	CHECK_EQ(srv.events[2].lost, 3);
	/* More than fits in an event. */
	memset(srv.texts[WIRE_TEXT_LOG] + 8, 'x', 3000);
	srv_settle();
	CHECK_EQ(srv.events_nr, 7);
	CHECK_EQ(strlen(srv.event_text), 13 + 3 + 3000);
	/* The next host does not want it. */
	srv_connect_host(9);
	strcat(srv.texts[WIRE_TEXT_LOG], "more");
	srv_settle();
	CHECK_EQ(srv.events_nr, 7);
	CHECK_EQ(srv_finish(), 0);
}

static void submit_record(struct bpf_map *map, const char *text)
{
	if (map->ops->ringbuf_output(map, text, strlen(text), 0))
		TEST_FAIL("ring is full");
}

static int64_t read_ring(int64_t fd, uint64_t off, char *buf, uint32_t len)
{
	union board_attr attr = { .mem = { .map_fd = (uint32_t)fd, .len = len, .off = off } };
	int64_t ret;

	attr.mem.buf = (uintptr_t)buf;
	ret = srv_do_bpf(BOARD_MEM_READ, &attr, sizeof(attr));
	return ret ? ret : (int64_t)attr.mem.len;
}

static int64_t move_consumer(int64_t fd, uint64_t pos)
{
	union board_attr attr = { .mem = { .map_fd = (uint32_t)fd, .cons_pos = pos } };

	return srv_do_bpf(BOARD_MEM_WRITE, &attr, sizeof(attr));
}

TEST(rings_tell_once)
{
	struct bpf_map *map;
	char buf[64];
	int64_t fd;
	uint32_t id = 0;

	srv_start();
	fd = srv_make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 4096);
	CHECK(fd > 0);
	CHECK_EQ(rt_next_id(srv.rt, RT_MAP, id, &id), 0);
	map = rt_by_id(srv.rt, RT_MAP, id);
	/* Nobody has read it: nobody is told. */
	submit_record(map, "first");
	srv_settle();
	CHECK_EQ(srv.events_nr, 0);
	CHECK_EQ(read_ring(fd, 0, buf, sizeof(buf)), 16);
	CHECK_MEM(buf + 8, "first", 5);
	CHECK_EQ(move_consumer(fd, 16), 0);
	srv_settle();
	CHECK_EQ(srv.events_nr, 0);
	submit_record(map, "second");
	submit_record(map, "third");
	srv_settle();
	CHECK_EQ(srv.events_nr, 1);
	CHECK_EQ(srv.events[0].kind, WIRE_EVENT_RING);
	CHECK_EQ(srv.events[0].map_id, id);
	submit_record(map, "fourth");
	srv_settle();
	CHECK_EQ(srv.events_nr, 1);
	CHECK_EQ(read_ring(fd, 16, buf, sizeof(buf)), 48);
	/* Comes while the consumer has not moved on yet: its producer wakes nobody. */
	submit_record(map, "fifth");
	srv_settle();
	CHECK_EQ(srv.events_nr, 1);
	CHECK_EQ(move_consumer(fd, 64), 0);
	srv_settle();
	CHECK_EQ(srv.events_nr, 2);
	CHECK_EQ(srv.bad_events, 0);
	CHECK_EQ(srv_finish(), 0);
}

TEST(rings_that_go)
{
	char buf[64];
	int64_t fd;

	srv_start();
	fd = srv_make_map(BPF_MAP_TYPE_RINGBUF, 0, 0, 4096);
	CHECK_EQ(read_ring(fd, 0, buf, sizeof(buf)), 0);
	CHECK_EQ(rt_handle_close(srv.rt, (uint32_t)fd), 0);
	hal_quiesce_flush(true);
	srv_settle();
	CHECK_EQ(srv.events_nr, 0);
	CHECK_EQ(srv_finish(), 0);
}
