/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/cli.h"
#include "host/info.h"
#include "host/qemu.h"

enum {
	OPT_BOARD = 256,
	OPT_NAME,
	OPT_CPU,
	OPT_SMP,
	OPT_MEM,
	OPT_GIC,
	OPT_ICOUNT,
	OPT_UBOOT,
	OPT_TFA,
	OPT_EL1,
	OPT_SEMI,
	OPT_IMAGE,
	OPT_BUNDLE,
	OPT_APPEND,
	OPT_QEMU,
	OPT_TIMEOUT,
	OPT_NO_WAIT,
};

static const struct option long_options[] = {
	{ "board", required_argument, NULL, OPT_BOARD },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "cpu", required_argument, NULL, OPT_CPU },
	{ "smp", required_argument, NULL, OPT_SMP },
	{ "mem", required_argument, NULL, OPT_MEM },
	{ "gic", required_argument, NULL, OPT_GIC },
	{ "icount", no_argument, NULL, OPT_ICOUNT },
	{ "u-boot", no_argument, NULL, OPT_UBOOT },
	{ "tfa", no_argument, NULL, OPT_TFA },
	{ "el1", no_argument, NULL, OPT_EL1 },
	{ "semihosting", no_argument, NULL, OPT_SEMI },
	{ "image", required_argument, NULL, OPT_IMAGE },
	{ "bundle", required_argument, NULL, OPT_BUNDLE },
	{ "append", required_argument, NULL, OPT_APPEND },
	{ "qemu", required_argument, NULL, OPT_QEMU },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "no-wait", no_argument, NULL, OPT_NO_WAIT },
	{ 0 },
};

struct up {
	struct qemu_options o;
	uint64_t timeout_s;
	bool no_wait;
};

static int set_number(const char *what, uint64_t min, uint64_t max, unsigned int *to)
{
	uint64_t v;
	int rc = cli_number(what, optarg, min, max, &v);

	if (!rc)
		*to = (unsigned int)v;
	return rc;
}

static int set_option(struct up *up, int opt)
{
	struct qemu_options *o = &up->o;

	switch (opt) {
	case OPT_BOARD:
		o->board = optarg;
		return 0;
	case OPT_NAME:
		o->name = optarg;
		return strchr(optarg, '/') ? cli_fail("--name: no '/' in a name") : 0;
	case OPT_CPU:
		o->cpu = optarg;
		return 0;
	case OPT_SMP:
		return set_number("--smp", 1, 64, &o->smp);
	case OPT_MEM:
		return set_number("--mem", 64, 1 << 20, &o->mem_mb);
	case OPT_GIC:
		o->gic = optarg;
		return strcmp(optarg, "2") && strcmp(optarg, "3") ? cli_fail("--gic: 2 or 3") : 0;
	case OPT_ICOUNT:
		o->icount = true;
		return 0;
	case OPT_UBOOT:
		o->u_boot = true;
		return 0;
	case OPT_TFA:
		o->tfa = true;
		return 0;
	case OPT_EL1:
		o->el1 = true;
		return 0;
	case OPT_SEMI:
		o->semihosting = true;
		return 0;
	case OPT_IMAGE:
		o->image = optarg;
		return 0;
	case OPT_BUNDLE:
		o->bundle = optarg;
		return access(optarg, R_OK) ? cli_fail("%s: %s", optarg, strerror(errno)) : 0;
	case OPT_APPEND:
		o->append = optarg;
		return 0;
	case OPT_QEMU:
		if (o->extra_nr == QEMU_EXTRA_MAX)
			return cli_fail("--qemu: %d arguments at most", QEMU_EXTRA_MAX);
		o->extra[o->extra_nr++] = optarg;
		return 0;
	case OPT_TIMEOUT:
		return cli_number("--timeout", optarg, 1, 3600, &up->timeout_s);
	case OPT_NO_WAIT:
		up->no_wait = true;
		return 0;
	}
	return cli_usage("up", "unknown option");
}

static void show_tail(const struct qemu_board *b, const char *name)
{
	char path[256], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", b->dir, name);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		fprintf(stderr, "  %s", line);
	if (f)
		fclose(f);
}

