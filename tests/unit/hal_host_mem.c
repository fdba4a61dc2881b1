/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/hal_host_int.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "include/hal.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   __asan_poison_memory_region(p, n)
#define UNPOISON(p, n) __asan_unpoison_memory_region(p, n)
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#endif

#define PAGE	   4096ul
#define MAGIC_HEAP 0x68656170u /* hal_alloc */
#define MAGIC_ATOM 0x61746f6du /* hal_alloc_atomic */

/* In front of every heap block; poisoned while the block lives, so an underrun is reported. */
struct block {
	size_t bytes;
	uint32_t magic;
	uint32_t pad;
};

static struct {
	atomic_size_t used_bytes;
	atomic_size_t atomic_bytes;
	size_t atomic_reserve;
	atomic_ulong count;
	atomic_ulong fail_in; /* 0: off, 1: the next */
	atomic_bool fail_rest;
	atomic_bool fail_hit;
	atomic_flag percpu_lock;
	char *percpu;
	uint8_t percpu_used[HAL_HOST_PERCPU_STRIDE / 64]; /* a byte a 64-byte unit: 1 taken */
} mem = { .percpu_lock = ATOMIC_FLAG_INIT, .atomic_reserve = SIZE_MAX };

static void misuse(const char *what)
{
	fprintf(stderr, "hal_host: %s\n", what);
	abort();
}

/* True when this allocation is to fail. */
static bool injected(void)
{
	unsigned long left;

	atomic_fetch_add(&mem.count, 1);
	left = atomic_load(&mem.fail_in);
	if (!left)
		return false;
	if (left > 1) {
		atomic_fetch_sub(&mem.fail_in, 1);
		return false;
	}
	if (!atomic_load(&mem.fail_rest))
		atomic_store(&mem.fail_in, 0);
	atomic_store(&mem.fail_hit, true);
	return true;
}

static void *block_new(size_t bytes, uint32_t magic)
{
	struct block *block;
	size_t total;

	if (__builtin_add_overflow(bytes, sizeof(*block), &total) || total > PTRDIFF_MAX)
		return NULL;
	block = malloc(total);
	if (!block)
		return NULL;
	*block = (struct block){ .bytes = bytes, .magic = magic };
	atomic_fetch_add(&mem.used_bytes, bytes);
	memset(block + 1, magic == MAGIC_HEAP ? 0 : 0xa5, bytes);
	POISON(block, sizeof(*block));
	return block + 1;
}

static size_t block_free(void *p, uint32_t magic)
{
	struct block *block = (struct block *)p - 1;
	size_t bytes;

	UNPOISON(block, sizeof(*block));
	if (block->magic != magic)
		misuse("freed by the wrong function, or twice");
	bytes = block->bytes;
	block->magic = 0;
	atomic_fetch_sub(&mem.used_bytes, bytes);
	free(block);
	return bytes;
}

void *hal_alloc(size_t bytes)
{
	return injected() ? NULL : block_new(bytes, MAGIC_HEAP);
}

void hal_free(void *p)
{
	if (p)
		block_free(p, MAGIC_HEAP);
}

void *hal_alloc_atomic(size_t bytes)
{
	void *p;

	if (injected())
		return NULL;
	if (atomic_fetch_add(&mem.atomic_bytes, bytes) + bytes > mem.atomic_reserve) {
		atomic_fetch_sub(&mem.atomic_bytes, bytes);
		return NULL;
	}
	p = block_new(bytes, MAGIC_ATOM);
	if (!p)
		atomic_fetch_sub(&mem.atomic_bytes, bytes);
	return p;
}

void hal_free_atomic(void *p)
{
	if (p)
		atomic_fetch_sub(&mem.atomic_bytes, block_free(p, MAGIC_ATOM));
}

/*
 * Memory below 4 GB where the machine has room there, so that code made by the JIT reaches it by
 * two instructions as on the board. A page without access lies on either side.
 */
static void *pages_new(size_t bytes)
{
	static atomic_uintptr_t hint = 0x20000000;
	size_t total = ROUND_UP(bytes, PAGE) + 2 * PAGE;
	char *p = MAP_FAILED;

	for (int tries = 0; tries < 64 && p == MAP_FAILED && total < 0x10000000; tries++) {
		uintptr_t at = atomic_fetch_add(&hint, ROUND_UP(total, 0x10000ul));

		if (at > 0x70000000 - total) {
			atomic_store(&hint, 0x20000000);
			continue;
		}
		p = mmap((void *)at, total, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	}
	if (p == MAP_FAILED)
		p = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			 0);
	if (p == MAP_FAILED)
		return NULL;
	if (mprotect(p + PAGE, total - 2 * PAGE, PROT_READ | PROT_WRITE)) {
		munmap(p, total);
		return NULL;
	}
	return p + PAGE;
}

void *hal_map_alloc(size_t bytes)
{
	void *p;

	if (injected() || !bytes || bytes > (1ul << 40))
		return NULL;
	p = pages_new(bytes);
	if (p)
		atomic_fetch_add(&mem.used_bytes, ROUND_UP(bytes, PAGE));
	return p;
}

void hal_map_free(void *p, size_t bytes)
{
	if (!p)
		return;
	bytes = ROUND_UP(bytes, PAGE);
	if (munmap((char *)p - PAGE, bytes + 2 * PAGE))
		misuse("hal_map_free of what hal_map_alloc did not give");
	atomic_fetch_sub(&mem.used_bytes, bytes);
}

