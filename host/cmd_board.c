/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands about the board as a whole. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/cli.h"
#include "host/info.h"
#include "host/text_table.h"

/* ---- info ---- */

static const struct {
	uint64_t bit;
	const char *name;
} features[] = {
	{ BOARD_FEAT_JIT, "jit" },
	{ BOARD_FEAT_VERIFIER, "verifier" },
	{ BOARD_FEAT_LSE, "lse" },
	{ BOARD_FEAT_BTF, "btf" },
};

void info_print(FILE *out, const struct board_info_reply *i)
{
	fprintf(out, "board    %.*s, %u x %.*s (%.*s)\n", BOARD_NAME_LEN, i->board, i->cpus,
		BOARD_NAME_LEN, i->cpu, BOARD_NAME_LEN, i->start);
	fprintf(out, "version  barebpf %.*s, abi %u\n", BOARD_NAME_LEN, i->version, i->abi);
	fprintf(out, "boot     id %016" PRIx64 ", %.3f s ago\n", (uint64_t)i->boot_id,
		(double)i->ktime_ns / 1e9);
	fprintf(out,
		"memory   %" PRIu64 " MiB, %" PRIu64 " MiB free, %" PRIu64 " KiB used at start\n",
		(uint64_t)i->ram_bytes >> 20, (uint64_t)i->ram_free_bytes >> 20,
		(uint64_t)i->boot_ram_used_bytes >> 10);
	fprintf(out, "features");
	for (size_t k = 0; k < ARRAY_SIZE(features); k++)
		if (i->features & features[k].bit)
			fprintf(out, " %s", features[k].name);
	fprintf(out, "\n");
}

static void fixed_string(struct json *j, const char *key, const char *text)
{
	char copy[BOARD_NAME_LEN + 1];

	memcpy(copy, text, BOARD_NAME_LEN);
	copy[BOARD_NAME_LEN] = 0;
	json_string(j, key, copy);
}

void info_json(struct json *j, const struct board_info_reply *i)
{
	char id[24];

	fixed_string(j, "board", i->board);
	fixed_string(j, "cpu", i->cpu);
	fixed_string(j, "version", i->version);
	fixed_string(j, "start", i->start);
	json_uint(j, "abi", i->abi);
	json_uint(j, "cpus", i->cpus);
	json_uint(j, "online_mask", i->online_mask);
	json_uint(j, "baud", i->baud);
	snprintf(id, sizeof(id), "%016" PRIx64, (uint64_t)i->boot_id);
	json_string(j, "boot_id", id);
	json_uint(j, "ktime_ns", i->ktime_ns);
	json_uint(j, "counter_hz", i->counter_hz);
	json_uint(j, "ram_bytes", i->ram_bytes);
	json_uint(j, "ram_free_bytes", i->ram_free_bytes);
	json_uint(j, "boot_ram_used_bytes", i->boot_ram_used_bytes);
	json_uint(j, "midr", i->midr);
	json_uint(j, "page_size", i->page_size);
	json_array(j, "features");
	for (size_t k = 0; k < ARRAY_SIZE(features); k++)
		if (i->features & features[k].bit)
			json_string(j, NULL, features[k].name);
	json_end(j);
}

int cmd_info(struct cli *cli, int argc, char **argv)
{
	struct ipc_hello hello;
	struct board_info_reply info;
	struct json j;
	int rc = argc > 1 ? cli_usage("info", "'%s' is not understood", argv[1])
			  : cli_connect(cli, &hello);

	if (rc)
		return rc;
	rc = board_info(&info);
	if (rc)
		return cli_fail("info: %s", cli_errno(rc));
	if (!cli->json) {
		info_print(stdout, &info);
		printf("target   %s\n", cli->target.name);
		return CLI_OK;
	}
	json_open(&j, stdout);
	json_object(&j, NULL);
	json_string(&j, "target", cli->target.name);
	info_json(&j, &info);
	json_end(&j);
	json_close(&j);
	return CLI_OK;
}

