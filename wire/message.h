/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the messages of the three channels hold (wire/link.h). Encodings: wire/buf.h.
 *
 * REQ    preludes, in any number, then a request (wire/marshal.h) or nothing:
 *          num 0x2000, num n, n times num handle    CLOSE: drop these handles first
 *          num 0x2001, num which, num pos + 1       FOLLOW: send text of the log (which 0) or of
 *                                                   the trace (1) from position pos on as events;
 *                                                   0 instead of pos + 1: no more of them
 * REP    one for each REQ, in the same order: a reply (wire/marshal.h); snum 0 for a REQ without
 *        a request
 * EVENT  num 1, num which, num pos, num lost, text to the end
 *                              TEXT: as BOARD_LOG_READ; pos is that of its first byte, lost counts
 *                              the bytes before it that were overwritten unsent
 *        num 2, num map id     RING: since the last BOARD_MEM_READ of this ring buffer a producer
 *                              has woken its consumer, or BOARD_MEM_WRITE moved the consumer
 *                              while there was more. Sent once, until it is read again
 *
 * Both ends check every length; a prelude that is not understood makes the whole message -EBADMSG.
 */
#pragma once

#include "include/base.h"
#include "include/err.h"
#include "wire/buf.h"

enum wire_prelude { WIRE_CLOSE = 0x2000, WIRE_FOLLOW };

enum wire_text { WIRE_TEXT_LOG, WIRE_TEXT_TRACE, WIRE_TEXTS };
#define WIRE_FOLLOW_NOT UINT64_MAX
/* Text bytes in one event, which then is one frame. */
#define WIRE_TEXT_MAX 960

/* ---- host ------------------------------------------------------------------------------------ */

/* Preludes; the request is appended behind them. */
void wire_put_close(struct wire_buf *b, const uint32_t *handles, uint32_t nr);
void wire_put_follow(struct wire_buf *b, enum wire_text which, uint64_t pos);

enum wire_event_kind { WIRE_EVENT_TEXT = 1, WIRE_EVENT_RING };
struct wire_event {
	enum wire_event_kind kind;
	enum wire_text which; /* TEXT */
	uint64_t pos, lost;
	const char *text; /* in the message, not terminated */
	uint32_t len;
	uint32_t map_id; /* RING */
};
/* 0 or -EBADMSG; an event of a kind that we do not know is one of these. */
int wire_get_event(const uint8_t *msg, size_t len, struct wire_event *ev) __must_check;

/* ---- board ----------------------------------------------------------------------------------- */

/*
 * Read one prelude: 1 and *in behind it, 0 when a request or the end comes next, -EBADMSG. close is
 * called for each handle, follow for each text; ops NULL: only look.
 */
struct wire_prelude_ops {
	void (*close)(void *arg, uint32_t handle);
	void (*follow)(void *arg, enum wire_text which, uint64_t pos);
	void *arg;
};
int wire_get_prelude(struct wire_in *in, const struct wire_prelude_ops *ops) __must_check;

void wire_put_event(struct wire_buf *b, const struct wire_event *ev);
