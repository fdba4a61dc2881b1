/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/common/board_call.h"

static int call(enum board_cmd cmd, union board_attr *attr, size_t size)
{
	long rc = client_bpf(cmd, attr, (uint32_t)size);

	return rc < 0 ? (int)rc : 0;
}

static int knob(enum board_cmd cmd, const char *name, int64_t value, struct board_attr_knob *out)
{
	union board_attr a = { .knob.value = value };
	int rc;

	if (strlen(name) >= sizeof(a.knob.name))
		return -ENAMETOOLONG;
	strcpy(a.knob.name, name);
	rc = call(cmd, &a, sizeof(a.knob));
	if (!rc && out)
		*out = a.knob;
	return rc;
}

int board_knob_get(const char *name, struct board_attr_knob *out)
{
	return knob(BOARD_KNOB_GET, name, 0, out);
}

int board_knob_set(const char *name, int64_t value)
{
	return knob(BOARD_KNOB_SET, name, value, NULL);
}

int board_knob_next(const char *name, struct board_attr_knob *out)
{
	return knob(BOARD_KNOB_NEXT, name, 0, out);
}

static int path_call(enum board_cmd cmd, const char *path, union board_attr *a)
{
	char text[BOARD_PATH_MAX];

	if (strlen(path) >= sizeof(text))
		return -ENAMETOOLONG;
	strcpy(text, path);
	a->path.path = (uintptr_t)text;
	return call(cmd, a, sizeof(a->path));
}

int board_path_stat(const char *path, uint32_t *mode)
{
	union board_attr a = { 0 };
	int rc = path_call(BOARD_PATH_STAT, path, &a);

	if (!rc && mode)
		*mode = a.path.mode;
	return rc;
}

int board_path_mkdir(const char *path)
{
	union board_attr a = { 0 };

	return path_call(BOARD_PATH_MKDIR, path, &a);
}

int board_path_unlink(const char *path, uint32_t mode)
{
	union board_attr a = { .path.mode = mode };

	return path_call(BOARD_PATH_UNLINK, path, &a);
}

int board_path_list(const char *path, char **names)
{
	uint32_t room = 4096;

	for (;;) {
		union board_attr a = { 0 };
		char *text = calloc(1, room + 1);
		int rc;

		if (!text)
			return -ENOMEM;
		a.path.list = (uintptr_t)text;
		a.path.list_len = room;
		rc = path_call(BOARD_PATH_LIST, path, &a);
		if (!rc && a.path.list_len <= room) {
			*names = text;
			return 0;
		}
		free(text);
		if (rc && rc != -ENOSPC)
			return rc;
		if (a.path.list_len <= room || a.path.list_len > (1u << 20))
			return -EIO;
		room = a.path.list_len;
	}
}

int board_syms(char **text, size_t *len)
{
	const uint32_t piece = 32768;
	struct wire_buf all = { 0 };
	char *buf = malloc(piece), *out;
	uint32_t first = 0;
	int rc = buf ? 0 : -ENOMEM;

	while (!rc) {
		union board_attr a = {
			.syms = { .buf = (uintptr_t)buf, .len = piece, .first = first }
		};

		rc = call(BOARD_SYMS, &a, sizeof(a.syms));
		if (!rc)
			wire_put_bytes(&all, buf, strnlen(buf, MIN(a.syms.len, piece)));
		if (!rc)
			rc = all.err;
		if (rc || !a.syms.first || a.syms.first <= first)
			break;
		first = a.syms.first;
	}
	free(buf);
	out = rc ? NULL : malloc(all.len + 1);
	if (out) {
		memcpy(out, all.len ? (const char *)all.data : "", all.len);
		out[all.len] = 0;
		*text = out;
		*len = all.len;
	} else if (!rc) {
		rc = -ENOMEM;
	}
	wire_buf_free(&all);
	return rc;
}

int board_log_read(uint32_t which, char *buf, uint32_t room, uint32_t *n, uint64_t *pos,
		   uint64_t *lost)
{
	union board_attr a = {
		.log = { .which = which, .len = room, .buf = (uintptr_t)buf, .pos = *pos }
	};
	int rc = call(BOARD_LOG_READ, &a, sizeof(a.log));

	if (rc)
		return rc;
	*n = MIN(a.log.len, room);
	*pos = a.log.pos;
	*lost += a.log.lost;
	return 0;
}

int board_info(struct board_info_reply *info)
{
	union board_attr a = { .info = { .info = (uintptr_t)info, .info_len = sizeof(*info) } };

	memset(info, 0, sizeof(*info));
	return call(BOARD_INFO, &a, sizeof(a.info));
}

int board_reset(uint32_t how, uint32_t status)
{
	union board_attr a = { .reset = { .how = how, .status = status } };

	return call(BOARD_RESET, &a, sizeof(a.reset));
}
