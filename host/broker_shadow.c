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

#include "host/broker_shadow.h"

#define SHADOW_CHUNK (256u * 1024)
#define SHADOW_MAX   (1ull << 30)
/* Unchanged bytes that are sent along rather than starting another request. */
#define WRITE_GAP 32

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

void shadow_finish_waiters(struct broker *b, struct list *waiters, int status)
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
	shadow_finish_waiters(b, &s->waiting, -EIO);
	shadow_put(s);
}

static uint32_t shadow_handle(const struct shadow *s)
{
	const struct object *o = list_first(&s->users, struct object, shadow_link);

	return o ? o->real : 0;
}

/* ---- requests ---- */

struct mem_op *mem_op_new(struct shadow *s, size_t room, board_done done, void *arg)
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

int mem_op_send(struct broker *b, uint32_t cmd, struct mem_op *op, board_done done)
{
	int rc = own_submit(b, cmd, &op->own, sizeof(op->own.attr.board.mem), done, op);

	if (rc)
		free(op);
	else
		op->s->refs++;
	return rc;
}

void mem_op_free(struct mem_op *op)
{
	shadow_put(op->s);
	free(op);
}

void mem_op_write_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct mem_op *op = arg;
	int64_t rc = status ? status : own_reply(&op->own, rep, len);

	if (rc && !status)
		broker_log(b, "writing mapped memory of map %u: %lld", op->s->map.id,
			   (long long)rc);
	mem_op_free(op);
}

/* ---- arrays ---- */

static void array_write(struct broker *b, struct shadow *s, size_t from, size_t to)
{
	struct mem_op *op = mem_op_new(s, to - from, NULL, NULL);

	if (!op)
		return; /* still different from `last`: the next push tries again */
	memcpy(op->buf, s->mem + from, to - from);
	op->own.attr.board.mem.off = from;
	if (!mem_op_send(b, BOARD_MEM_WRITE, op, mem_op_write_done))
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

		for (at++; at < s->area && same < WRITE_GAP && at - from < SHADOW_CHUNK; at++) {
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
	mem_op_free(op);
}

/* Number of replies that will come; each calls done. */
static unsigned int array_pull(struct broker *b, struct shadow *s, board_done done, void *arg)
{
	unsigned int sent = 0;

	for (size_t off = 0; off < s->area; off += SHADOW_CHUNK) {
		struct mem_op *op =
			mem_op_new(s, MIN(s->area - off, (size_t)SHADOW_CHUNK), done, arg);

		if (!op)
			break;
		op->own.attr.board.mem.off = off;
		if (mem_op_send(b, BOARD_MEM_READ, op, array_read_done))
			break;
		sent++;
	}
	return sent;
}

/* ---- opening ---- */

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
