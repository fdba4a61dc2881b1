/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/service.h"

#include "board/board.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/console.h"
#include "kernel/log.h"
#include "kernel/machine.h"
#include "kernel/platform.h"
#include "kernel/serial.h"
#include "mm/phys.h"
#include "runtime/rt.h"
#include "runtime/server.h"

static struct {
	struct rt *rt;
	struct server *server;
} service;

struct server *service_get_server(void)
{
	return service.server;
}

static void line_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	serial_write(bytes, n);
}

static void line_text(void *arg, const uint8_t *text, size_t n)
{
	(void)arg;
	console_rx(text, n);
}

int service_start(void)
{
	static const struct server_ops ops = { .tx = line_tx, .console = line_text };
	const struct rt_platform *platform = platform_get();
	struct serial_info line;

	service.rt = rt_new(platform);
	if (!service.rt)
		return -ENOMEM;
	platform_apply_bootargs(service.rt);
	console_init(service.rt, bundle_replay);
	service.server = server_new(service.rt, platform, platform_get_boot_id(), &ops);
	if (!service.server)
		return -ENOMEM;
	serial_get_info(&line);
	/* Start bit, eight bits, stop bit. */
	server_set_rate(service.server, line.baud / 10);
	platform_note_ready();
	server_start(service.server, hal_ktime_ns());
	return 0;
}

void service_load_initrd(void)
{
	const struct board_range *initrd = &machine_get_info()->initrd;
	uint32_t at = 0;
	int err;

	if (!initrd->size_bytes || !service.rt)
		return;
	if (!phys_is_ram(initrd->base_pa, initrd->size_bytes)) {
		log_error("boot bundle: not in RAM");
		return;
	}
	err = bundle_replay(service.rt, phys_to_virt(initrd->base_pa), initrd->size_bytes, &at);
	if (err)
		log_error("boot bundle: call %u failed, error %d; nothing of it was kept", at,
			  -err);
	else
		log_info("boot bundle: loaded, %llu bytes", (unsigned long long)initrd->size_bytes);
	phys_release_reserved(initrd->base_pa, initrd->size_bytes);
}

bool service_is_wanted(void)
{
	return serial_rx_pending();
}

uint64_t service_poll(void)
{
	uint64_t next_ns = UINT64_MAX, console_ns;
	uint8_t bytes[1024];
	size_t n;

	while ((n = serial_rx_read(bytes, sizeof(bytes))) > 0) {
		if (console_is_raw() || !service.server)
			console_rx(bytes, n);
		else
			server_rx(service.server, bytes, n, hal_ktime_ns());
	}
	if (service.server)
		next_ns = server_poll(service.server, hal_ktime_ns());
	console_ns = console_poll(hal_ktime_ns());
	hal_quiesce_flush(false);
	platform_poll_reset(!service.server || server_is_idle(service.server));
	next_ns = MIN(next_ns, console_ns);
	return MIN(next_ns, platform_reset_deadline_ns());
}
