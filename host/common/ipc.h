/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What clients (the CLI, the shim) and the broker say to each other on the broker's unix socket.
 * One connection carries one request and its reply; IPC_TRACE, IPC_CONSOLE and IPC_KEEP turn it
 * into a stream until either side closes. Same machine, same build: native layouts.
 */
#pragma once

#include "include/base.h"
#include "include/uapi_board.h"
#include "wire/marshal.h"

#define IPC_MAGIC     0x62707231u /* changes with every layout change */
#define IPC_TOKEN_LEN 16
#define IPC_TEXT_MAX  256

enum ipc_op {
	IPC_HELLO, /* reply: struct ipc_hello */
	IPC_CALL,  /* a request message of wire/marshal.h; reply: the reply message, placeholder */
	IPC_MMAP,  /* arg: serial of a placeholder; reply: a memfd laid out like the mapping */
	IPC_SYNC,  /* bring mapped memory in step with the board now */
	IPC_TRACE, /* stream of trace text */
	IPC_CONSOLE, /* stream of the board's console, both ways */
	IPC_STATS,   /* reply: struct ipc_stats */
	IPC_QUIT,    /* the broker ends */
	IPC_KEEP,    /* an empty reply; the broker stays while the connection is open */
	IPC_OP_NR,
};

enum ipc_flag {
	IPC_F_VIRTUAL = 1,  /* CALL: the message names handles of lazy objects */
	IPC_F_PROGRESS = 2, /* CALL: interim replies while the message is on the line */
};

struct ipc_req {
	uint32_t magic;
	uint32_t len; /* bytes of payload that follow */
	uint16_t op, flags;
	uint32_t arg;
	uint64_t epoch; /* CALL, MMAP: as in the hello that placeholders were judged by; 0 any */
	uint64_t timeout_ms; /* CALL: how long the board may be silent, 0: the default */
	uint8_t token[IPC_TOKEN_LEN];
};

enum ipc_rep_flag {
	IPC_REP_FD = 1,	      /* a file descriptor came with the first byte */
	IPC_REP_EPOCH = 2,    /* the request's epoch is over: get the hello again */
	IPC_REP_PROGRESS = 4, /* not the reply yet: arg bytes of the message have been sent */
};

struct ipc_rep {
	uint32_t len;
	int32_t status; /* 0, or -errno with a text as payload */
	uint32_t flags;
	uint32_t arg;
};

struct ipc_hello {
	/*
	 * Names the time between two losses of the board's objects: a new value with every broker,
	 * board reset and lost line. Placeholders carry it in their names.
	 */
	uint64_t epoch;
	int64_t clock_offset_ns; /* host CLOCK_BOOTTIME - board time */
	struct board_info_reply info;
	char target[160]; /* canonical name */
};

struct ipc_stats {
	uint64_t round_trips; /* requests of clients that the board answered */
	uint64_t memo_hits;   /* ... that it did not need to */
	uint64_t own_calls;   /* requests of the broker (closes, shadow memory) */
	uint64_t tx_bytes, rx_bytes, tx_payload_bytes, rx_payload_bytes;
	uint64_t tx_frames, rx_frames, retransmits, rx_bad;
	uint64_t objects; /* live placeholders */
	uint64_t clients; /* open connections */
};

/*
 * Send a request, get its reply. fd (may be NULL) receives a passed descriptor or -1. The payload
 * of the reply is appended to *rep. 0 with *head filled in, or -errno of the connection.
 * progress (may be NULL) is called for interim replies. Restarts after signals.
 */
struct ipc_peer {
	const char *path; /* the broker's socket */
	const uint8_t *token;
};
int ipc_call(const struct ipc_peer *peer, const struct ipc_req *req, const void *payload,
	     struct ipc_rep *head, struct wire_buf *rep, int *fd,
	     void (*progress)(uint32_t sent_bytes)) __must_check;

/* Open a connection and send the request head (payload none): streams and IPC_KEEP. fd or -errno */
int ipc_open(const struct ipc_peer *peer, const struct ipc_req *req) __must_check;

/* All of n bytes, or -errno (-EPIPE at the end of file). fd (may be NULL): as in ipc_call. */
int ipc_read_all(int sock, void *data, size_t n, int *fd) __must_check;
int ipc_write_all(int sock, const void *data, size_t n) __must_check;
