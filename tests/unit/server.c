/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The board's server over a link without faults: runtime/server.h. The host's end is a link and
 * marshalled calls, as the broker makes them.
 */
#include "test.h"

#include "hal_host.h"
#include "include/hal.h"
#include "runtime/rt_int.h"
#include "runtime/server.h"
#include "wire/link.h"
#include "wire/marshal.h"
#include "wire/message.h"

static struct rt *rt;
static struct server *server;
static struct link *host;
static uint64_t now_ns;
static uint8_t to_board[1 << 20], to_host[1 << 20];
static size_t to_board_len, to_host_len;
static uint64_t insns;

static struct {
	uint8_t msg[4096];
	size_t len;
} reps[64];
static unsigned int reps_nr, events_nr, console_bytes;
static struct wire_event events[64];
static char event_text[4096];

/* ---- the machine ------------------------------------------------------------------------------
 */

static char texts[WIRE_TEXTS][4096];

static uint32_t log_read(void *arg, uint32_t which, char *buf, uint32_t len, uint64_t *pos,
			 uint64_t *lost)
{
	uint64_t end = strlen(texts[which]);

	(void)arg;
	if (*pos < 5 && which == WIRE_TEXT_LOG) {
		*lost += 5 - *pos; /* its first bytes are gone */
		*pos = 5;
	}
	if (*pos >= end)
		return 0;
	len = (uint32_t)MIN((uint64_t)len, end - *pos);
	memcpy(buf, texts[which] + *pos, len);
	*pos += len;
	return len;
}

static uint64_t insns_retired(void *arg)
{
	(void)arg;
	return insns;
}

static const struct rt_platform platform = { .log_read = log_read, .insns_retired = insns_retired };

/* ---- the line ---------------------------------------------------------------------------------
 */

static void board_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	memcpy(to_host + to_host_len, bytes, n);
	to_host_len += n;
}

static void board_console(void *arg, const uint8_t *text, size_t n)
{
	(void)arg;
	(void)text;
	console_bytes += (unsigned int)n;
}

static void host_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	memcpy(to_board + to_board_len, bytes, n);
	to_board_len += n;
}

static void host_text(void *arg, const uint8_t *text, size_t n)
{
	(void)arg;
	(void)text;
	(void)n;
}

static void host_msg(void *arg, enum link_chan chan, const uint8_t *msg, size_t len)
{
	(void)arg;
	if (chan == LINK_CHAN_REP && reps_nr < 64 && len <= sizeof(reps[0].msg)) {
		memcpy(reps[reps_nr].msg, msg, len);
		reps[reps_nr++].len = len;
	} else if (chan == LINK_CHAN_EVENT && events_nr < 64) {
		struct wire_event *ev = &events[events_nr++];

		if (wire_get_event(msg, len, ev))
			TEST_FAIL("bad event");
		else if (ev->kind == WIRE_EVENT_TEXT)
			strncat(event_text, ev->text, ev->len);
	}
}

static void host_reset(void *arg, uint64_t id)
{
	(void)arg;
	(void)id;
}

static void settle(void)
{
	do {
		size_t n;

		now_ns += 300000000;
		link_poll(host, now_ns);
		n = to_board_len;
		to_board_len = 0;
		insns += 100;
		server_rx(server, to_board, n, now_ns);
		server_poll(server, now_ns);
		n = to_host_len;
		to_host_len = 0;
		link_rx(host, to_host, n, now_ns);
	} while (to_board_len || to_host_len);
}

static const struct link_ops host_ops = {
	.tx = host_tx, .text = host_text, .msg = host_msg, .peer_reset = host_reset
};
static const struct server_ops server_ops = { .tx = board_tx, .console = board_console };

static void connect_host(uint64_t id)
{
	link_free(host);
	to_board_len = 0;
	host = link_new(LINK_HOST, id, &host_ops);
	link_connect(host, now_ns);
	settle();
}

static void start(void)
{
	now_ns = 1;
	reps_nr = events_nr = console_bytes = 0;
	event_text[0] = 0;
	memset(texts, 0, sizeof(texts));
	to_board_len = to_host_len = 0;
	host = NULL;
	rt = rt_new(&platform);
	server = server_new(rt, &platform, 77, &server_ops);
	server_start(server, now_ns);
	connect_host(1);
}

