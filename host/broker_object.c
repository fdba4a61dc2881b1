/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/broker.h"

/* How long closes wait for a request that they can share a frame with. */
#define CLOSE_WAIT_NS (20ull * 1000000)

static struct list *bucket(struct list *table, uint32_t key)
{
	return &table[(key * 2654435761u) >> 22];
}
_Static_assert(OBJECT_BUCKETS == 1 << 10, "bucket() takes the 10 top bits");

struct object *object_by_serial(struct broker *b, uint32_t serial)
{
	struct list *pos, *head = bucket(b->by_serial, serial);

	list_for_each (pos, head) {
		struct object *o = list_entry(pos, struct object, serial_link);

		if (o->name.serial == serial && o->src.fd >= 0)
			return o;
	}
	return NULL;
}

struct object *object_by_handle(struct broker *b, uint32_t handle)
{
	struct list *pos, *head = bucket(b->by_handle, handle);

	list_for_each (pos, head) {
		struct object *o = list_entry(pos, struct object, handle_link);

		if (o->name.obj.handle == handle && o->name.epoch == b->hello.epoch)
			return o;
	}
	return NULL;
}

static void queue_close(struct broker *b, uint32_t handle)
{
	if (b->closing_nr == b->closing_cap) {
		uint32_t cap = b->closing_cap ? b->closing_cap * 2 : 64;
		uint32_t *more = realloc(b->closing, cap * sizeof(*more));

		if (!more) {
			broker_log(b, "no memory: handle %u stays open on the board", handle);
			return;
		}
		b->closing = more;
		b->closing_cap = cap;
	}
	b->closing[b->closing_nr++] = handle;
	if (!b->close_due_ns)
		b->close_due_ns = now_ns() + CLOSE_WAIT_NS;
}

void object_put(struct broker *b, struct object *o)
{
	if (--o->refs)
		return;
	for (uint32_t i = 0; i < o->deps_nr; i++)
		object_put(b, o->deps[i]);
	if (o->shadow)
		shadow_detach(b, o);
	if (o->real && o->name.epoch == b->hello.epoch)
		queue_close(b, o->real);
	list_del(&o->serial_link);
	list_del(&o->handle_link);
	free(o->request);
	free(o);
}

/* The client's copies are all closed. */
static void object_hup(struct broker *b, struct object *o)
{
	source_close(b->hup_ep, &o->src);
	b->objects_nr--;
	object_put(b, o);
}

static int make_pair(struct object *o, int sv[2])
{
	struct sockaddr_un sa;
	socklen_t len = placeholder_name(&o->name, &sa);

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sv))
		return -errno;
	if (bind(sv[1], (struct sockaddr *)&sa, len)) {
		int rc = -errno;

		close(sv[0]);
		close(sv[1]);
		return rc;
	}
	return 0;
}

int object_new(struct broker *b, const struct bpf_obj_info *obj, struct object **out,
	       int *client_fd)
{
	struct object *o = calloc(1, sizeof(*o));
	int sv[2], rc = -ENOMEM;

	if (!o)
		goto fail;
	o->name = (struct placeholder){ .epoch = b->hello.epoch,
					.serial = b->next_serial,
					.obj = *obj };
	o->real = obj->handle;
	o->refs = 1;
	if (!o->real)
		o->name.obj.handle = HANDLE_VIRTUAL | o->name.serial;
	rc = make_pair(o, sv);
	if (rc)
		goto fail;
	/* Hang-ups are reported without asking. */
	rc = source_add(b->hup_ep, &o->src, sv[0], 0);
	if (rc) {
		close(sv[0]);
		close(sv[1]);
		goto fail;
	}
	b->next_serial++;
	b->objects_nr++;
	list_add(bucket(b->by_serial, o->name.serial), &o->serial_link);
	list_add(bucket(b->by_handle, o->name.obj.handle), &o->handle_link);
	*out = o;
	*client_fd = sv[1];
	return 0;
fail:
	free(o);
	if (obj->handle)
		queue_close(b, obj->handle);
	return rc == -ENFILE ? -EMFILE : rc;
}

void object_made(struct broker *b, struct object *o, uint32_t handle)
{
	(void)b;
	o->real = handle;
	for (uint32_t i = 0; i < o->deps_nr; i++)
		object_put(b, o->deps[i]);
	o->deps_nr = 0;
}

void objects_reap(struct broker *b)
{
	struct epoll_event ev[64];
	int n;

	/* A handler frees only the object of its own event. */
	do {
		n = epoll_wait(b->hup_ep, ev, ARRAY_SIZE(ev), 0);
		for (int i = 0; i < n; i++)
			object_hup(b, container_of((struct source *)ev[i].data.ptr, struct object,
						   src));
	} while (n == ARRAY_SIZE(ev));
}

void objects_put_closes(struct broker *b, struct wire_buf *msg)
{
	if (b->closing_nr)
		wire_put_close(msg, b->closing, b->closing_nr);
	b->closing_nr = 0;
	b->close_due_ns = 0;
}

static void each_object(struct broker *b, void (*fn)(struct broker *b, struct object *o))
{
	struct list *pos, *tmp;

	for (int i = 0; i < OBJECT_BUCKETS; i++)
		list_for_each_safe (pos, tmp, &b->by_serial[i])
			fn(b, list_entry(pos, struct object, serial_link));
}

/* Waiters wake up and find the end of file: mappings_before_wait() in the client sees it. */
static void object_lose(struct broker *b, struct object *o)
{
	if (o->shadow)
		shadow_detach(b, o);
	if (o->src.fd >= 0)
		shutdown(o->src.fd, SHUT_WR);
}

void objects_lost(struct broker *b)
{
	each_object(b, object_lose);
	b->closing_nr = 0;
	b->close_due_ns = 0;
}

/* All at once: objects may hold each other, so none is freed, only their handles are queued. */
static void object_close_handle(struct broker *b, struct object *o)
{
	if (o->real && o->name.epoch == b->hello.epoch)
		queue_close(b, o->real);
	o->real = 0;
	if (o->src.fd >= 0)
		source_close(b->hup_ep, &o->src);
}

void objects_drop_all(struct broker *b)
{
	each_object(b, object_close_handle);
}
