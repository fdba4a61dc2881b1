/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames on a byte line that a human console shares.
 *
 *   text text  00 F5 <COBS( body )> 00  text ...
 *              |  |                 |
 *              |  marker: never in UTF-8 text, so a lost delimiter cannot turn text into a frame
 *              delimiter; two frames back to back may share one
 *
 *   body   0      1      2     4     6        8              8+n
 *          +------+------+-----+-----+--------+--------------+-----------+
 *          | type | flags| seq | ack | session| payload      | CRC-32C   |
 *          | u8   | u8   | u16 | u16 | u16    | 0..1024 bytes| u32       |
 *          +------+------+-----+-----+--------+--------------+-----------+
 *
 * All little endian; the CRC covers everything before it. COBS removes 00 from the body: a code
 * byte c is followed by c-1 bytes that are not 00, and by a 00 that is left out unless c is ff or
 * the body ends (Cheshire and Baker, "Consistent Overhead Byte Stuffing").
 */
#pragma once

#include "include/base.h"

#define FRAME_MARK	  0xf5
#define FRAME_HEADER	  8
#define FRAME_CRC	  4
#define FRAME_PAYLOAD_MAX 1024
#define FRAME_BODY_MAX	  (FRAME_HEADER + FRAME_PAYLOAD_MAX + FRAME_CRC)
/* Bytes between marker and delimiter at most: COBS adds 1 and 1 more per 254. */
#define FRAME_CODE_MAX (FRAME_BODY_MAX + FRAME_BODY_MAX / 254 + 1)
/* Bytes of an encoded frame at most. */
#define FRAME_LINE_MAX (FRAME_CODE_MAX + 3)

struct frame {
	uint8_t type, flags;
	uint16_t seq, ack, session;
	uint16_t len; /* of payload */
	const uint8_t *payload;
};

enum frame_rx_state {
	FRAME_RX_TEXT,	/* outside: everything but 00 is text */
	FRAME_RX_DELIM, /* after 00: marker or text */
	FRAME_RX_CODE,	/* inside */
	FRAME_RX_NOISE, /* after damage: what comes before the next 00 is neither frame nor text */
};

/* Receiver. Zero it to start. */
struct frame_rx {
	uint8_t body[FRAME_CODE_MAX];
	uint32_t len; /* bytes in body; in NOISE: bytes dropped */
	enum frame_rx_state state;
	uint64_t bad_crc, bad_cobs, too_long; /* damaged frames, dropped */
};

enum frame_event {
	FRAME_NOTHING, /* all bytes consumed */
	FRAME_GOOD,    /* *out is a frame; its payload is valid until the next call */
	FRAME_TEXT,    /* bytes[*text] up to bytes[*used] are console text */
	FRAME_BAD,     /* a damaged frame was dropped */
};
/*
 * Consume bytes until an event; *used says how many. Call again with the rest. Context: any (no
 * allocation).
 */
enum frame_event frame_feed(struct frame_rx *rx, const uint8_t *bytes, size_t n, size_t *used,
			    struct frame *out, size_t *text);
/*
 * The frame under way, if any, will not be finished: what was begun is dropped and the next byte is
 * text. Returns FRAME_BAD if something was dropped, else FRAME_NOTHING. Context: any.
 */
enum frame_event frame_idle(struct frame_rx *rx);
/* Encode into line (FRAME_LINE_MAX bytes of room); bytes used. f->len <= FRAME_PAYLOAD_MAX. */
size_t frame_encode(const struct frame *f, uint8_t *line);
