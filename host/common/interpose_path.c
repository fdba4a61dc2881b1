/* SPDX-License-Identifier: BSD-2-Clause */
/* Names: /sys/fs/bpf is the board's, tracefs as far as bpf(2) clients look at it. */
#include <fcntl.h>
#include <ftw.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "host/common/board_call.h"
#include "host/common/interpose.h"

#ifndef BPF_FS_MAGIC
#define BPF_FS_MAGIC 0xcafe4a11
#endif

/* ---- file systems ---- */

static int fill_statfs(const char *path, enum path_owner owner, struct statfs64 *s)
{
	int rc = owner == PATH_BPFFS ? board_path_stat(path, NULL) : board_file_access(path, F_OK);

	if (rc)
		return interpose_result(rc);
	memset(s, 0, sizeof(*s));
	s->f_type = owner == PATH_BPFFS ? (__fsword_t)BPF_FS_MAGIC : (__fsword_t)TRACEFS_MAGIC;
	s->f_bsize = 4096;
	s->f_namelen = 255;
	return 0;
}

static bool has_own_statfs(enum path_owner owner)
{
	return owner == PATH_BPFFS || owner == PATH_TRACE;
}

INTERPOSE int statfs64(const char *path, struct statfs64 *s)
{
	enum path_owner owner = board_path_owner(path);

	return has_own_statfs(owner) ? fill_statfs(path, owner, s) : REAL(statfs64)(path, s);
}

_Static_assert(sizeof(struct statfs) == sizeof(struct statfs64), "LP64: one layout");

INTERPOSE int statfs(const char *path, struct statfs *s)
{
	enum path_owner owner = board_path_owner(path);

	return has_own_statfs(owner) ? fill_statfs(path, owner, (struct statfs64 *)s)
				     : REAL(statfs)(path, s);
}

INTERPOSE int mount(const char *source, const char *target, const char *type, unsigned long flags,
		    const void *data)
{
	return has_own_statfs(board_path_owner(target))
		       ? 0
		       : REAL(mount)(source, target, type, flags, data);
}

INTERPOSE int umount(const char *target)
{
	return has_own_statfs(board_path_owner(target)) ? 0 : REAL(umount)(target);
}

INTERPOSE int umount2(const char *target, int flags)
{
	return has_own_statfs(board_path_owner(target)) ? 0 : REAL(umount2)(target, flags);
}

/* ---- entries ---- */

/* 0 or -1 with errno for the board's path; 1: the host's. */
static int board_access(const char *path, int mode)
{
	switch (board_path_owner(path)) {
	case PATH_HOST:
		return 1;
	case PATH_BPFFS:
		return interpose_result(board_path_stat(path, NULL));
	case PATH_TRACE:
	case PATH_FILE:
		break;
	}
	return interpose_result(board_file_access(path, mode));
}

INTERPOSE int access(const char *path, int mode)
{
	int rc = board_access(path, mode);

	return rc <= 0 ? rc : REAL(access)(path, mode);
}

INTERPOSE int faccessat(int dir, const char *path, int mode, int flags)
{
	int rc = board_access(path, mode);

	return rc <= 0 ? rc : REAL(faccessat)(dir, path, mode, flags);
}

INTERPOSE int mkdir(const char *path, mode_t mode)
{
	return board_path_owner(path) == PATH_BPFFS ? interpose_result(board_path_mkdir(path))
						    : REAL(mkdir)(path, mode);
}

enum { UNLINK_ANY, UNLINK_DIR, UNLINK_FILE };

INTERPOSE int unlink(const char *path)
{
	if (board_path_owner(path) == PATH_BPFFS)
		return interpose_result(board_path_unlink(path, UNLINK_FILE));
	return REAL(unlink)(path);
}

INTERPOSE int unlinkat(int dir, const char *path, int flags)
{
	uint32_t mode = flags & AT_REMOVEDIR ? UNLINK_DIR : UNLINK_FILE;

	if (board_path_owner(path) == PATH_BPFFS)
		return interpose_result(board_path_unlink(path, mode));
	return REAL(unlinkat)(dir, path, flags);
}

INTERPOSE int rmdir(const char *path)
{
	if (board_path_owner(path) == PATH_BPFFS)
		return interpose_result(board_path_unlink(path, UNLINK_DIR));
	return REAL(rmdir)(path);
}

INTERPOSE int remove(const char *path)
{
	if (board_path_owner(path) == PATH_BPFFS)
		return interpose_result(board_path_unlink(path, UNLINK_ANY));
	return REAL(remove)(path);
}

