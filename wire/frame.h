/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames on a byte line that a human console shares.
 *
 *   text text  00 F5 <COBS( body )> 00  text ...
 *              |  |                 |
 *              |  marker: never in UTF-8 text, so a lost delimiter cannot turn text into a frame
 *              delimiter; two frames back to back may share one
 *   body: u8 type, u8 flags, u16 seq, u16 ack, u16 session, payload (0..FRAME_PAYLOAD_MAX), u32
 * CRC-32C
 *
 * All little endian; the CRC covers everything before it. COBS removes 00 from the body.
 */
#pragma once

#include "include/base.h"

#define FRAME_MARK	  0xf5
#define FRAME_HEADER	  8
#define FRAME_CRC	  4
#define FRAME_PAYLOAD_MAX 1024
#define FRAME_BODY_MAX	  (FRAME_HEADER + FRAME_PAYLOAD_MAX + FRAME_CRC)
/* Bytes of an encoded frame at most: COBS adds 1 per 254, plus delimiters and marker. */
#define FRAME_LINE_MAX (FRAME_BODY_MAX + FRAME_BODY_MAX / 254 + 1 + 3)

struct frame {
	uint8_t type, flags;
	uint16_t seq, ack, session;
	uint16_t len;
	uint8_t payload[FRAME_PAYLOAD_MAX];
};

/* Receiver state: feed bytes, get frames and text. Zero it to start. */
struct frame_rx {
	uint8_t body[FRAME_BODY_MAX + FRAME_BODY_MAX / 254 + 2];
	uint32_t len;
	uint8_t state;
	uint64_t bad_crc, bad_cobs, too_long; /* damaged frames, dropped */
};

enum frame_event {
	FRAME_NOTHING, /* all bytes consumed */
	FRAME_GOOD,    /* *out is a frame */
	FRAME_TEXT,    /* *text: one byte of console text */
	FRAME_BAD,     /* a damaged frame was dropped */
};
/*
 * Consume bytes until an event; *used says how many. Call again with the rest. Context: any (no
 * allocation).
 */
enum frame_event frame_feed(struct frame_rx *rx, const uint8_t *bytes, size_t n, size_t *used,
			    struct frame *out, uint8_t *text);
/* Encode into line (FRAME_LINE_MAX bytes of room); bytes used. f->len <= FRAME_PAYLOAD_MAX. */
size_t frame_encode(const struct frame *f, uint8_t *line);
