/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reliable, ordered messages over frames; the same code at both ends. Sliding window with
 * cumulative acks, retransmit by time and by gap report; damaged, lost, doubled and reordered
 * frames are repaired; a message is delivered whole and once, or not at all.
 *
 * The host opens a session with a random number; a board that gets a new one drops what the old one
 * had under way (peer_reset). A board that starts says so with its boot id, so that a reset is
 * noticed. Channels: REQ (host to board, one reply each, in order), REP, EVENT (board to host,
 * unasked: trace text, log lines, ring readiness).
 */
#pragma once

#include "include/base.h"
#include "wire/frame.h"

enum link_role { LINK_HOST, LINK_BOARD };
enum link_chan { LINK_CHAN_REQ = 1, LINK_CHAN_REP, LINK_CHAN_EVENT };

#define LINK_MSG_MAX (24u << 20)

struct link_ops {
	/* Put bytes on the line. The link never sends more than its window without an ack. */
	void (*tx)(void *arg, const uint8_t *bytes, size_t n);
	/* Console text between frames. */
	void (*text)(void *arg, const uint8_t *bytes, size_t n);
	/* A whole message; the memory is valid during the call only. */
	void (*msg)(void *arg, enum link_chan chan, const uint8_t *msg, size_t len);
	/* Board: a new session began. Host: the board restarted (its boot id changed). */
	void (*peer_reset)(void *arg, uint64_t id);
	void *arg;
};

struct link; /* wire/link.c; from link_new, hal_alloc */

struct link_stats {
	uint64_t rx_bytes, tx_bytes, rx_frames, tx_frames, rx_bad, rx_dup, retransmits;
	uint64_t rx_payload_bytes, tx_payload_bytes, msgs_rx, msgs_tx;
};

/* id: the board's boot id, or the host's random session number. NULL: no memory. Thread. */
struct link *link_new(enum link_role role, uint64_t id, const struct link_ops *ops);
void link_free(struct link *l);
/* Bytes from the line. Thread. */
void link_rx(struct link *l, const uint8_t *bytes, size_t n, uint64_t now_ns);
/* Queue a message (copied). 0, -EMSGSIZE, -ENOMEM, -ENOTCONN (no session yet: board). Thread. */
int link_send(struct link *l, enum link_chan chan, const void *msg, size_t len,
	      uint64_t now_ns) __must_check;
/* Retransmit what is due; returns the time to call again at the latest (~0: none). Thread. */
uint64_t link_poll(struct link *l, uint64_t now_ns);
/* Nothing unacknowledged and nothing queued. */
bool link_idle(const struct link *l);
void link_stats_get(const struct link *l, struct link_stats *s);
/* Host: (re)start the handshake. Established when peer_reset was called with the boot id. */
void link_connect(struct link *l, uint64_t now_ns);
/* Line rate in bytes per second for the retransmit timer; 0: unknown (fast). */
void link_set_rate(struct link *l, uint64_t bytes_per_s);
