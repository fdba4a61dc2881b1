/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory of mapped maps. Every map that a client has mapped has one memfd, shared by all clients:
 *
 *   array     [ values ]                              both sides write; compared with the copy
 *                                                     `last` to see what a client has changed
 *   ring      [ consumer page ][ producer page ][ data ][ data ]
 *             data lies there twice, as the kernel maps it twice, since consumers only read it
 *
 * Two writers of the same bytes, one on each side of the line, between two calls: one is lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/broker.h"

#define CHUNK	   (256u * 1024)
#define SHADOW_MAX (1ull << 30)
/* Unchanged bytes that are sent along rather than starting another request. */
#define WRITE_GAP 32

struct waiter {
	struct list link;
	board_done done;
	void *arg;
};

struct shadow {
	struct list link, users; /* broker.shadows; struct object by shadow_link */
	uint32_t refs;		 /* being in the list, and each request under way */
	bool dead;
	struct bpf_obj_info map;
	bool ring;
	int memfd;
	uint8_t *mem, *last;
	size_t file_len, area; /* bytes of memfd; of values or of ring data */
	size_t page;
	uint64_t scanned, told; /* ring: producer position shown, consumer position sent */
	bool pulling;
	struct list waiting, served; /* ring: struct waiter for the next pull, for this one */
};

struct mem_op {
	struct own_call own;
	struct shadow *s;
	board_done done;
	void *arg;
	uint8_t buf[];
};

/* ---- life ---- */

static void shadow_put(struct shadow *s)
{
	if (--s->refs)
		return;
	munmap(s->mem, s->file_len);
	close(s->memfd);
	free(s->last);
	free(s);
}

static void finish_waiters(struct broker *b, struct list *waiters, int status)
{
	struct waiter *w;

	while ((w = list_first(waiters, struct waiter, link))) {
		list_del(&w->link);
		w->done(b, w->arg, status, NULL, 0);
		free(w);
	}
}

static struct shadow *shadow_find(struct broker *b, uint32_t map_id)
{
	struct list *pos;

	list_for_each (pos, &b->shadows) {
		struct shadow *s = list_entry(pos, struct shadow, link);

		if (s->map.id == map_id)
			return s;
	}
	return NULL;
}

static int shadow_memory(struct shadow *s)
{
	s->memfd = memfd_create("barebpf-map", MFD_CLOEXEC);
	if (s->memfd < 0)
		return -errno;
	if (ftruncate(s->memfd, (off_t)s->file_len))
		return -errno;
	s->mem = mmap(NULL, s->file_len, PROT_READ | PROT_WRITE, MAP_SHARED, s->memfd, 0);
	if (s->mem == MAP_FAILED)
		return -errno;
	s->last = s->ring ? NULL : calloc(1, s->area);
	return s->ring || s->last ? 0 : -ENOMEM;
}

static int shadow_new(struct broker *b, const struct bpf_obj_info *map, struct shadow **out)
{
	struct shadow *s = calloc(1, sizeof(*s));
	uint64_t area;
	int rc;

	if (!s)
		return -ENOMEM;
	s->map = *map;
	s->memfd = -1;
	s->refs = 1;
	s->ring = map->type == BPF_MAP_TYPE_RINGBUF;
	s->page = (size_t)sysconf(_SC_PAGESIZE);
	/* One value is as long as it says; several lie 8-byte aligned. */
	area = s->ring || map->max_entries == 1
		       ? (s->ring ? map->max_entries : map->value_size)
		       : ROUND_UP((uint64_t)map->value_size, 8) * map->max_entries;
	if (area > SHADOW_MAX || !area) {
		free(s);
		return -ENOMEM;
	}
	s->area = area;
	s->file_len = s->ring ? 2 * s->page + 2 * s->area : ROUND_UP(s->area, s->page);
	list_init(&s->users);
	list_init(&s->waiting);
	list_init(&s->served);
	rc = shadow_memory(s);
	if (rc) {
		if (s->mem && s->mem != MAP_FAILED)
			munmap(s->mem, s->file_len);
		if (s->memfd >= 0)
			close(s->memfd);
		free(s);
		return rc;
	}
	list_add(&b->shadows, &s->link);
	*out = s;
	return 0;
}

static void shadow_push(struct broker *b, struct shadow *s);

void shadow_detach(struct broker *b, struct object *o)
{
	struct shadow *s = o->shadow;

	/* Last words of a client: what it wrote before it closed is on the board before the close.
	 */
	if (o->name.epoch == b->hello.epoch)
		shadow_push(b, s);
	o->shadow = NULL;
	list_del(&o->shadow_link);
	if (!list_is_empty(&s->users))
		return;
	s->dead = true;
	list_del(&s->link);
	finish_waiters(b, &s->waiting, -EIO);
	shadow_put(s);
}

