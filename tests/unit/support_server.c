/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/support_server.h"

#include <string.h>

#include "include/hal.h"

struct srv srv;

/* ---- the machine ----------------------------------------------------------------------------- */

static uint32_t log_read(void *arg, uint32_t which, char *buf, uint32_t len, uint64_t *pos,
			 uint64_t *lost)
{
	uint64_t end = strlen(srv.texts[which]);

	(void)arg;
	if (*pos < 5 && which == WIRE_TEXT_LOG) {
		*lost += 5 - *pos; /* its first bytes are gone */
		*pos = 5;
	}
	if (*pos >= end)
		return 0;
	len = (uint32_t)MIN((uint64_t)len, end - *pos);
	memcpy(buf, srv.texts[which] + *pos, len);
	*pos += len;
	return len;
}

static uint64_t insns_retired(void *arg)
{
	(void)arg;
	return srv.insns;
}

const struct rt_platform srv_platform = { .log_read = log_read, .insns_retired = insns_retired };

/* ---- the line ---------------------------------------------------------------------------------
 */

static void board_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	memcpy(srv.to_host + srv.to_host_len, bytes, n);
	srv.to_host_len += n;
}

static void board_console(void *arg, const uint8_t *text, size_t n)
{
	(void)arg;
	(void)text;
	srv.console_bytes += (unsigned int)n;
}

static void host_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	memcpy(srv.to_board + srv.to_board_len, bytes, n);
	srv.to_board_len += n;
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
	if (chan == LINK_CHAN_REP && srv.reps_nr < 64 && len <= sizeof(srv.reps[0].msg)) {
		memcpy(srv.reps[srv.reps_nr].msg, msg, len);
		srv.reps[srv.reps_nr++].len = len;
	} else if (chan == LINK_CHAN_EVENT && srv.events_nr < 64) {
		struct wire_event *ev = &srv.events[srv.events_nr++];

		if (wire_get_event(msg, len, ev))
			srv.bad_events++;
		else if (ev->kind == WIRE_EVENT_TEXT)
			strncat(srv.event_text, ev->text, ev->len);
	}
}

static void host_reset(void *arg, uint64_t id)
{
	(void)arg;
	(void)id;
}

void srv_settle(void)
{
	do {
		size_t n;

		srv.now_ns += 300000000;
		link_poll(srv.host, srv.now_ns);
		n = srv.to_board_len;
		srv.to_board_len = 0;
		srv.insns += 100;
		server_rx(srv.server, srv.to_board, n, srv.now_ns);
		server_poll(srv.server, srv.now_ns);
		n = srv.to_host_len;
		srv.to_host_len = 0;
		link_rx(srv.host, srv.to_host, n, srv.now_ns);
	} while (srv.to_board_len || srv.to_host_len);
}

static const struct link_ops host_ops = {
	.tx = host_tx, .text = host_text, .msg = host_msg, .peer_reset = host_reset
};
const struct server_ops srv_ops = { .tx = board_tx, .console = board_console };

void srv_connect_host(uint64_t id)
{
	link_free(srv.host);
	srv.to_board_len = 0;
	srv.host = link_new(LINK_HOST, id, &host_ops);
	link_connect(srv.host, srv.now_ns);
	srv_settle();
}

void srv_start(void)
{
	memset(&srv, 0, sizeof(srv));
	srv.now_ns = 1;
	srv.rt = rt_new(&srv_platform);
	srv.server = server_new(srv.rt, &srv_platform, 77, &srv_ops);
	server_start(srv.server, srv.now_ns);
	srv_connect_host(1);
}

uint64_t srv_finish(void)
{
	link_free(srv.host);
	server_free(srv.server);
	return rt_free(srv.rt);
}

/* ---- calls ------------------------------------------------------------------------------------
 */

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
	for (size_t i = 0; i < ARRAY_SIZE(srv.known); i++) {
		if (srv.known[i].kind && srv.known[i].handle == (uint32_t)fd) {
			*info = srv.known[i];
			return 0;
		}
	}
	return -EBADF;
}

static const struct marshal_io srv_io = { peek, poke, fd_info, NULL, NULL, NULL, 4 };

int srv_submit(struct marshal_call *mc, uint32_t cmd, void *attr, uint32_t size, struct wire_buf *b)
{
	int err = marshal_request(mc, cmd, (uintptr_t)attr, size, &srv_io, b);

	if (!err)
		err = link_send(srv.host, LINK_CHAN_REQ, b->data, b->len, srv.now_ns);
	wire_buf_free(b);
	return err;
}

int64_t srv_finish_call(const struct marshal_call *mc, unsigned int rep)
{
	struct bpf_obj_info obj;
	int64_t ret = -EPROTO;

	if (rep >= srv.reps_nr ||
	    marshal_reply(mc, srv.reps[rep].msg, srv.reps[rep].len, &srv_io, &ret, &obj))
		return -EPROTO;
	for (size_t i = 0; obj.kind && i < ARRAY_SIZE(srv.known); i++) {
		if (!srv.known[i].kind) {
			srv.known[i] = obj;
			break;
		}
	}
	return ret;
}

int64_t srv_do_bpf(uint32_t cmd, void *attr, uint32_t size)
{
	struct wire_buf b = { 0 };
	struct marshal_call mc;
	int err = srv_submit(&mc, cmd, attr, size, &b);

	if (err)
		return err;
	srv_settle();
	return srv_finish_call(&mc, srv.reps_nr - 1);
}

int64_t srv_make_map(uint32_t type, uint32_t key, uint32_t value, uint32_t entries)
{
	union bpf_attr attr = {
		.map_type = type, .key_size = key, .value_size = value, .max_entries = entries
	};

	return srv_do_bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
}

unsigned int srv_live_maps(void)
{
	uint32_t id = 0;
	unsigned int n = 0;

	hal_quiesce_flush(true);
	while (!rt_next_id(srv.rt, RT_MAP, id, &id))
		n++;
	return n;
}
