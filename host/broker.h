/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The broker: one process per target, one thread. It owns the line and everything on the board
 * that clients hold; clients are connections to its socket, objects are placeholders.
 *
 *   broker.c         event loop, listening socket, life and death
 *   broker_line.c    the line, the link on it; broker_request.c  requests to the board
 *   broker_client.c  connections: requests in, replies out, streams
 *   broker_call.c    what happens between a client's request and the board's reply
 *   broker_translate.c  handles in messages
 *   broker_object.c  placeholders
 *   broker_memo.c    answers that the board has given before
 *   broker_shadow.c  memory of mapped maps; broker_ring.c  of ring buffers
 */
#pragma once

#include "include/base.h"
#include "lib/list.h"
#include "wire/link.h"
#include "wire/marshal.h"
#include "wire/message.h"
#include "host/common/ipc.h"
#include "host/common/placeholder.h"
#include "host/target.h"

struct broker;

/* ---- event loop ---- */

/* A descriptor in the loop's epoll set; embedded in what it belongs to. */
struct source {
	int fd;
	uint32_t events; /* EPOLLIN | ... wanted now */
	void (*ready)(struct broker *b, struct source *s, uint32_t events);
};
int source_add(int ep, struct source *s, int fd, uint32_t events) __must_check;
void source_want(int ep, struct source *s, uint32_t events);
void source_close(int ep, struct source *s); /* takes it out and closes the fd */

/* Bytes that wait for a descriptor to become writable. */
struct outbuf {
	uint8_t *data;
	size_t len, at, cap;
};
int outbuf_put(struct outbuf *o, const void *data, size_t n) __must_check;
/* Write what can be written. 0 (maybe with bytes left: outbuf_left) or -errno. */
int outbuf_flush(struct outbuf *o, int fd, bool is_socket) __must_check;
static inline size_t outbuf_left(const struct outbuf *o)
{
	return o->len - o->at;
}
void outbuf_free(struct outbuf *o);

uint64_t now_ns(void);
void broker_log(struct broker *b, const char *fmt, ...) __printf_like(2, 3);

/* ---- requests to the board ---- */

struct board_call;
/*
 * status: 0 with the reply message, or -EIO when board or line were lost (rep NULL). The call is
 * freed afterwards.
 */
typedef void (*board_done)(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len);

struct board_call {
	struct list link; /* broker.inflight, in the order of replies */
	board_done done;
	void *arg;
	uint32_t cmd;
	uint64_t quiet_ns; /* how long the board may be silent while this is the oldest */
};

enum line_state {
	LINE_CLOSED,
	LINE_CONNECTING, /* open, the board has not answered yet */
	LINE_UP,	 /* session established, hello filled in */
};

struct memo_entry;
struct shadow;
#define OBJECT_BUCKETS 1024

struct broker {
	struct target target;
	struct broker_paths paths;
	uint8_t token[IPC_TOKEN_LEN];
	int ep, hup_ep; /* all sources; placeholders, to ask what has been closed by now */
	struct source listen, hups, line;
	bool quit;
	uint64_t idle_since_ns; /* nobody uses the broker since then; 0: in use */

	enum line_state state;
	struct link *link;
	struct outbuf line_out;
	uint64_t link_due_ns;	   /* when link_poll wants to be called */
	uint64_t connect_until_ns; /* LINE_CONNECTING: when to give up */
	uint64_t heard_ns;	   /* last byte, or when the oldest request became the oldest */
	struct list arrived;	   /* messages out of the link that are not dealt with yet */
	bool peer_is_new;	   /* a session began that has not been dealt with yet */
	bool peer_is_gone;	   /* the one before ended, likewise */
	struct ipc_hello hello;
	struct list inflight; /* struct board_call */
	char lost_why[IPC_TEXT_MAX];

	struct list clients; /* struct client */
	struct list stalled; /* struct call: another one makes the object that they need */
	uint32_t objects_nr, next_serial;
	struct list by_serial[OBJECT_BUCKETS], by_handle[OBJECT_BUCKETS];
	uint32_t *closing; /* handles to drop on the board */
	uint32_t closing_nr, closing_cap;
	uint64_t close_due_ns; /* when to send them without a request to go with; 0 none */
	uint64_t
		progress_due_ns; /* when to tell clients how far their message is; 0: no one asks */