static uint32_t shadow_handle(const struct shadow *s)
{
	const struct object *o = list_first(&s->users, struct object, shadow_link);

	return o ? o->real : 0;
}

/* ---- requests ---- */

static struct mem_op *op_new(struct shadow *s, size_t room, board_done done, void *arg)
{
	struct mem_op *op = calloc(1, sizeof(*op) + room);

	if (!op)
		return NULL;
	op->s = s;
	op->done = done;
	op->arg = arg;
	op->own.attr.board.mem.map_fd = shadow_handle(s);
	op->own.attr.board.mem.buf = room ? (uintptr_t)op->buf : 0;
	op->own.attr.board.mem.len = (uint32_t)room;
	return op;
}

static int op_send(struct broker *b, uint32_t cmd, struct mem_op *op, board_done done)
{
	int rc = own_submit(b, cmd, &op->own, sizeof(op->own.attr.board.mem), done, op);

	if (rc)
		free(op);
	else
		op->s->refs++;
	return rc;
}

static void op_free(struct mem_op *op)
{
	shadow_put(op->s);
	free(op);
}

static void write_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct mem_op *op = arg;
	int64_t rc = status ? status : own_reply(&op->own, rep, len);

	if (rc && !status)
		broker_log(b, "writing mapped memory of map %u: %lld", op->s->map.id,
			   (long long)rc);
	op_free(op);
}

/* ---- arrays ---- */

static void array_write(struct broker *b, struct shadow *s, size_t from, size_t to)
{
	struct mem_op *op = op_new(s, to - from, NULL, NULL);

	if (!op)
		return; /* still different from `last`: the next push tries again */
	memcpy(op->buf, s->mem + from, to - from);
	op->own.attr.board.mem.off = from;
	if (!op_send(b, BOARD_MEM_WRITE, op, write_done))
		memcpy(s->last + from, op->buf, to - from);
}

static size_t first_difference(const struct shadow *s, size_t at)
{
	const size_t block = 512;

	while (at + block <= s->area && !memcmp(s->mem + at, s->last + at, block))
		at += block;
	while (at < s->area && s->mem[at] == s->last[at])
		at++;
	return at;
}

static void array_push(struct broker *b, struct shadow *s)
{
	size_t at = first_difference(s, 0);

	while (at < s->area) {
		size_t from = at, to = at + 1, same = 0;

		for (at++; at < s->area && same < WRITE_GAP && at - from < CHUNK; at++) {
			same = s->mem[at] == s->last[at] ? same + 1 : 0;
			if (!same)
				to = at + 1;
		}
		array_write(b, s, from, to);
		at = first_difference(s, to);
	}
}

static void array_read_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct mem_op *op = arg;
	struct shadow *s = op->s;
	size_t off = op->own.attr.board.mem.off;
	int64_t rc = status ? status : own_reply(&op->own, rep, len);
	size_t n = rc ? 0 : MIN((size_t)op->own.attr.board.mem.len, s->area - off);

	/* Only what the board changed: the client may be writing beside it. */
	for (size_t i = 0; i < n; i++)
		if (op->buf[i] != s->last[off + i])
			s->mem[off + i] = s->last[off + i] = op->buf[i];
	if (rc && !status)
		broker_log(b, "reading mapped memory of map %u: %lld", s->map.id, (long long)rc);
	op->done(b, op->arg, (int)rc, NULL, 0);
	op_free(op);
}

/* Number of replies that will come; each calls done. */
static unsigned int array_pull(struct broker *b, struct shadow *s, board_done done, void *arg)
{
	unsigned int sent = 0;

	for (size_t off = 0; off < s->area; off += CHUNK) {
		struct mem_op *op = op_new(s, MIN(s->area - off, (size_t)CHUNK), done, arg);

		if (!op)
			break;
		op->own.attr.board.mem.off = off;
		if (op_send(b, BOARD_MEM_READ, op, array_read_done))
			break;
		sent++;
	}
	return sent;
}

/* ---- rings ---- */

static uint64_t *ring_cons(const struct shadow *s)
{
	return (uint64_t *)(void *)s->mem;
}

static uint64_t *ring_prod(const struct shadow *s)
{
	return (uint64_t *)(void *)(s->mem + s->page);
}