/* ---- reset ---- */

int cmd_reset(struct cli *cli, int argc, char **argv)
{
	bool off = argc == 2 && !strcmp(argv[1], "--off");
	struct ipc_hello before, after;
	int rc = argc > 1 && !off ? cli_usage("reset", "'%s' is not understood", argv[1])
				  : cli_connect(cli, &before);

	if (rc)
		return rc;
	setenv(ENV_QUIET, "1", 1);
	rc = board_reset(off, 0);
	if (rc && rc != -EIO)
		return cli_fail("reset: %s", cli_errno(rc));
	if (off) {
		if (!cli->json)
			printf("off\n");
		return CLI_OK;
	}
	/* The broker notices the new boot id and asks again. */
	for (int i = 0; i < 100; i++) {
		struct timespec t = { 0, 100 * 1000000 };
		struct board_info_reply info;

		nanosleep(&t, NULL);
		if (!board_info(&info) && info.boot_id != before.info.boot_id) {
			if (client_hello(&after))
				continue;
			if (!cli->json)
				printf("up again, boot id %016" PRIx64 "\n",
				       (uint64_t)info.boot_id);
			return CLI_OK;
		}
	}
	return cli_fail("the board does not come back; `barebpf console` shows what it says");
}

/* ---- knobs ---- */

static void knob_json(struct json *j, const struct board_attr_knob *k)
{
	char name[BOARD_KNOB_LEN + 1] = "";

	memcpy(name, k->name, BOARD_KNOB_LEN);
	json_object(j, NULL);
	json_string(j, "name", name);
	json_int(j, "value", k->value);
	json_int(j, "min", k->min);
	json_int(j, "max", k->max);
	json_bool(j, "read_only", k->flags & 1);
	json_end(j);
}

static int knob_list(struct cli *cli)
{
	struct board_attr_knob k = { 0 };
	struct text_table *t = text_table_new("name", "value", "min", "max", "", NULL);
	struct json j;
	int rc;

	json_open(&j, stdout);
	if (cli->json)
		json_array(&j, NULL);
	while (!(rc = board_knob_next(k.name, &k))) {
		k.name[BOARD_KNOB_LEN - 1] = 0;
		if (cli->json) {
			knob_json(&j, &k);
			continue;
		}
		text_table_row(t);
		text_table_cell(t, "%s", k.name);
		text_table_cell(t, "%lld", (long long)k.value);
		text_table_cell(t, "%lld", (long long)k.min);
		text_table_cell(t, "%lld", (long long)k.max);
		text_table_cell(t, "%s", k.flags & 1 ? "read only" : "");
	}
	if (cli->json) {
		json_end(&j);
		json_close(&j);
	} else {
		text_table_print(t, stdout);
	}
	text_table_free(t);
	return rc == -ENOENT ? CLI_OK : cli_fail("knobs: %s", cli_errno(rc));
}

static int knob_set(const char *name, const char *text)
{
	long long value;
	char *end;
	int rc;

	errno = 0;
	value = strtoll(text, &end, 0);
	if (errno || !text[0] || *end)
		return cli_fail("'%s' is not a number", text);
	rc = board_knob_set(name, value);
	if (rc == -ENOENT)
		return cli_fail("there is no knob '%s'; `barebpf knob` lists them", name);
	if (rc == -EINVAL || rc == -ERANGE)
		return cli_fail("%s: %lld is out of range; `barebpf knob` shows it", name, value);
	return rc ? cli_fail("%s: %s", name, cli_errno(rc)) : CLI_OK;
}