static void finish(void)
{
	link_free(host);
	server_free(server);
	if (rt_free(rt))
		TEST_FAIL("objects are left");
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static const char pin_path[64] __aligned(64) = "/sys/fs/bpf/x";
/* fds of the client are handles here. */
static struct bpf_obj_info known[64];

static int peek(void *arg, void *dst, uint64_t addr, size_t n)
{
	(void)arg;
	memcpy(dst, (void *)(uintptr_t)addr, n);
	return 0;
}

static int poke(void *arg, uint64_t addr, const void *src, size_t n)
{
	(void)arg;
	memcpy((void *)(uintptr_t)addr, src, n);
	return 0;
}

static int fd_info(void *arg, int fd, struct bpf_obj_info *info)
{
	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].kind && known[i].handle == (uint32_t)fd) {
			*info = known[i];
			return 0;
		}
	}
	return -EBADF;
}

static const struct marshal_io io = { peek, poke, fd_info, NULL, NULL, NULL, 4 };

/* Send a request behind what is in b already; b is freed. */
static int submit(struct marshal_call *mc, uint32_t cmd, void *attr, uint32_t size,
		  struct wire_buf *b)
{
	int err = marshal_request(mc, cmd, (uintptr_t)attr, size, &io, b);

	if (!err)
		err = link_send(host, LINK_CHAN_REQ, b->data, b->len, now_ns);
	wire_buf_free(b);
	return err;
}

static int64_t finish_call(const struct marshal_call *mc, unsigned int rep)
{
	struct bpf_obj_info obj;
	int64_t ret = -EPROTO;

	if (rep >= reps_nr || marshal_reply(mc, reps[rep].msg, reps[rep].len, &io, &ret, &obj))
		return -EPROTO;
	for (size_t i = 0; obj.kind && i < ARRAY_SIZE(known); i++) {
		if (!known[i].kind) {
			known[i] = obj;
			break;
		}
	}
	return ret;
}

static int64_t do_bpf(uint32_t cmd, void *attr, uint32_t size)
{
	struct wire_buf b = { 0 };
	struct marshal_call mc;
	int err = submit(&mc, cmd, attr, size, &b);

	if (err)
		return err;
	settle();
	return finish_call(&mc, reps_nr - 1);
}

static int64_t make_map(uint32_t type, uint32_t key, uint32_t value, uint32_t entries)
{
	union bpf_attr attr = {
		.map_type = type, .key_size = key, .value_size = value, .max_entries = entries
	};

	return do_bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
}

static unsigned int live_maps(void)
{
	uint32_t id = 0;
	unsigned int n = 0;

	hal_quiesce_flush(true);
	while (!rt_next_id(rt, RT_MAP, id, &id))
		n++;
	return n;
}

static void forget_fds(void)
{
	memset(known, 0, sizeof(known));
}

/* ---- tests ------------------------------------------------------------------------------------
 */

TEST(calls_and_replies)
{
	union bpf_attr attr = { 0 };
	uint32_t key = 1;
	uint64_t value = 0x1234567887654321, got = 0;
	int64_t map;

	start();
	forget_fds();
	map = make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 2);
	CHECK(map > 0);
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	CHECK_EQ(do_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)), 0);
	attr.value = (uintptr_t)&got;
	CHECK_EQ(do_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)), 0);
	CHECK_EQ(got, value);
	key = 2;
	CHECK_EQ(do_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)), -ENOENT);
	attr.map_fd = 4000;
	CHECK_EQ(do_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)), -EBADF);
	finish();
}

TEST(many_requests_in_the_window)
{
	struct marshal_call mc[10];
	union bpf_attr attr[10];

	start();
	forget_fds();
	for (uint32_t i = 0; i < 10; i++) {
		struct wire_buf b = { 0 };

		memset(&attr[i], 0, sizeof(attr[i]));
		attr[i].map_type = BPF_MAP_TYPE_ARRAY;
		attr[i].key_size = 4;
		attr[i].value_size = i; /* the first one is refused */
		attr[i].max_entries = 1;
		CHECK_EQ(submit(&mc[i], BPF_MAP_CREATE, &attr[i], sizeof(attr[i]), &b), 0);
	}
	settle();
	CHECK_EQ(reps_nr, 10);
	CHECK_EQ(finish_call(&mc[0], 0), -EINVAL);
	for (uint32_t i = 1; i < 10; i++)
		CHECK(finish_call(&mc[i], i) > 0);
	CHECK_EQ(live_maps(), 9);
	finish();
}

