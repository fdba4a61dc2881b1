/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files in which a kernel describes itself, where bpf(2) clients look beside the system call. The
 * host's would describe the wrong kernel: a per-CPU buffer sized by the host's CPU count is too
 * small for a board with more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/common/board_call.h"
#include "host/common/interpose.h"

struct board_file {
	const char *path;
	int (*print)(FILE *out, const char *arg); /* NULL: the board does not have it */
	const char *arg;
	bool prefix; /* path is the beginning of names */
};

static int print_cpus(FILE *out, const char *arg)
{
	struct ipc_hello hello;
	int rc = client_hello(&hello);

	(void)arg;
	if (rc)
		return rc;
	if (hello.info.cpus > 1)
		fprintf(out, "0-%u\n", hello.info.cpus - 1);
	else
		fprintf(out, "0\n");
	return 0;
}

static int print_online(FILE *out, const char *arg)
{
	struct ipc_hello hello;
	const char *comma = "";
	int rc = client_hello(&hello);

	(void)arg;
	for (unsigned int cpu = 0; !rc && cpu < 32; cpu++) {
		if (!(hello.info.online_mask >> cpu & 1))
			continue;
		fprintf(out, "%s%u", comma, cpu);
		comma = ",";
	}
	fputc('\n', out);
	return rc;
}

static int print_syms(FILE *out, const char *arg)
{
	char *text;
	size_t len;
	int rc = board_syms(&text, &len);

	(void)arg;
	if (rc)
		return rc;
	fwrite(text, 1, len, out);
	free(text);
	return 0;
}

static int print_knob(FILE *out, const char *arg)
{
	struct board_attr_knob k;
	int rc = board_knob_get(arg, &k);

	if (!rc)
		fprintf(out, "%lld\n", (long long)k.value);
	return rc;
}

static int print_text(FILE *out, const char *arg)
{
	fputs(arg, out);
	return 0;
}

static const struct board_file files[] = {
	{ "/sys/devices/system/cpu/possible", print_cpus, NULL, false },
	{ "/sys/devices/system/cpu/present", print_cpus, NULL, false },
	{ "/sys/devices/system/cpu/online", print_online, NULL, false },
	{ "/proc/kallsyms", print_syms, NULL, false },
	{ "/proc/sys/net/core/bpf_jit_enable", print_knob, "bpf.jit_enable", false },
	{ "/proc/sys/net/core/bpf_jit_harden", print_knob, "bpf.jit_harden", false },
	{ "/proc/sys/net/core/bpf_jit_limit", print_knob, "bpf.jit_limit", false },
	{ "/proc/sys/net/core/bpf_jit_kallsyms", print_text, "0\n", false },
	{ "/proc/sys/kernel/bpf_stats_enabled", print_knob, "bpf.stats", false },
	/* Whoever reaches the line may do everything: there are no users on a board. */
	{ "/proc/sys/kernel/unprivileged_bpf_disabled", print_text, "0\n", false },
	{ "/sys/kernel/btf", NULL, NULL, true },
	{ "/proc/config.gz", NULL, NULL, false },
	{ "/boot/config-", NULL, NULL, true },
	{ "/boot/vmlinux-", NULL, NULL, true },
	{ "/usr/lib/debug/boot/", NULL, NULL, true },
	{ "/usr/lib/debug/lib/modules/", NULL, NULL, true },
};

static const char *const trace_roots[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

static bool is_below(const char *path, const char *root)
{
	size_t n = strlen(root);

	return !strncmp(path, root, n) && (!path[n] || path[n] == '/');
}

static const struct board_file *find(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const struct board_file *f = &files[i];

		if (f->prefix ? !strncmp(path, f->path, strlen(f->path)) : !strcmp(path, f->path))
			return f;
	}
	return NULL;
}

/* /lib/modules/RELEASE/vmlinux and .../build/vmlinux, where libbpf looks for BTF. */
static bool is_module_vmlinux(const char *path)
{
	return !strncmp(path, "/lib/modules/", 13) && strstr(path, "/vmlinux");
}

