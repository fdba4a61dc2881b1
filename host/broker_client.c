/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "include/hal.h"
#include "host/broker.h"

/* A stream whose reader does not keep up loses text beyond this. */
#define STREAM_MAX (1024 * 1024)

static void client_free(struct broker *b, struct client *c)
{
	if (c->call)
		call_orphan(c);
	source_close(b->ep, &c->src);
	if (c->out_fd >= 0)
		close(c->out_fd);
	list_del(&c->link);
	outbuf_free(&c->out);
	free(c->payload);
	free(c);
	if (b->trace_followed && !clients_want_trace(b))
		board_follow_trace(b, false);
}

/* ---- out ---- */

/* The first byte carries the descriptor. */
static int send_fd(struct client *c)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec v = { c->out.data + c->out.at, 1 };
	struct msghdr m = { .msg_iov = &v,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &c->out_fd, sizeof(int));
	if (sendmsg(c->src.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT) != 1)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : -errno;
	close(c->out_fd);
	c->out_fd = -1;
	c->out.at++;
	return 0;
}

/* Write what the socket takes. False: the client was freed. */
static bool client_write(struct broker *b, struct client *c)
{
	int rc = 0;

	if (c->out_fd >= 0 && outbuf_left(&c->out))
		rc = send_fd(c);
	if (!rc)
		rc = outbuf_flush(&c->out, c->src.fd, true);
	if ((rc && rc != -EAGAIN) || (c->mode == CLIENT_REPLY && !outbuf_left(&c->out))) {
		client_free(b, c);
		return false;
	}
	source_want(b->ep, &c->src, EPOLLIN | (outbuf_left(&c->out) ? EPOLLOUT : 0u));
	return true;
}

void client_reply(struct broker *b, struct client *c, int status, uint32_t flags,
		  const void *payload, size_t len, int fd)
{
	struct ipc_rep head = { .len = (uint32_t)len,
				.status = status,
				.flags = flags | (fd >= 0 ? IPC_REP_FD : 0u) };

	c->call = NULL;
	c->mode = CLIENT_REPLY;
	c->out_fd = fd;
	if (outbuf_put(&c->out, &head, sizeof(head)) || outbuf_put(&c->out, payload, len)) {
		client_free(b, c);
		return;
	}
	client_write(b, c);
}

void client_fail(struct broker *b, struct client *c, int status, const char *text)
{
	client_reply(b, c, status, 0, text, strlen(text), -1);
}

void client_progress(struct broker *b, struct client *c, uint32_t sent_bytes)
{
	struct ipc_rep head = { .flags = IPC_REP_PROGRESS, .arg = sent_bytes };

	if (!outbuf_put(&c->out, &head, sizeof(head)))
		client_write(b, c);
}

/* ---- streams ---- */

static void stream_put(struct broker *b, struct client *c, const uint8_t *text, size_t n)
{
	if (outbuf_left(&c->out) + n > STREAM_MAX)
		return;
	if (!outbuf_put(&c->out, text, n))
		client_write(b, c);
}

static void streams_put(struct broker *b, enum client_mode mode, const uint8_t *text, size_t n)
{
	struct list *pos, *tmp;

	list_for_each_safe (pos, tmp, &b->clients) {
		struct client *c = list_entry(pos, struct client, link);

		if (c->mode == mode)
			stream_put(b, c, text, n);
	}
}

void clients_console(struct broker *b, const uint8_t *text, size_t n)
{
	streams_put(b, CLIENT_CONSOLE, text, n);
}

void clients_trace(struct broker *b, const void *text, size_t n)
{
	streams_put(b, CLIENT_TRACE, text, n);
}

bool clients_want_trace(const struct broker *b)
{
	struct list *pos;

	list_for_each (pos, &b->clients)
		if (list_entry(pos, struct client, link)->mode == CLIENT_TRACE)
			return true;
	return false;
}

void clients_notice(struct broker *b, const char *text)
{
	char line[IPC_TEXT_MAX + 16];
	int n = snprintf(line, sizeof(line), "\r\n[%s]\r\n", text);

	streams_put(b, CLIENT_CONSOLE, (const uint8_t *)line, (size_t)n);
}

/* The empty reply that says that a stream is open. False: the client was freed. */
static bool start_stream(struct broker *b, struct client *c, enum client_mode mode)
{
	const struct ipc_rep head = { 0 };

	c->mode = mode;
	if (!outbuf_put(&c->out, &head, sizeof(head)))
		return client_write(b, c);
	client_free(b, c);
	return false;
}

static void start_trace(struct broker *b, struct client *c)
{
	if (start_stream(b, c, CLIENT_TRACE))
		board_follow_trace(b, true);
}

/* ---- in ---- */

static void reply_stats(struct broker *b, struct client *c)
{
	struct ipc_stats s = b->stats;
	struct link_stats l = { 0 };
	struct list *pos;

	if (b->link)
		link_stats_get(b->link, &l);
	s.tx_bytes = l.tx_bytes;
	s.rx_bytes = l.rx_bytes;
	s.tx_payload_bytes = l.tx_payload_bytes;
	s.rx_payload_bytes = l.rx_payload_bytes;
	s.tx_frames = l.tx_frames;
	s.rx_frames = l.rx_frames;
	s.retransmits = l.retransmits;
	s.rx_bad = l.rx_bad;
	s.objects = b->objects_nr;
	list_for_each (pos, &b->clients)
		s.clients++;
	client_reply(b, c, 0, 0, &s, sizeof(s), -1);
}

