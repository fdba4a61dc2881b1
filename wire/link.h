/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reliable, ordered messages over frames; the same code at both ends. A message is delivered whole
 * and once, or not at all, whatever the line does to frames: damage, loss, doubling, reordering.
 *
 * Frame types
 *   HELLO    host: u8 version, u64 session. Opens a session with a random number
 *   WELCOME  board: u8 version, u64 boot id, u64 session (0: none). The answer; also sent when the
 *            board starts, and when it gets frames of a session that it does not know
 *   DATA     part of a message. flags: 1 first part, 2 last part, bits 4-5 channel. seq counts
 *            these frames in each direction
 *   ACK      flags: 0; 1 POLL (host: please answer), 2 FINAL (the answer; payload u16: seq that the
 *            board will send next), 4 GAP (a frame beyond `ack` came: send again from there).
 *            seq is the poll's number, repeated in the answer
 * ack, in DATA and ACK: the seq wanted next; all before it have arrived. session, in both: from
 * the two ids of HELLO and WELCOME, so that frames of an old session are known as such.
 *
 * Frames that come out of turn are dropped (the window is only a few frames, see LINK_WINDOW). They
 * are sent again after a GAP, or when the answer to a POLL shows that they are missing. Only the
 * host has timers: it polls when it waits for something and the line is silent, and now and then
 * when idle. The board only reacts, so a board whose clock jumps, as an emulated one's does, never
 * sends needlessly.
 */
#pragma once

#include "include/base.h"
#include "include/err.h"
#include "wire/frame.h"

#define LINK_VERSION 1

enum link_role { LINK_HOST, LINK_BOARD };
/* REQ: host to board, one REP each, in order. EVENT: board to host, unasked. */
enum link_chan { LINK_CHAN_REQ = 1, LINK_CHAN_REP, LINK_CHAN_EVENT };

#define LINK_MSG_MAX (24u << 20)
/* Bytes on the line without an ack at most; a receiver's ring of 4 KB holds them and some polls. */
#define LINK_WINDOW (3 * FRAME_LINE_MAX)

/* Called from link_rx, link_poll, link_send and link_connect; they may call link_send. */
struct link_ops {
	/* Put bytes on the line: whole frames. */
	void (*tx)(void *arg, const uint8_t *bytes, size_t n);
	/* Console text between frames. */
	void (*text)(void *arg, const uint8_t *bytes, size_t n);
	/* A whole message; the memory is valid during the call only. */
	void (*msg)(void *arg, enum link_chan chan, const uint8_t *msg, size_t len);
	/*
	 * A message came that could not be kept: -ENOMEM, -EMSGSIZE. Its turn has passed: a board
	 * owes a REP nonetheless. NULL: ignored.
	 */
	void (*lost)(void *arg, enum link_chan chan, int err);
	/*
	 * A new session began. Board: id is the host's session number. Host: id is the board's boot
	 * id. What the old session had under way is gone.
	 */
	void (*peer_reset)(void *arg, uint64_t id);
	/*
	 * Host: the board restarted or follows another host. Everything queued is dropped and a new
	 * session is being opened; messages queued from now on belong to it. NULL: ignored.
	 */
	void (*down)(void *arg);
	void *arg;
};

struct link; /* wire/link.c; from link_new, hal_alloc */

struct link_stats {
	uint64_t rx_bytes, tx_bytes, rx_frames, tx_frames, rx_bad, rx_dup, retransmits;
	uint64_t rx_payload_bytes, tx_payload_bytes, msgs_rx, msgs_tx;
	uint32_t peer_version; /* of the last HELLO or WELCOME; 0: none yet */
};

/* id: the board's boot id, or the host's random session number. NULL: no memory. Thread. */
struct link *link_new(enum link_role role, uint64_t id, const struct link_ops *ops);
void link_free(struct link *l);
/* Bytes from the line. Thread. */
void link_rx(struct link *l, const uint8_t *bytes, size_t n, uint64_t now_ns);
/*
 * Queue a message (copied). 0, -EMSGSIZE, -ENOMEM, -ENOTCONN (board: no session). A host may queue
 * before the session is open. Thread.
 */
int link_send(struct link *l, enum link_chan chan, const void *msg, size_t len,
	      uint64_t now_ns) __must_check;
/* Bytes of messages queued and not yet acknowledged. */
size_t link_queued(const struct link *l);
/* Poll what is due; returns the time to call again at the latest (~0: none). Thread. */
uint64_t link_poll(struct link *l, uint64_t now_ns);
/* Nothing unacknowledged and nothing queued. */
bool link_idle(const struct link *l);
/* Is a session open? */
bool link_is_up(const struct link *l);
void link_stats_get(const struct link *l, struct link_stats *s);
/* Host: (re)start the handshake. Board: tell the line that it started. Thread. */
void link_connect(struct link *l, uint64_t now_ns);
/* Line rate in bytes per second, for the time that sent bytes take; 0: unknown (fast). */
void link_set_rate(struct link *l, uint64_t bytes_per_s);
