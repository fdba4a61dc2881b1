/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/capture.h"
#include "host/map_table.h"
#include "host/object.h"
#include "host/text_table.h"
#include "host/verdict.h"

#define EVENT_INSNS  0x08u /* INST_RETIRED */
#define EVENT_CYCLES 0x11u /* CPU_CYCLES */

struct run {
	const char *prog_name, *type, *data_in, *pcap, *data_out;
	uint64_t repeat;
	bool maps;

	struct bpf_object *obj; /* NULL: the program was there before */
	int fd;
	struct bpf_prog_info info;
	uint8_t *data;
	size_t data_len;
	struct capture packets;

	struct verdicts verdicts;
	uint64_t runs;		/* all repeats of all packets */
	uint64_t duration_sum;	/* ns, as the board measured them */
	uint64_t insns, cycles; /* of CPU 0 from before to after; 0: not counted */
	bool insns_counted, cycles_counted;
};

/* ---- which program ---- */

static int get_info(int fd, struct bpf_prog_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return bpf_obj_get_info_by_fd(fd, info, &len) ? -errno : 0;
}

static int by_name(const char *name, int *fd)
{
	struct bpf_prog_info info;
	unsigned int nr = 0;
	uint32_t id = 0;
	int got = -1;

	while (!bpf_prog_get_next_id(id, &id)) {
		int one = bpf_prog_get_fd_by_id(id);

		if (one < 0)
			continue;
		if (get_info(one, &info) || strncmp(info.name, name, sizeof(info.name) - 1) || nr++)
			close(one);
		else
			got = one;
	}
	if (nr == 1) {
		*fd = got;
		return CLI_OK;
	}
	if (nr)
		close(got);
	return nr ? cli_fail("%u programs are called '%s': say which by id", nr, name)
		  : cli_fail("there is no program '%s'", name);
}

static int open_program(struct cli *cli, struct run *r, char **argv, int argc)
{
	struct bpf_program *p;
	uint64_t id;
	int rc;

	if (argc == 2 && !strcmp(argv[0], "id")) {
		if (cli_number("id", argv[1], 1, UINT32_MAX, &id))
			return CLI_USAGE;
		r->fd = bpf_prog_get_fd_by_id((uint32_t)id);
		return r->fd < 0 ? cli_fail("there is no program %s", argv[1]) : CLI_OK;
	}
	if (argc == 2 && !strcmp(argv[0], "name"))
		return by_name(argv[1], &r->fd);
	if (argc != 1)
		return cli_usage("run", "which program?");
	if (!strncmp(argv[0], "/sys/fs/bpf/", 12)) {
		r->fd = bpf_obj_get(argv[0]);
		return r->fd < 0 ? cli_fail("%s: %s", argv[0], cli_errno(-errno)) : CLI_OK;
	}
	rc = object_load(argv[0], r->type, isatty(2) && !cli->json, &r->obj);
	if (!rc)
		rc = object_program(r->obj, argv[0], r->prog_name, &p);
	if (!rc)
		r->fd = bpf_program__fd(p);
	return rc;
}

/* ---- what it runs over ---- */

static bool takes_packets(uint32_t type)
{
	switch (type) {
	case BPF_PROG_TYPE_XDP:
	case BPF_PROG_TYPE_SCHED_CLS:
	case BPF_PROG_TYPE_SCHED_ACT:
	case BPF_PROG_TYPE_SOCKET_FILTER:
	case BPF_PROG_TYPE_CGROUP_SKB:
	case BPF_PROG_TYPE_LWT_IN:
	case BPF_PROG_TYPE_LWT_OUT:
	case BPF_PROG_TYPE_LWT_XMIT:
		return true;
	}
	return false;
}

static int read_input(struct run *r)
{
	const char *path = r->pcap ? r->pcap : r->data_in, *err;
	int rc = path ? cli_read_file(path, &r->data, &r->data_len) : CLI_OK;

	if (rc)
		return rc;
	if (r->pcap) {
		rc = capture_parse(r->data, r->data_len, &r->packets, &err);
		r->data = NULL;
		if (rc)
			return cli_fail("%s: %s", r->pcap, err);
	} else if (!path && takes_packets(r->info.type)) {
		/* The shortest frame that Ethernet has, without its checksum. */
		r->data_len = 60;
		r->data = calloc(1, r->data_len);
	}
	return r->data || r->pcap || !path ? CLI_OK : cli_fail("out of memory");
}

/* ---- run ---- */

static int write_out(const char *path, const uint8_t *data, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(data, 1, n, f) != n || fclose(f))
		return cli_fail("%s: %s", path, strerror(errno));
	return CLI_OK;
}