int board_proc_fd(const char *path, const char *dir)
{
	char kind[16];
	int fd, pid, end = 0;

	if (strncmp(path, "/proc/", 6))
		return -1;
	if (sscanf(path, "/proc/self/%15[a-z]/%d%n", kind, &fd, &end) != 2 || path[end]) {
		if (sscanf(path, "/proc/%d/%15[a-z]/%d%n", &pid, kind, &fd, &end) != 3 ||
		    path[end] || pid != getpid())
			return -1;
	}
	return strcmp(kind, dir) ? -1 : fd;
}

static bool is_placeholder_fdinfo(const char *path)
{
	int fd = board_proc_fd(path, "fdinfo");
	struct placeholder p;

	return fd >= 0 && !placeholder_read(fd, &p);
}

enum path_owner board_path_owner(const char *path)
{
	if (!path || path[0] != '/' || !client_is_active())
		return PATH_HOST;
	if (is_below(path, BPFFS_ROOT))
		return PATH_BPFFS;
	for (size_t i = 0; i < ARRAY_SIZE(trace_roots); i++)
		if (is_below(path, trace_roots[i]))
			return PATH_TRACE;
	if (find(path) || is_module_vmlinux(path) || is_placeholder_fdinfo(path))
		return PATH_FILE;
	return PATH_HOST;
}

const char *board_kind_link(uint8_t kind)
{
	switch (kind) {
	case 'm':
		return "anon_inode:bpf-map";
	case 'p':
		return "anon_inode:bpf-prog";
	case 'b':
		return "anon_inode:btf";
	case 'l':
		return "anon_inode:bpf_link";
	case 's':
		return "anon_inode:bpf-stats";
	}
	return NULL;
}

static int print_fdinfo(FILE *out, int fd)
{
	const struct bpf_obj_info *o;
	struct placeholder p;
	int rc = client_placeholder(fd, &p);

	if (rc)
		return rc;
	o = &p.obj;
	fprintf(out, "pos:\t0\nflags:\t02000002\n");
	switch (o->kind) {
	case 'm':
		fprintf(out, "map_type:\t%u\nkey_size:\t%u\nvalue_size:\t%u\nmax_entries:\t%u\n",
			o->type, o->key_size, o->value_size, o->max_entries);
		fprintf(out, "map_flags:\t0x%x\nmap_id:\t%u\n", o->map_flags, o->id);
		break;
	case 'p':
		fprintf(out, "prog_type:\t%u\nprog_id:\t%u\n", o->type, o->id);
		break;
	case 'b':
		fprintf(out, "btf_id:\t%u\n", o->id);
		break;
	case 'l':
		fprintf(out, "link_id:\t%u\n", o->id);
		break;
	}
	return 0;
}

/* Contents are made whole when the file is opened, as seq files are for a short text. */
static int content_fd(const char *path, const struct board_file *f, int fdinfo)
{
	FILE *out;
	int fd, rc;

	fd = memfd_create(path, MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	out = rc < 0 ? NULL : fdopen(rc, "w");
	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	rc = f ? f->print(out, f->arg) : print_fdinfo(out, fdinfo);
	if (fclose(out) && !rc)
		rc = -errno;
	if (rc) {
		close(fd);
		return rc == -EIO ? -EIO : -ENOENT;
	}
	lseek(fd, 0, SEEK_SET);
	return fd;
}

int board_file_access(const char *path, int mode)
{
	const struct board_file *f = find(path);

	if (board_path_owner(path) == PATH_TRACE) {
		for (size_t i = 0; i < ARRAY_SIZE(trace_roots); i++)
			if (!strcmp(path, trace_roots[i]))
				return 0;
		return strstr(path, "/trace_pipe") ? 0 : -ENOENT;
	}
	if (board_proc_fd(path, "fdinfo") < 0 && (!f || !f->print))
		return -ENOENT;
	return mode & W_OK ? -EACCES : 0;
}

int board_file_open(const char *path, bool write)
{
	const struct board_file *f = find(path);
	int fd = board_proc_fd(path, "fdinfo");

	if (board_path_owner(path) == PATH_TRACE) {
		const char *base = strrchr(path, '/');

		if (strcmp(base, "/trace_pipe"))
			return -ENOENT;
		return write ? -EACCES : client_stream(IPC_TRACE);
	}
	if (fd < 0 && (!f || !f->print))
		return -ENOENT;
	if (write)
		return -EACCES;
	return content_fd(path, f, fd);
}