static void ring_wake(struct shadow *s)
{
	struct list *pos;

	if (__atomic_load_n(ring_cons(s), __ATOMIC_ACQUIRE) >= s->scanned)
		return;
	list_for_each (pos, &s->users) {
		const struct object *o = list_entry(pos, struct object, shadow_link);

		/* A full socket is readable already. */
		if (o->src.fd >= 0 && send(o->src.fd, "r", 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			continue;
	}
}

static void ring_append(struct shadow *s, const uint8_t *data, size_t n)
{
	uint8_t *ring = s->mem + 2 * s->page;

	for (size_t i = 0; i < n; i++) {
		size_t at = (s->scanned + i) & (s->area - 1);

		ring[at] = ring[at + s->area] = data[i];
	}
	s->scanned += n;
	__atomic_store_n(ring_prod(s), s->scanned, __ATOMIC_RELEASE);
}

static void ring_push(struct broker *b, struct shadow *s)
{
	uint64_t cons = __atomic_load_n(ring_cons(s), __ATOMIC_ACQUIRE);
	struct mem_op *op;

	if (cons <= s->told || cons > s->scanned)
		return;
	op = op_new(s, 0, NULL, NULL);
	if (!op)
		return;
	op->own.attr.board.mem.cons_pos = cons;
	if (!op_send(b, BOARD_MEM_WRITE, op, write_done))
		s->told = cons;
}

static int ring_read(struct broker *b, struct shadow *s, size_t room);

static void ring_read_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct mem_op *op = arg;
	struct shadow *s = op->s;
	const struct board_attr_mem *m = &op->own.attr.board.mem;
	int64_t rc = status ? status : own_reply(&op->own, rep, len);
	size_t room = CHUNK;
	bool more = false;

	s->pulling = false;
	if (rc == -ENOSPC && m->len > CHUNK) {
		/* One record is longer than that. */
		room = m->len;
		more = true;
	} else if (!rc && m->len <= s->area) {
		ring_append(s, op->buf, m->len);
		/* Records behind one that is still being written wait for it. */
		more = m->len && m->prod_pos > s->scanned;
		ring_wake(s);
	} else if (!status) {
		broker_log(b, "reading ring %u: %lld", s->map.id, (long long)rc);
	}
	if (s->dead || !more || ring_read(b, s, room)) {
		finish_waiters(b, &s->served, (int)rc);
		if (!s->dead && !list_is_empty(&s->waiting) && ring_read(b, s, CHUNK))
			finish_waiters(b, &s->waiting, -ENOMEM);
	}
	op_free(op);
}

/* Ask for records from where the shadow ends. Waiters of now are served by the answer. */
static int ring_read(struct broker *b, struct shadow *s, size_t room)
{
	struct mem_op *op = op_new(s, MIN(s->area, room), NULL, NULL);
	struct waiter *w;
	int rc;

	if (!op)
		return -ENOMEM;
	op->own.attr.board.mem.off = s->scanned;
	rc = op_send(b, BOARD_MEM_READ, op, ring_read_done);
	if (rc)
		return rc;
	s->pulling = true;
	while ((w = list_first(&s->waiting, struct waiter, link))) {
		list_del(&w->link);
		list_add_tail(&s->served, &w->link);
	}
	return 0;
}

static unsigned int ring_pull(struct broker *b, struct shadow *s, board_done done, void *arg)
{
	struct waiter *w = malloc(sizeof(*w));

	if (!w)
		return 0;
	*w = (struct waiter){ .done = done, .arg = arg };
	list_add_tail(&s->waiting, &w->link);
	/* An answer under way may have been asked for too early. */
	if (!s->pulling && ring_read(b, s, CHUNK)) {
		list_del(&w->link);
		free(w);
		return 0;
	}
	return 1;
}

static void nobody_waits(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	(void)b, (void)arg, (void)status, (void)rep, (void)len;
}

void shadow_ring_event(struct broker *b, uint32_t map_id)
{
	struct list *pos;

	list_for_each (pos, &b->shadows) {
		struct shadow *s = list_entry(pos, struct shadow, link);

		if (s->ring && (!map_id || s->map.id == map_id) &&
		    !ring_pull(b, s, nobody_waits, NULL))
			broker_log(b, "ring %u: records stay on the board for now", s->map.id);
	}
}

/* ---- opening ---- */

/* A ring begins where its consumer stands on the board. */
static void ring_start_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct mem_op *op = arg;
	struct shadow *s = op->s;
	int64_t rc = status ? status : own_reply(&op->own, rep, len);

	s->pulling = false;
	if (!rc) {
		s->scanned = s->told = op->own.attr.board.mem.cons_pos;
		*ring_cons(s) = *ring_prod(s) = s->scanned;
		if (!ring_pull(b, s, op->done, op->arg))
			rc = -ENOMEM;
	}
	if (rc)
		op->done(b, op->arg, (int)rc, NULL, 0);
	op_free(op);
}