static int run_one(struct run *r, const uint8_t *data, uint32_t len)
{
	bool packet = takes_packets(r->info.type);
	LIBBPF_OPTS(bpf_test_run_opts, o, .repeat = (int)r->repeat);
	uint8_t *out = NULL;
	uint32_t room = len + 4096;
	int rc;

	if (packet) {
		o.data_in = data;
		o.data_size_in = len;
	} else if (len) {
		o.ctx_in = data;
		o.ctx_size_in = len;
	}
	/* These kinds know no repeat. */
	if (r->info.type == BPF_PROG_TYPE_RAW_TRACEPOINT || r->info.type == BPF_PROG_TYPE_SYSCALL)
		o.repeat = 0;
	if (r->data_out && packet) {
		out = calloc(1, room);
		o.data_out = out;
		o.data_size_out = out ? room : 0;
	}
	rc = bpf_prog_test_run_opts(r->fd, &o) ? -errno : 0;
	if (!rc) {
		verdict_count(&r->verdicts, o.retval);
		r->runs += r->repeat;
		r->duration_sum += (uint64_t)o.duration * r->repeat;
		if (out)
			rc = write_out(r->data_out, out, MIN(o.data_size_out, room));
	}
	free(out);
	return rc;
}

static int run_all(struct run *r)
{
	int rc = 0;
	uint32_t i;

	if (!r->pcap) {
		rc = run_one(r, r->data, (uint32_t)r->data_len);
		return rc < 0 ? cli_fail("run: %s", cli_errno(rc)) : rc;
	}
	if (!takes_packets(r->info.type))
		return cli_fail("a program of type %s takes no packets",
				libbpf_bpf_prog_type_str(r->info.type));
	for (i = 0; !rc && i < r->packets.nr; i++)
		rc = run_one(r, r->packets.packets[i].data, r->packets.packets[i].len);
	if (rc == -EINVAL)
		return cli_fail("packet %u of %s (%u bytes): the board refuses it", i, r->pcap,
				r->packets.packets[i - 1].len);
	return rc < 0 ? cli_fail("packet %u: %s", i, cli_errno(rc)) : rc;
}

/* ---- counters ---- */

static int read_pmu(union board_attr *a, bool program)
{
	memset(a, 0, sizeof(*a));
	a->pmu.events[0] = EVENT_CYCLES;
	a->pmu.events[1] = EVENT_INSNS;
	for (int i = 2; i < 8; i++)
		a->pmu.events[i] = UINT32_MAX;
	a->pmu.nr = 2;
	a->pmu.flags = program;
	return client_bpf(BOARD_PMU_READ, a, sizeof(a->pmu)) ? -1 : 0;
}

static int run_counted(struct run *r)
{
	union board_attr before, after;
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	bool pmu = !read_pmu(&before, true) && !read_pmu(&before, false);
	int rc = run_all(r);

	if (!rc && pmu && !read_pmu(&after, false)) {
		r->cycles = after.pmu.value[0] - before.pmu.value[0];
		r->insns = after.pmu.value[1] - before.pmu.value[1];
		r->cycles_counted = after.pmu.supported & 1;
		r->insns_counted = after.pmu.supported & 2;
	}
	if (!rc && get_info(r->fd, &r->info))
		rc = cli_fail("info: %s", cli_errno(-errno));
	if (stats >= 0)
		close(stats);
	return rc;
}

/* ---- report ---- */

static double per_run(const struct run *r, uint64_t sum)
{
	return r->runs ? (double)sum / (double)r->runs : 0;
}

static void print_text(const struct run *r)
{
	const struct verdicts *v = &r->verdicts;
	struct text_table *t = text_table_new("verdict", r->pcap ? "packets" : "runs", NULL);

	for (uint32_t i = 0; i < v->nr; i++) {
		text_table_row(t);
		text_table_cell(t, "%s", verdict_name(r->info.type, v->rows[i].value));
		text_table_cell(t, "%" PRIu64, v->rows[i].count);
	}
	if (v->other) {
		text_table_row(t);
		text_table_cell(t, "others");
		text_table_cell(t, "%" PRIu64, v->other);
	}
	text_table_print(t, stdout);
	text_table_free(t);
	t = text_table_new("program", "mode", "runs", "ns/run", NULL);
	text_table_row(t);
	text_table_cell(t, "%s", r->info.name);
	text_table_cell(t, "%s", r->info.jited_prog_len ? "jit" : "interpreter");
	text_table_cell(t, "%" PRIu64, r->runs);
	/* Types whose PROG_TEST_RUN measures no time say 0, as in Linux. */
	if (r->duration_sum)
		text_table_cell(t, "%.0f", per_run(r, r->duration_sum));
	else
		text_table_cell(t, "-");
	printf("\n");
	text_table_print(t, stdout);
	text_table_free(t);
	/* These are not the program's alone: a packet has to come over the line. */
	if (r->cycles_counted)
		printf("core 0, from the first request to the last: %" PRIu64 " cycles", r->cycles);
	if (r->insns_counted)
		printf(", %" PRIu64 " instructions", r->insns);
	if (r->cycles_counted)
		printf("\n");
}

