/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client's bpf(2) call on its way: closes first, then either the memo answers, or lazy objects
 * that it names are made, mapped memory is pushed, the request goes out, mapped memory comes back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/broker.h"

#define PROGRESS_NS (100ull * 1000000)
/* Requests longer than this are no probes. */
#define MEMO_KEY_MAX 4096

struct call {
	struct client *client; /* NULL: it went away */
	uint32_t cmd;
	uint8_t *msg; /* as the client sent it */
	size_t msg_len;
	bool is_virtual;
	struct wire_buf key; /* len 0: the answer is not for the memo */
	uint64_t quiet_ms;

	unsigned int waits; /* replies still to come */
	int status;
	uint8_t *reply;
	size_t reply_len;
	int fd; /* placeholder or memfd to give, or -1 */

	struct object *making; /* the lazy object whose creation it waits for */
	uint32_t making_cmd;
	bool stalled; /* waits for one that another call is making */
	struct list stalled_link;
	bool wants_progress;
	uint64_t sent_before; /* bytes that were on the line before this message */
};

static void call_free(struct call *c)
{
	if (c->fd >= 0)
		close(c->fd);
	if (c->stalled)
		list_del(&c->stalled_link);
	wire_buf_free(&c->key);
	free(c->msg);
	free(c->reply);
	free(c);
}

/* Everything has come: answer, if there is still someone to answer to. */
static void call_finish(struct broker *b, struct call *c)
{
	struct client *client = c->client;

	if (client) {
		int fd = c->fd;

		c->fd = -1;
		if (c->status)
			client_fail(b, client, c->status,
				    c->status == -EIO ? b->lost_why : strerror(-c->status));
		else
			client_reply(b, client, 0, 0, c->reply, c->reply_len, fd);
		if (c->status && fd >= 0)
			close(fd);
	}
	call_free(c);
}

static void call_put(struct broker *b, struct call *c)
{
	if (!--c->waits)
		call_finish(b, c);
}

static void call_fail(struct broker *b, struct call *c, int status)
{
	c->status = status;
	call_finish(b, c);
}

void call_orphan(struct client *client)
{
	client->call->client = NULL;
	client->call = NULL;
}

/* ---- the memo ---- */

/* Fill in c->key when the memo is to be asked. */
static void find_key(struct broker *b, struct call *c)
{
	struct translation t = { .b = b, .mode = TO_KEY };
	struct bpf_call call;
	bool wants;

	if (c->msg_len > MEMO_KEY_MAX || unmarshal_request(c->msg, c->msg_len, &call))
		return;
	wants = memo_wants(&call);
	bpf_call_free(&call);
	if (!wants)
		return;
	if (translate(&t, c->msg, c->msg_len, &c->key) || t.foreign || t.too_many)
		c->key.len = 0;
}

/* A lazy object remembers how it is made, and holds what it is made from. */
static int make_lazy(struct broker *b, struct call *c, const struct memo_entry *e)
{
	struct translation t = { .b = b, .mode = TO_KEY };
	struct wire_buf ignored = { 0 };
	uint8_t *request = malloc(c->msg_len);
	struct object *o;
	int rc = request ? translate(&t, c->msg, c->msg_len, &ignored) : -ENOMEM;

	wire_buf_free(&ignored);
	if (!rc)
		rc = object_new(b, &e->obj, &o, &c->fd);
	if (rc) {
		free(request);
		return rc;
	}
	memcpy(request, c->msg, c->msg_len);
	o->request = request;
	o->request_len = c->msg_len;
	o->memo_index = e->index;
	for (uint32_t i = 0; i < t.seen_nr; i++) {
		o->deps[o->deps_nr++] = t.seen[i];
		t.seen[i]->refs++;
	}
	return 0;
}

