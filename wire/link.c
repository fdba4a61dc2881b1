/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/link.h"

#include "include/hal.h"
#include "wire/link_int.h"

#define NS_PER_MS 1000000ull

#define WAIT_MAX_NS  (2000 * NS_PER_MS) /* between polls, and between polls of an idle line */
#define HELLO_MIN_NS (10 * NS_PER_MS)	/* a board that tells of itself is greeted no faster */
#define ACK_DELAY_NS (200 * NS_PER_MS)	/* an ack may wait for a message to ride on */
#define ACK_BYTES    1500		/* received without an ack: half of the window */
#define FRAME_GAP_NS (2000 * NS_PER_MS) /* no frame pauses for so long */
#define KEY_GAP_NS   (20 * NS_PER_MS)	/* between keys of a human who types fast */
#define KEYS_TO_TEXT 4

#define HELLO_BYTES   9
#define WELCOME_BYTES 17

struct link *link_new(enum link_role role, uint64_t id, const struct link_ops *ops)
{
	struct link *l = hal_alloc(sizeof(*l));

	if (!l)
		return NULL;
	l->role = role;
	l->id = id ? id : 1;
	l->ops = *ops;
	l->wait_ns = LINK_WAIT_FIRST_NS;
	l->ack_at_ns = UINT64_MAX;
	return l;
}