	struct memo_entry **memo;
	uint32_t memo_nr, memo_buckets;
	struct list shadows;
	uint64_t trace_pos;  /* in the board's trace text: where the next reader goes on */
	bool trace_followed; /* the board sends it as it comes */
	struct ipc_stats stats;
};

/*
 * Queue a request; replies come in order. done is called exactly once, never from inside. Handles
 * to be closed go with it.
 */
int board_submit(struct broker *b, uint32_t cmd, const uint8_t *msg, size_t len, uint64_t quiet_ms,
		 board_done done, void *arg) __must_check;
/*
 * A command of the broker's own. The caller fills in attr, whose pointers are the broker's memory
 * and whose fds are the board's handles; all of it stays in place until the reply.
 */
struct own_call {
	struct marshal_call mc;
	union bpf_call_attr attr;
};
int own_submit(struct broker *b, uint32_t cmd, struct own_call *own, uint32_t size, board_done done,
	       void *arg) __must_check;
/* Decode the reply into attr and what it points to; what the call returned, or -errno. */
int64_t own_reply(const struct own_call *own, const uint8_t *rep, size_t len);

/* Closes without a request to go with; whether the board is to send trace text. */
void board_send_closes(struct broker *b);
void board_follow_trace(struct broker *b, bool on);

int line_open(struct broker *b) __must_check; /* LINE_CLOSED -> LINE_CONNECTING; lost_why set */
void line_close(struct broker *b);
void line_timers(struct broker *b, uint64_t now);
uint64_t line_next_timer(const struct broker *b);
/* Console bytes to the board, between frames. */
void line_send_text(struct broker *b, const uint8_t *bytes, size_t n);
/* A message that the board sent unasked (trace text, a ring with records). */
void board_event(struct broker *b, const uint8_t *msg, size_t len);
/* Everything on the board is gone or out of reach: fail what waits, new epoch. */
void board_lost(struct broker *b, const char *fmt, ...) __printf_like(2, 3);

/* ---- placeholders ---- */

#define OBJECT_DEPS_MAX 4

struct object {
	struct list serial_link, handle_link;
	struct placeholder name;
	struct source src;   /* our end; fd -1 when the client's copies are all closed */
	uint32_t refs;	     /* placeholder, and lazy objects that were made from it */
	uint32_t real;	     /* the board's handle; 0: lazy, not made yet */
	uint32_t memo_index; /* lazy: which answer it stands on */
	uint8_t *request;    /* lazy: the message that makes it */
	size_t request_len;
	bool being_made;		      /* lazy: its creation is on the line */
	struct object *deps[OBJECT_DEPS_MAX]; /* lazy: virtual handles in the request */
	uint32_t deps_nr;
	struct shadow *shadow;
	struct list shadow_link;
};

/*
 * A placeholder for obj (the board's object, or a lazy one when obj->handle is 0). *client_fd is
 * the end to give out. On failure the board's handle is put on the list to close. 0 or -errno.
 */
int object_new(struct broker *b, const struct bpf_obj_info *obj, struct object **out,
	       int *client_fd) __must_check;
void object_put(struct broker *b, struct object *o);
struct object *object_by_serial(struct broker *b, uint32_t serial);
/* By what stands in a message: the board's handle or a virtual one. */
struct object *object_by_handle(struct broker *b, uint32_t handle);
/* A lazy object now exists on the board. */
void object_made(struct broker *b, struct object *o, uint32_t handle);
/* See what has been closed by now; queue those handles. */
void objects_reap(struct broker *b);
/* Put the queued closes in front of a request; they are not queued any more. */
void objects_put_closes(struct broker *b, struct wire_buf *msg);
/* The board is lost: placeholders stay, dead. */
void objects_lost(struct broker *b);
/* The broker ends. */
void objects_drop_all(struct broker *b);

