/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages and the handles in them: a request is taken apart as the board would, and put together
 * again as a client would, with other handles.
 */
#include <errno.h>
#include <string.h>

#include "host/broker.h"

/*
 * The message's buffers stand in for the client's memory. Behind a buffer lie zeros, since strings
 * are looked for in pieces; one without room is memory that the client could not be read from.
 */
static int tr_peek(void *arg, void *dst, uint64_t addr, size_t n)
{
	const struct translation *t = arg;
	const uint64_t attr = (uintptr_t)&t->call->attr;

	if (addr >= attr && addr + n <= attr + sizeof(t->call->attr)) {
		memcpy(dst, (const void *)(uintptr_t)addr, n);
		return 0;
	}
	for (uint32_t i = 0; i < t->call->buf_cnt; i++) {
		const struct bpf_call_buf *buf = &t->call->bufs[i];
		uint64_t off = addr - call_buf_ptr(i);

		if (off >= buf->cap)
			continue;
		memset(dst, 0, n);
		memcpy(dst, buf->data + off, MIN(n, (size_t)(buf->cap - off)));
		return 0;
	}
	return -EFAULT;
}

static int tr_poke(void *arg, uint64_t addr, const void *src, size_t n)
{
	(void)arg, (void)addr, (void)src, (void)n;
	return -EFAULT;
}

static void note_virtual(struct translation *t, struct object *o)
{
	for (uint32_t i = 0; i < t->seen_nr; i++)
		if (t->seen[i] == o)
			return;
	if (t->seen_nr == OBJECT_DEPS_MAX)
		t->too_many = true;
	else
		t->seen[t->seen_nr++] = o;
}

static int tr_fd_info(void *arg, int fd, struct bpf_obj_info *info)
{
	struct translation *t = arg;
	uint32_t handle = (uint32_t)fd;
	struct object *o;

	if (handle == BPF_HANDLE_EBADF)
		return -EBADF;
	if (handle == BPF_HANDLE_EINVAL)
		return -EINVAL;
	o = object_by_handle(t->b, handle);
	if (!o)
		return -EBADF;
	*info = o->name.obj;
	if (handle_is_virtual(handle))
		note_virtual(t, o);
	if (t->mode == TO_KEY) {
		info->handle = HANDLE_VIRTUAL | o->memo_index;
		if (!o->memo_index)
			t->foreign = true;
	} else {
		info->handle = o->real;
		if (!o->real && !t->unmade)
			t->unmade = o;
	}
	return 0;
}

int translate(struct translation *t, const uint8_t *msg, size_t len, struct wire_buf *out)
{
	struct marshal_io io = { .peek = tr_peek,
				 .poke = tr_poke,
				 .fd_info = tr_fd_info,
				 .arg = t,
				 .cpus = t->b->hello.info.cpus };
	struct marshal_call mc;
	struct bpf_call call;
	int rc = unmarshal_request(msg, len, &call);

	if (rc)
		return rc;
	t->call = &call;
	t->cmd = call.cmd;
	rc = marshal_request(&mc, call.cmd, (uintptr_t)&call.attr, call.attr_size, &io, out);
	bpf_call_free(&call);
	return rc;
}
