/* SPDX-License-Identifier: BSD-2-Clause */
/* Ring buffers in shadow memory: records come over the line whole, positions go back. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "host/broker_shadow.h"

static uint64_t *ring_cons(const struct shadow *s)
{
	return (uint64_t *)(void *)s->mem;
}

static uint64_t *ring_prod(const struct shadow *s)
{
	return (uint64_t *)(void *)(s->mem + s->page);
}

void ring_wake(struct shadow *s)
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

void ring_push(struct broker *b, struct shadow *s)
{
	uint64_t cons = __atomic_load_n(ring_cons(s), __ATOMIC_ACQUIRE);
	struct mem_op *op;

	if (cons <= s->told || cons > s->scanned)
		return;
	op = mem_op_new(s, 0, NULL, NULL);
	if (!op)
		return;
	op->own.attr.board.mem.cons_pos = cons;
	if (!mem_op_send(b, BOARD_MEM_WRITE, op, mem_op_write_done))
		s->told = cons;
}

static int ring_read(struct broker *b, struct shadow *s, size_t room);

static void ring_read_done(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct mem_op *op = arg;
	struct shadow *s = op->s;
	const struct board_attr_mem *m = &op->own.attr.board.mem;
	int64_t rc = status ? status : own_reply(&op->own, rep, len);
	size_t room = SHADOW_CHUNK;
	bool more = false;

	s->pulling = false;
	if (rc == -ENOSPC && m->len > SHADOW_CHUNK) {
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
		shadow_finish_waiters(b, &s->served, (int)rc);
		if (!s->dead && !list_is_empty(&s->waiting) && ring_read(b, s, SHADOW_CHUNK))
			shadow_finish_waiters(b, &s->waiting, -ENOMEM);
	}
	mem_op_free(op);
}

/* Ask for records from where the shadow ends. Waiters of now are served by the answer. */
static int ring_read(struct broker *b, struct shadow *s, size_t room)
{
	struct mem_op *op = mem_op_new(s, MIN(s->area, room), NULL, NULL);
	struct waiter *w;
	int rc;

	if (!op)
		return -ENOMEM;
	op->own.attr.board.mem.off = s->scanned;
	rc = mem_op_send(b, BOARD_MEM_READ, op, ring_read_done);
	if (rc)
		return rc;
	s->pulling = true;
	while ((w = list_first(&s->waiting, struct waiter, link))) {
		list_del(&w->link);
		list_add_tail(&s->served, &w->link);
	}
	return 0;
}

unsigned int ring_pull(struct broker *b, struct shadow *s, board_done done, void *arg)
{
	struct waiter *w = malloc(sizeof(*w));

	if (!w)
		return 0;
	*w = (struct waiter){ .done = done, .arg = arg };
	list_add_tail(&s->waiting, &w->link);
	/* An answer under way may have been asked for too early. */
	if (!s->pulling && ring_read(b, s, SHADOW_CHUNK)) {
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
	mem_op_free(op);
}

int ring_start(struct broker *b, struct shadow *s, board_done done, void *arg)
{
	struct mem_op *op = mem_op_new(s, 0, done, arg);
	int rc = op ? mem_op_send(b, BOARD_MEM_READ, op, ring_start_done) : -ENOMEM;

	if (!rc)
		s->pulling = true;
	return rc;
}