/* A file in memory behind both halves, so that they are the same pages. */
static bool mirror_map(char *p, size_t head_bytes, size_t bytes)
{
	const int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_FIXED;
	int fd = memfd_create("mirror", 0);
	bool ok = fd >= 0 && !ftruncate(fd, (off_t)bytes) &&
		  (!head_bytes || !mprotect(p, head_bytes, prot)) &&
		  mmap(p + head_bytes, bytes, prot, flags, fd, 0) != MAP_FAILED &&
		  mmap(p + head_bytes + bytes, bytes, prot, flags, fd, 0) != MAP_FAILED;

	if (fd >= 0)
		close(fd);
	return ok;
}

void *hal_map_alloc_mirror(size_t head_bytes, size_t bytes)
{
	size_t total = head_bytes + 2 * bytes + 2 * PAGE;
	char *p;

	if ((head_bytes | bytes) % PAGE || !bytes)
		misuse("hal_map_alloc_mirror: sizes are no multiples of a page");
	if (injected() || bytes > (1ul << 32) || head_bytes > (1ul << 32))
		return NULL;
	p = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (!mirror_map(p + PAGE, head_bytes, bytes)) {
		munmap(p, total);
		return NULL;
	}
	atomic_fetch_add(&mem.used_bytes, head_bytes + bytes);
	return p + PAGE;
}

void hal_map_free_mirror(void *p, size_t head_bytes, size_t bytes)
{
	if (!p)
		return;
	if (munmap((char *)p - PAGE, head_bytes + 2 * bytes + 2 * PAGE))
		misuse("hal_map_free_mirror of what hal_map_alloc_mirror did not give");
	atomic_fetch_sub(&mem.used_bytes, head_bytes + bytes);
}

/* ---- per-CPU memory: one arena, a stride a CPU, 64-byte units ----------------------------------
 */

static void percpu_lock(void)
{
	while (atomic_flag_test_and_set(&mem.percpu_lock))
		;
	if (mem.percpu)
		return;
	mem.percpu = pages_new(HAL_HOST_CPUS_MAX * HAL_HOST_PERCPU_STRIDE);
	if (!mem.percpu)
		misuse("no memory for the per-CPU arena");
	POISON(mem.percpu, HAL_HOST_CPUS_MAX * HAL_HOST_PERCPU_STRIDE);
}

static void percpu_unlock(void)
{
	atomic_flag_clear(&mem.percpu_lock);
}

/* First fit; one free unit stays between two allocations as a poisoned gap. */
static void *percpu_take(size_t units)
{
	size_t run = 0;

	for (size_t at = 0; at < sizeof(mem.percpu_used); at++) {
		run = mem.percpu_used[at] ? 0 : run + 1;
		if (run < units + 2)
			continue;
		at -= units;
		memset(&mem.percpu_used[at], 1, units);
		return mem.percpu + at * 64;
	}
	return NULL;
}

void *hal_percpu_alloc(size_t bytes, size_t align)
{
	char *base;

	if (!align || align > 64 || (align & (align - 1)))
		misuse("hal_percpu_alloc: align is no power of two up to 64");
	if (injected() || !bytes || bytes > HAL_HOST_PERCPU_STRIDE)
		return NULL;
	percpu_lock();
	base = percpu_take(ROUND_UP(bytes, 64ul) / 64);
	percpu_unlock();
	if (!base)
		return NULL;
	for (unsigned int cpu = 0; cpu < hal_cpu_count(); cpu++) {
		UNPOISON(base + cpu * HAL_HOST_PERCPU_STRIDE, bytes);
		memset(base + cpu * HAL_HOST_PERCPU_STRIDE, 0, bytes);
	}
	atomic_fetch_add(&mem.used_bytes, bytes);
	return base;
}

void hal_percpu_free(void *base, size_t bytes)
{
	size_t unit, units = ROUND_UP(bytes, 64ul) / 64;

	if (!base)
		return;
	percpu_lock();
	unit = (size_t)((char *)base - mem.percpu) / 64;
	for (size_t i = 0; i < units; i++) {
		if (unit + i >= sizeof(mem.percpu_used) || !mem.percpu_used[unit + i])
			misuse("hal_percpu_free of what hal_percpu_alloc did not give");
		mem.percpu_used[unit + i] = 0;
	}
	for (unsigned int cpu = 0; cpu < HAL_HOST_CPUS_MAX; cpu++)
		POISON((char *)base + cpu * HAL_HOST_PERCPU_STRIDE, bytes);
	percpu_unlock();
	atomic_fetch_sub(&mem.used_bytes, bytes);
}

void *hal_percpu_ptr(void *base, unsigned int cpu)
{
	if (cpu >= hal_cpu_count())
		misuse("hal_percpu_ptr: no such CPU");
	return (char *)base + cpu * HAL_HOST_PERCPU_STRIDE;
}

/* ---- control -----------------------------------------------------------------------------------
 */

void hal_host_fail_alloc(unsigned long n, bool rest)
{
	atomic_store(&mem.fail_hit, false);
	atomic_store(&mem.fail_rest, rest);
	atomic_store(&mem.fail_in, n);
}

bool hal_host_fail_hit(void)
{
	return atomic_load(&mem.fail_hit);
}

unsigned long hal_host_allocs(void)
{
	return atomic_load(&mem.count);
}

void hal_host_set_atomic_reserve(size_t bytes)
{
	mem.atomic_reserve = bytes;
}

size_t test_leaked_bytes(void)
{
	hal_quiesce_flush(true);
	return atomic_load(&mem.used_bytes);
}

/* A test that leaked has failed; the next one starts from an empty account. */
void hal_host_mem_reset(void)
{
	hal_host_fail_alloc(0, false);
	atomic_store(&mem.used_bytes, 0);
	atomic_store(&mem.atomic_bytes, 0);
	atomic_store(&mem.count, 0);
	mem.atomic_reserve = SIZE_MAX;
}
