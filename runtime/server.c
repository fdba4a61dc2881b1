/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/server.h"

#include "include/hal.h"
#include "runtime/rt_int.h"
#include "wire/link.h"
#include "wire/marshal.h"
#include "wire/message.h"

/* Programs on other CPUs wake no one: what they print or submit is looked for this often. */
#define WATCH_NS (10 * 1000000ull)
/* Events wait while so much is queued, so that replies are not behind many of them. */
#define EVENT_QUEUE_BYTES 4096
/* A reply's memory is kept for the next one up to this size. */
#define REPLY_KEEP_BYTES 65536

/* A ring buffer whose consumer on the host sleeps until a producer wakes it. */
struct ring_watch {
	struct ring_watch *next;
	uint32_t map_id;
	uint32_t wakeups; /* of the map, before it was last read */
	uint64_t read_to; /* position behind what the host has */
};

struct server {
	struct rt *rt;
	const struct rt_platform *platform;
	struct server_ops ops;
	struct link *link;
	uint64_t now_ns;
	uint32_t session;
	struct wire_buf reply;
	uint32_t owed; /* REQ messages whose reply found no memory */
	uint64_t follow[WIRE_TEXTS];
	struct ring_watch *watches;
	uint64_t requests;
	uint64_t rx_insns, rx_from_insns;
};

/* ---- instructions from the receive interrupt to bpf(), for the account ------------------------
 */

static uint64_t insns_now(const struct server *s)
{
	return s->platform->insns_retired ? s->platform->insns_retired(s->platform->arg) : 0;
}

static void rx_work_begin(struct server *s)
{
	s->rx_from_insns = insns_now(s);
}

static void rx_work_end(struct server *s)
{
	s->rx_insns += insns_now(s) - s->rx_from_insns;
}

/* ---- replies --------------------------------------------------------------------------------- */

/* A reply of one number. */
static int send_number(struct server *s, int64_t ret)
{
	uint8_t code[WIRE_NUM_MAX];
	size_t n = wire_snum_code(code, ret);

	return link_send(s->link, LINK_CHAN_REP, code, n, s->now_ns);
}

static void send_error(struct server *s, int64_t ret)
{
	/* Nothing may overtake a reply that is owed. */
	if (s->owed || send_number(s, ret) == -ENOMEM)
		s->owed++;
}

static void send_owed(struct server *s)
{
	while (s->owed && !send_number(s, -ENOMEM))
		s->owed--;
}

static void close_handle(void *arg, uint32_t handle)
{
	struct server *s = arg;

	/* One that is closed already is the host's mistake and does no harm. */
	(void)!rt_handle_close(s->rt, handle);
}

