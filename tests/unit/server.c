/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests and replies, sessions, accounts: runtime/server.h. */
#include "test.h"

#include "hal_host.h"
#include "support_server.h"

static const char pin_path[64] __aligned(64) = "/sys/fs/bpf/x";

TEST(calls_and_replies)
{
	union bpf_attr attr = { 0 };
	uint32_t key = 1;
	uint64_t value = 0x1234567887654321, got = 0;
	int64_t map;

	srv_start();
	map = srv_make_map(BPF_MAP_TYPE_ARRAY, 4, 8, 2);
	CHECK(map > 0);
	attr.map_fd = (uint32_t)map;
	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)&value;
	CHECK_EQ(srv_do_bpf(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr)), 0);
	attr.value = (uintptr_t)&got;
	CHECK_EQ(srv_do_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)), 0);
	CHECK_EQ(got, value);
	key = 2;
	CHECK_EQ(srv_do_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)), -ENOENT);
	attr.map_fd = 4000;
	CHECK_EQ(srv_do_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)), -EBADF);
	CHECK_EQ(srv_finish(), 0);
}

TEST(many_requests_in_the_window)
{
	struct marshal_call mc[10];
	union bpf_attr attr[10];

	srv_start();
	for (uint32_t i = 0; i < 10; i++) {
		struct wire_buf b = { 0 };

		memset(&attr[i], 0, sizeof(attr[i]));
		attr[i].map_type = BPF_MAP_TYPE_ARRAY;
		attr[i].key_size = 4;
		attr[i].value_size = i; /* the first one is refused */
		attr[i].max_entries = 1;
		CHECK_EQ(srv_submit(&mc[i], BPF_MAP_CREATE, &attr[i], sizeof(attr[i]), &b), 0);
	}
	srv_settle();
	CHECK_EQ(srv.reps_nr, 10);
	CHECK_EQ(srv_finish_call(&mc[0], 0), -EINVAL);
	for (uint32_t i = 1; i < 10; i++)
		CHECK(srv_finish_call(&mc[i], i) > 0);
	CHECK_EQ(srv_live_maps(), 9);
	CHECK_EQ(srv_finish(), 0);
}

TEST(closes_ride_on_requests)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};
	struct wire_buf b = { 0 };
	struct marshal_call mc;
	uint32_t handles[3];

	srv_start();
	for (int i = 0; i < 3; i++)
		handles[i] = (uint32_t)srv_make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 1);
	CHECK_EQ(srv_live_maps(), 3);
	wire_put_close(&b, handles, 2);
	CHECK_EQ(srv_submit(&mc, BPF_MAP_CREATE, &attr, sizeof(attr), &b), 0);
	srv_settle();
	CHECK(srv_finish_call(&mc, srv.reps_nr - 1) > 0);
	CHECK_EQ(srv_live_maps(), 2);
	/* Alone, and one of them is closed already. */
	wire_put_close(&b, handles + 1, 2);
	CHECK_EQ(link_send(srv.host, LINK_CHAN_REQ, b.data, b.len, srv.now_ns), 0);
	wire_buf_free(&b);
	srv_settle();
	CHECK_EQ(srv.reps[srv.reps_nr - 1].len, 1);
	CHECK_EQ(srv.reps[srv.reps_nr - 1].msg[0], 0);
	CHECK_EQ(srv_live_maps(), 1);
	/* A bad prelude: nothing of the message is done. */
	wire_put_close(&b, handles, 3);
	wire_put_num(&b, WIRE_FOLLOW);
	wire_put_num(&b, 9);
	wire_put_num(&b, 1);
	CHECK_EQ(srv_submit(&mc, BPF_MAP_CREATE, &attr, sizeof(attr), &b), 0);
	srv_settle();
	CHECK_EQ(srv_finish_call(&mc, srv.reps_nr - 1), -EBADMSG);
	CHECK_EQ(srv_live_maps(), 1);
	CHECK_EQ(srv_finish(), 0);
}