INTERPOSE int rename(const char *from, const char *to)
{
	if (board_path_owner(from) == PATH_BPFFS || board_path_owner(to) == PATH_BPFFS)
		return interpose_result(-EXDEV);
	return REAL(rename)(from, to);
}

/* ---- stat ---- */

static int fill_stat(const char *path, struct stat64 *st)
{
	uint32_t mode;
	int rc = board_path_stat(path, &mode);

	if (rc)
		return interpose_result(rc);
	memset(st, 0, sizeof(*st));
	st->st_mode = mode == 1 ? S_IFDIR | 0700 : S_IFREG | 0600;
	st->st_nlink = 1;
	st->st_uid = getuid();
	st->st_gid = getgid();
	st->st_blksize = 4096;
	return 0;
}

_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "LP64: one layout");

#define STAT_LIKE(name, type)                                                                      \
	INTERPOSE int name(const char *path, struct type *st)                                      \
	{                                                                                          \
		if (board_path_owner(path) == PATH_BPFFS)                                          \
			return fill_stat(path, (struct stat64 *)(void *)st);                       \
		return REAL(name)(path, st);                                                       \
	}
STAT_LIKE(stat, stat)
STAT_LIKE(lstat, stat)
STAT_LIKE(stat64, stat64)
STAT_LIKE(lstat64, stat64)

INTERPOSE int fstatat(int dir, const char *path, struct stat *st, int flags)
{
	return board_path_owner(path) == PATH_BPFFS ? fill_stat(path, (struct stat64 *)(void *)st)
						    : REAL(fstatat)(dir, path, st, flags);
}

INTERPOSE int fstatat64(int dir, const char *path, struct stat64 *st, int flags)
{
	return board_path_owner(path) == PATH_BPFFS ? fill_stat(path, st)
						    : REAL(fstatat64)(dir, path, st, flags);
}

/* ---- walking (bpftool -f looks for pinned objects so) ---- */

typedef int (*walk_fn)(const char *path, const struct stat *st, int type, struct FTW *ftw);

static int walk(const char *path, walk_fn fn, int flags, int level);

static int walk_entries(const char *dir, char *names, walk_fn fn, int flags, int level)
{
	char *save = NULL;
	int rc = 0;

	for (char *n = strtok_r(names, "\n", &save); n && !rc; n = strtok_r(NULL, "\n", &save)) {
		char path[BOARD_PATH_MAX];
		size_t len = strlen(n);

		if (len && n[len - 1] == '/')
			n[len - 1] = 0;
		if (snprintf(path, sizeof(path), "%s/%s", dir, n) >= (int)sizeof(path))
			continue;
		rc = walk(path, fn, flags, level + 1);
	}
	return rc;
}

static int walk(const char *path, walk_fn fn, int flags, int level)
{
	const char *slash = strrchr(path, '/');
	struct FTW ftw = { .base = slash ? (int)(slash - path) + 1 : 0, .level = level };
	char *names = NULL;
	struct stat64 st;
	bool dir;
	int rc;

	if (fill_stat(path, &st))
		return errno == ENOENT && level ? 0 : -1;
	dir = S_ISDIR(st.st_mode);
	if (!dir || !(flags & FTW_DEPTH)) {
		rc = fn(path, (struct stat *)(void *)&st, dir ? FTW_D : FTW_F, &ftw);
		if (rc || !dir)
			return rc;
	}
	rc = board_path_list(path, &names);
	if (rc)
		return interpose_result(rc);
	rc = walk_entries(path, names, fn, flags, level);
	free(names);
	if (!rc && flags & FTW_DEPTH)
		rc = fn(path, (struct stat *)(void *)&st, FTW_DP, &ftw);
	return rc;
}

INTERPOSE int nftw(const char *path, walk_fn fn, int fds, int flags)
{
	return board_path_owner(path) == PATH_BPFFS ? walk(path, fn, flags, 0)
						    : REAL(nftw)(path, fn, fds, flags);
}

typedef int (*walk64_fn)(const char *path, const struct stat64 *st, int type, struct FTW *ftw);

INTERPOSE int nftw64(const char *path, walk64_fn fn, int fds, int flags)
{
	return board_path_owner(path) == PATH_BPFFS ? walk(path, (walk_fn)(void *)fn, flags, 0)
						    : REAL(nftw64)(path, fn, fds, flags);
}