int cmd_knob(struct cli *cli, int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "list";
	struct board_attr_knob k;
	struct ipc_hello hello;
	struct json j;
	int rc;

	if (!(!strcmp(what, "list") && argc <= 2) && !(!strcmp(what, "get") && argc == 3) &&
	    !(!strcmp(what, "set") && argc == 4))
		return cli_usage("knob", "what to do?");
	rc = cli_connect(cli, &hello);
	if (rc)
		return rc;
	if (!strcmp(what, "list"))
		return knob_list(cli);
	if (!strcmp(what, "set"))
		return knob_set(argv[2], argv[3]);
	rc = board_knob_get(argv[2], &k);
	if (rc)
		return cli_fail("%s: %s", argv[2],
				rc == -ENOENT ? "there is no such knob" : cli_errno(rc));
	json_open(&j, stdout);
	if (cli->json) {
		knob_json(&j, &k);
		json_close(&j);
	} else {
		printf("%lld\n", (long long)k.value);
	}
	return CLI_OK;
}

/* ---- memory ---- */

int cmd_mem(struct cli *cli, int argc, char **argv)
{
	struct board_mem_purpose rows[BOARD_MEM_PURPOSES] = { 0 };
	union board_attr a = { .memstat = { .rows = (uintptr_t)rows, .nr = BOARD_MEM_PURPOSES } };
	struct text_table *t;
	struct ipc_hello hello;
	struct json j;
	long rc = argc > 1 ? cli_usage("mem", "'%s' is not understood", argv[1])
			   : cli_connect(cli, &hello);

	if (rc)
		return (int)rc;
	rc = client_bpf(BOARD_MEM_STAT, &a, sizeof(a.memstat));
	if (rc)
		return cli_fail("mem: %s", cli_errno(rc));
	json_open(&j, stdout);
	if (cli->json) {
		json_object(&j, NULL);
		json_uint(&j, "total_bytes", a.memstat.total_bytes);
		json_uint(&j, "free_bytes", a.memstat.free_bytes);
		json_array(&j, "purposes");
	}
	t = text_table_new("purpose", "bytes", "objects", NULL);
	for (uint32_t i = 0; i < MIN(a.memstat.nr, (uint32_t)BOARD_MEM_PURPOSES); i++) {
		rows[i].name[sizeof(rows[i].name) - 1] = 0;
		if (cli->json) {
			json_object(&j, NULL);
			json_string(&j, "name", rows[i].name);
			json_uint(&j, "bytes", rows[i].bytes);
			json_uint(&j, "objects", rows[i].objects);
			json_end(&j);
			continue;
		}
		text_table_row(t);
		text_table_cell(t, "%s", rows[i].name);
		text_table_cell(t, "%llu", (unsigned long long)rows[i].bytes);
		text_table_cell(t, "%llu", (unsigned long long)rows[i].objects);
	}
	if (cli->json) {
		json_end(&j);
		json_end(&j);
		json_close(&j);
	} else {
		text_table_print(t, stdout);
		printf("%llu of %llu bytes free\n", (unsigned long long)a.memstat.free_bytes,
		       (unsigned long long)a.memstat.total_bytes);
	}
	text_table_free(t);
	return CLI_OK;
}

/* ---- self-test ---- */

int cmd_selftest(struct cli *cli, int argc, char **argv)
{
	static char log[65536];
	union board_attr a = { .selftest = { .log = (uintptr_t)log, .log_len = sizeof(log) - 1 } };
	struct ipc_hello hello;
	struct json j;
	long rc;

	if (argc > 2 || (argc == 2 && strlen(argv[1]) >= sizeof(a.selftest.name)))
		return cli_usage("selftest", "one name at most");
	if (argc == 2)
		strcpy(a.selftest.name, argv[1]);
	rc = cli_connect(cli, &hello);
	if (rc)
		return (int)rc;
	rc = client_bpf(BOARD_SELFTEST, &a, sizeof(a.selftest));
	if (rc)
		return cli_fail("selftest: %s",
				rc == -ENOENT ? "the board has no such test" : cli_errno(rc));
	if (cli->json) {
		json_open(&j, stdout);
		json_object(&j, NULL);
		json_uint(&j, "failed", a.selftest.failed);
		json_string(&j, "log", log);
		json_end(&j);
		json_close(&j);
	} else {
		fputs(log, stdout);
		printf("%u failed\n", a.selftest.failed);
	}
	return a.selftest.failed ? CLI_FAILED : CLI_OK;
}