/* Requests that need the board, once it is there. */
static void dispatch(struct broker *b, struct client *c)
{
	if (c->req.epoch && c->req.epoch != b->hello.epoch) {
		client_reply(b, c, -EAGAIN, IPC_REP_EPOCH, NULL, 0, -1);
		return;
	}
	switch (c->req.op) {
	case IPC_HELLO:
		client_reply(b, c, 0, 0, &b->hello, sizeof(b->hello), -1);
		break;
	case IPC_CALL:
		call_start(b, c);
		break;
	case IPC_MMAP:
		mmap_start(b, c);
		break;
	case IPC_SYNC:
		shadow_push_all(b);
		shadow_kick(b);
		client_reply(b, c, 0, 0, NULL, 0, -1);
		break;
	case IPC_TRACE:
		start_trace(b, c);
		break;
	}
}

void clients_resume(struct broker *b, int status)
{
	struct list *pos;
	bool again = true;

	/* A reply may free clients: start over after each. */
	while (again) {
		again = false;
		list_for_each (pos, &b->clients) {
			struct client *c = list_entry(pos, struct client, link);

			if (c->mode != CLIENT_BUSY || c->call)
				continue;
			if (status)
				client_fail(b, c, status, b->lost_why);
			else
				dispatch(b, c);
			again = true;
			break;
		}
	}
}

static void with_board(struct broker *b, struct client *c)
{
	c->mode = CLIENT_BUSY;
	if (b->state == LINE_UP) {
		dispatch(b, c);
		return;
	}
	if (b->state == LINE_CLOSED && line_open(b))
		client_fail(b, c, -EIO, b->lost_why);
}

/* The request is complete. */
static void client_serve(struct broker *b, struct client *c)
{
	static const char denied[] = "the broker belongs to another user; use `barebpf exec`";

	if (!c->allowed && memcmp(c->req.token, b->token, IPC_TOKEN_LEN)) {
		client_fail(b, c, -EACCES, denied);
		return;
	}
	switch (c->req.op) {
	case IPC_STATS:
		reply_stats(b, c);
		break;
	case IPC_QUIT:
		b->quit = true;
		client_reply(b, c, 0, 0, NULL, 0, -1);
		break;
	case IPC_KEEP:
		start_stream(b, c, CLIENT_KEEP);
		break;
	case IPC_CONSOLE:
		/* The line's text is wanted most when no board answers on it. */
		if (b->state == LINE_CLOSED && line_open(b))
			client_fail(b, c, -EIO, b->lost_why);
		else
			start_stream(b, c, CLIENT_CONSOLE);
		break;
	default:
		with_board(b, c);
	}
}

static bool request_head_ok(const struct client *c)
{
	return c->req.magic == IPC_MAGIC && c->req.op < IPC_OP_NR && c->req.len <= LINK_MSG_MAX;
}

static ssize_t read_some(struct client *c)
{
	size_t head = sizeof(c->req);
	void *to = c->got < head ? (uint8_t *)&c->req + c->got : c->payload + (c->got - head);
	size_t want = c->got < head ? head - c->got : head + c->req.len - c->got;

	return recv(c->src.fd, to, want, MSG_DONTWAIT);
}

static void client_read(struct broker *b, struct client *c)
{
	const size_t head = sizeof(c->req);
	ssize_t n = read_some(c);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_free(b, c);
		return;
	}
	c->got += (size_t)n;
	if (c->got < head)
		return;
	if (!c->payload) {
		c->payload = request_head_ok(c) ? malloc(c->req.len + 1) : NULL;
		if (!c->payload) {
			client_free(b, c);
			return;
		}
	}
	if (c->got == head + c->req.len)
		client_serve(b, c);
}

static void client_ready(struct broker *b, struct source *s, uint32_t events)
{
	struct client *c = container_of(s, struct client, src);
	uint8_t text[4096];
	ssize_t n;

	if (events & EPOLLOUT && !client_write(b, c))
		return;
	if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
		return;
	if (c->mode == CLIENT_REQUEST) {
		client_read(b, c);
		return;
	}
	/* Nothing more is expected but, on a console, keys, and the end everywhere. */
	n = recv(s->fd, text, sizeof(text), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		client_free(b, c);
	else if (c->mode == CLIENT_CONSOLE)
		line_send_text(b, text, (size_t)n);
}

void client_accept(struct broker *b, struct source *s, uint32_t events)
{
	int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(peer);
	struct client *c;

	(void)events;
	if (fd < 0)
		return;
	c = calloc(1, sizeof(*c));
	if (!c || source_add(b->ep, &c->src, fd, EPOLLIN)) {
		free(c);
		close(fd);
		return;
	}
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	c->allowed = peer.uid == geteuid() || peer.uid == 0;
	c->out_fd = -1;
	c->src.ready = client_ready;
	list_add_tail(&b->clients, &c->link);
}

void board_event(struct broker *b, const uint8_t *msg, size_t len)
{
	struct wire_event ev;
	char note[64];
	int n;

	if (wire_get_event(msg, len, &ev)) {
		broker_log(b, "an event is not understood (%zu bytes)", len);
		return;
	}
	if (ev.kind == WIRE_EVENT_RING) {
		shadow_ring_event(b, ev.map_id);
		return;
	}
	if (ev.which != WIRE_TEXT_TRACE)
		return;
	b->trace_pos = ev.pos + ev.len;
	if (ev.lost) {
		n = snprintf(note, sizeof(note), "[LOST %llu BYTES]\n",
			     (unsigned long long)ev.lost);
		clients_trace(b, note, (size_t)n);
	}
	clients_trace(b, ev.text, ev.len);
}
