/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/common/interpose.h"

/* The board's answer to an open of path, or -2: the host's business. */
static int board_open(const char *path, int flags)
{
	switch (board_path_owner(path)) {
	case PATH_HOST:
		return -2;
	case PATH_BPFFS:
		/* Pinned objects are opened by BPF_OBJ_GET; directories are not there for us. */
		return interpose_result(-ENXIO);
	case PATH_TRACE:
	case PATH_FILE:
		break;
	}
	return interpose_result(board_file_open(path, (flags & O_ACCMODE) != O_RDONLY));
}

static mode_t mode_arg(int flags, va_list ap)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
}

#define OPEN_LIKE(name)                                                                            \
	INTERPOSE int name(const char *path, int flags, ...)                                       \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
		int fd = board_open(path, flags);                                                  \
                                                                                                   \
		if (fd != -2)                                                                      \
			return fd;                                                                 \
		va_start(ap, flags);                                                               \
		mode = mode_arg(flags, ap);                                                        \
		va_end(ap);                                                                        \
		return REAL(name)(path, flags, mode);                                              \
	}
OPEN_LIKE(open)
OPEN_LIKE(open64)

#define OPENAT_LIKE(name)                                                                          \
	INTERPOSE int name(int dir, const char *path, int flags, ...)                              \
	{                                                                                          \
		va_list ap;                                                                        \
		mode_t mode;                                                                       \
		int fd = board_open(path, flags);                                                  \
                                                                                                   \
		if (fd != -2)                                                                      \
			return fd;                                                                 \
		va_start(ap, flags);                                                               \
		mode = mode_arg(flags, ap);                                                        \
		va_end(ap);                                                                        \
		return REAL(name)(dir, path, flags, mode);                                         \
	}
OPENAT_LIKE(openat)
OPENAT_LIKE(openat64)

/* What open becomes when a program is built with _FORTIFY_SOURCE. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

INTERPOSE int __open_2(const char *path, int flags)
{
	int fd = board_open(path, flags);

	return fd != -2 ? fd : REAL(__open_2)(path, flags);
}

INTERPOSE int __open64_2(const char *path, int flags)
{
	int fd = board_open(path, flags);

	return fd != -2 ? fd : REAL(__open64_2)(path, flags);
}

INTERPOSE int __openat_2(int dir, const char *path, int flags)
{
	int fd = board_open(path, flags);

	return fd != -2 ? fd : REAL(__openat_2)(dir, path, flags);
}

INTERPOSE int __openat64_2(int dir, const char *path, int flags)
{
	int fd = board_open(path, flags);

	return fd != -2 ? fd : REAL(__openat64_2)(dir, path, flags);
}

static FILE *board_fopen(const char *path, const char *mode)
{
	int flags = strchr(mode, '+') ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
	int fd = board_open(path, flags);
	FILE *f;

	if (fd < 0)
		return NULL;
	f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

INTERPOSE FILE *fopen64(const char *path, const char *mode)
{
	if (board_path_owner(path) != PATH_HOST)
		return board_fopen(path, mode);
	return REAL(fopen64)(path, mode);
}

INTERPOSE FILE *fopen(const char *path, const char *mode)
{
	if (board_path_owner(path) != PATH_HOST)
		return board_fopen(path, mode);
	return REAL(fopen)(path, mode);
}

/*
 * The mount table with the board's bpffs and tracefs in place of the host's. Clients search it for
 * both, and would mount what they do not find.
 */
static FILE *board_mounts(const char *path, const char *mode)
{
	__typeof__(&setmntent) real = REAL(setmntent);
	int fd = memfd_create("mounts", MFD_CLOEXEC), copy;
	FILE *in = NULL, *out = NULL;
	char self[32], *line = NULL;
	size_t room = 0;

	copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy >= 0)
		out = fdopen(copy, "w");
	if (out)
		in = REAL(fopen)(path, "r");
	while (in && getline(&line, &room, in) > 0)
		if (!strstr(line, " bpf ") && !strstr(line, " tracefs "))
			fputs(line, out);
	if (out) {
		fputs("bpf " BPFFS_ROOT " bpf rw 0 0\n", out);
		fputs("tracefs /sys/kernel/tracing tracefs rw 0 0\n", out);
		fclose(out);
	}
	if (in)
		fclose(in);
	free(line);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	in = real(out ? self : path, mode);
	if (fd >= 0)
		close(fd);
	return in;
}

INTERPOSE FILE *setmntent(const char *path, const char *mode)
{
	/* Of a placeholder process, any path but the live tables is an ordinary file. */
	if (path && mode && mode[0] == 'r' && board_path_owner(BPFFS_ROOT) != PATH_HOST &&
	    (!strcmp(path, "/proc/mounts") || !strcmp(path, "/proc/self/mounts") ||
	     !strcmp(path, "/etc/mtab")))
		return board_mounts(path, mode);
	return REAL(setmntent)(path, mode);
}
