/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "include/err.h"
#include "host/cli.h"
#include "host/qemu.h"

static const struct command {
	const char *name;
	command_fn run;
	const char *args;
	const char *text;
	bool hidden;
} commands[] = {
	{ "up", cmd_up,
	  "[--board virt|raspi4b] [--cpu C] [--smp N] [--icount] [--u-boot] [--tfa] ...",
	  "start an emulated board in the background; prints its target", false },
	{ "down", cmd_down, "", "power the board off and check that it ended well", false },
	{ "info", cmd_info, "", "what the board is", false },
	{ "load", cmd_load, "FILE.o... [--pin PATH] [--type TYPE]",
	  "load programs and maps; with --pin they stay", false },
	{ "run", cmd_run,
	  "FILE.o|id N|name NAME [--prog NAME] [--data-in FILE|--pcap FILE] [--repeat N] [--maps]",
	  "run a program, over packets if given; prints verdicts", false },
	{ "raw", cmd_raw, "[MEMORY] [--mem HEX] [--mode interp|jit|checked] [--repeat N]",
	  "run hex bytecode from standard input, unverified; r0 in hex", false },
	{ "map", cmd_map, "[list] | show|dump id N|name NAME|PATH", "maps as tables", false },
	{ "ls", cmd_ls, "[PATH]", "pinned objects", false },
	{ "rm", cmd_rm, "PATH...", "unpin", false },
	{ "exec", cmd_exec, "-- COMMAND [ARGUMENT...]",
	  "run a bpf(2) program of the host against the board", false },
	{ "bundle", cmd_bundle, "FILE.o... -o FILE [--pin PATH] [--type TYPE] [--cpus N]",
	  "record loads for the board to replay at boot", false },
	{ "trace", cmd_trace, "[--lines N]", "what programs print (bpf_printk)", false },
	{ "log", cmd_log, "[--follow]", "the board's log", false },
	{ "console", cmd_console, "", "the board's console; Ctrl-] leaves", false },
	{ "knob", cmd_knob, "[list] | get NAME | set NAME VALUE", "settings of the board", false },
	{ "mem", cmd_mem, "", "the board's memory by purpose", false },
	{ "line", cmd_line, "", "statistics of the line, the broker and the board's server",
	  false },
	{ "selftest", cmd_selftest, "[NAME]", "checks that are built into the board", false },
	{ "reset", cmd_reset, "[--off]", "restart the board, or power it off", false },
	{ "broker", cmd_broker, "[--foreground] [--stop]", "the process that owns the line", true },
	{ "help", cmd_help, "[COMMAND]", "this list", false },
};

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

int cmd_help(struct cli *cli, int argc, char **argv)
{
	const struct command *c = argc > 1 ? find(argv[1]) : NULL;

	(void)cli;
	if (argc > 1 && !c)
		return cli_usage("help", "there is no command '%s'", argv[1]);
	if (c) {
		printf("barebpf %s %s\n    %s\n", c->name, c->args, c->text);
		return CLI_OK;
	}
	printf("usage: barebpf [--target TARGET] [--json] COMMAND ...\n\n"
	       "TARGET is unix:PATH or tty:PATH[,BAUD]; without it BAREBPF_TARGET, or the only\n"
	       "emulated board that is up.\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!commands[i].hidden)
			printf("  %-9s %s\n", commands[i].name, commands[i].text);
	printf("\n`barebpf help COMMAND` shows its arguments; the manual is barebpf(1).\n");
	return CLI_OK;
}

/* ---- messages ---- */

int cli_fail(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "barebpf: ");
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\n");
	return CLI_FAILED;
}

int cli_usage(const char *command, const char *fmt, ...)
{
	const struct command *c = find(command);
	va_list ap;

	fprintf(stderr, "barebpf %s: ", command);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "\nusage: barebpf %s %s\n", command, c ? c->args : "");
	return CLI_USAGE;
}

const char *cli_errno(long rc)
{
	if (rc == -EIO && client_error()[0])
		return client_error();
	if (rc == -ENOTSUPP)
		return "not supported by the board";
	return strerror((int)-rc);
}

/* ---- what commands share ---- */

