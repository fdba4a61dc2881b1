/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/message.h"

void wire_put_close(struct wire_buf *b, const uint32_t *handles, uint32_t nr)
{
	uint32_t i;

	wire_put_num(b, WIRE_CLOSE);
	wire_put_num(b, nr);
	for (i = 0; i < nr; i++)
		wire_put_num(b, handles[i]);
}

void wire_put_follow(struct wire_buf *b, enum wire_text which, uint64_t pos)
{
	wire_put_num(b, WIRE_FOLLOW);
	wire_put_num(b, which);
	wire_put_num(b, pos + 1);
}

int wire_get_prelude(struct wire_in *in, const struct wire_prelude_ops *ops)
{
	struct wire_in ahead = *in;
	uint32_t nr, which;
	uint64_t pos;

	if (in->p == in->end)
		return 0;
	switch (wire_get_num(&ahead)) {
	case WIRE_CLOSE:
		nr = wire_get_u32(&ahead, UINT32_MAX);
		while (nr-- && !ahead.err) {
			uint32_t handle = wire_get_u32(&ahead, UINT32_MAX);

			if (!ahead.err && ops)
				ops->close(ops->arg, handle);
		}
		break;
	case WIRE_FOLLOW:
		which = wire_get_u32(&ahead, WIRE_TEXTS - 1);
		pos = wire_get_num(&ahead) - 1;
		if (!ahead.err && ops)
			ops->follow(ops->arg, which, pos);
		break;
	default:
		return ahead.err;
	}
	*in = ahead;
	return ahead.err ? ahead.err : 1;
}

void wire_put_event(struct wire_buf *b, const struct wire_event *ev)
{
	wire_put_num(b, ev->kind);
	if (ev->kind == WIRE_EVENT_RING) {
		wire_put_num(b, ev->map_id);
		return;
	}
	wire_put_num(b, ev->which);
	wire_put_num(b, ev->pos);
	wire_put_num(b, ev->lost);
	wire_put_bytes(b, ev->text, ev->len);
}

int wire_get_event(const uint8_t *msg, size_t len, struct wire_event *ev)
{
	struct wire_in in = wire_in(msg, len);
	struct wire_event e = { .kind = wire_get_u32(&in, WIRE_EVENT_RING) };

	switch (e.kind) {
	case WIRE_EVENT_TEXT:
		e.which = wire_get_u32(&in, WIRE_TEXTS - 1);
		e.pos = wire_get_num(&in);
		e.lost = wire_get_num(&in);
		e.text = (const char *)in.p;
		e.len = (uint32_t)(in.end - in.p);
		break;
	case WIRE_EVENT_RING:
		e.map_id = wire_get_u32(&in, UINT32_MAX);
		if (in.p != in.end)
			return -EBADMSG;
		break;
	default:
		return -EBADMSG;
	}
	if (!in.err)
		*ev = e;
	return in.err;
}