static int wait_ready(struct cli *cli, struct up *up, struct qemu_board *b, struct ipc_hello *hello)
{
	int rc = qemu_wait_frame(b, (unsigned int)up->timeout_s * 1000);

	if (!rc) {
		cli->target_arg = b->target;
		return cli_connect(cli, hello);
	}
	if (rc == -ESRCH) {
		cli_fail("QEMU ended with status %d before the board was ready:", b->status);
		show_tail(b, "qemu.log");
	} else {
		cli_fail("the board was not ready within %llu s; what it said (%s/console.log):",
			 (unsigned long long)up->timeout_s, b->dir);
	}
	show_tail(b, "console.log");
	qemu_kill(b);
	qemu_forget(b);
	return CLI_FAILED;
}

int cmd_up(struct cli *cli, int argc, char **argv)
{
	struct up up = { .o = { .board = "virt" }, .timeout_s = 60 };
	struct ipc_hello hello;
	struct host_err err = { "" };
	struct qemu_board b;
	struct json j;
	int opt, rc;

	while ((opt = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		if (opt == '?' || set_option(&up, opt))
			return CLI_USAGE;
	if (optind != argc)
		return cli_usage("up", "'%s' is not understood", argv[optind]);
	if (qemu_start(&up.o, &b, &err))
		return cli_fail("%s", err.text);
	rc = up.no_wait ? CLI_OK : wait_ready(cli, &up, &b, &hello);
	if (rc)
		return rc;
	if (cli->json) {
		json_open(&j, stdout);
		json_object(&j, NULL);
		json_string(&j, "target", b.target);
		json_int(&j, "pid", b.pid);
		if (!up.no_wait)
			info_json(&j, &hello.info);
		json_end(&j);
		json_close(&j);
		return CLI_OK;
	}
	if (!up.no_wait)
		info_print(stdout, &hello.info);
	printf("%s\n", b.target);
	return CLI_OK;
}

/* ---- down ---- */

static int find_board(struct cli *cli, struct qemu_board *b)
{
	struct host_err err = { "" };
	char only[TARGET_MAX];

	if (!cli->target_arg) {
		if (qemu_only_target(only, sizeof(only), &err))
			return cli_fail("%s", err.text);
		cli->target_arg = only;
	}
	if (qemu_find(cli->target_arg, b))
		return cli_fail("%s is no board that `barebpf up` started", cli->target_arg);
	cli->target_arg = b->target;
	return CLI_OK;
}

static int power_off(struct cli *cli, struct qemu_board *b)
{
	struct ipc_hello hello;
	int rc = cli_connect(cli, &hello);

	if (rc)
		return rc;
	setenv(ENV_QUIET, "1", 1);
	rc = board_reset(1, 0);
	/* A board that is off quickly may not get its reply out. */
	if (rc && rc != -EIO)
		return cli_fail("power off: %s", cli_errno(rc));
	return qemu_wait(b, 10000) ? cli_fail("the board does not power off") : CLI_OK;
}

int cmd_down(struct cli *cli, int argc, char **argv)
{
	struct host_err err = { "" };
	struct qemu_board b;
	struct json j;
	int rc = argc > 1 ? cli_usage("down", "'%s' is not understood", argv[1])
			  : find_board(cli, &b);

	if (rc)
		return rc;
	if (!b.pid)
		rc = cli_fail("board '%s' had ended before, status %d", b.name, b.status);
	else
		rc = power_off(cli, &b);
	if (rc)
		qemu_kill(&b);
	else if (b.status)
		rc = cli_fail("QEMU ended with status %d", b.status);
	if (!target_parse(b.target, &cli->target, &err) && broker_stop(&cli->target, &err))
		rc = cli_fail("%s", err.text);
	qemu_forget(&b);
	if (cli->json) {
		json_open(&j, stdout);
		json_object(&j, NULL);
		json_string(&j, "board", b.name);
		json_bool(&j, "clean", !rc);
		json_int(&j, "status", b.status);
		json_end(&j);
		json_close(&j);
	} else if (!rc) {
		printf("%s: powered off\n", b.name);
	}
	return rc;
}
