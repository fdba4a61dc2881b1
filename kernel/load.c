/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/load.h"

#include <string.h>

#include "include/err.h"
#include "include/hal.h"
#include "kernel/console.h"
#include "kernel/serial.h"
#include "kernel/ymodem.h"

#define BUNDLE_MAX_BYTES (24u << 20)

static struct {
	bool active;
	struct ymodem ymodem;
	char name[YMODEM_NAME_MAX + 1];
	uint8_t *image;
	size_t size_bytes;
	size_t got_bytes;
} load;

static void on_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	serial_write(bytes, n);
}

static int on_begin(void *arg, const char *name, uint64_t size_bytes)
{
	(void)arg;
	if (!size_bytes)
		return -ENODATA;
	if (size_bytes > BUNDLE_MAX_BYTES)
		return -EFBIG;
	load.image = hal_alloc(size_bytes);
	if (!load.image)
		return -ENOMEM;
	load.size_bytes = size_bytes;
	strncpy(load.name, name, sizeof(load.name) - 1);
	return 0;
}

static int on_data(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	memcpy(load.image + load.got_bytes, bytes, n);
	load.got_bytes += n;
	return 0;
}

int load_begin(uint64_t now_ns)
{
	static const struct ymodem_ops ops = {
		.tx = on_tx,
		.begin = on_begin,
		.data = on_data,
	};

	if (load.active)
		return -EBUSY;
	memset(&load, 0, sizeof(load));
	load.active = true;
	ymodem_start(&load.ymodem, &ops, now_ns);
	return 0;
}

bool load_is_active(void)
{
	return load.active;
}

static void replay(void)
{
	console_replay_fn replay_fn = console_get_replay();
	uint32_t at = 0;
	int err;

	if (!console_get_rt() || !replay_fn) {
		console_printf("no runtime to load it into\n");
		return;
	}
	err = replay_fn(console_get_rt(), load.image, load.size_bytes, &at);
	if (err)
		console_printf("%s: call %u failed, error %d; nothing of it was kept\n", load.name,
			       at, -err);
	else
		console_printf("%s loaded\n", load.name);
}

/* If the transfer has ended, use what came of it. */
static void finish_if_ended(void)
{
	if (!ymodem_has_ended(&load.ymodem))
		return;
	if (load.ymodem.state == YMODEM_DONE) {
		console_printf("\nreceived %s, %zu bytes\n", load.name, load.got_bytes);
		replay();
	} else {
		console_printf("\nload: %s (error %d)\n", load.ymodem.why, -load.ymodem.error);
	}
	hal_free(load.image);
	load.image = NULL;
	load.active = false;
}

size_t load_rx(const uint8_t *bytes, size_t n, uint64_t now_ns)
{
	size_t used = ymodem_rx(&load.ymodem, bytes, n, now_ns);

	finish_if_ended();
	return used;
}

uint64_t load_poll(uint64_t now_ns)
{
	uint64_t next = ymodem_poll(&load.ymodem, now_ns);

	finish_if_ended();
	return next;
}
