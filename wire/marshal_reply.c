/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's side of wire/marshal.h: replies. Read whole and checked, then written to the caller.
 */
#include "wire/marshal.h"

#include "include/err.h"
#include "wire/cmds.h"

struct reply {
	int64_t ret;
	struct bpf_obj_info obj;
	uint8_t scalars[BPF_CALL_ATTR_MAX];
	struct wire_buf data; /* returned buffers, one after another */
	struct {
		uint32_t index, len;
		size_t at;
	} bufs[BPF_CALL_BUFS_MAX];
	uint32_t buf_cnt;
};

static void get_obj(struct wire_in *in, struct bpf_obj_info *o)
{
	uint32_t words[7];

	__builtin_memset(o, 0, sizeof(*o));
	o->kind = (uint8_t)wire_get_u32(in, UINT8_MAX);
	if (!o->kind || in->err)
		return;
	wire_get_sparse(in, words, sizeof(words));
	o->handle = words[0];
	o->type = words[1];
	o->id = words[2];
	o->key_size = words[3];
	o->value_size = words[4];
	o->max_entries = words[5];
	o->map_flags = words[6];
}

static int get_buf(const struct marshal_call *mc, struct wire_in *in, struct reply *r)
{
	uint32_t index = wire_get_u32(in, BPF_CALL_BUFS_MAX), len;
	uint8_t *data;

	if (in->err || index >= mc->buf_cnt || !mc->bufs[index].out)
		return -EBADMSG;
	len = wire_get_u32(in, mc->bufs[index].cap);
	if (in->err || !len)
		return -EBADMSG;
	r->bufs[r->buf_cnt].index = index;
	r->bufs[r->buf_cnt].len = len;
	r->bufs[r->buf_cnt++].at = r->data.len;
	data = wire_buf_grow(&r->data, len);
	if (!data)
		return -ENOMEM;
	wire_get_sparse(in, data, len);
	return in->err;
}

static int get_reply(const struct marshal_call *mc, const struct cmd_row *row, struct wire_in *in,
		     struct reply *r)
{
	uint32_t n;
	int err = 0;

	r->ret = wire_get_snum(in);
	if (in->err)
		return -EBADMSG;
	if (in->p == in->end && r->ret < 0) {
		/* Refused before it was looked at: the results stand as they were sent. */
		const struct cmd_field *f;
		uint8_t *s = r->scalars;

		for (f = row->fields; f->kind; f++) {
			if (f->kind == CMD_SCALAR) {
				__builtin_memcpy(s, mc->sent.bytes + f->off, f->size_bytes);
				s += f->size_bytes;
			}
		}
		return 0;
	}
	wire_get_sparse(in, r->scalars, cmd_scalar_bytes(row));
	get_obj(in, &r->obj);
	n = wire_get_u32(in, mc->buf_cnt);
	while (n-- && !err && !in->err)
		err = get_buf(mc, in, r);
	if (!err && (in->err || in->p != in->end))
		err = -EBADMSG;
	return err;
}

/* Fields that the board changed, and no others: they may lie in memory that cannot be written. */
static int write_scalars(const struct marshal_call *mc, const struct cmd_row *row,
			 const struct marshal_io *io, const struct reply *r)
{
	const uint8_t *s = r->scalars;
	const struct cmd_field *f;
	int err = 0;

	for (f = row->fields; f->kind; f++) {
		if (f->kind != CMD_SCALAR)
			continue;
		if ((uint32_t)f->off + f->size_bytes <= mc->attr_size &&
		    __builtin_memcmp(s, mc->sent.bytes + f->off, f->size_bytes) &&
		    io->poke(io->arg, mc->uattr + f->off, s, f->size_bytes))
			err = -EFAULT;
		s += f->size_bytes;
	}
	return err;
}

/* Where the board left a pointer in a returned info struct, it is the caller's own again. */
static void restore_pointers(const struct marshal_call *mc, uint32_t index, uint8_t *data,
			     uint32_t len)
{
	uint64_t slot;
	uint32_t i;

	for (i = 0; i < mc->buf_cnt; i++) {
		if (mc->bufs[i].parent != (int)index || mc->bufs[i].off + 8u > len)
			continue;
		__builtin_memcpy(&slot, data + mc->bufs[i].off, 8);
		if (slot)
			__builtin_memcpy(data + mc->bufs[i].off, &mc->bufs[i].user, 8);
	}
}

int marshal_reply(const struct marshal_call *mc, const uint8_t *msg, size_t len,
		  const struct marshal_io *io, int64_t *ret, struct bpf_obj_info *obj)
{
	const struct cmd_row *row = cmd_row(mc->cmd);
	struct wire_in in = wire_in(msg, len);
	struct reply r = { 0 };
	uint32_t i;
	int err = row ? get_reply(mc, row, &in, &r) : -EBADMSG;

	if (err) {
		wire_buf_free(&r.data);
		return err;
	}
	err = write_scalars(mc, row, io, &r);
	for (i = 0; i < r.buf_cnt; i++) {
		uint32_t index = r.bufs[i].index;
		uint8_t *data = r.data.data + r.bufs[i].at;

		restore_pointers(mc, index, data, r.bufs[i].len);
		if (io->poke(io->arg, mc->bufs[index].user, data, r.bufs[i].len))
			err = -EFAULT;
	}
	wire_buf_free(&r.data);
	*obj = r.obj;
	*ret = r.ret;
	return err;
}

int marshal_reply_peek(uint32_t cmd, const uint8_t *msg, size_t len, int64_t *ret,
		       struct bpf_obj_info *obj)
{
	const struct cmd_row *row = cmd_row(cmd);
	struct wire_in in = wire_in(msg, len);
	uint8_t scalars[BPF_CALL_ATTR_MAX];
	struct bpf_obj_info got = { 0 };
	int64_t result = wire_get_snum(&in);

	if (!row || in.err)
		return -EBADMSG;
	if (in.p != in.end || result >= 0) {
		wire_get_sparse(&in, scalars, cmd_scalar_bytes(row));
		get_obj(&in, &got);
	}
	if (in.err)
		return -EBADMSG;
	*ret = result;
	*obj = got;
	return 0;
}
