/* SPDX-License-Identifier: BSD-2-Clause */
/* The board's name space of pinned objects: ls, rm. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cli.h"
#include "host/common/interpose.h"

static const char *kind_of(const char *path)
{
	static const char *const kinds[] = { "?", "directory", "map", "prog", "link" };
	uint32_t mode = 0;

	if (board_path_stat(path, &mode) || mode >= ARRAY_SIZE(kinds))
		mode = 0;
	return kinds[mode];
}

static int list(struct cli *cli, struct json *j, const char *path)
{
	char *names, *save = NULL;
	int rc = board_path_list(path, &names);

	if (rc)
		return rc;
	for (char *n = strtok_r(names, "\n", &save); n; n = strtok_r(NULL, "\n", &save)) {
		char full[BOARD_PATH_MAX];
		size_t len = strlen(n);
		bool dir = len && n[len - 1] == '/';

		if (dir)
			n[len - 1] = 0;
		snprintf(full, sizeof(full), "%s/%s", path, n);
		if (cli->json) {
			json_object(j, NULL);
			json_string(j, "path", full);
			json_string(j, "kind", kind_of(full));
			json_end(j);
		} else {
			printf("%-10s %s%s\n", kind_of(full), full, dir ? "/" : "");
		}
		if (dir)
			rc = list(cli, j, full);
		if (rc)
			break;
	}
	free(names);
	return rc;
}

int cmd_ls(struct cli *cli, int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : BPFFS_ROOT;
	struct ipc_hello hello;
	struct json j;
	int rc;

	if (argc > 2)
		return cli_usage("ls", "one path at most");
	rc = cli_connect(cli, &hello);
	if (rc)
		return rc;
	json_open(&j, stdout);
	if (cli->json)
		json_array(&j, NULL);
	rc = list(cli, &j, path);
	if (cli->json) {
		json_end(&j);
		json_close(&j);
	}
	return rc ? cli_fail("%s: %s", path, cli_errno(rc)) : CLI_OK;
}

int cmd_rm(struct cli *cli, int argc, char **argv)
{
	struct ipc_hello hello;
	int rc;

	if (argc < 2)
		return cli_usage("rm", "which path?");
	rc = cli_connect(cli, &hello);
	for (int i = 1; !rc && i < argc; i++) {
		rc = board_path_unlink(argv[i], 0);
		if (rc)
			rc = cli_fail("%s: %s", argv[i], cli_errno(rc));
	}
	return rc;
}
