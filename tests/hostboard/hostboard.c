/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A board without a machine: the runtime, maps and wire code on the host, speaking the line's
 * protocol on a unix socket. Host tools are tested against it where no emulator is needed.
 *
 *	hostboard SOCKET [--cpus N]
 *
 * Ends with the leak account of its HAL: status 1 when an object outlived everything that held it.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "include/hal.h"
#include "runtime/rt.h"
#include "runtime/server.h"
#include "tests/unit/hal_host.h"

static struct board {
	struct rt *rt;
	struct server *server;
	int line;
	uint64_t boot_id;
	bool restart, off;
} board;

static void platform_info(void *arg, struct board_info_reply *out)
{
	(void)arg;
	strcpy(out->board, "hostboard");
	strcpy(out->cpu, "host");
	strcpy(out->version, "test");
	strcpy(out->start, "process");
	out->boot_id = board.boot_id;
	out->online_mask = (1u << hal_cpu_count()) - 1;
	out->page_size = 4096;
}

static int platform_reset(void *arg, uint32_t how, uint32_t status)
{
	(void)arg, (void)status;
	board.restart = how == 0;
	board.off = how != 0;
	return 0;
}

static uint32_t platform_log_read(void *arg, uint32_t which, char *buf, uint32_t len, uint64_t *pos,
				  uint64_t *lost)
{
	const char *text = which ? hal_host_trace_text() : hal_host_log_text();
	size_t have = strlen(text);
	uint32_t n = *pos < have ? (uint32_t)MIN(have - *pos, (uint64_t)len) : 0;

	(void)arg, (void)lost;
	memcpy(buf, text + MIN(*pos, (uint64_t)have), n);
	*pos += n;
	return n;
}

/* What programs print is lines, as on the board; the HAL of the tests keeps the bare text. */
void __real_hal_trace(const char *text, size_t len);
void __wrap_hal_trace(const char *text, size_t len);

void __wrap_hal_trace(const char *text, size_t len)
{
	__real_hal_trace(text, len);
	if (!len || text[len - 1] != '\n')
		__real_hal_trace("\n", 1);
}

static void platform_load_stat(void *arg, struct board_load_stat *out)
{
	(void)arg;
	server_load_stat(board.server, out);
}

static const struct rt_platform platform = {
	.info = platform_info,
	.reset = platform_reset,
	.log_read = platform_log_read,
	.load_stat = platform_load_stat,
};

/* ---- the line ---- */

static void line_tx(void *arg, const uint8_t *bytes, size_t n)
{
	(void)arg;
	while (n && board.line >= 0) {
		ssize_t w = send(board.line, bytes, n, MSG_NOSIGNAL);

		if (w < 0 && errno != EINTR)
			return;
		if (w > 0) {
			bytes += w;
			n -= (size_t)w;
		}
	}
}

/* A console that only echoes. */
static void line_console(void *arg, const uint8_t *text, size_t n)
{
	line_tx(arg, text, n);
}

static void boot(void)
{
	const struct server_ops ops = { .tx = line_tx, .console = line_console };

	if (getrandom(&board.boot_id, sizeof(board.boot_id), 0) != sizeof(board.boot_id))
		abort();
	board.rt = rt_new(&platform);
	board.server = board.rt ? server_new(board.rt, &platform, board.boot_id, &ops) : NULL;
	if (!board.server)
		abort();
	server_start(board.server, hal_ktime_ns());
}

static void halt(void)
{
	uint64_t left;

	server_free(board.server);
	left = rt_free(board.rt);
	if (left)
		fprintf(stderr, "hostboard: %llu bytes of objects are still referenced\n",
			(unsigned long long)left);
}

static void serve(int line)
{
	board.line = line;
	while (!board.off) {
		uint64_t due = server_poll(board.server, hal_ktime_ns());
		struct pollfd p = { .fd = line, .events = POLLIN };
		uint8_t bytes[4096];
		ssize_t n;

		if (poll(&p, 1, due == ~0ull ? 1000 : 5) < 0 && errno != EINTR)
			break;
		if (!p.revents)
			continue;
		n = recv(line, bytes, sizeof(bytes), 0);
		if (n <= 0)
			break;
		server_rx(board.server, bytes, (size_t)n, hal_ktime_ns());
		hal_quiesce_flush(true);
		if (board.restart) {
			board.restart = false;
			halt();
			boot();
		}
	}
	board.line = -1;
}

static void on_term(int sig)
{
	(void)sig;
	board.off = true;
}

int main(int argc, char **argv)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct sigaction act = { .sa_handler = on_term };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (argc < 2 || strlen(argv[1]) >= sizeof(sa.sun_path)) {
		fprintf(stderr, "usage: hostboard SOCKET [--cpus N]\n");
		return 2;
	}
	test_reset();
	hal_host_use_real_time();
	if (argc == 4 && !strcmp(argv[2], "--cpus"))
		hal_host_set_cpus((unsigned int)atoi(argv[3]));
	sigaction(SIGTERM, &act, NULL);
	strcpy(sa.sun_path, argv[1]);
	unlink(argv[1]);
	if (s < 0 || bind(s, (struct sockaddr *)&sa, sizeof(sa)) || listen(s, 1)) {
		perror(argv[1]);
		return 1;
	}
	board.line = -1;
	boot();
	while (!board.off) {
		int line = accept(s, NULL, NULL);

		if (line < 0)
			continue;
		serve(line);
		close(line);
	}
	halt();
	unlink(argv[1]);
	if (test_leaked_bytes()) {
		fprintf(stderr, "hostboard: %zu bytes leaked\n", test_leaked_bytes());
		return 1;
	}
	return 0;
}