/* ---- line ---- */

struct counter {
	const char *name;
	uint64_t value;
};

static void print_counters(struct cli *cli, struct json *j, const char *title,
			   const struct counter *c, size_t n)
{
	if (cli->json)
		json_object(j, title);
	else
		printf("%s\n", title);
	for (size_t i = 0; i < n; i++) {
		if (cli->json)
			json_uint(j, c[i].name, c[i].value);
		else
			printf("  %-18s %12" PRIu64 "\n", c[i].name, c[i].value);
	}
	if (cli->json)
		json_end(j);
}

int cmd_line(struct cli *cli, int argc, char **argv)
{
	struct board_load_stat l = { 0 };
	union board_attr a = { .loadstat = { .stat = (uintptr_t)&l, .stat_len = sizeof(l) } };
	struct ipc_hello hello;
	struct ipc_stats s;
	struct json j;
	long rc = argc > 1 ? cli_usage("line", "'%s' is not understood", argv[1])
			   : cli_connect(cli, &hello);

	if (rc)
		return (int)rc;
	/* The host's first: asking the board changes them. */
	rc = client_stats(&s);
	if (!rc)
		rc = client_bpf(BOARD_LOAD_STAT, &a, sizeof(a.loadstat));
	if (rc)
		return cli_fail("line: %s", cli_errno(rc));
	const struct counter host[] = {
		{ "round_trips", s.round_trips },
		{ "memo_hits", s.memo_hits },
		{ "own_calls", s.own_calls },
		{ "objects", s.objects },
		{ "clients", s.clients },
		{ "tx_bytes", s.tx_bytes },
		{ "rx_bytes", s.rx_bytes },
		{ "tx_payload_bytes", s.tx_payload_bytes },
		{ "rx_payload_bytes", s.rx_payload_bytes },
		{ "tx_frames", s.tx_frames },
		{ "rx_frames", s.rx_frames },
		{ "retransmits", s.retransmits },
		{ "rx_bad", s.rx_bad },
	};
	const struct counter board[] = {
		{ "rx_bytes", l.rx_bytes },
		{ "tx_bytes", l.tx_bytes },
		{ "rx_frames", l.rx_frames },
		{ "tx_frames", l.tx_frames },
		{ "rx_bad", l.rx_bad },
		{ "rx_dup", l.rx_dup },
		{ "retransmits", l.retransmits },
		{ "rx_overruns", l.rx_overruns },
		{ "rx_payload_bytes", l.rx_payload_bytes },
		{ "requests", l.requests },
		{ "rx_insns", l.rx_insns },
	};
	json_open(&j, stdout);
	if (cli->json)
		json_object(&j, NULL);
	print_counters(cli, &j, "host", host, ARRAY_SIZE(host));
	print_counters(cli, &j, "board", board, ARRAY_SIZE(board));
	if (cli->json) {
		json_end(&j);
		json_close(&j);
	}
	return CLI_OK;
}

int cmd_broker(struct cli *cli, int argc, char **argv)
{
	bool foreground = argc == 2 && !strcmp(argv[1], "--foreground");
	bool stop = argc == 2 && !strcmp(argv[1], "--stop");
	struct host_err err = { "" };

	if (argc > 1 && !foreground && !stop)
		return cli_usage("broker", "'%s' is not understood", argv[1]);
	if (!cli->target_arg)
		return cli_fail("broker: which --target?");
	if (target_parse(cli->target_arg, &cli->target, &err))
		return cli_fail("%s", err.text);
	if (stop)
		return broker_stop(&cli->target, &err) ? cli_fail("%s", err.text) : CLI_OK;
	return broker_main(&cli->target, foreground);
}
