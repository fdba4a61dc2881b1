/* SPDX-License-Identifier: BSD-2-Clause */
/* State of a link, shared by link.c (sessions, receiving, time) and link_tx.c (queue, sending). */
#pragma once

#include "include/base.h"
#include "wire/buf.h"
#include "wire/link.h"

enum { TYPE_HELLO = 1, TYPE_WELCOME, TYPE_DATA, TYPE_ACK };
enum { DATA_FIRST = 1, DATA_LAST = 2, DATA_CHAN_SHIFT = 4 };
enum { ACK_POLL = 1, ACK_FINAL = 2, ACK_GAP = 4 };

/* Frames without an ack at most; small ones, since LINK_WINDOW is three large ones. */
#define LINK_SLOTS 32

/* Silence before the host's first poll. */
#define LINK_WAIT_FIRST_NS 100000000ull

struct link_msg {
	struct link_msg *next;
	enum link_chan chan;
	size_t len;
	uint8_t bytes[];
};

/* A frame on its way: a part of the message at the head of the queue or behind it. */
struct link_slot {
	struct link_msg *msg;
	size_t off;
	uint16_t len, line_bytes;
	uint8_t flags;
};

struct link {
	enum link_role role;
	bool up;
	uint16_t session; /* of frames */
	uint64_t id;	  /* own: boot id, or number of the session */
	uint64_t peer_id; /* the other one; host: 0 before the first WELCOME */
	struct link_ops ops;
	struct link_stats stats;
	uint64_t rate;

	/* Queue: head is the oldest message with a frame that is not acked. */
	struct link_msg *head, *tail;
	struct link_msg *next_msg; /* the one to cut the next frame from, NULL: all sent */
	size_t next_off;
	size_t queued_bytes;
	uint16_t base, next_seq; /* slots base .. next_seq - 1 are in flight */
	uint32_t in_flight_bytes;
	struct link_slot slots[LINK_SLOTS];

	/* Receiving */
	struct frame_rx frames;
	uint16_t expect;
	bool gap_reported;
	bool in_msg;
	int lost; /* errno of the message under way that could not be kept */
	enum link_chan chan;
	struct wire_buf part;
	uint32_t unacked_bytes; /* received since our last ack */
	uint64_t last_rx_ns;
	uint32_t keys; /* pieces in a row that look typed */

	/* The host's clock */
	uint64_t replies_due;	/* REQ sent minus REP received */
	uint64_t quiet_from_ns; /* when the last byte came or our last byte left */
	uint64_t wait_ns;	/* how long to bear silence; doubles */
	uint64_t ack_at_ns;	/* ~0: nothing to ack */
	uint64_t hello_ns;	/* when the last HELLO was sent */
	bool polled;
	uint16_t poll_nr;
	uint16_t poll_mark; /* next_seq when the poll was sent */

	uint8_t line[FRAME_LINE_MAX];
};

/* link_tx.c */
void link_tx_frame(struct link *l, struct frame *f, uint64_t now_ns);
void link_tx_ack(struct link *l, uint8_t flags, uint16_t nr, uint64_t now_ns);
/* Send as much of the queue as the window allows. */
void link_tx_pump(struct link *l, uint64_t now_ns);
/* The other end wants seq `ack`: forget what is before it. */
void link_tx_acked(struct link *l, uint16_t ack);
/* Send everything in flight once more. */
void link_tx_again(struct link *l, uint64_t now_ns);
/* Forget the queue and start over at seq 0. */
void link_tx_reset(struct link *l);
static inline uint16_t link_tx_in_flight(const struct link *l)
{
	return (uint16_t)(l->next_seq - l->base);
}