static bool answer_from_memo(struct broker *b, struct call *c)
{
	const struct memo_entry *e = c->key.len ? memo_find(b, c->key.data, c->key.len) : NULL;

	if (!e)
		return false;
	if (e->obj.kind)
		c->status = make_lazy(b, c, e);
	if (!c->status) {
		c->reply = malloc(e->reply_len);
		c->reply_len = e->reply_len;
		if (c->reply)
			memcpy(c->reply, e->reply, e->reply_len);
		else
			c->status = -ENOMEM;
	}
	b->stats.memo_hits++;
	call_finish(b, c);
	return true;
}

/* ---- to the board ---- */

/* A handle came back: everyone who holds the placeholder holds the object. */
static int keep_object(struct broker *b, struct call *c, const struct bpf_obj_info *obj)
{
	struct object *o;
	int rc;

	if (handle_is_virtual(obj->handle))
		return -EPROTO;
	rc = object_new(b, obj, &o, &c->fd);
	if (rc)
		return rc;
	if (c->key.len) {
		const struct memo_entry *e = memo_find(b, c->key.data, c->key.len);

		o->memo_index = e ? e->index : 0;
	}
	return 0;
}

static void request_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct bpf_obj_info obj = { 0 };
	struct call *c = arg;
	int64_t ret;

	c->wants_progress = false;
	if (!status)
		status = marshal_reply_peek(c->cmd, rep, len, &ret, &obj) ? -EPROTO : 0;
	if (!status) {
		b->stats.round_trips++;
		if (c->key.len)
			memo_add(b, c->key.data, c->key.len, rep, len, ret, &obj);
		if (obj.kind)
			status = keep_object(b, c, &obj);
	}
	if (!status) {
		c->reply = malloc(len ? len : 1);
		c->reply_len = len;
		if (c->reply)
			memcpy(c->reply, rep, len);
		else
			status = -ENOMEM;
	}
	if (status)
		c->status = status;
	/* What a knob changes may change any answer. */
	if (c->cmd == BOARD_KNOB_SET)
		memo_flush(b);
	call_put(b, c);
}

static void pull_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	(void)status, (void)rep, (void)len;
	call_put(b, arg);
}

static void pull_shadows(struct broker *b, struct call *c)
{
	struct bpf_call call;

	if (list_is_empty(&b->shadows) || unmarshal_request(c->msg, c->msg_len, &call))
		return;
	c->waits += shadow_pull_after(b, &call, pull_done, c);
	bpf_call_free(&call);
}

static void send_request(struct broker *b, struct call *c, const uint8_t *msg, size_t len)
{
	struct link_stats s;
	int rc;

	shadow_push_all(b);
	link_stats_get(b->link, &s);
	c->sent_before = s.tx_bytes;
	rc = board_submit(b, c->cmd, msg, len, c->quiet_ms, request_done, c);
	if (rc) {
		call_fail(b, c, rc);
		return;
	}
	c->waits = 1;
	if (c->wants_progress && !b->progress_due_ns)
		b->progress_due_ns = now_ns() + PROGRESS_NS;
	pull_shadows(b, c);
}

/* ---- lazy objects become real ---- */

static void call_go(struct broker *b, struct call *c);

static void stall(struct broker *b, struct call *c)
{
	c->stalled = true;
	list_add_tail(&b->stalled, &c->stalled_link);
}

static void unstall_all(struct broker *b)
{
	struct list now = LIST_INIT(now);
	struct call *c;

	while ((c = list_first(&b->stalled, struct call, stalled_link))) {
		list_del(&c->stalled_link);
		list_add_tail(&now, &c->stalled_link);
	}
	while ((c = list_first(&now, struct call, stalled_link))) {
		list_del(&c->stalled_link);
		c->stalled = false;
		call_go(b, c);
	}
}

static void made(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct bpf_obj_info obj = { 0 };
	struct call *c = arg;
	struct object *o = c->making;
	int64_t ret = 0;

	c->making = NULL;
	o->being_made = false;
	if (!status && marshal_reply_peek(c->making_cmd, rep, len, &ret, &obj))
		status = -EPROTO;
	if (!status)
		status = ret < 0 ? (int)ret : obj.kind ? 0 : -EPROTO;
	if (!status)
		object_made(b, o, obj.handle);
	object_put(b, o);
	if (status)
		call_fail(b, c, status);
	else
		call_go(b, c);
	unstall_all(b);
}