void link_free(struct link *l)
{
	if (!l)
		return;
	link_tx_reset(l);
	wire_buf_free(&l->part);
	hal_free(l);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static uint64_t get_u64(const uint8_t *p)
{
	uint64_t v;

	__builtin_memcpy(&v, p, 8);
	return v;
}

/* What frames carry: differs when either id does, but for one case in 65535. */
static uint16_t session_of(uint64_t host, uint64_t board)
{
	uint64_t mix = (host ^ (board << 1 | board >> 63)) * 0x9e3779b97f4a7c15ull;

	return (uint16_t)(mix >> 48) ? (uint16_t)(mix >> 48) : 1;
}

static void rx_reset(struct link *l)
{
	wire_buf_free(&l->part);
	l->expect = 0;
	l->gap_reported = false;
	l->in_msg = false;
	l->lost = 0;
	l->unacked_bytes = 0;
	l->ack_at_ns = UINT64_MAX;
	l->polled = false;
	l->wait_ns = LINK_WAIT_FIRST_NS;
}

static void send_hello(struct link *l, uint64_t now_ns)
{
	uint8_t hello[HELLO_BYTES] = { LINK_VERSION };
	struct frame f = { .type = TYPE_HELLO, .len = sizeof(hello), .payload = hello };

	__builtin_memcpy(hello + 1, &l->id, 8);
	l->hello_ns = now_ns;
	link_tx_frame(l, &f, now_ns);
}

static void send_welcome(struct link *l, uint64_t now_ns)
{
	uint8_t welcome[WELCOME_BYTES] = { LINK_VERSION };
	uint64_t session = l->up ? l->peer_id : 0;
	struct frame f = { .type = TYPE_WELCOME, .len = sizeof(welcome), .payload = welcome };

	__builtin_memcpy(welcome + 1, &l->id, 8);
	__builtin_memcpy(welcome + 9, &session, 8);
	link_tx_frame(l, &f, now_ns);
}

/* Host: the session is over; open the next one under a new number. */
static void host_down(struct link *l, uint64_t now_ns)
{
	l->up = false;
	l->session = 0;
	l->id++;
	l->id += !l->id;
	l->replies_due = 0;
	link_tx_reset(l);
	rx_reset(l);
	send_hello(l, now_ns);
	if (l->ops.down)
		l->ops.down(l->ops.arg);
}

void link_connect(struct link *l, uint64_t now_ns)
{
	l->last_rx_ns = l->quiet_from_ns = now_ns;
	if (l->role == LINK_BOARD)
		send_welcome(l, now_ns);
	else if (l->up)
		host_down(l, now_ns);
	else
		send_hello(l, now_ns);
}

static void board_got_hello(struct link *l, const struct frame *f, uint64_t now_ns)
{
	uint64_t session;

	if (f->len < HELLO_BYTES)
		return;
	l->stats.peer_version = f->payload[0];
	session = get_u64(f->payload + 1);
	if (f->payload[0] != LINK_VERSION || (l->up && session == l->peer_id)) {
		send_welcome(l, now_ns);
		return;
	}
	link_tx_reset(l);
	rx_reset(l);
	l->up = true;
	l->peer_id = session;
	l->session = session_of(session, l->id);
	send_welcome(l, now_ns);
	l->ops.peer_reset(l->ops.arg, session);
}

static void host_got_welcome(struct link *l, const struct frame *f, uint64_t now_ns)
{
	uint64_t boot, session;

	if (f->len < WELCOME_BYTES)
		return;
	l->stats.peer_version = f->payload[0];
	if (f->payload[0] != LINK_VERSION)
		return;
	boot = get_u64(f->payload + 1);
	session = get_u64(f->payload + 9);
	if (l->up) {
		/* Not our session: it restarted, or serves another host. */
		if (session != l->id || boot != l->peer_id)
			host_down(l, now_ns);
		return;
	}
	if (session != l->id) {
		/* It has just started and does not know that we wait. */
		if (now_ns - l->hello_ns >= HELLO_MIN_NS)
			send_hello(l, now_ns);
		return;
	}
	l->up = true;
	l->peer_id = boot;
	l->session = session_of(l->id, boot);
	rx_reset(l);
	l->ops.peer_reset(l->ops.arg, boot);
	link_tx_pump(l, now_ns);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void deliver(struct link *l, const uint8_t *msg, size_t len)
{
	l->in_msg = false;
	if (l->chan == LINK_CHAN_REP && l->replies_due)
		l->replies_due--;
	if (l->lost) {
		if (l->ops.lost)
			l->ops.lost(l->ops.arg, l->chan, l->lost);
		return;
	}
	l->stats.msgs_rx++;
	l->stats.rx_payload_bytes += len;
	l->ops.msg(l->ops.arg, l->chan, msg, len);
}

/* The next DATA frame in order. */
static void got_part(struct link *l, const struct frame *f)
{
	bool last = f->flags & DATA_LAST;

	if (f->flags & DATA_FIRST) {
		wire_buf_free(&l->part);
		l->lost = 0;
		l->chan = f->flags >> DATA_CHAN_SHIFT & 3;
		/* A peer that sends what is not for us is ignored. */
		l->in_msg =
			l->role == LINK_BOARD ? l->chan == LINK_CHAN_REQ : l->chan > LINK_CHAN_REQ;
		if (!l->in_msg)
			return;
		if (last) {
			deliver(l, f->payload, f->len);
			return;
		}
	} else if (!l->in_msg) {
		return;
	}
	if (!l->lost) {
		if (f->len > LINK_MSG_MAX - l->part.len)
			l->lost = -EMSGSIZE;
		else
			wire_put_bytes(&l->part, f->payload, f->len);
		if (l->part.err)
			l->lost = l->part.err;
		if (l->lost)
			wire_buf_free(&l->part);
	}
	if (last) {
		struct wire_buf whole = l->part;

		l->part = (struct wire_buf){ 0 };
		deliver(l, whole.data, whole.len);
		wire_buf_free(&whole);
	}
}

static void got_data(struct link *l, const struct frame *f, uint64_t now_ns)
{
	uint16_t ahead = (uint16_t)(f->seq - l->expect);

	if (ahead >= 0x8000) {
		l->stats.rx_dup++;
		return;
	}
	if (ahead) {
		if (!l->gap_reported)
			link_tx_ack(l, ACK_GAP, 0, now_ns);
		l->gap_reported = true;
		return;
	}
	l->expect++;
	l->gap_reported = false;
	l->unacked_bytes += (uint32_t)f->len + FRAME_LINE_MAX - FRAME_PAYLOAD_MAX;
	if (l->unacked_bytes >= ACK_BYTES)
		link_tx_ack(l, 0, 0, now_ns);
	else if (l->role == LINK_HOST && l->ack_at_ns == UINT64_MAX)
		l->ack_at_ns = now_ns + ACK_DELAY_NS;
	got_part(l, f);
}

static void host_got_final(struct link *l, const struct frame *f, uint64_t now_ns)
{
	uint16_t sent;

	if (!l->polled || f->seq != l->poll_nr || f->len < 2)
		return;
	l->polled = false;
	/* Everything sent before the poll had arrived when it was answered, or never will. */
	if ((int16_t)(l->poll_mark - l->base) > 0)
		link_tx_again(l, now_ns);
	sent = (uint16_t)(f->payload[0] | f->payload[1] << 8);
	if ((int16_t)(sent - l->expect) > 0) {
		link_tx_ack(l, ACK_GAP, 0, now_ns);
		l->gap_reported = true;
	}
}

static void got_ack(struct link *l, const struct frame *f, uint64_t now_ns)
{
	if (f->flags & ACK_GAP)
		link_tx_again(l, now_ns);
	if (f->flags & ACK_POLL && l->role == LINK_BOARD)
		link_tx_ack(l, ACK_FINAL, f->seq, now_ns);
	if (f->flags & ACK_FINAL && l->role == LINK_HOST)
		host_got_final(l, f, now_ns);
}

static __noinline void got_frame(struct link *l, const struct frame *f, uint64_t now_ns)
{
	l->stats.rx_frames++;
	switch (f->type) {
	case TYPE_HELLO:
		if (l->role == LINK_BOARD)
			board_got_hello(l, f, now_ns);
		return;
	case TYPE_WELCOME:
		if (l->role == LINK_HOST)
			host_got_welcome(l, f, now_ns);
		return;
	case TYPE_DATA:
	case TYPE_ACK:
		break;
	default:
		return;
	}
	if (!l->up || f->session != l->session) {
		/* The host of an older life of this board must learn that it is gone. */
		if (l->role == LINK_BOARD)
			send_welcome(l, now_ns);
		return;
	}
	l->wait_ns = LINK_WAIT_FIRST_NS;
	link_tx_acked(l, f->ack);
	if (f->type == TYPE_DATA)
		got_data(l, f, now_ns);
	else
		got_ack(l, f, now_ns);
	link_tx_pump(l, now_ns);
}

/*
 * Has the frame under way been given up? Its rest would swallow what a human types next. The board
 * cannot go by time alone, since an emulated one's clock may jump while a frame arrives in pieces;
 * but no frame arrives key by key.
 */
static bool frame_is_dead(struct link *l, size_t n, uint64_t gap_ns)
{
	if (l->role == LINK_HOST)
		return gap_ns >= FRAME_GAP_NS;
	l->keys = n <= 2 && gap_ns >= KEY_GAP_NS ? l->keys + 1 : 0;
	return l->keys >= KEYS_TO_TEXT;
}

void link_rx(struct link *l, const uint8_t *bytes, size_t n, uint64_t now_ns)
{
	size_t at = 0, used, text;
	struct frame f;

	if (!n)
		return;
	if (frame_is_dead(l, n, now_ns - l->last_rx_ns) && frame_idle(&l->frames) == FRAME_BAD)
		l->stats.rx_bad++;
	l->last_rx_ns = now_ns;
	l->quiet_from_ns = MAX(l->quiet_from_ns, now_ns);
	l->stats.rx_bytes += n;
	while (at < n) {
		switch (frame_feed(&l->frames, bytes + at, n - at, &used, &f, &text)) {
		case FRAME_GOOD:
			got_frame(l, &f, now_ns);
			break;
		case FRAME_TEXT:
			l->ops.text(l->ops.arg, bytes + at + text, used - text);
			break;
		case FRAME_BAD:
			l->stats.rx_bad++;
			break;
		case FRAME_NOTHING:
			break;
		}
		at += used;
	}
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool host_waits(const struct link *l)
{
	return link_tx_in_flight(l) || l->replies_due;
}

uint64_t link_poll(struct link *l, uint64_t now_ns)
{
	uint64_t due;

	if (l->role == LINK_BOARD)
		return UINT64_MAX;
	due = l->quiet_from_ns + (l->up && !host_waits(l) ? WAIT_MAX_NS : l->wait_ns);
	if (now_ns >= due) {
		l->wait_ns = MIN(l->wait_ns * 2, WAIT_MAX_NS);
		if (l->up) {
			l->polled = true;
			l->poll_mark = l->next_seq;
			link_tx_ack(l, ACK_POLL, ++l->poll_nr, now_ns);
		} else {
			send_hello(l, now_ns);
		}
		due = l->quiet_from_ns + l->wait_ns;
	}
	if (now_ns >= l->ack_at_ns)
		link_tx_ack(l, 0, 0, now_ns);
	return MIN(due, l->ack_at_ns);
}

bool link_idle(const struct link *l)
{
	return !l->head && !l->replies_due;
}

bool link_is_up(const struct link *l)
{
	return l->up;
}

size_t link_queued(const struct link *l)
{
	return l->queued_bytes;
}

void link_stats_get(const struct link *l, struct link_stats *s)
{
	*s = l->stats;
}

void link_set_rate(struct link *l, uint64_t bytes_per_s)
{
	l->rate = bytes_per_s;
}