int cli_connect(struct cli *cli, struct ipc_hello *hello)
{
	struct host_err err = { "" };
	char only[TARGET_MAX];
	int rc = 0;

	if (!cli->target_arg) {
		rc = qemu_only_target(only, sizeof(only), &err);
		cli->target_arg = rc ? NULL : only;
	}
	if (!rc)
		rc = target_parse(cli->target_arg, &cli->target, &err);
	if (!rc)
		rc = broker_attach(&cli->target, &err);
	if (rc)
		return cli_fail("%s", err.text);
	cli->target_arg = cli->target.name;
	if (hello) {
		setenv(ENV_QUIET, "1", 1);
		rc = client_hello(hello);
		unsetenv(ENV_QUIET);
		if (rc)
			return cli_fail("%s", cli_errno(rc));
	}
	return CLI_OK;
}

int cli_read_file(const char *path, uint8_t **data, size_t *len)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	uint8_t *buf = NULL;
	size_t room = 0, n = 0, got;

	if (!f)
		return cli_fail("%s: %s", path, strerror(errno));
	do {
		if (n == room) {
			uint8_t *more = realloc(buf, room = room ? room * 2 : 65536);

			if (!more) {
				free(buf);
				return cli_fail("%s: out of memory", path);
			}
			buf = more;
		}
		got = fread(buf + n, 1, room - n, f);
		n += got;
	} while (got);
	if (ferror(f)) {
		free(buf);
		return cli_fail("%s: %s", path, strerror(errno));
	}
	if (f != stdin)
		fclose(f);
	*data = buf;
	*len = n;
	return CLI_OK;
}

int cli_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (errno || !text[0] || text[0] == '-' || *end || v < min || v > max)
		return cli_fail("%s: '%s' is not a number from %llu to %llu", what, text,
				(unsigned long long)min, (unsigned long long)max);
	*value = v;
	return CLI_OK;
}

const char *cli_own_dir(void)
{
	static char dir[4096];
	ssize_t n;
	char *slash;

	if (dir[0])
		return dir;
	n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);
	if (n < 0)
		n = 0;
	dir[n] = 0;
	slash = strrchr(dir, '/');
	if (slash)
		*slash = 0;
	return dir;
}

char *cli_build_path(const char *name)
{
	char *path;

	if (asprintf(&path, "%s/../%s", cli_own_dir(), name) < 0)
		abort();
	return path;
}

/* ---- main ---- */

/* Takes the options of all commands out of argv, up to `--` or, for exec, its command. */
static int take_options(struct cli *cli, int *argc, char **argv)
{
	const char *command = NULL;
	int n = 1;

	for (int i = 1; i < *argc; i++) {
		char *a = argv[i];

		if (!strcmp(a, "--") ||
		    (command && !strcmp(command, "exec") && a[0] != '-' && a != command)) {
			while (i < *argc)
				argv[n++] = argv[i++];
			break;
		}
		if (!strcmp(a, "--target") || !strcmp(a, "-t")) {
			if (++i == *argc)
				return cli_fail("%s needs a target", a);
			cli->target_arg = argv[i];
		} else if (!strncmp(a, "--target=", 9)) {
			cli->target_arg = a + 9;
		} else if (!strcmp(a, "--json") || !strcmp(a, "-j")) {
			cli->json = true;
		} else if (!strcmp(a, "--verbose") || !strcmp(a, "-v")) {
			cli->verbose = true;
		} else {
			if (!command && a[0] != '-')
				command = a;
			argv[n++] = a;
		}
	}
	argv[n] = NULL;
	*argc = n;
	return CLI_OK;
}

/* A closed standard stream would let a socket take its number. */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	close(fd);
}

int main(int argc, char **argv)
{
	struct cli cli = { .target_arg = getenv("BAREBPF_TARGET") };
	const struct command *c;

	fill_standard_fds();
	if (cli.target_arg && !cli.target_arg[0])
		cli.target_arg = NULL;
	if (take_options(&cli, &argc, argv))
		return CLI_USAGE;
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return cmd_help(&cli, 1, argv) || argc < 2 ? CLI_USAGE : CLI_OK;
	c = find(argv[1]);
	if (!c) {
		cli_fail("there is no command '%s'; `barebpf help` lists them", argv[1]);
		return CLI_USAGE;
	}
	return c->run(&cli, argc - 1, argv + 1);
}
