/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/map_table.h"
#include "host/object.h"
#include "host/text_table.h"

static int map_info(int fd, struct bpf_map_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return bpf_obj_get_info_by_fd(fd, info, &len) ? -errno : 0;
}

/* Calls fn for each map until it returns nonzero. 0, that, or -errno. */
static int each_map(int (*fn)(int fd, const struct bpf_map_info *info, void *arg), void *arg)
{
	uint32_t id = 0;
	int rc = 0;

	while (!rc && !bpf_map_get_next_id(id, &id)) {
		struct bpf_map_info info;
		int fd = bpf_map_get_fd_by_id(id);

		if (fd < 0 && errno == ENOENT)
			continue; /* gone meanwhile */
		if (fd < 0)
			return -errno;
		rc = map_info(fd, &info);
		if (!rc)
			rc = fn(fd, &info, arg);
		close(fd);
	}
	return rc;
}

struct listing {
	struct json *j;
	struct text_table *t;
};

static int list_one(int fd, const struct bpf_map_info *info, void *arg)
{
	const char *type = libbpf_bpf_map_type_str(info->type);
	struct listing *l = arg;

	(void)fd;
	if (l->j) {
		json_object(l->j, NULL);
		json_uint(l->j, "id", info->id);
		json_string(l->j, "name", info->name);
		json_string(l->j, "type", type ? type : "?");
		json_uint(l->j, "key_size", info->key_size);
		json_uint(l->j, "value_size", info->value_size);
		json_uint(l->j, "max_entries", info->max_entries);
		json_uint(l->j, "flags", info->map_flags);
		json_end(l->j);
		return 0;
	}
	text_table_row(l->t);
	text_table_cell(l->t, "%u", info->id);
	text_table_cell(l->t, "%s", info->name);
	text_table_cell(l->t, "%s", type ? type : "?");
	text_table_cell(l->t, "%u", info->key_size);
	text_table_cell(l->t, "%u", info->value_size);
	text_table_cell(l->t, "%u", info->max_entries);
	text_table_cell(l->t, "0x%x", info->map_flags);
	return 0;
}

static int list(struct cli *cli)
{
	struct json j;
	struct listing l = { .j = cli->json ? &j : NULL };
	int rc;

	l.t = text_table_new("id", "name", "type", "key", "value", "max", "flags", NULL);
	json_open(&j, stdout);
	if (cli->json)
		json_array(&j, NULL);
	rc = each_map(list_one, &l);
	if (cli->json) {
		json_end(&j);
		json_close(&j);
	} else {
		text_table_print(l.t, stdout);
	}
	text_table_free(l.t);
	return rc ? cli_fail("map: %s", cli_errno(rc)) : CLI_OK;
}

struct search {
	const char *name;
	int fd;
	unsigned int nr;
};

static int match_name(int fd, const struct bpf_map_info *info, void *arg)
{
	struct search *s = arg;

	if (strncmp(info->name, s->name, sizeof(info->name) - 1))
		return 0;
	if (!s->nr++)
		s->fd = dup(fd);
	return 0;
}

static int open_map(char **argv, int argc, int *fd)
{
	struct search s = { .fd = -1 };
	uint64_t id;
	int rc;

	if (argc == 1 && argv[0][0] == '/') {
		*fd = bpf_obj_get(argv[0]);
		return *fd < 0 ? cli_fail("%s: %s", argv[0], cli_errno(-errno)) : CLI_OK;
	}
	if (argc == 2 && !strcmp(argv[0], "id")) {
		if (cli_number("id", argv[1], 1, UINT32_MAX, &id))
			return CLI_USAGE;
		*fd = bpf_map_get_fd_by_id((uint32_t)id);
		return *fd < 0 ? cli_fail("there is no map %s", argv[1]) : CLI_OK;
	}
	if (argc != 2 || strcmp(argv[0], "name"))
		return cli_usage("map", "which map?");
	s.name = argv[1];
	rc = each_map(match_name, &s);
	if (rc)
		return cli_fail("map: %s", cli_errno(rc));
	if (s.nr > 1) {
		close(s.fd);
		return cli_fail("%u maps are called '%s': say which by id", s.nr, s.name);
	}
	*fd = s.fd;
	return s.nr ? CLI_OK : cli_fail("there is no map '%s'; `barebpf map` lists them", s.name);
}

static int show(struct cli *cli, char **argv, int argc, const struct map_view *view)
{
	struct json j;
	int fd = -1, rc = open_map(argv, argc, &fd);

	if (rc)
		return rc;
	json_open(&j, stdout);
	if (cli->json)
		json_object(&j, NULL);
	rc = map_table_print(fd, view, cli->json ? &j : NULL);
	if (cli->json) {
		json_end(&j);
		json_close(&j);
	}
	close(fd);
	return rc;
}

int cmd_map(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { { "all", no_argument, NULL, 'a' },
						 { "rows", required_argument, NULL, 'r' },
						 { 0 } };
	struct map_view view = { 0 };
	struct ipc_hello hello;
	const char *what;
	uint64_t rows;
	int opt, rc;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'a')
			view.all = true;
		else if (opt != 'r' || cli_number("--rows", optarg, 1, UINT32_MAX, &rows))
			return CLI_USAGE;
		else
			view.max_rows = (uint32_t)rows;
	}
	what = optind < argc ? argv[optind] : "list";
	if (strcmp(what, "list") && strcmp(what, "show") && strcmp(what, "dump"))
		return cli_usage("map", "'%s' is not understood", what);
	rc = cli_connect(cli, &hello);
	if (rc)
		return rc;
	object_set_verbose(cli->verbose);
	if (!strcmp(what, "list"))
		return list(cli);
	return show(cli, argv + optind + 1, argc - optind - 1, &view);
}
