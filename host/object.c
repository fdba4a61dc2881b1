/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/object.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool chatty;

static int print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level == LIBBPF_DEBUG && !chatty)
		return 0;
	if (level == LIBBPF_INFO && !chatty)
		return 0;
	return vfprintf(stderr, fmt, ap);
}

void object_set_verbose(bool verbose)
{
	chatty = verbose;
	libbpf_set_print(print);
}

/* Types by the names that bpftool takes; the section names of libbpf are understood too. */
static int set_types(struct bpf_object *obj, const char *type)
{
	enum bpf_attach_type attach;
	enum bpf_prog_type prog_type;
	struct bpf_program *p;
	char section[64];
	int rc;

	snprintf(section, sizeof(section), "%s", type);
	rc = libbpf_prog_type_by_name(section, &prog_type, &attach);
	if (rc) {
		/* Sections of some kinds end in a slash and a place to attach. */
		snprintf(section, sizeof(section), "%s/", type);
		rc = libbpf_prog_type_by_name(section, &prog_type, &attach);
	}
	if (rc)
		return cli_fail("--type: '%s' is no program type (xdp, tc, socket, raw_tp, "
				"tracepoint, perf_event, syscall, ...)",
				type);
	bpf_object__for_each_program(p, obj)
	{
		bpf_program__set_type(p, prog_type);
		bpf_program__set_expected_attach_type(p, attach);
	}
	return CLI_OK;
}

/* ---- progress ---- */

static struct progress bar;

static void on_progress(uint64_t sent_bytes)
{
	progress_set(&bar, sent_bytes);
}

/* About what will go over the line; messages leave out zeros, so it is rather too much. */
static uint64_t estimate(const struct bpf_object *obj)
{
	const struct btf *btf = bpf_object__btf(obj);
	struct bpf_program *p;
	struct bpf_map *m;
	uint64_t bytes = 0;
	uint32_t size = 0;

	if (btf && btf__raw_data(btf, &size))
		bytes += size;
	bpf_object__for_each_program(p, obj) bytes += bpf_program__insn_cnt(p) * 12;
	bpf_object__for_each_map(m, obj) bytes += 48;
	return bytes;
}

/* ---- load ---- */

int object_load(const char *path, const char *type, bool progress, struct bpf_object **out)
{
	struct bpf_object *obj = bpf_object__open_file(path, NULL);
	const char *base = strrchr(path, '/');
	int rc;

	if (!obj)
		return cli_fail("%s: %s", path,
				errno == ENOENT ? strerror(errno)
						: "libbpf cannot read it (see above)");
	if (type && set_types(obj, type)) {
		bpf_object__close(obj);
		return CLI_FAILED;
	}
	if (progress) {
		progress_begin(&bar, base ? base + 1 : path, estimate(obj), true);
		client_set_progress(on_progress);
	}
	rc = bpf_object__load(obj);
	client_set_progress(NULL);
	progress_end(&bar, !rc);
	if (rc) {
		bpf_object__close(obj);
		return cli_fail("%s: %s", path,
				rc == -EIO ? cli_errno(rc) : "the board refused it (see above)");
	}
	*out = obj;
	return CLI_OK;
}

static void unpin_all(struct bpf_object *obj, const char *dir)
{
	struct bpf_program *p;
	char path[BOARD_PATH_MAX];

	bpf_object__for_each_program(p, obj)
	{
		snprintf(path, sizeof(path), "%s/%s", dir, bpf_program__name(p));
		if (bpf_program__fd(p) >= 0 && board_path_unlink(path, 2))
			continue;
	}
	if (board_path_unlink(dir, 1))
		return;
}

int object_pin(struct bpf_object *obj, const char *path)
{
	struct bpf_program *p, *only = NULL;
	unsigned int nr = 0;
	int rc;

	bpf_object__for_each_program(p, obj)
	{
		only = p;
		nr++;
	}
	if (strncmp(path, "/sys/fs/bpf/", 12))
		return cli_fail("--pin: '%s' is not below /sys/fs/bpf/", path);
	if (nr == 1) {
		rc = bpf_obj_pin(bpf_program__fd(only), path) ? -errno : 0;
		return rc ? cli_fail("pin %s: %s", path, cli_errno(rc)) : CLI_OK;
	}
	rc = board_path_mkdir(path);
	if (rc)
		return cli_fail("pin %s: %s", path, cli_errno(rc));
	bpf_object__for_each_program(p, obj)
	{
		char full[BOARD_PATH_MAX];

		rc = snprintf(full, sizeof(full), "%s/%s", path, bpf_program__name(p)) <
				     (int)sizeof(full)
			     ? 0
			     : -ENAMETOOLONG;
		if (!rc && bpf_obj_pin(bpf_program__fd(p), full))
			rc = -errno;
		if (rc) {
			unpin_all(obj, path);
			return cli_fail("pin %s: %s", full, cli_errno(rc));
		}
	}
	return CLI_OK;
}

int object_program(struct bpf_object *obj, const char *path, const char *name,
		   struct bpf_program **prog)
{
	struct bpf_program *p, *found = NULL;
	char names[512] = "";
	unsigned int nr = 0;

	bpf_object__for_each_program(p, obj)
	{
		const char *n = bpf_program__name(p);

		nr++;
		if (!name || !strcmp(name, n))
			found = p;
		if (strlen(names) + strlen(n) + 2 < sizeof(names))
			strcat(strcat(names, " "), n);
	}
	if (!nr)
		return cli_fail("%s: there are no programs in it", path);
	if (name && !found)
		return cli_fail("%s: there is no program '%s'; there are:%s", path, name, names);
	if (!name && nr > 1)
		return cli_fail("%s: which program? --prog with one of:%s", path, names);
	*prog = found;
	return CLI_OK;
}