/* Make o, or first what it is made from. */
static void make_first(struct broker *b, struct call *c, struct object *o)
{
	struct translation t = { .b = b, .mode = TO_REAL };
	struct wire_buf msg = { 0 };
	int rc;

	if (o->being_made) {
		stall(b, c);
		return;
	}
	rc = translate(&t, o->request, o->request_len, &msg);
	if (!rc && t.unmade) {
		wire_buf_free(&msg);
		make_first(b, c, t.unmade);
		return;
	}
	if (!rc)
		rc = board_submit(b, t.cmd, msg.data, msg.len, 0, made, c);
	wire_buf_free(&msg);
	if (rc) {
		call_fail(b, c, rc);
		return;
	}
	o->refs++;
	o->being_made = true;
	c->making = o;
	c->making_cmd = t.cmd;
}

/* Send the call's message, with real handles in place of virtual ones. */
static void call_go(struct broker *b, struct call *c)
{
	struct translation t = { .b = b, .mode = TO_REAL };
	struct wire_buf msg = { 0 };
	int rc;

	if (b->state != LINE_UP) {
		call_fail(b, c, -EIO);
		return;
	}
	if (!c->is_virtual) {
		send_request(b, c, c->msg, c->msg_len);
		return;
	}
	rc = translate(&t, c->msg, c->msg_len, &msg);
	if (rc)
		call_fail(b, c, rc == -EBADMSG ? -EINVAL : rc);
	else if (t.unmade)
		make_first(b, c, t.unmade);
	else
		send_request(b, c, msg.data, msg.len);
	wire_buf_free(&msg);
}

/* ---- entry ---- */

static struct call *call_new(struct client *client)
{
	struct call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->client = client;
	c->fd = -1;
	client->call = c;
	return c;
}

void call_start(struct broker *b, struct client *client)
{
	struct call *c = call_new(client);

	if (!c) {
		client_fail(b, client, -ENOMEM, "broker: out of memory");
		return;
	}
	c->cmd = client->req.arg;
	c->msg = client->payload;
	c->msg_len = client->req.len;
	c->is_virtual = client->req.flags & IPC_F_VIRTUAL;
	c->wants_progress = client->req.flags & IPC_F_PROGRESS;
	c->quiet_ms = client->req.timeout_ms;
	client->payload = NULL;
	/* What the client has closed before the call must be gone before it. */
	objects_reap(b);
	find_key(b, c);
	if (!answer_from_memo(b, c))
		call_go(b, c);
}

static void mmap_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct call *c = arg;

	(void)rep, (void)len;
	c->status = status;
	call_put(b, c);
}

void mmap_start(struct broker *b, struct client *client)
{
	struct object *o = object_by_serial(b, client->req.arg);
	struct call *c;
	int rc;

	objects_reap(b);
	/* A lazy object is a probe's: nobody maps it before using it otherwise. */
	if (!o || !o->real) {
		client_fail(b, client, o ? -ENODEV : -EBADF, "no such object");
		return;
	}
	c = call_new(client);
	if (!c) {
		client_fail(b, client, -ENOMEM, "broker: out of memory");
		return;
	}
	c->waits = 1;
	rc = shadow_open(b, o, mmap_done, c, &c->fd);
	if (rc)
		call_fail(b, c, rc);
}

void calls_report_progress(struct broker *b, uint64_t now)
{
	struct link_stats s = { 0 };
	struct list *pos, *tmp;

	b->progress_due_ns = 0;
	if (b->link)
		link_stats_get(b->link, &s);
	list_for_each_safe (pos, tmp, &b->clients) {
		struct client *client = list_entry(pos, struct client, link);

		if (client->mode != CLIENT_BUSY || !client->call || !client->call->wants_progress)
			continue;
		b->progress_due_ns = now + PROGRESS_NS;
		client_progress(b, client, (uint32_t)(s.tx_bytes - client->call->sent_before));
	}
}