TEST(closes_ride_on_requests)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};
	struct wire_buf b = { 0 };
	struct marshal_call mc;
	uint32_t handles[3];

	start();
	forget_fds();
	for (int i = 0; i < 3; i++)
		handles[i] = (uint32_t)make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 1);
	CHECK_EQ(live_maps(), 3);
	wire_put_close(&b, handles, 2);
	CHECK_EQ(submit(&mc, BPF_MAP_CREATE, &attr, sizeof(attr), &b), 0);
	settle();
	CHECK(finish_call(&mc, reps_nr - 1) > 0);
	CHECK_EQ(live_maps(), 2);
	/* Alone, and one of them is closed already. */
	wire_put_close(&b, handles + 1, 2);
	CHECK_EQ(link_send(host, LINK_CHAN_REQ, b.data, b.len, now_ns), 0);
	wire_buf_free(&b);
	settle();
	CHECK_EQ(reps[reps_nr - 1].len, 1);
	CHECK_EQ(reps[reps_nr - 1].msg[0], 0);
	CHECK_EQ(live_maps(), 1);
	/* A bad prelude: nothing of the message is done. */
	wire_put_close(&b, handles, 3);
	wire_put_num(&b, WIRE_FOLLOW);
	wire_put_num(&b, 9);
	wire_put_num(&b, 1);
	CHECK_EQ(submit(&mc, BPF_MAP_CREATE, &attr, sizeof(attr), &b), 0);
	settle();
	CHECK_EQ(finish_call(&mc, reps_nr - 1), -EBADMSG);
	CHECK_EQ(live_maps(), 1);
	finish();
}

TEST(new_session_ends_the_old)
{
	struct wire_buf b = { 0 };
	union bpf_attr attr = { 0 };
	struct marshal_call mc;
	uint32_t big[3000] = { 0 };
	int64_t pinned;

	start();
	forget_fds();
	CHECK(make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 1) > 0);
	pinned = make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(big), 1);
	attr.pathname = (uintptr_t)pin_path;
	attr.bpf_fd = (uint32_t)pinned;
	CHECK_EQ(do_bpf(BPF_OBJ_PIN, &attr, sizeof(attr)), 0);
	CHECK_EQ(live_maps(), 2);
	/* The host dies in the middle of a request. */
	memset(&attr, 0, sizeof(attr));
	memset(big, 0x55, sizeof(big));
	attr.map_fd = (uint32_t)pinned;
	attr.key = (uintptr_t)&(uint32_t){ 0 };
	attr.value = (uintptr_t)big;
	CHECK_EQ(submit(&mc, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &b), 0);
	server_rx(server, to_board, to_board_len, now_ns);
	connect_host(2);
	CHECK_EQ(live_maps(), 1);
	forget_fds();
	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uintptr_t)pin_path;
	pinned = do_bpf(BPF_OBJ_GET, &attr, sizeof(attr));
	CHECK(pinned > 0);
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)pinned;
	attr.key = (uintptr_t)&(uint32_t){ 0 };
	attr.value = (uintptr_t)big;
	CHECK_EQ(do_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(big); i++)
		CHECK_EQ(big[i], 0);
	finish();
}

static void follow(enum wire_text which, uint64_t pos)
{
	struct wire_buf b = { 0 };

	wire_put_follow(&b, which, pos);
	if (link_send(host, LINK_CHAN_REQ, b.data, b.len, now_ns))
		TEST_FAIL("not sent");
	wire_buf_free(&b);
	settle();
}

