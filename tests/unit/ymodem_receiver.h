/* SPDX-License-Identifier: BSD-2-Clause */
/* The YMODEM receiver's other end, for tests/unit/ymodem*.c: what it has received and answered. */
#pragma once

#include <unistd.h>

#include "include/err.h"
#include "kernel/ymodem.h"
#include "test.h"

#define MS 1000000ull

#define FILE_MAX 70000

static uint8_t file[FILE_MAX];
static uint8_t received[FILE_MAX];

static struct {
	char name[YMODEM_NAME_MAX + 1];
	uint64_t size;
	size_t got;
	int begin_error;
	uint8_t answers[4096];
	size_t n_answers;
	int fd; /* of lrzsz, when answers go there */
} receiver;

static struct ymodem y;
static uint64_t now_ns;

static inline void on_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	if (receiver.fd >= 0) {
		if (write(receiver.fd, bytes, n) != (ssize_t)n)
			TEST_FAIL("write to sz");
		return;
	}
	for (size_t i = 0; i < n && receiver.n_answers < sizeof(receiver.answers); i++)
		receiver.answers[receiver.n_answers++] = bytes[i];
}

static int on_begin(void *arg, const char *name, uint64_t size)
{
	(void)arg;
	snprintf(receiver.name, sizeof(receiver.name), "%s", name);
	receiver.size = size;
	return receiver.begin_error ? receiver.begin_error : size > FILE_MAX ? -EFBIG : 0;
}

static int on_data(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	if (n > FILE_MAX - receiver.got)
		return -ENOSPC;
	memcpy(received + receiver.got, bytes, n);
	receiver.got += n;
	return 0;
}

static const struct ymodem_ops ops = { .tx = on_tx, .begin = on_begin, .data = on_data };

static inline void start(void)
{
	memset(&receiver, 0, sizeof(receiver));
	memset(received, 0, sizeof(received));
	receiver.fd = -1;
	for (size_t i = 0; i < FILE_MAX; i++)
		file[i] = (uint8_t)(i * 7 + i / 256);
	now_ns = 1000 * MS;
	ymodem_start(&y, &ops, now_ns);
}
