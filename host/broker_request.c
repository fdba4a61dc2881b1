/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages to the board: of clients, passed on, and of the broker's own. */
#include <stdlib.h>
#include <string.h>

#include "host/broker.h"

#define OWN_CALL_MS 30000

/* Messages of the broker alone: closes, following. The reply says nothing. */
static void nobody_waits(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	(void)b, (void)arg, (void)status, (void)rep, (void)len;
}

static int submit(struct broker *b, uint32_t cmd, struct wire_buf *msg, uint64_t quiet_ms,
		  board_done done, void *arg)
{
	struct board_call *c = calloc(1, sizeof(*c));
	int rc = c && !msg->err ? 0 : -ENOMEM;

	if (!rc)
		rc = link_send(b->link, LINK_CHAN_REQ, msg->data, msg->len, now_ns());
	if (rc) {
		free(c);
		return rc;
	}
	*c = (struct board_call){ .done = done, .arg = arg, .cmd = cmd };
	c->quiet_ns = (quiet_ms ? quiet_ms : OWN_CALL_MS) * 1000000;
	if (list_is_empty(&b->inflight))
		b->heard_ns = now_ns();
	list_add_tail(&b->inflight, &c->link);
	b->link_due_ns = 0;
	return 0;
}

int board_submit(struct broker *b, uint32_t cmd, const uint8_t *msg, size_t len, uint64_t quiet_ms,
		 board_done done, void *arg)
{
	struct wire_buf all = { 0 };
	int rc;

	if (b->state == LINE_CLOSED)
		return -EIO;
	if (b->state == LINE_UP)
		objects_put_closes(b, &all);
	wire_put_bytes(&all, msg, len);
	rc = submit(b, cmd, &all, quiet_ms, done, arg);
	wire_buf_free(&all);
	return rc;
}

void board_send_closes(struct broker *b)
{
	b->close_due_ns = 0;
	if (b->state != LINE_UP || !b->closing_nr)
		return;
	b->stats.own_calls++;
	if (board_submit(b, 0, NULL, 0, 0, nobody_waits, NULL))
		broker_log(b, "no memory: some handles stay open on the board");
}

void board_follow_trace(struct broker *b, bool on)
{
	struct wire_buf msg = { 0 };

	if (b->state != LINE_UP || b->trace_followed == on)
		return;
	wire_put_follow(&msg, WIRE_TEXT_TRACE, on ? b->trace_pos : WIRE_FOLLOW_NOT);
	if (submit(b, 0, &msg, 0, nobody_waits, NULL))
		broker_log(b, "no memory: trace text is not followed");
	else
		b->trace_followed = on;
	wire_buf_free(&msg);
}

static int own_peek(void *arg, void *dst, uint64_t addr, size_t n)
{
	(void)arg;
	memcpy(dst, (const void *)(uintptr_t)addr, n);
	return 0;
}

static int own_poke(void *arg, uint64_t addr, const void *src, size_t n)
{
	(void)arg;
	memcpy((void *)(uintptr_t)addr, src, n);
	return 0;
}

/* In the broker's own attrs fd fields hold the board's handles. */
static int own_fd_info(void *arg, int fd, struct bpf_obj_info *info)
{
	(void)arg;
	*info = (struct bpf_obj_info){ .handle = (uint32_t)fd };
	return 0;
}

static const struct marshal_io own_io = {
	.peek = own_peek, .poke = own_poke, .fd_info = own_fd_info, .cpus = 1
};

int own_submit(struct broker *b, uint32_t cmd, struct own_call *own, uint32_t size, board_done done,
	       void *arg)
{
	struct wire_buf msg = { 0 };
	int rc = marshal_request(&own->mc, cmd, (uintptr_t)&own->attr, size, &own_io, &msg);

	if (!rc)
		rc = board_submit(b, cmd, msg.data, msg.len, 0, done, arg);
	if (!rc)
		b->stats.own_calls++;
	wire_buf_free(&msg);
	return rc;
}

int64_t own_reply(const struct own_call *own, const uint8_t *rep, size_t len)
{
	struct bpf_obj_info obj;
	int64_t ret;
	int rc = marshal_reply(&own->mc, rep, len, &own_io, &ret, &obj);

	return rc ? rc : ret;
}
