/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/ymodem.h"

#include "include/err.h"

#define SOH   0x01
#define STX   0x02
#define ETX   0x03 /* a human's ctrl-C */
#define EOT   0x04
#define ACK   0x06
#define NAK   0x15
#define CAN   0x18
#define CRC_C 'C'

#define HEAD_BYTES 3
#define CRC_BYTES  2

#define NS_PER_MS 1000000ull
/* A sender that is started by hand needs time; until then, ask this often. */
#define ASK_NS	 (3000 * NS_PER_MS)
#define ASKS_MAX 20
/* Silence inside a block, or after garbage. */
#define BYTE_NS (1000 * NS_PER_MS)
/* Silence between blocks. */
#define BLOCK_NS    (5000 * NS_PER_MS)
#define RETRIES_MAX 10
/* With the file complete, the end of the batch is a courtesy. */
#define END_ASKS_MAX 3
/* A line that is never silent is not a sender. */
#define PURGE_MAX_BYTES 65536

/* CRC-16 of XMODEM: polynomial 0x1021, most significant bit first, initial value 0. */
static uint16_t crc16(const uint8_t *p, size_t n)
{
	uint16_t crc = 0;

	while (n--) {
		crc ^= (uint16_t)(*p++ << 8);
		for (int bit = 0; bit < 8; bit++)
			crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
	}
	return crc;
}

static void send(struct ymodem *y, uint8_t a)
{
	y->ops.tx(y->ops.arg, &a, 1);
}

static void fail(struct ymodem *y, int error, const char *why)
{
	y->state = YMODEM_FAILED;
	y->error = error;
	y->why = why;
}

void ymodem_cancel(struct ymodem *y, int error, const char *why)
{
	/* Several, since the sender may take the first for a damaged answer; the backspaces take
	 * away what a shell behind the sender would see of them. */
	static const uint8_t cancel[] = { CAN, CAN, CAN, CAN, CAN, 8, 8, 8, 8, 8 };

	if (ymodem_has_ended(y))
		return;
	y->ops.tx(y->ops.arg, cancel, sizeof(cancel));
	fail(y, error, why);
}

/* Ask for what is due, anew. */
static void ask(struct ymodem *y, uint64_t now_ns)
{
	bool is_waiting = y->state == YMODEM_START || y->state == YMODEM_END;

	send(y, is_waiting ? CRC_C : NAK);
	y->block_len = 0;
	y->purging = false;
	y->deadline_ns = now_ns + (is_waiting ? ASK_NS : BLOCK_NS);
}

void ymodem_start(struct ymodem *y, const struct ymodem_ops *ops, uint64_t now_ns)
{
	*y = (struct ymodem){ .ops = *ops, .state = YMODEM_START };
	ask(y, now_ns);
}

/* Block 0. The data is not terminated if the sender is broken. */
static int read_header(struct ymodem *y, const uint8_t *data, size_t n)
{
	char name[YMODEM_NAME_MAX + 1];
	size_t at = 0, len = 0;
	uint64_t size = 0;
	bool has_size = false;

	for (; at < n && data[at]; at++)
		if (len < YMODEM_NAME_MAX)
			name[len++] = (char)data[at];
	name[len] = '\0';
	for (at++; at < n && data[at] >= '0' && data[at] <= '9'; at++) {
		if (size > UINT64_MAX / 10 - 1)
			return -EFBIG;
		size = size * 10 + (uint64_t)(data[at] - '0');
		has_size = true;
	}
	if (!has_size)
		return -ENODATA;
	y->left_bytes = size;
	return y->ops.begin(y->ops.arg, name, size);
}

static void take_first_block(struct ymodem *y, const uint8_t *data, size_t n, uint64_t now_ns)
{
	int err;

	if (y->block[1] != 0) {
		ymodem_cancel(y, -EPROTO, "the sender did not begin with a file header");
		return;
	}
	if (!data[0]) {
		send(y, ACK);
		fail(y, -ENODATA, "the sender has no file");
		return;
	}
	err = read_header(y, data, n);
	if (err) {
		ymodem_cancel(y, err,
			      err == -ENODATA ? "the sender gave no file size"
					      : "the file was not accepted");
		return;
	}
	y->state = YMODEM_DATA;
	y->expected = 1;
	send(y, ACK);
	send(y, CRC_C);
	y->deadline_ns = now_ns + BLOCK_NS;
}

static void take_last_block(struct ymodem *y, const uint8_t *data)
{
	if (y->block[1] == 0 && !data[0]) {
		send(y, ACK);
		y->state = YMODEM_DONE;
	} else {
		ymodem_cancel(y, -E2BIG, "the sender has more than one file");
	}
}