static void print_json(const struct run *r, struct json *j)
{
	const struct verdicts *v = &r->verdicts;

	json_string(j, "program", r->info.name);
	json_uint(j, "id", r->info.id);
	json_string(j, "type", libbpf_bpf_prog_type_str(r->info.type));
	json_string(j, "mode", r->info.jited_prog_len ? "jit" : "interpreter");
	json_uint(j, "packets", r->pcap ? r->packets.nr : 1);
	json_object(j, "verdicts");
	for (uint32_t i = 0; i < v->nr; i++)
		json_uint(j, verdict_name(r->info.type, v->rows[i].value), v->rows[i].count);
	if (v->other)
		json_uint(j, "others", v->other);
	json_end(j);
	json_uint(j, "runs", r->runs);
	json_real(j, "ns_per_run", per_run(r, r->duration_sum));
	json_uint(j, "run_cnt", r->info.run_cnt);
	json_uint(j, "run_time_ns", r->info.run_time_ns);
	if (r->cycles_counted)
		json_uint(j, "core0_cycles", r->cycles);
	if (r->insns_counted)
		json_uint(j, "core0_insns", r->insns);
}

/* All maps that the program uses. */
static int print_maps(const struct run *r, struct json *j)
{
	uint32_t ids[64] = { 0 }, len = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = { .nr_map_ids = ARRAY_SIZE(ids), .map_ids = (uintptr_t)ids };
	const struct map_view view = { .max_rows = 64 };
	int rc = CLI_OK;

	if (bpf_obj_get_info_by_fd(r->fd, &info, &len))
		return cli_fail("info: %s", cli_errno(-errno));
	if (j)
		json_array(j, "maps");
	for (uint32_t i = 0; !rc && i < MIN(info.nr_map_ids, (uint32_t)ARRAY_SIZE(ids)); i++) {
		int fd = bpf_map_get_fd_by_id(ids[i]);

		if (fd < 0)
			return cli_fail("map %u: %s", ids[i], cli_errno(-errno));
		if (j)
			json_object(j, NULL);
		else
			printf("\n");
		rc = map_table_print(fd, &view, j);
		if (j)
			json_end(j);
		close(fd);
	}
	if (j)
		json_end(j);
	return rc;
}

static int report(struct cli *cli, const struct run *r)
{
	struct json j;
	int rc = CLI_OK;

	json_open(&j, stdout);
	if (cli->json) {
		json_object(&j, NULL);
		print_json(r, &j);
	} else {
		print_text(r);
	}
	if (r->maps)
		rc = print_maps(r, cli->json ? &j : NULL);
	if (cli->json) {
		json_end(&j);
		json_close(&j);
	}
	return rc;
}

static int parse_options(struct run *r, int argc, char **argv)
{
	static const struct option options[] = { { "prog", required_argument, NULL, 'P' },
						 { "type", required_argument, NULL, 'T' },
						 { "data-in", required_argument, NULL, 'd' },
						 { "data-out", required_argument, NULL, 'o' },
						 { "pcap", required_argument, NULL, 'p' },
						 { "repeat", required_argument, NULL, 'r' },
						 { "maps", no_argument, NULL, 'm' },
						 { 0 } };
	int opt;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'P':
			r->prog_name = optarg;
			break;
		case 'T':
			r->type = optarg;
			break;
		case 'd':
			r->data_in = optarg;
			break;
		case 'o':
			r->data_out = optarg;
			break;
		case 'p':
			r->pcap = optarg;
			break;
		case 'r':
			if (cli_number("--repeat", optarg, 1, 1000000000, &r->repeat))
				return CLI_USAGE;
			break;
		case 'm':
			r->maps = true;
			break;
		default:
			return cli_usage("run", "unknown option");
		}
	}
	if (r->pcap && (r->data_in || r->data_out))
		return cli_usage("run", "--pcap excludes --data-in and --data-out");
	return CLI_OK;
}

int cmd_run(struct cli *cli, int argc, char **argv)
{
	struct run r = { .repeat = 1, .fd = -1 };
	struct ipc_hello hello;
	int rc = parse_options(&r, argc, argv);

	if (rc)
		return rc;
	rc = cli_connect(cli, &hello);
	if (rc)
		return rc;
	object_set_verbose(cli->verbose);
	rc = open_program(cli, &r, argv + optind, argc - optind);
	if (!rc) {
		rc = get_info(r.fd, &r.info);
		if (rc)
			rc = cli_fail("info: %s", cli_errno(rc));
	}
	if (!rc)
		rc = read_input(&r);
	if (!rc) {
		r.verdicts.type = r.info.type;
		rc = run_counted(&r);
	}
	if (!rc)
		rc = report(cli, &r);
	if (r.obj)
		bpf_object__close(r.obj);
	else if (r.fd >= 0)
		close(r.fd);
	free(r.data);
	capture_free(&r.packets);
	return rc;
}
