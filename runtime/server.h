/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The board's end of the line: bytes to link, messages to bpf(2), replies and events back. A new
 * host session ends the one before: its handles are dropped.
 *
 * One instance, thread context: server_rx, server_poll and the runtime are never entered twice.
 */
#pragma once

#include "include/base.h"
#include "include/err.h"
#include "runtime/rt.h"

struct server;

struct server_ops {
	/* Whole frames for the line. May wait for room. */
	void (*tx)(void *arg, const uint8_t *bytes, size_t n);
	/* Bytes between frames: a human's. */
	void (*console)(void *arg, const uint8_t *text, size_t n);
	void *arg;
};

/*
 * platform: as given to rt_new; log_read and insns_retired are used here. boot_id: random, so that
 * hosts notice a restart. NULL: no memory.
 */
struct server *server_new(struct rt *rt, const struct rt_platform *platform, uint64_t boot_id,
			  const struct server_ops *ops);
/* Drops the session's handles. */
void server_free(struct server *s);
/* The line's rate, so that what is still on its way is not sent again; 0: as fast as memory. */
void server_set_rate(struct server *s, uint64_t bytes_per_s);
/* Send the first frame: the board is ready. */
void server_start(struct server *s, uint64_t now_ns);
/* Bytes from the line. Requests in them are carried out and answered before it returns. */
void server_rx(struct server *s, const uint8_t *bytes, size_t n, uint64_t now_ns);
/*
 * Send what has come up meanwhile: text that the host follows, ring buffers that have data. Call it
 * after interrupts, too. Returns when to call again at the latest, ~0: only when something happens.
 */
uint64_t server_poll(struct server *s, uint64_t now_ns);
/* Nothing waits to be sent or acknowledged. */
bool server_is_idle(const struct server *s);
/* The line's and the server's part of *out; rx_overruns is left to the caller. */
void server_load_stat(const struct server *s, struct board_load_stat *out);