TEST(text_as_it_comes)
{
	start();
	strcpy(texts[WIRE_TEXT_TRACE], "first\nsecond\n");
	settle();
	CHECK_EQ(events_nr, 0);
	follow(WIRE_TEXT_TRACE, 6);
	CHECK_STR(event_text, "second\n");
	CHECK_EQ(events[0].pos, 6);
	CHECK_EQ(events[0].lost, 0);
	strcat(texts[WIRE_TEXT_TRACE], "third\n");
	settle();
	CHECK_STR(event_text, "second\nthird\n");
	CHECK_EQ(events[1].pos, 13);
	follow(WIRE_TEXT_TRACE, WIRE_FOLLOW_NOT);
	strcat(texts[WIRE_TEXT_TRACE], "fourth\n");
	settle();
	CHECK_EQ(events_nr, 2);
	/* Older text than is kept. */
	strcpy(texts[WIRE_TEXT_LOG], "01234567");
	follow(WIRE_TEXT_LOG, 2);
	CHECK_EQ(events_nr, 3);
	CHECK_EQ(events[2].which, WIRE_TEXT_LOG);
	CHECK_EQ(events[2].pos, 5);
	CHECK_EQ(events[2].lost, 3);
	/* More than fits in an event. */
	memset(texts[WIRE_TEXT_LOG] + 8, 'x', 3000);
	settle();
	CHECK_EQ(events_nr, 7);
	CHECK_EQ(strlen(event_text), 13 + 3 + 3000);
	/* The next host does not want it. */
	connect_host(9);
	strcat(texts[WIRE_TEXT_LOG], "more");
	settle();
	CHECK_EQ(events_nr, 7);
	finish();
}

TEST(console_bytes_pass)
{
	start();
	server_rx(server, (const uint8_t *)"help\r", 5, now_ns);
	CHECK_EQ(console_bytes, 5);
	finish();
}

TEST(unknown_requests)
{
	static const uint8_t odd[] = { 0xff, 0xff, 0x03, 1, 2, 3 };
	struct wire_buf b = { 0 };
	union bpf_attr attr = { 0 };
	struct marshal_call mc;

	start();
	/* Not a request; then empty; then a good one: each has its reply, in order. */
	CHECK_EQ(link_send(host, LINK_CHAN_REQ, odd, sizeof(odd), now_ns), 0);
	CHECK_EQ(link_send(host, LINK_CHAN_REQ, NULL, 0, now_ns), 0);
	CHECK_EQ(submit(&mc, BPF_MAP_GET_NEXT_ID, &attr, sizeof(attr), &b), 0);
	settle();
	CHECK_EQ(reps_nr, 3);
	CHECK_EQ(finish_call(&mc, 0), -EBADMSG);
	CHECK_EQ(finish_call(&mc, 1), -EBADMSG);
	CHECK_EQ(finish_call(&mc, 2), -ENOENT);
	finish();
}

TEST(accounts)
{
	struct board_load_stat stat = { .rx_overruns = 9 };

	start();
	forget_fds();
	CHECK(make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 1) > 0);
	server_load_stat(server, &stat);
	CHECK_EQ(stat.requests, 1);
	CHECK_EQ(stat.rx_overruns, 9);
	CHECK(stat.rx_frames >= 2 && stat.tx_frames >= 3);
	CHECK(stat.rx_payload_bytes > 10);
	CHECK_EQ(stat.rx_insns % 100, 0);
	finish();
}

/* Whatever allocation fails: every request has a reply, and no object is left over. */
TEST(no_memory)
{
	for (unsigned long n = 1; n < 200; n++) {
		union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY,
					.key_size = 4,
					.value_size = 4,
					.max_entries = 1 };
		struct marshal_call mc[2];
		struct wire_buf b = { 0 };
		int64_t ret[2];

		start();
		forget_fds();
		CHECK_EQ(submit(&mc[0], BPF_MAP_CREATE, &attr, sizeof(attr), &b), 0);
		CHECK_EQ(submit(&mc[1], BPF_MAP_CREATE, &attr, sizeof(attr), &b), 0);
		hal_host_fail_alloc(n, n % 2);
		server_rx(server, to_board, to_board_len, now_ns);
		to_board_len = 0;
		bool hit = hal_host_fail_hit();

		hal_host_fail_alloc(0, false);
		settle();
		CHECK_EQ(reps_nr, 2);
		ret[0] = finish_call(&mc[0], 0);
		ret[1] = finish_call(&mc[1], 1);
		CHECK(ret[0] > 0 || ret[0] == -ENOMEM);
		CHECK(ret[1] > 0 || ret[1] == -ENOMEM);
		CHECK_EQ(live_maps(), (ret[0] > 0) + (ret[1] > 0));
		finish();
		if (!hit)
			break;
	}
	hal_host_fail_alloc(1, false);
	CHECK(!server_new(NULL, &platform, 1, &server_ops));
}