static void take_data_block(struct ymodem *y, const uint8_t *data, size_t n, uint64_t now_ns)
{
	uint8_t number = y->block[1];
	size_t used = n < y->left_bytes ? n : (size_t)y->left_bytes;
	int err = 0;

	if (number == (uint8_t)(y->expected - 1)) {
		/* Our ACK was lost. The header's was followed by a C. */
		send(y, ACK);
		if (number == 0 && y->expected == 1)
			send(y, CRC_C);
		y->deadline_ns = now_ns + BLOCK_NS;
		return;
	}
	if (number != y->expected) {
		ymodem_cancel(y, -EPROTO, "a block was skipped");
		return;
	}
	if (!y->left_bytes) {
		ymodem_cancel(y, -EFBIG, "the file is longer than the sender said");
		return;
	}
	err = y->ops.data(y->ops.arg, data, used);
	if (err) {
		ymodem_cancel(y, err, "the file was not accepted");
		return;
	}
	y->left_bytes -= used;
	y->expected++;
	/* The other EOT was noise. */
	y->state = YMODEM_DATA;
	send(y, ACK);
	y->deadline_ns = now_ns + BLOCK_NS;
}

/* A whole block has come. */
static void take_block(struct ymodem *y, size_t data_bytes, uint64_t now_ns)
{
	const uint8_t *data = y->block + HEAD_BYTES;
	uint16_t crc = (uint16_t)(data[data_bytes] << 8 | data[data_bytes + 1]);

	y->block_len = 0;
	if ((y->block[1] ^ y->block[2]) != 0xff || crc16(data, data_bytes) != crc) {
		/* Where the next block begins is uncertain: let the line fall silent first. */
		y->purging = true;
		y->deadline_ns = now_ns + BYTE_NS;
		return;
	}
	y->retries = 0;
	y->purged_bytes = 0;
	switch (y->state) {
	case YMODEM_START:
		take_first_block(y, data, data_bytes, now_ns);
		break;
	case YMODEM_DATA:
	case YMODEM_EOT_AGAIN:
		take_data_block(y, data, data_bytes, now_ns);
		break;
	default:
		take_last_block(y, data);
		break;
	}
}

static void take_eot(struct ymodem *y, uint64_t now_ns)
{
	switch (y->state) {
	case YMODEM_DATA:
		/* One byte without a check: asked for twice. */
		y->state = YMODEM_EOT_AGAIN;
		send(y, NAK);
		y->deadline_ns = now_ns + BLOCK_NS;
		break;
	case YMODEM_EOT_AGAIN:
		if (y->left_bytes) {
			ymodem_cancel(y, -ENODATA, "the file is shorter than the sender said");
			return;
		}
		y->state = YMODEM_END;
		y->retries = 0;
		send(y, ACK);
		ask(y, now_ns);
		break;
	case YMODEM_END:
		/* Our ACK was lost. */
		send(y, ACK);
		ask(y, now_ns);
		break;
	default:
		break;
	}
}

/* A byte between blocks. */
static void take_lead(struct ymodem *y, uint8_t byte, uint64_t now_ns)
{
	y->cancels = byte == CAN ? y->cancels + 1 : 0;
	switch (byte) {
	case SOH:
	case STX:
		y->block[0] = byte;
		y->block_len = 1;
		y->deadline_ns = now_ns + BYTE_NS;
		break;
	case EOT:
		take_eot(y, now_ns);
		break;
	case CAN:
		if (y->cancels == 2)
			fail(y, -ECANCELED, "cancelled by the sender");
		break;
	case ETX:
		if (y->state == YMODEM_START)
			ymodem_cancel(y, -ECANCELED, "interrupted");
		break;
	default:
		/* Before the first block a human may be typing; later it is a damaged block. */
		if (y->state != YMODEM_START) {
			y->purging = true;
			y->deadline_ns = now_ns + BYTE_NS;
		}
		break;
	}
}

size_t ymodem_rx(struct ymodem *y, const uint8_t *bytes, size_t n, uint64_t now_ns)
{
	size_t used = 0;

	while (used < n && !ymodem_has_ended(y)) {
		size_t data_bytes, want, more;

		if (y->purging) {
			y->deadline_ns = now_ns + BYTE_NS;
			y->purged_bytes += n - used;
			if (y->purged_bytes > PURGE_MAX_BYTES)
				ymodem_cancel(y, -EPROTO, "only noise on the line");
			return n;
		}
		if (!y->block_len) {
			take_lead(y, bytes[used++], now_ns);
			continue;
		}
		data_bytes = y->block[0] == STX ? 1024 : 128;
		want = HEAD_BYTES + data_bytes + CRC_BYTES;
		more = MIN(want - y->block_len, n - used);
		__builtin_memcpy(y->block + y->block_len, bytes + used, more);
		y->block_len += more;
		used += more;
		y->deadline_ns = now_ns + BYTE_NS;
		if (y->block_len == want)
			take_block(y, data_bytes, now_ns);
	}
	return used;
}

uint64_t ymodem_poll(struct ymodem *y, uint64_t now_ns)
{
	unsigned int limit = y->state == YMODEM_START ? ASKS_MAX
			     : y->state == YMODEM_END ? END_ASKS_MAX
						      : RETRIES_MAX;

	if (ymodem_has_ended(y))
		return UINT64_MAX;
	if (now_ns < y->deadline_ns)
		return y->deadline_ns;
	if (++y->retries > limit) {
		if (y->state == YMODEM_END)
			y->state = YMODEM_DONE;
		else
			ymodem_cancel(y, -ETIMEDOUT,
				      y->state == YMODEM_START ? "no sender"
							       : "the sender is silent");
		return UINT64_MAX;
	}
	ask(y, now_ns);
	return y->deadline_ns;
}