static void send_reply(struct server *s, const struct bpf_call *call)
{
	int err;

	s->reply.len = 0;
	s->reply.err = 0;
	err = unmarshal_reply(call, &s->reply);
	if (!err)
		err = link_send(s->link, LINK_CHAN_REP, s->reply.data, s->reply.len, s->now_ns);
	if (err) {
		/* The host never hears of the object. */
		if (call->obj.kind)
			close_handle(s, call->obj.handle);
		send_error(s, err);
	}
	if (s->reply.cap > REPLY_KEEP_BYTES)
		wire_buf_free(&s->reply);
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool send_event(struct server *s, const struct wire_event *ev)
{
	struct wire_buf b = { 0 };
	int err;

	wire_put_event(&b, ev);
	err = b.err ? b.err : link_send(s->link, LINK_CHAN_EVENT, b.data, b.len, s->now_ns);
	wire_buf_free(&b);
	return !err;
}

static void send_text(struct server *s, enum wire_text which)
{
	char text[WIRE_TEXT_MAX];

	while (s->follow[which] != WIRE_FOLLOW_NOT && link_queued(s->link) < EVENT_QUEUE_BYTES) {
		struct wire_event ev = { .kind = WIRE_EVENT_TEXT, .which = which, .text = text };
		uint64_t pos = s->follow[which];

		ev.len = s->platform->log_read(s->platform->arg, which, text, sizeof(text), &pos,
					       &ev.lost);
		if (!ev.len)
			return;
		ev.pos = pos - ev.len;
		if (!send_event(s, &ev))
			return;
		s->follow[which] = pos;
	}
}

static void follow_text(void *arg, enum wire_text which, uint64_t pos)
{
	struct server *s = arg;

	s->follow[which] = s->platform->log_read ? pos : WIRE_FOLLOW_NOT;
}

static struct ring_watch **watch_find(struct server *s, uint32_t map_id)
{
	struct ring_watch **at = &s->watches;

	while (*at && (*at)->map_id != map_id)
		at = &(*at)->next;
	return at;
}

static void watch_drop(struct ring_watch **at)
{
	struct ring_watch *w = *at;

	*at = w->next;
	hal_free(w);
}

static void watch_set(struct server *s, uint32_t map_id, uint32_t wakeups, uint64_t read_to)
{
	struct ring_watch **at = watch_find(s, map_id);

	if (!*at) {
		*at = hal_alloc(sizeof(**at));
		if (!*at)
			return; /* The host looks now and then, too. */
		(*at)->map_id = map_id;
	}
	(*at)->wakeups = wakeups;
	(*at)->read_to = read_to;
}

/*
 * The consumer has moved on. Producers wake it only for a record that it waits for, so one that
 * came between its last look and this must be told of now.
 */
static void watch_moved(struct server *s, const struct bpf_map *map)
{
	struct ring_watch *w = *watch_find(s, map->id);
	struct map_ring ring;

	if (!w)
		return;
	map->ops->ring((struct bpf_map *)map, &ring);
	if (__atomic_load_n(ring.prod_pos, __ATOMIC_ACQUIRE) > w->read_to)
		w->wakeups = READ_ONCE(map->wakeups) - 1;
}

static void watch_look(struct server *s)
{
	struct ring_watch **at = &s->watches;

	while (*at && link_queued(s->link) < EVENT_QUEUE_BYTES) {
		const struct bpf_map *map = rt_by_id(s->rt, RT_MAP, (*at)->map_id);
		struct wire_event ev = { .kind = WIRE_EVENT_RING, .map_id = (*at)->map_id };

		if (map && READ_ONCE(map->wakeups) == (*at)->wakeups)
			at = &(*at)->next;
		else if (!map || send_event(s, &ev))
			watch_drop(at);
		else
			return;
	}
}

/* ---- requests -------------------------------------------------------------------------------- */

/* The ring buffer that a call reads or has read, NULL: it does something else. */
static const struct bpf_map *ring_of(struct server *s, const struct bpf_call *call)
{
	void *map;

	if ((call->cmd != BOARD_MEM_READ && call->cmd != BOARD_MEM_WRITE) ||
	    rt_handle_get(s->rt, call->attr.board.mem.map_fd, RT_MAP, &map))
		return NULL;
	return ((struct bpf_map *)map)->ops->ring ? map : NULL;
}

static void do_call(struct server *s, struct bpf_call *call)
{
	const struct bpf_map *ring = ring_of(s, call);
	const struct board_attr_mem *mem = &call->attr.board.mem;
	/* Before the read: what is submitted during it is told of once too often, not too seldom.
	 */
	uint32_t wakeups = ring ? READ_ONCE(ring->wakeups) : 0;

	call->session = s->session;
	rx_work_end(s);
	bpf_syscall(s->rt, call);
	s->now_ns = hal_ktime_ns();
	send_reply(s, call);
	if (ring && !call->ret && call->cmd == BOARD_MEM_READ)
		watch_set(s, ring->id, wakeups, mem->off + mem->len);
	else if (ring && !call->ret)
		watch_moved(s, ring);
	bpf_call_free(call);
	hal_quiesce_flush(false);
	rx_work_begin(s);
}

static void got_request(struct server *s, const uint8_t *msg, size_t len)
{
	const struct wire_prelude_ops ops = { close_handle, follow_text, s };
	struct wire_in look = wire_in(msg, len), in = look;
	struct bpf_call call;
	int err;

	s->requests++;
	/* All of them must be sound before the first is acted upon. */
	do
		err = wire_get_prelude(&look, NULL);
	while (err > 0);
	while (!err && wire_get_prelude(&in, &ops) > 0)
		;
	if (!err && len && in.p == in.end) {
		send_error(s, 0);
		return;
	}
	if (!err)
		err = unmarshal_request(in.p, (size_t)(in.end - in.p), &call);
	if (!err && s->owed) {
		bpf_call_free(&call);
		err = -ENOMEM;
	}
	if (err)
		send_error(s, err);
	else
		do_call(s, &call);
}

/* ---- the link's callbacks -------------------------------------------------------------------- */

static void on_msg(void *arg, enum link_chan chan, const uint8_t *msg, size_t len)
{
	if (chan == LINK_CHAN_REQ)
		got_request(arg, msg, len);
}

static void on_lost(void *arg, enum link_chan chan, int err)
{
	if (chan == LINK_CHAN_REQ)
		send_error(arg, err);
}

static void on_reset(void *arg, uint64_t id)
{
	struct server *s = arg;

	(void)id;
	rt_session_end(s->rt, s->session);
	s->session++;
	s->session += !s->session;
	s->owed = 0;
	while (s->watches)
		watch_drop(&s->watches);
	for (int which = 0; which < WIRE_TEXTS; which++)
		s->follow[which] = WIRE_FOLLOW_NOT;
}

static void on_tx(void *arg, const uint8_t *bytes, size_t n)
{
	struct server *s = arg;

	s->ops.tx(s->ops.arg, bytes, n);
}

static void on_text(void *arg, const uint8_t *bytes, size_t n)
{
	struct server *s = arg;

	s->ops.console(s->ops.arg, bytes, n);
}

/* ---- life ------------------------------------------------------------------------------------ */

struct server *server_new(struct rt *rt, const struct rt_platform *platform, uint64_t boot_id,
			  const struct server_ops *ops)
{
	struct server *s = hal_alloc(sizeof(*s));
	const struct link_ops link_ops = { .tx = on_tx,
					   .text = on_text,
					   .msg = on_msg,
					   .lost = on_lost,
					   .peer_reset = on_reset,
					   .arg = s };

	if (!s)
		return NULL;
	s->rt = rt;
	s->platform = platform;
	s->ops = *ops;
	s->session = 1;
	for (int which = 0; which < WIRE_TEXTS; which++)
		s->follow[which] = WIRE_FOLLOW_NOT;
	s->link = link_new(LINK_BOARD, boot_id, &link_ops);
	if (!s->link) {
		server_free(s);
		return NULL;
	}
	return s;
}

void server_free(struct server *s)
{
	if (!s)
		return;
	rt_session_end(s->rt, s->session);
	while (s->watches)
		watch_drop(&s->watches);
	link_free(s->link);
	wire_buf_free(&s->reply);
	hal_free(s);
}

void server_start(struct server *s, uint64_t now_ns)
{
	link_connect(s->link, now_ns);
}

void server_rx(struct server *s, const uint8_t *bytes, size_t n, uint64_t now_ns)
{
	s->now_ns = now_ns;
	rx_work_begin(s);
	link_rx(s->link, bytes, n, now_ns);
	rx_work_end(s);
}

uint64_t server_poll(struct server *s, uint64_t now_ns)
{
	bool watching = s->watches != NULL;
	uint64_t due;

	s->now_ns = now_ns;
	send_owed(s);
	if (link_is_up(s->link)) {
		for (int which = 0; which < WIRE_TEXTS; which++) {
			send_text(s, which);
			watching |= s->follow[which] != WIRE_FOLLOW_NOT;
		}
		watch_look(s);
	}
	due = link_poll(s->link, now_ns);
	return watching || s->owed ? MIN(due, now_ns + WATCH_NS) : due;
}

bool server_is_idle(const struct server *s)
{
	return link_idle(s->link) && !s->owed;
}

void server_set_rate(struct server *s, uint64_t bytes_per_s)
{
	link_set_rate(s->link, bytes_per_s);
}

void server_load_stat(const struct server *s, struct board_load_stat *out)
{
	struct link_stats l;

	link_stats_get(s->link, &l);
	out->rx_bytes = l.rx_bytes;
	out->tx_bytes = l.tx_bytes;
	out->rx_frames = l.rx_frames;
	out->tx_frames = l.tx_frames;
	out->rx_bad = l.rx_bad;
	out->rx_dup = l.rx_dup;
	out->retransmits = l.retransmits;
	out->rx_payload_bytes = l.rx_payload_bytes;
	out->requests = s->requests;
	out->rx_insns = s->rx_insns;
}
