/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A board's server (runtime/server.h) with a runtime behind it and a host before it, over a line
 * without faults. The host's end is a link and marshalled calls, as the broker makes them; its fds
 * are the board's handles. State is one struct; srv_start() begins a test, srv_finish() ends it.
 */
#pragma once

#include "include/base.h"
#include "runtime/rt_int.h"
#include "runtime/server.h"
#include "wire/link.h"
#include "wire/marshal.h"
#include "wire/message.h"

#define SRV_REPS_MAX 64

extern struct srv {
	struct rt *rt;
	struct server *server;
	struct link *host;
	uint64_t now_ns, insns;
	uint8_t to_board[1 << 17], to_host[1 << 17]; /* on the line */
	size_t to_board_len, to_host_len;
	struct {
		uint8_t msg[4096];
		size_t len;
	} reps[SRV_REPS_MAX];
	struct wire_event events[SRV_REPS_MAX];
	unsigned int reps_nr, events_nr, console_bytes, bad_events;
	char event_text[4096];	       /* of all TEXT events */
	char texts[WIRE_TEXTS][4096];  /* what the board's log and trace hold, less 5 of the log */
	struct bpf_obj_info known[64]; /* objects that the host has heard of */
} srv;

extern const struct rt_platform srv_platform;
extern const struct server_ops srv_ops;

void srv_start(void);
/* Bytes of objects that are left over. */
uint64_t srv_finish(void);
/* A host with that session number takes the line; the one before is gone. */
void srv_connect_host(uint64_t id);
/* Let both ends talk until the line is silent. */
void srv_settle(void);

/* Send a request behind what is in b already; b is freed. 0 or -errno. */
int srv_submit(struct marshal_call *mc, uint32_t cmd, void *attr, uint32_t size,
	       struct wire_buf *b);
/* What the call returned, by the rep-th reply; -EPROTO: there is none, or not to it. */
int64_t srv_finish_call(const struct marshal_call *mc, unsigned int rep);
/* All of it. */
int64_t srv_do_bpf(uint32_t cmd, void *attr, uint32_t size);
int64_t srv_make_map(uint32_t type, uint32_t key, uint32_t value, uint32_t entries);
unsigned int srv_live_maps(void);
