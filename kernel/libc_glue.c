/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What newlib and libfdt want from an operating system. Both are for thread context only (they may
 * use vector registers, and newlib keeps state in one global structure). newlib's memory is this
 * kernel's heap; its files are the log.
 */
#include <reent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "include/hal.h"
#include "kernel/log.h"
#include "kernel/machine.h"
#include "kernel/panic.h"
#include "mm/heap.h"

/* libfdt.a is built with stack protection. */
unsigned long __stack_chk_guard = 0x5bd1e995a3c59b00;
void __stack_chk_fail(void) __attribute__((noreturn));
void __stack_chk_fail(void)
{
	panic("stack protector: a buffer was overrun");
}

void *_malloc_r(struct _reent *r, size_t bytes)
{
	(void)r;
	return heap_alloc(bytes);
}

void _free_r(struct _reent *r, void *p)
{
	(void)r;
	heap_free(p);
}

void *_calloc_r(struct _reent *r, size_t n, size_t bytes)
{
	(void)r;
	return __builtin_mul_overflow(n, bytes, &bytes) ? NULL : heap_alloc(bytes);
}

void *_realloc_r(struct _reent *r, void *p, size_t bytes)
{
	void *q = heap_alloc(bytes);

	(void)r;
	if (p && q) {
		memcpy(q, p, MIN(bytes, heap_usable_bytes(p)));
		heap_free(p);
	}
	return q;
}

void *malloc(size_t bytes)
{
	return heap_alloc(bytes);
}

void free(void *p)
{
	heap_free(p);
}

/* Names and types as newlib's syscall layer has them. */
int _write(int fd, const void *buf, size_t n);
int _read(int fd, void *buf, size_t n);
int _close(int fd);
long _lseek(int fd, long off, int whence);
int _fstat(int fd, struct stat *st);
int _isatty(int fd);
int _kill(int pid, int sig);
int _getpid(void);
void *_sbrk(ptrdiff_t n);
void _exit(int status) __attribute__((noreturn));

int _write(int fd, const void *buf, size_t n)
{
	(void)fd;
	log_info("%.*s", (int)MIN(n, (size_t)LOG_LINE_BYTES), (const char *)buf);
	return (int)n;
}

int _read(int fd, void *buf, size_t n)
{
	(void)fd;
	(void)buf;
	(void)n;
	return 0;
}

int _close(int fd)
{
	(void)fd;
	return -1;
}

long _lseek(int fd, long off, int whence)
{
	(void)fd;
	(void)off;
	(void)whence;
	return -1;
}

int _fstat(int fd, struct stat *st)
{
	(void)fd;
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFCHR;
	return 0;
}

int _isatty(int fd)
{
	(void)fd;
	return 1;
}

int _kill(int pid, int sig)
{
	(void)pid;
	panic("libc raised signal %d", sig);
}

int _getpid(void)
{
	return 1;
}

void *_sbrk(ptrdiff_t n)
{
	(void)n;
	return (void *)-1;
}

void _exit(int status)
{
	panic("libc called exit(%d)", status);
}
