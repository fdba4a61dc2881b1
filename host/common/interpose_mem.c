/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mmap of maps: the broker keeps a memfd in step with the board and hands it out; it is laid out
 * as the kernel's mapping would be. A mapping holds a copy of the placeholder, so that the object
 * lives as long as the mapping does, as in Linux.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/list.h"
#include "host/common/client.h"
#include "host/common/interpose.h"

struct mapping {
	struct list link;
	uint8_t *addr;
	size_t len;
	int keep_fd;
	uint32_t serial;
	bool ring;
	size_t off;
	uint64_t told_pos; /* ring: consumer position that the broker was told of */
};

static struct list mappings = LIST_INIT(mappings);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int ring_count; /* read without the lock: most processes have none */

static void fork_prepare(void)
{
	pthread_mutex_lock(&lock);
}

static void fork_done(void)
{
	pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
	pthread_atfork(fork_prepare, fork_done, fork_done);
}

/* Forget what lies wholly in [addr, addr + len). Called with the lock held. */
static void forget_range(const uint8_t *addr, size_t len)
{
	struct list *pos, *tmp;

	list_for_each_safe (pos, tmp, &mappings) {
		struct mapping *m = list_entry(pos, struct mapping, link);

		if (m->addr < addr || m->addr + m->len > addr + len)
			continue;
		list_del(&m->link);
		if (m->ring)
			ring_count--;
		close(m->keep_fd);
		free(m);
	}
}

/* The kernel's checks of bpf_map_mmap and of the ring buffer. */
static int check_map(const struct placeholder *p, int prot, int flags, size_t len, size_t off)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (p->obj.kind != 'm')
		return -ENODEV;
	if (!(flags & MAP_SHARED))
		return -EINVAL;
	if (p->obj.type == BPF_MAP_TYPE_RINGBUF)
		return (prot & PROT_WRITE) && (off || len > page) ? -EPERM : 0;
	return p->obj.map_flags & BPF_F_MMAPABLE ? 0 : -EINVAL;
}

static void *map_object(const struct placeholder *p, struct mapping *m, void *addr, size_t len,
			int prot, int flags, int fd, size_t off)
{
	struct stat st;
	uint8_t *got;
	int memfd, rc = check_map(p, prot, flags, len, off);

	if (rc) {
		errno = -rc;
		return MAP_FAILED;
	}
	memfd = client_mmap_fd(p);
	if (memfd < 0) {
		errno = -memfd;
		return MAP_FAILED;
	}
	if (fstat(memfd, &st) || off > (size_t)st.st_size || len > (size_t)st.st_size - off) {
		close(memfd);
		errno = EINVAL;
		return MAP_FAILED;
	}
	m->keep_fd = fcntl(fd, F_DUPFD_CLOEXEC, 64);
	got = m->keep_fd < 0 ? MAP_FAILED
			     : REAL(mmap64)(addr, len, prot, flags, memfd, (off64_t)off);
	rc = errno;
	close(memfd);
	if (got == MAP_FAILED) {
		if (m->keep_fd >= 0)
			close(m->keep_fd);
		errno = rc;
		return MAP_FAILED;
	}
	m->addr = got;
	m->len = len;
	m->off = off;
	m->serial = p->serial;
	m->ring = p->obj.type == BPF_MAP_TYPE_RINGBUF;
	return got;
}

INTERPOSE void *mmap64(void *addr, size_t len, int prot, int flags, int fd, off64_t off)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct placeholder p;
	struct mapping *m;
	void *got;
	int rc;

	if (fd < 0 || (flags & MAP_ANONYMOUS) || !client_is_active() ||
	    placeholder_read(fd, &p) != 0)
		return REAL(mmap64)(addr, len, prot, flags, fd, off);
	pthread_once(&once, watch_forks);
	rc = client_placeholder(fd, &p);
	m = rc ? NULL : calloc(1, sizeof(*m));
	if (!m) {
		errno = rc ? -rc : ENOMEM;
		return MAP_FAILED;
	}
	got = map_object(&p, m, addr, len, prot, flags, fd, (size_t)off);
	if (got == MAP_FAILED) {
		free(m);
		return got;
	}
	pthread_mutex_lock(&lock);
	forget_range(got, len);
	list_add_tail(&mappings, &m->link);
	if (m->ring)
		ring_count++;
	pthread_mutex_unlock(&lock);
	return got;
}

INTERPOSE void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	return mmap64(addr, len, prot, flags, fd, off);
}

INTERPOSE int munmap(void *addr, size_t len)
{
	int rc = REAL(munmap)(addr, len);

	if (!rc && client_is_active()) {
		const size_t page = (size_t)sysconf(_SC_PAGESIZE);

		pthread_mutex_lock(&lock);
		forget_range(addr, ROUND_UP(len, page));
		pthread_mutex_unlock(&lock);
	}
	return rc;
}

/* ---- ring buffers ---- */

static struct mapping *ring_part(uint32_t serial, bool consumer)
{
	struct list *pos;

	list_for_each (pos, &mappings) {
		struct mapping *m = list_entry(pos, struct mapping, link);

		if (m->ring && m->serial == serial && !m->off == consumer)
			return m;
	}
	return NULL;
}

static uint64_t position(const struct mapping *m)
{
	return __atomic_load_n((const uint64_t *)(const void *)m->addr, __ATOMIC_ACQUIRE);
}

/* Swallow the bytes that made an empty ring readable. -EIO: the broker gave the ring up. */
static int drain(const struct mapping *m)
{
	char junk[256];
	ssize_t n;

	do
		n = recv(m->keep_fd, junk, sizeof(junk), MSG_DONTWAIT);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n ? 0 : -EIO;
}

int mappings_before_wait(void)
{
	bool tell = false;
	struct list *pos;
	int rc = 0;

	if (!READ_ONCE(ring_count))
		return 0;
	pthread_mutex_lock(&lock);
	list_for_each (pos, &mappings) {
		struct mapping *cons = list_entry(pos, struct mapping, link);
		struct mapping *prod;

		if (!cons->ring || cons->off)
			continue;
		prod = ring_part(cons->serial, false);
		if (!prod)
			continue;
		if (position(cons) != cons->told_pos) {
			cons->told_pos = position(cons);
			tell = true;
		}
		if (position(cons) < position(prod))
			continue;
		if (drain(cons))
			rc = -EIO;
		/* A record may have come between: the broker makes the ring readable again. */
		if (position(cons) < position(prod))
			tell = true;
	}
	pthread_mutex_unlock(&lock);
	if (tell && !rc)
		rc = client_sync();
	return rc;
}