/* ---- memo ---- */

struct memo_entry {
	struct memo_entry *next;
	uint32_t hash, index;
	uint8_t *key, *reply;
	size_t key_len, reply_len;
	struct bpf_obj_info obj; /* kind 0: the call failed or returned no handle */
};
/* Is the answer a function of the request's bytes alone, and the object not worth having? */
bool memo_wants(const struct bpf_call *call);
struct memo_entry *memo_find(struct broker *b, const uint8_t *key, size_t len);
void memo_add(struct broker *b, const uint8_t *key, size_t key_len, const uint8_t *reply,
	      size_t reply_len, int64_t ret, const struct bpf_obj_info *obj);
void memo_flush(struct broker *b);

/* ---- translation ---- */

enum translation_mode {
	TO_KEY,	 /* handles of probes become numbers that are the same every time */
	TO_REAL, /* virtual handles become the board's */
};

struct translation {
	struct broker *b;
	enum translation_mode mode;
	struct bpf_call *call; /* used inside */
	/* results */
	uint32_t cmd;
	bool foreign;			      /* TO_KEY: an object that is no probe's */
	struct object *unmade;		      /* TO_REAL: a lazy object that must be made first */
	struct object *seen[OBJECT_DEPS_MAX]; /* objects behind virtual handles */
	uint32_t seen_nr;
	bool too_many; /* ... there are more */
};
/* msg again with its handles replaced, appended to *out. 0 or -errno. */
int translate(struct translation *t, const uint8_t *msg, size_t len,
	      struct wire_buf *out) __must_check;

/* ---- shadow memory ---- */

/* memfd for a mapping of o, made on first use; fill is under way, done() follows. */
int shadow_open(struct broker *b, struct object *o, board_done done, void *arg,
		int *memfd) __must_check;
void shadow_detach(struct broker *b, struct object *o);
/* Send what clients have written and consumed since. */
void shadow_push_all(struct broker *b);
/* Fetch what a command of a client may have changed; number of replies that will come. */
unsigned int shadow_pull_after(struct broker *b, const struct bpf_call *call, board_done done,
			       void *arg);
/* A ring on the board has new records (map id, 0: any). */
void shadow_ring_event(struct broker *b, uint32_t map_id);
/* Make rings with records readable (again). */
void shadow_kick(struct broker *b);

/* ---- clients ---- */

enum client_mode {
	CLIENT_REQUEST,
	CLIENT_BUSY,
	CLIENT_REPLY,
	CLIENT_TRACE,
	CLIENT_CONSOLE,
	CLIENT_KEEP
};

struct client {
	struct list link;
	struct source src;
	enum client_mode mode;
	struct ipc_req req;
	size_t got; /* bytes of head and payload read */
	uint8_t *payload;
	struct outbuf out;
	int out_fd; /* to pass with the first byte, or -1 */
	bool allowed;
	struct call *call; /* CLIENT_BUSY: what it waits for, or NULL: for the board */
};

void client_accept(struct broker *b, struct source *s, uint32_t events);
/* Reply and close. fd is consumed. status < 0: text (may be NULL) becomes the payload. */
void client_reply(struct broker *b, struct client *c, int status, uint32_t flags,
		  const void *payload, size_t len, int fd);
void client_fail(struct broker *b, struct client *c, int status, const char *text);
void client_progress(struct broker *b, struct client *c, uint32_t sent_bytes);
/* The board answers (or will not): go on with requests that waited. */
void clients_resume(struct broker *b, int status);
/* Text for streams. */
void clients_trace(struct broker *b, const void *text, size_t n);
bool clients_want_trace(const struct broker *b);
void clients_console(struct broker *b, const uint8_t *text, size_t n);
void clients_notice(struct broker *b, const char *text);

/* ---- calls ---- */

/* A complete CALL or MMAP request with the board up. */
void call_start(struct broker *b, struct client *c);
void mmap_start(struct broker *b, struct client *c);
/* The client went away: finish without it. */
void call_orphan(struct client *c);
void calls_report_progress(struct broker *b, uint64_t now);
