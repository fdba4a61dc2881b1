/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Receiving one file by YMODEM with CRC-16 ("XMODEM/YMODEM Protocol Reference", Chuck Forsberg,
 * 1988).
 *
 *   receiver  C ...      ACK C       ACK  ...  ACK       NAK  ACK C            ACK
 *   sender       block 0      block 1     ...  last  EOT  EOT       empty block 0
 *
 *   block: SOH (128 bytes of data) or STX (1024), number, ~number, data, CRC high, CRC low
 *   block 0: file name, NUL, size in decimal, space or NUL, ...
 *
 * A state machine without I/O of its own: bytes and time come in by calls, answers go out through
 * ops->tx. Damaged, repeated and missing blocks are repaired by the protocol; a sender that goes
 * away, loses step or sends more or less than it has promised ends the transfer with an error.
 */
#pragma once

#include "include/base.h"

#define YMODEM_DATA_MAX	 1024
#define YMODEM_BLOCK_MAX (3 + YMODEM_DATA_MAX + 2)
#define YMODEM_NAME_MAX	 64

struct ymodem_ops {
	/* Answers to the sender, a few bytes each. */
	void (*tx)(void *arg, const uint8_t *bytes, size_t n);
	/* The file's name (cut to YMODEM_NAME_MAX) and size. An error (-errno) ends the transfer.
	 */
	int (*begin)(void *arg, const char *name, uint64_t size_bytes);
	/* The next bytes of the file, in order, each once. An error ends the transfer. */
	int (*data)(void *arg, const uint8_t *bytes, size_t n);
	void *arg;
};

enum ymodem_state {
	YMODEM_START,	  /* asking for block 0 */
	YMODEM_DATA,	  /* receiving the file */
	YMODEM_EOT_AGAIN, /* one EOT seen; asked for it once more */
	YMODEM_END,	  /* the file is complete, asking for the batch's end */
	YMODEM_DONE,
	YMODEM_FAILED,
};

struct ymodem {
	struct ymodem_ops ops;
	enum ymodem_state state;
	int error;	  /* YMODEM_FAILED: -errno */
	const char *why;  /* YMODEM_FAILED: in words */
	uint8_t expected; /* number of the next block */
	bool purging;	  /* discarding until the line is silent, then asking again */
	unsigned int retries;
	unsigned int cancels; /* CANs in a row between blocks */
	uint64_t deadline_ns;
	uint64_t left_bytes; /* of the file */
	size_t purged_bytes; /* discarded since the last block that was good */
	size_t block_len;    /* bytes of the block that have come */
	uint8_t block[YMODEM_BLOCK_MAX];
};

/* Begin to ask for a file. */
void ymodem_start(struct ymodem *y, const struct ymodem_ops *ops, uint64_t now_ns);
/* Bytes from the line. Returns how many were used: less than n only when the transfer has ended. */
size_t ymodem_rx(struct ymodem *y, const uint8_t *bytes, size_t n, uint64_t now_ns);
/* Time has passed. Returns when to call again at the latest, ~0 when the transfer has ended. */
uint64_t ymodem_poll(struct ymodem *y, uint64_t now_ns);
/* Give up; tells the sender. */
void ymodem_cancel(struct ymodem *y, int error, const char *why);

static inline bool ymodem_has_ended(const struct ymodem *y)
{
	return y->state >= YMODEM_DONE;
}
