/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The libc functions that the shim and the CLI replace (files interpose_*.c). Each passes on what
 * does not concern the board; before client_open() everything passes on.
 *
 * Only calls that go through the dynamic linker come here: those of the program and of its
 * libraries, not those inside libc (so fopen() is replaced beside open()) and none of a statically
 * linked program.
 */
#pragma once

#include <dlfcn.h>
#include <errno.h>

#include "include/base.h"

#define INTERPOSE __attribute__((visibility("default")))
/* libc's function of this name. */
#define REAL(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) real_;                                                    \
		if (!real_)                                                                        \
			real_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                        \
		real_;                                                                             \
	})

/* errno from a -errno; the value that the libc function returns. */
static inline int interpose_result(long rc)
{
	if (rc >= 0)
		return (int)rc;
	errno = (int)-rc;
	return -1;
}

/* ---- paths that belong to the board (board_files.c) ---- */

#define BPFFS_ROOT "/sys/fs/bpf"

enum path_owner {
	PATH_HOST,  /* not ours */
	PATH_BPFFS, /* /sys/fs/bpf and below */
	PATH_TRACE, /* tracefs */
	PATH_FILE,  /* a file of the kernel whose content is the board's */
};
/* Whose path it is; PATH_HOST whenever no board is set. NULL is the host's. */
enum path_owner board_path_owner(const char *path);
/*
 * A readable descriptor with the board's content of a PATH_FILE or PATH_TRACE path. write: the
 * caller wants to write too. fd or -errno (-ENOENT: the board does not have it).
 */
int board_file_open(const char *path, bool write);
/* 0 or -ENOENT, without making the content. */
int board_file_access(const char *path, int mode);
/* "anon_inode:bpf-map" and the like, or NULL for a kind that is unknown. */
const char *board_kind_link(uint8_t kind);
/* The number in /proc/self/DIR/N (or of the own pid), or -1. */
int board_proc_fd(const char *path, const char *dir);

/* ---- mapped maps (interpose_mem.c) ---- */

/*
 * Call before waiting for descriptors: takes back the readiness of rings that are empty, tells the
 * broker of records consumed. 0, or -EIO when a mapped ring's board is lost.
 */
int mappings_before_wait(void);
