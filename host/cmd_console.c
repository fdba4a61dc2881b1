/* SPDX-License-Identifier: BSD-2-Clause */
/* Text from the board: console, trace, log. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "host/cli.h"

#define KEY_LEAVE 0x1d /* Ctrl-] */

/* ---- console ---- */

static struct termios saved_termios;

static void restore_terminal(void)
{
	tcsetattr(0, TCSANOW, &saved_termios);
}

static bool raw_terminal(void)
{
	struct termios t;

	if (!isatty(0) || tcgetattr(0, &saved_termios))
		return false;
	t = saved_termios;
	cfmakeraw(&t);
	tcsetattr(0, TCSANOW, &t);
	atexit(restore_terminal);
	return true;
}

static int write_all(int fd, const char *data, size_t n)
{
	while (n) {
		ssize_t w = write(fd, data, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w < 0)
			return -errno;
		data += w;
		n -= (size_t)w;
	}
	return 0;
}

/* Keys to the line; false: leave. */
static bool keys(int sock, bool terminal, bool *eof)
{
	char text[1024];
	ssize_t n = read(0, text, sizeof(text));
	char *leave;

	if (n <= 0) {
		*eof = true;
		return !terminal;
	}
	leave = terminal ? memchr(text, KEY_LEAVE, (size_t)n) : NULL;
	if (leave)
		n = leave - text;
	return !ipc_write_all(sock, text, (size_t)n) && !leave;
}

/*
 * Until Ctrl-]; or, when the input is no terminal, until it has ended and the board has been quiet
 * for a while.
 */
static int console(int sock, bool terminal)
{
	const int quiet_ms = 700;
	bool eof = false;

	for (;;) {
		struct pollfd p[2] = { { .fd = sock, .events = POLLIN },
				       { .fd = eof ? -1 : 0, .events = POLLIN } };
		int n = poll(p, 2, eof ? quiet_ms : -1);
		char text[4096];

		if (n < 0 && errno != EINTR)
			return CLI_FAILED;
		if (!n)
			return CLI_OK;
		if (p[1].revents && !keys(sock, terminal, &eof))
			return CLI_OK;
		if (p[0].revents) {
			ssize_t got = read(sock, text, sizeof(text));

			if (got <= 0)
				return cli_fail("the broker has ended");
			if (write_all(1, text, (size_t)got))
				return CLI_FAILED;
		}
	}
}

static int stream_open(enum ipc_op op)
{
	int sock;

	setenv(ENV_QUIET, "1", 1);
	sock = client_stream(op);
	if (sock < 0)
		cli_fail("%s", cli_errno(sock));
	return sock;
}

int cmd_console(struct cli *cli, int argc, char **argv)
{
	bool terminal;
	int sock, rc;

	if (argc > 1)
		return cli_usage("console", "'%s' is not understood", argv[1]);
	rc = cli_connect(cli, NULL);
	if (rc)
		return rc;
	sock = stream_open(IPC_CONSOLE);
	if (sock < 0)
		return CLI_FAILED;
	terminal = raw_terminal();
	if (terminal)
		fprintf(stderr, "console of %s; Ctrl-] leaves\r\n", cli->target.name);
	rc = console(sock, terminal);
	if (terminal)
		fprintf(stderr, "\r\n");
	return rc;
}

/* ---- trace ---- */

static int print_lines(struct cli *cli, int sock, uint64_t lines)
{
	FILE *in = fdopen(sock, "r");
	char *line = NULL;
	size_t room = 0;
	struct json j;

	while (lines && in && getline(&line, &room, in) > 0) {
		lines--;
		if (cli->json) {
			line[strcspn(line, "\n")] = 0;
			json_open(&j, stdout);
			json_object(&j, NULL);
			json_string(&j, "trace", line);
			json_end(&j);
			json_close(&j);
		} else {
			fputs(line, stdout);
			fflush(stdout);
		}
	}
	free(line);
	if (in)
		fclose(in);
	return lines ? cli_fail("the trace ended: the board or its broker is gone") : CLI_OK;
}

int cmd_trace(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { { "lines", required_argument, NULL, 'n' }, { 0 } };
	uint64_t lines = UINT64_MAX;
	struct ipc_hello hello;
	int opt, rc, sock;

	while ((opt = getopt_long(argc, argv, "n:", options, NULL)) != -1)
		if (opt != 'n' || cli_number("--lines", optarg, 1, UINT32_MAX, &lines))
			return CLI_USAGE;
	if (optind != argc)
		return cli_usage("trace", "'%s' is not understood", argv[optind]);
	rc = cli_connect(cli, &hello);
	if (rc)
		return rc;
	sock = stream_open(IPC_TRACE);
	return sock < 0 ? CLI_FAILED : print_lines(cli, sock, lines);
}

/* ---- log ---- */

int cmd_log(struct cli *cli, int argc, char **argv)
{
	bool follow = argc == 2 && (!strcmp(argv[1], "--follow") || !strcmp(argv[1], "-f"));
	uint64_t pos = 0, lost = 0;
	struct ipc_hello hello;
	char text[4096 + 1];
	uint32_t n;
	int rc;

	if (argc > 1 && !follow)
		return cli_usage("log", "'%s' is not understood", argv[1]);
	rc = cli_connect(cli, &hello);
	if (rc)
		return rc;
	for (;;) {
		struct timespec t = { 0, 300 * 1000000 };

		rc = board_log_read(0, text, sizeof(text) - 1, &n, &pos, &lost);
		if (rc)
			return cli_fail("log: %s", cli_errno(rc));
		if (lost) {
			printf("[%llu bytes are gone]\n", (unsigned long long)lost);
			lost = 0;
		}
		fwrite(text, 1, n, stdout);
		fflush(stdout);
		if (!n && !follow)
			return CLI_OK;
		if (!n)
			nanosleep(&t, NULL);
	}
}
