/* SPDX-License-Identifier: BSD-2-Clause */
#include <bpf/bpf.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "host/object.h"
#include "host/text_table.h"

static const char *type_name(uint32_t type)
{
	const char *s = libbpf_bpf_prog_type_str(type);

	return s ? s : "?";
}

static int prog_info(int fd, struct bpf_prog_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return bpf_obj_get_info_by_fd(fd, info, &len) ? -errno : 0;
}

static int report(struct json *j, struct text_table *t, struct bpf_object *obj)
{
	struct bpf_prog_info info;
	struct bpf_program *p;

	bpf_object__for_each_program(p, obj)
	{
		const char *name = bpf_program__name(p);
		int rc;

		if (bpf_program__fd(p) < 0)
			continue; /* not loaded by default (SEC("?...")) */
		rc = prog_info(bpf_program__fd(p), &info);
		if (rc)
			return cli_fail("%s: %s", name, cli_errno(rc));
		if (j) {
			json_object(j, NULL);
			json_uint(j, "id", info.id);
			json_string(j, "name", name);
			json_string(j, "type", type_name(info.type));
			json_uint(j, "xlated_bytes", info.xlated_prog_len);
			json_uint(j, "jited_bytes", info.jited_prog_len);
			json_uint(j, "verified_insns", info.verified_insns);
			json_end(j);
			continue;
		}
		text_table_row(t);
		text_table_cell(t, "%u", info.id);
		text_table_cell(t, "%s", name);
		text_table_cell(t, "%s", type_name(info.type));
		text_table_cell(t, "%u", info.xlated_prog_len / 8);
		text_table_cell(t, "%u", info.jited_prog_len);
		text_table_cell(t, "%u", info.verified_insns);
	}
	return CLI_OK;
}

int cmd_load(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = { { "pin", required_argument, NULL, 'p' },
						 { "type", required_argument, NULL, 'T' },
						 { 0 } };
	const char *pin = NULL, *type = NULL;
	struct ipc_hello hello;
	struct text_table *t;
	struct json j;
	int opt, rc;

	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (opt == 'p')
			pin = optarg;
		else if (opt == 'T')
			type = optarg;
		else
			return cli_usage("load", "unknown option");
	}
	if (optind == argc)
		return cli_usage("load", "which file?");
	if (pin && argc - optind > 1)
		return cli_usage("load", "--pin takes one file");
	rc = cli_connect(cli, &hello);
	if (rc)
		return rc;
	object_set_verbose(cli->verbose);
	t = text_table_new("id", "name", "type", "insns", "jited bytes", "verified insns", NULL);
	json_open(&j, stdout);
	if (cli->json)
		json_array(&j, NULL);
	for (int i = optind; !rc && i < argc; i++) {
		struct bpf_object *obj;

		rc = object_load(argv[i], type, !cli->json, &obj);
		if (rc)
			break;
		rc = pin ? object_pin(obj, pin) : CLI_OK;
		if (!rc)
			rc = report(cli->json ? &j : NULL, t, obj);
		bpf_object__close(obj);
	}
	if (cli->json) {
		json_end(&j);
		json_close(&j);
	} else if (!rc) {
		text_table_print(t, stdout);
	}
	text_table_free(t);
	return rc;
}