static int ring_start(struct broker *b, struct shadow *s, board_done done, void *arg)
{
	struct mem_op *op = op_new(s, 0, done, arg);
	int rc = op ? op_send(b, BOARD_MEM_READ, op, ring_start_done) : -ENOMEM;

	if (!rc)
		s->pulling = true;
	return rc;
}

struct fill {
	unsigned int waits;
	int status;
	board_done done;
	void *arg;
};

static void fill_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct fill *f = arg;

	(void)rep, (void)len;
	if (status)
		f->status = status;
	if (--f->waits)
		return;
	f->done(b, f->arg, f->status, NULL, 0);
	free(f);
}

static int array_start(struct broker *b, struct shadow *s, board_done done, void *arg)
{
	struct fill *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	*f = (struct fill){ .done = done, .arg = arg };
	f->waits = array_pull(b, s, fill_done, f);
	if (f->waits)
		return 0;
	free(f);
	return -ENOMEM;
}

int shadow_open(struct broker *b, struct object *o, board_done done, void *arg, int *memfd)
{
	struct shadow *s = o->shadow ? o->shadow : shadow_find(b, o->name.obj.id);
	bool is_new = !s;
	int fd, rc = s ? 0 : shadow_new(b, &o->name.obj, &s);

	if (rc)
		return rc;
	if (!o->shadow) {
		o->shadow = s;
		list_add_tail(&s->users, &o->shadow_link);
	}
	fd = fcntl(s->memfd, F_DUPFD_CLOEXEC, 0);
	rc = fd < 0 ? -errno : 0;
	if (!rc && !s->ring)
		rc = array_start(b, s, done, arg);
	else if (!rc && is_new)
		rc = ring_start(b, s, done, arg);
	else if (!rc)
		rc = ring_pull(b, s, done, arg) ? 0 : -ENOMEM;
	if (rc) {
		if (fd >= 0)
			close(fd);
		if (is_new)
			shadow_detach(b, o);
		return rc;
	}
	*memfd = fd;
	return 0;
}

/* ---- in step ---- */

static void shadow_push(struct broker *b, struct shadow *s)
{
	if (b->state != LINE_UP || !shadow_handle(s))
		return;
	if (s->ring)
		ring_push(b, s);
	else
		array_push(b, s);
}

void shadow_push_all(struct broker *b)
{
	struct list *pos;

	list_for_each (pos, &b->shadows)
		shadow_push(b, list_entry(pos, struct shadow, link));
}

void shadow_kick(struct broker *b)
{
	struct list *pos;

	list_for_each (pos, &b->shadows) {
		struct shadow *s = list_entry(pos, struct shadow, link);

		if (s->ring)
			ring_wake(s);
	}
}

static bool changes_one_map(uint32_t cmd)
{
	switch (cmd) {
	case BPF_MAP_UPDATE_ELEM:
	case BPF_MAP_DELETE_ELEM:
	case BPF_MAP_LOOKUP_AND_DELETE_ELEM:
	case BPF_MAP_UPDATE_BATCH:
	case BPF_MAP_DELETE_BATCH:
	case BPF_MAP_LOOKUP_AND_DELETE_BATCH:
		return true;
	}
	return false;
}

static uint32_t map_handle(const struct bpf_call *call)
{
	switch (call->cmd) {
	case BPF_MAP_UPDATE_BATCH:
	case BPF_MAP_DELETE_BATCH:
	case BPF_MAP_LOOKUP_AND_DELETE_BATCH:
		return call->attr.bpf.batch.map_fd;
	}
	return call->attr.bpf.map_fd;
}

unsigned int shadow_pull_after(struct broker *b, const struct bpf_call *call, board_done done,
			       void *arg)
{
	const struct object *o;
	unsigned int n = 0;
	struct list *pos;

	if (changes_one_map(call->cmd)) {
		struct shadow *s;

		o = object_by_handle(b, map_handle(call));
		s = o ? shadow_find(b, o->name.obj.id) : NULL;
		return s && !s->ring ? array_pull(b, s, done, arg) : 0;
	}
	if (call->cmd != BPF_PROG_TEST_RUN)
		return 0;
	list_for_each (pos, &b->shadows) {
		struct shadow *s = list_entry(pos, struct shadow, link);

		if (s->ring)
			n += ring_pull(b, s, done, arg);
		else if (!(s->map.map_flags & BPF_F_RDONLY_PROG))
			n += array_pull(b, s, done, arg);
	}
	return n;
}
