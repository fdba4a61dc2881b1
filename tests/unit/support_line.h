/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A host and a board with a simulated line between them, for tests of wire/link.h. Time is
 * simulated; the line has a rate, a delay and faults, and at the board's end a receive ring of 4 KB
 * that loses what does not fit. Requests begin with a u32 that counts them, and the board answers
 * each with sim.reply_size bytes made from that number; events are counted likewise. State is one
 * struct; sim_start() begins a test, sim_finish() frees what it holds.
 */
#pragma once

#include "include/base.h"
#include "wire/link.h"

#define SIM_MS	 1000000ull
#define SIM_RING 4096

/* Frames of 1000 that suffer each fault. */
struct faults {
	uint32_t damage, lose, twice, swap, cut, insert;
};

/* One direction: bytes with the time at which each piece has arrived. */
struct piece {
	uint64_t at_ns;
	size_t n;
	uint8_t *bytes;
};
struct wire_dir {
	struct piece pieces[4096];
	unsigned int first, last;
	uint64_t free_ns; /* when the last byte sent has left */
	uint64_t bytes;
	struct faults faults;
	struct piece held; /* to be sent after the next */
};

enum { TO_BOARD, TO_HOST };

extern struct sim {
	struct wire_dir dirs[2];
	struct link *host, *board;
	uint64_t now_ns;
	uint64_t line_rate;			     /* bytes per second */
	uint64_t board_busy_ns, board_busy_until_ns; /* it reads nothing while it computes */
	uint64_t rx_peak;			     /* bytes that the board found at once */
	uint32_t reply_size;
	uint32_t requests_sent, requests_done, replies, events_sent, events_got;
	unsigned int host_resets, board_resets, downs, losts, texts;
	unsigned int bad_order, bad_bytes, unsent; /* must stay 0 */
	uint64_t host_peer;
} sim;

extern const struct link_ops sim_host_ops, sim_board_ops;

void sim_start(uint32_t seed);
void sim_finish(void);
/* Let time go on until done() or the limit; the simulated seconds that it took, or -1. */
double sim_run(bool (*done)(void), unsigned int limit_s);
/* What to wait for: a session, a reply to each request, all events. */
bool sim_is_up(void);
bool sim_all_answered(void);
bool sim_all_events(void);
/* Queue the next request or event of n bytes, at least 4. As link_send. */
int sim_request(size_t n);
int sim_event(size_t n);
/* The bytes of a message: number, then what follows from it. */
void sim_fill(uint8_t *p, uint32_t number, size_t n);
void sim_set_faults(struct faults f);
/* Bytes on the line besides those of the ends. */
void sim_line_append(struct wire_dir *d, const uint8_t *bytes, size_t n);
/* What has arrived by now goes to `to` (NULL: nowhere), room bytes of it at most. */
void sim_line_deliver(struct wire_dir *d, struct link *to, size_t room);
void sim_line_clear(struct wire_dir *d);
/* 0 .. n-1, from the seed. */
uint32_t sim_rnd(uint32_t n);

#define CHECK_SOUND()                                                                              \
	do {                                                                                       \
		CHECK_EQ(sim.bad_order, 0);                                                        \
		CHECK_EQ(sim.bad_bytes, 0);                                                        \
		CHECK_EQ(sim.unsent, 0);                                                           \
	} while (0)
