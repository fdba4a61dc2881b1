/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaying a bundle (wire/bundle.h): checked whole, then done, and undone if a call fails. */
#include "wire/bundle.h"

#include "include/hal.h"
#include "runtime/rt_int.h"
#include "wire/cmds.h"
#include "wire/marshal.h"

/* No client has it; until the end it marks what the bundle made. */
#define BUNDLE_SESSION 0xffffffffu

/* What a call made, besides effects on objects of the bundle. */
struct made {
	uint32_t handle;
	uint8_t flags;
	uint8_t makes; /* its command returns a handle */
	char *path;    /* pinned or made a directory, NULL: neither */
};

struct replay {
	struct rt *rt;
	struct made *made;
	uint32_t calls, done;
};

/* The i-th call with its handles put in, or only looked at (r->made[].makes filled in). */
static int get_call(struct replay *r, struct wire_in *in, uint32_t i, struct bpf_call *call,
		    bool look)
{
	struct bundle_call rec;
	struct bundle_ref ref;
	uint8_t *slot;
	int err = bundle_next(in, &rec);

	if (!err)
		err = unmarshal_request(rec.request, rec.len, call);
	if (err)
		return err;
	if (!bundle_allows(call->cmd))
		err = -EOPNOTSUPP;
	while (rec.nr_refs-- && !err) {
		err = bundle_next_ref(&rec, &ref);
		slot = err ? NULL : bundle_ref_slot(call, &ref);
		if (!slot || ref.call >= i || !r->made[ref.call].makes)
			err = -EBADMSG;
		else if (!look)
			__builtin_memcpy(slot, &r->made[ref.call].handle, 4);
	}
	if (err) {
		bpf_call_free(call);
		return err;
	}
	r->made[i].flags = (uint8_t)rec.flags;
	r->made[i].makes = cmd_row(call->cmd)->result == CMD_HANDLE;
	return 0;
}

static int check_all(struct replay *r, struct wire_in in, uint32_t *at)
{
	struct bpf_call call;
	int err;

	for (*at = 0; *at < r->calls; (*at)++) {
		err = get_call(r, &in, *at, &call, true);
		if (err)
			return err;
		bpf_call_free(&call);
	}
	return in.p == in.end ? 0 : -EBADMSG;
}

/* Remember the path that a call makes. 0, -ENOMEM, or the path's own error. */
static int note_path(struct replay *r, const struct bpf_call *call)
{
	struct made *m = &r->made[r->done];
	const char *path;
	size_t len;

	if (call->cmd == BPF_OBJ_PIN)
		path = call_str(call, call->attr.bpf.pathname, PIN_PATH_MAX);
	else if (call->cmd == BOARD_PATH_MKDIR)
		path = call_str(call, call->attr.board.path.path, PIN_PATH_MAX);
	else
		return 0;
	if (!path)
		return -EFAULT;
	len = __builtin_strlen(path) + 1;
	m->path = hal_alloc(len);
	if (!m->path)
		return -ENOMEM;
	__builtin_memcpy(m->path, path, len);
	return 0;
}

static void say(const struct replay *r, const struct bpf_call *call)
{
	const struct made *m = &r->made[r->done];

	if (call->obj.kind)
		hal_log(6, "bundle: call %u, %s: id %u", r->done, marshal_cmd_name(call->cmd),
			call->obj.id);
	else if (m->path)
		hal_log(6, "bundle: call %u, %s: %s", r->done, marshal_cmd_name(call->cmd),
			m->path);
}

static int do_call(struct replay *r, struct wire_in *in)
{
	struct made *m = &r->made[r->done];
	struct bpf_call call;
	int err = get_call(r, in, r->done, &call, false);

	if (err)
		return err;
	call.session = BUNDLE_SESSION;
	err = note_path(r, &call);
	if (!err)
		err = (int)MIN(bpf_syscall(r->rt, &call), (int64_t)0);
	if (!err) {
		if (call.obj.kind)
			m->handle = call.obj.handle;
		say(r, &call);
		r->done++;
	} else {
		hal_log(3, "bundle: call %u, %s: error %d", r->done, marshal_cmd_name(call.cmd),
			err);
		hal_free(m->path);
		m->path = NULL;
	}
	bpf_call_free(&call);
	return err;
}

static void undo(struct replay *r)
{
	uint32_t i;

	for (i = r->done; i-- > 0;) {
		if (r->made[i].path)
			(void)!pin_unlink(r->rt, r->made[i].path, 0);
	}
	rt_session_end(r->rt, BUNDLE_SESSION);
}

/* From now on the objects are the board's own. */
static void keep(struct replay *r)
{
	uint32_t i;

	for (i = 0; i < r->calls; i++) {
		if (r->made[i].handle && r->made[i].flags & BUNDLE_DROP)
			(void)!rt_handle_close(r->rt, r->made[i].handle);
	}
	for (i = 0; i < r->rt->handle_nr; i++) {
		if (r->rt->handles[i].obj && r->rt->handles[i].session == BUNDLE_SESSION)
			r->rt->handles[i].session = RT_SESSION_NONE;
	}
}

int bundle_replay(struct rt *rt, const void *image, size_t len, uint32_t *at)
{
	struct replay r = { .rt = rt };
	struct wire_in in;
	uint32_t i, failed = 0;
	int err = bundle_open(image, len, &in, &r.calls);

	/* A call takes 3 bytes at least: no memory for a number that cannot be true. */
	if (!err && r.calls > (size_t)(in.end - in.p) / 3)
		err = -EBADMSG;
	if (!err && r.calls) {
		r.made = hal_alloc(r.calls * sizeof(*r.made));
		if (!r.made)
			err = -ENOMEM;
	}
	if (!err)
		err = check_all(&r, in, &failed);
	while (!err && r.done < r.calls) {
		failed = r.done;
		err = do_call(&r, &in);
	}
	if (err)
		undo(&r);
	else
		keep(&r);
	if (r.made) {
		for (i = 0; i < r.calls; i++)
			hal_free(r.made[i].path);
	}
	hal_free(r.made);
	if (err)
		*at = failed;
	return err;
}
