/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libbpf over a board in the same process: syscall(__NR_bpf) goes through the wire's marshalling
 * into bpf_syscall(). File descriptors are memfds; which handle one stands for is told by its
 * inode.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inproc.h"
#include "include/hal.h"
#include "runtime/rt.h"
#include "wire/marshal.h"

#define OBJECTS_MAX 4096

static struct rt *board;
static struct object {
	ino_t ino;
	struct bpf_obj_info info;
} objects[OBJECTS_MAX];
static unsigned int object_cnt;

static int peek(void *arg, void *dst, uint64_t addr, size_t n)
{
	(void)arg;
	memcpy(dst, (const void *)(uintptr_t)addr, n);
	return 0;
}

static int poke(void *arg, uint64_t addr, const void *src, size_t n)
{
	(void)arg;
	memcpy((void *)(uintptr_t)addr, src, n);
	return 0;
}

static int fd_info(void *arg, int fd, struct bpf_obj_info *info)
{
	struct stat st;

	(void)arg;
	if (fstat(fd, &st))
		return -EBADF;
	for (unsigned int i = 0; i < object_cnt; i++) {
		if (objects[i].ino != st.st_ino)
			continue;
		*info = objects[i].info;
		return 0;
	}
	return -EINVAL;
}

static int new_fd(const struct bpf_obj_info *info)
{
	int fd = memfd_create("board object", MFD_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || object_cnt == OBJECTS_MAX)
		return -EMFILE;
	objects[object_cnt++] = (struct object){ .ino = st.st_ino, .info = *info };
	return fd;
}

static long board_bpf(uint32_t cmd, uint64_t attr, uint32_t size)
{
	struct marshal_io io = {
		.peek = peek, .poke = poke, .fd_info = fd_info, .cpus = hal_cpu_count()
	};
	struct marshal_call mc;
	struct wire_buf req = { 0 }, rep = { 0 };
	struct bpf_call *call = calloc(1, sizeof(*call));
	struct bpf_obj_info obj = { 0 };
	int64_t ret = 0;
	int err = call ? marshal_request(&mc, cmd, attr, size, &io, &req) : -ENOMEM;

	if (!err)
		err = unmarshal_request(req.data, req.len, call);
	if (!err) {
		call->session = 1;
		bpf_syscall(board, call);
		err = unmarshal_reply(call, &rep);
		bpf_call_free(call);
	}
	if (!err)
		err = marshal_reply(&mc, rep.data, rep.len, &io, &ret, &obj);
	wire_buf_free(&req);
	wire_buf_free(&rep);
	free(call);
	if (err)
		return err;
	return ret >= 0 && obj.kind ? new_fd(&obj) : ret;
}

long syscall(long nr, ...)
{
	static long (*real)(long nr, ...);
	va_list ap;
	long a[6], r;

	va_start(ap, nr);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (nr == __NR_bpf && board) {
		r = board_bpf((uint32_t)a[0], (uint64_t)a[1], (uint32_t)a[2]);
		if (r >= 0)
			return r;
		errno = (int)-r;
		return -1;
	}
	if (!real)
		real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	return real(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int inproc_start(void)
{
	board = rt_new(NULL);
	return board ? 0 : -1;
}

void inproc_end_session(void)
{
	rt_session_end(board, 1);
	object_cnt = 0;
}