TEST(new_session_ends_the_old)
{
	struct wire_buf b = { 0 };
	union bpf_attr attr = { 0 };
	struct marshal_call mc;
	uint32_t big[3000] = { 0 };
	int64_t pinned;

	srv_start();
	CHECK(srv_make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 1) > 0);
	pinned = srv_make_map(BPF_MAP_TYPE_ARRAY, 4, sizeof(big), 1);
	attr.pathname = (uintptr_t)pin_path;
	attr.bpf_fd = (uint32_t)pinned;
	CHECK_EQ(srv_do_bpf(BPF_OBJ_PIN, &attr, sizeof(attr)), 0);
	CHECK_EQ(srv_live_maps(), 2);
	/* The host dies in the middle of a request. */
	memset(&attr, 0, sizeof(attr));
	memset(big, 0x55, sizeof(big));
	attr.map_fd = (uint32_t)pinned;
	attr.key = (uintptr_t)&(uint32_t){ 0 };
	attr.value = (uintptr_t)big;
	CHECK_EQ(srv_submit(&mc, BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr), &b), 0);
	server_rx(srv.server, srv.to_board, srv.to_board_len, srv.now_ns);
	srv_connect_host(2);
	CHECK_EQ(srv_live_maps(), 1);
	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uintptr_t)pin_path;
	pinned = srv_do_bpf(BPF_OBJ_GET, &attr, sizeof(attr));
	CHECK(pinned > 0);
	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (uint32_t)pinned;
	attr.key = (uintptr_t)&(uint32_t){ 0 };
	attr.value = (uintptr_t)big;
	CHECK_EQ(srv_do_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr)), 0);
	for (size_t i = 0; i < ARRAY_SIZE(big); i++)
		CHECK_EQ(big[i], 0);
	CHECK_EQ(srv_finish(), 0);
}

TEST(console_bytes_pass)
{
	srv_start();
	server_rx(srv.server, (const uint8_t *)"help\r", 5, srv.now_ns);
	CHECK_EQ(srv.console_bytes, 5);
	CHECK_EQ(srv_finish(), 0);
}

TEST(unknown_requests)
{
	static const uint8_t odd[] = { 0xff, 0xff, 0x03, 1, 2, 3 };
	struct wire_buf b = { 0 };
	union bpf_attr attr = { 0 };
	struct marshal_call mc;

	srv_start();
	/* Not a request; then empty; then a good one: each has its reply, in order. */
	CHECK_EQ(link_send(srv.host, LINK_CHAN_REQ, odd, sizeof(odd), srv.now_ns), 0);
	CHECK_EQ(link_send(srv.host, LINK_CHAN_REQ, NULL, 0, srv.now_ns), 0);
	CHECK_EQ(srv_submit(&mc, BPF_MAP_GET_NEXT_ID, &attr, sizeof(attr), &b), 0);
	srv_settle();
	CHECK_EQ(srv.reps_nr, 3);
	CHECK_EQ(srv_finish_call(&mc, 0), -EBADMSG);
	CHECK_EQ(srv_finish_call(&mc, 1), -EBADMSG);
	CHECK_EQ(srv_finish_call(&mc, 2), -ENOENT);
	CHECK_EQ(srv_finish(), 0);
}

TEST(accounts)
{
	struct board_load_stat stat = { .rx_overruns = 9 };

	srv_start();
	CHECK(srv_make_map(BPF_MAP_TYPE_ARRAY, 4, 4, 1) > 0);
	server_load_stat(srv.server, &stat);
	CHECK_EQ(stat.requests, 1);
	CHECK_EQ(stat.rx_overruns, 9);
	CHECK(stat.rx_frames >= 2 && stat.tx_frames >= 3);
	CHECK(stat.rx_payload_bytes > 10);
	CHECK_EQ(stat.rx_insns % 100, 0);
	CHECK_EQ(srv_finish(), 0);
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

		srv_start();
		CHECK_EQ(srv_submit(&mc[0], BPF_MAP_CREATE, &attr, sizeof(attr), &b), 0);
		CHECK_EQ(srv_submit(&mc[1], BPF_MAP_CREATE, &attr, sizeof(attr), &b), 0);
		hal_host_fail_alloc(n, n % 2);
		server_rx(srv.server, srv.to_board, srv.to_board_len, srv.now_ns);
		srv.to_board_len = 0;
		bool hit = hal_host_fail_hit();

		hal_host_fail_alloc(0, false);
		srv_settle();
		CHECK_EQ(srv.reps_nr, 2);
		ret[0] = srv_finish_call(&mc[0], 0);
		ret[1] = srv_finish_call(&mc[1], 1);
		CHECK(ret[0] > 0 || ret[0] == -ENOMEM);
		CHECK(ret[1] > 0 || ret[1] == -ENOMEM);
		CHECK_EQ(srv_live_maps(), (ret[0] > 0) + (ret[1] > 0));
		CHECK_EQ(srv_finish(), 0);
		if (!hit)
			break;
	}
	hal_host_fail_alloc(1, false);
	CHECK(!server_new(NULL, &srv_platform, 1, &srv_ops));
}
