/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/link_int.h"

#include "include/hal.h"

#define NS_PER_S 1000000000ull

void link_tx_frame(struct link *l, struct frame *f, uint64_t now_ns)
{
	size_t n;

	f->ack = l->expect;
	n = frame_encode(f, l->line);
	l->unacked_bytes = 0;
	l->ack_at_ns = UINT64_MAX;
	l->stats.tx_frames++;
	l->stats.tx_bytes += n;
	l->quiet_from_ns = MAX(l->quiet_from_ns, now_ns);
	if (l->rate)
		l->quiet_from_ns += n * NS_PER_S / l->rate;
	l->ops.tx(l->ops.arg, l->line, n);
}

void link_tx_ack(struct link *l, uint8_t flags, uint16_t nr, uint64_t now_ns)
{
	uint8_t next[2] = { (uint8_t)l->next_seq, (uint8_t)(l->next_seq >> 8) };
	struct frame f = { .type = TYPE_ACK,
			   .flags = flags,
			   .seq = nr,
			   .session = l->session,
			   .len = flags & ACK_FINAL ? sizeof(next) : 0,
			   .payload = next };

	link_tx_frame(l, &f, now_ns);
}

static void send_slot(struct link *l, uint16_t seq, uint64_t now_ns)
{
	const struct link_slot *s = &l->slots[seq % LINK_SLOTS];
	struct frame f = { .type = TYPE_DATA,
			   .flags = s->flags,
			   .seq = seq,
			   .session = l->session,
			   .len = s->len,
			   .payload = s->msg->bytes + s->off };

	link_tx_frame(l, &f, now_ns);
}

void link_tx_pump(struct link *l, uint64_t now_ns)
{
	while (l->up && l->next_msg && link_tx_in_flight(l) < LINK_SLOTS) {
		struct link_msg *m = l->next_msg;
		size_t len = MIN(m->len - l->next_off, (size_t)FRAME_PAYLOAD_MAX);
		size_t line_bytes = len + FRAME_LINE_MAX - FRAME_PAYLOAD_MAX;
		struct link_slot *s = &l->slots[l->next_seq % LINK_SLOTS];

		if (l->in_flight_bytes + line_bytes > LINK_WINDOW)
			break;
		*s = (struct link_slot){ .msg = m,
					 .off = l->next_off,
					 .len = (uint16_t)len,
					 .line_bytes = (uint16_t)line_bytes,
					 .flags = (uint8_t)(m->chan << DATA_CHAN_SHIFT) };
		if (!l->next_off)
			s->flags |= DATA_FIRST;
		l->next_off += len;
		if (l->next_off == m->len) {
			s->flags |= DATA_LAST;
			l->next_msg = m->next;
			l->next_off = 0;
		}
		l->in_flight_bytes += (uint32_t)line_bytes;
		send_slot(l, l->next_seq++, now_ns);
	}
}

void link_tx_acked(struct link *l, uint16_t ack)
{
	if ((uint16_t)(ack - l->base) > link_tx_in_flight(l))
		return;
	while (l->base != ack) {
		struct link_slot *s = &l->slots[l->base++ % LINK_SLOTS];
		struct link_msg *m = s->msg;

		l->in_flight_bytes -= s->line_bytes;
		if (!(s->flags & DATA_LAST))
			continue;
		l->head = m->next;
		if (!l->head)
			l->tail = NULL;
		l->queued_bytes -= m->len;
		hal_free(m);
	}
}

void link_tx_again(struct link *l, uint64_t now_ns)
{
	uint16_t seq;

	for (seq = l->base; seq != l->next_seq; seq++) {
		l->stats.retransmits++;
		send_slot(l, seq, now_ns);
	}
}

void link_tx_reset(struct link *l)
{
	struct link_msg *m;

	while ((m = l->head)) {
		l->head = m->next;
		hal_free(m);
	}
	l->tail = l->next_msg = NULL;
	l->next_off = 0;
	l->queued_bytes = 0;
	l->base = l->next_seq = 0;
	l->in_flight_bytes = 0;
}

int link_send(struct link *l, enum link_chan chan, const void *msg, size_t len, uint64_t now_ns)
{
	struct link_msg *m;

	if (len > LINK_MSG_MAX)
		return -EMSGSIZE;
	if (!l->up && l->role == LINK_BOARD)
		return -ENOTCONN;
	m = hal_alloc(sizeof(*m) + len);
	if (!m)
		return -ENOMEM;
	m->next = NULL;
	m->chan = chan;
	m->len = len;
	if (len)
		__builtin_memcpy(m->bytes, msg, len);
	if (l->tail)
		l->tail->next = m;
	else
		l->head = m;
	l->tail = m;
	l->wait_ns = LINK_WAIT_FIRST_NS;
	if (!l->next_msg)
		l->next_msg = m;
	l->queued_bytes += len;
	l->replies_due += chan == LINK_CHAN_REQ;
	l->stats.msgs_tx++;
	l->stats.tx_payload_bytes += len;
	link_tx_pump(l, now_ns);
	return 0;
}
