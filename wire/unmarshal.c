/* SPDX-License-Identifier: BSD-2-Clause */
/* The board's side of wire/marshal.h. */
#include "wire/marshal.h"

#include "include/hal.h"
#include "wire/cmds.h"
#include "wire/link.h"

/* The place of a buffer's pointer, checked against the rows: its slot, or NULL. */
static __u64 *pointer_slot(struct bpf_call *call, const struct cmd_row *row, uint32_t place,
			   unsigned int *dir)
{
	uint32_t parent = place / 64, off = place % 64 * 8;
	const struct bpf_call_buf *b;
	__u64 *slot;

	if (!parent) {
		*dir = cmd_ptr_dir(row, off);
		slot = (__u64 *)(void *)(call->attr.bytes + off);
		if (!*dir || off + 8 > call->attr_size)
			return NULL;
	} else {
		*dir = CMD_OUT;
		if (row->cmd != BPF_OBJ_GET_INFO_BY_FD || parent > call->buf_cnt ||
		    call->attr.bpf.info.info != call_buf_ptr(parent - 1) || !cmd_info_ptr(off))
			return NULL;
		b = &call->bufs[parent - 1];
		slot = (__u64 *)(void *)(b->data + off);
		if (off + 8 > b->in_len)
			return NULL;
	}
	return *slot ? NULL : slot;
}

static int get_buf(struct bpf_call *call, const struct cmd_row *row, struct wire_in *in,
		   size_t *budget)
{
	uint32_t place = wire_get_u32(in, (BPF_CALL_BUFS_MAX + 1) * 64), cap = 0, in_len = 0;
	unsigned int dir;
	__u64 *slot = in->err ? NULL : pointer_slot(call, row, place, &dir);
	struct bpf_call_buf *b;
	int err;

	if (!slot)
		return -EBADMSG;
	if (dir & CMD_IN)
		in_len = wire_get_u32(in, (uint32_t)*budget);
	if (dir & CMD_OUT)
		cap = wire_get_u32(in, UINT32_MAX);
	else
		cap = in_len;
	if (in->err || in_len > cap)
		return -EBADMSG;
	*budget -= in_len;
	err = bpf_call_add_buf(call, slot, NULL, in_len, cap, dir & CMD_OUT);
	if (err)
		return err;
	b = &call->bufs[call->buf_cnt - 1];
	wire_get_sparse(in, b->data, in_len);
	return in->err;
}

int unmarshal_request(const uint8_t *msg, size_t len, struct bpf_call *call)
{
	struct wire_in in = wire_in(msg, len);
	size_t budget = LINK_MSG_MAX;
	const struct cmd_row *row;
	uint32_t bufs;
	int err = 0;

	__builtin_memset(call, 0, sizeof(*call));
	call->cmd = wire_get_u32(&in, UINT32_MAX);
	row = cmd_row(call->cmd);
	call->attr_size = wire_get_u32(&in, BPF_CALL_ATTR_MAX);
	wire_get_sparse(&in, &call->attr, call->attr_size);
	bufs = wire_get_u32(&in, BPF_CALL_BUFS_MAX);
	if (in.err || !row)
		return -EBADMSG;
	while (bufs-- && !err)
		err = get_buf(call, row, &in, &budget);
	if (!err && in.p != in.end)
		err = -EBADMSG;
	if (err)
		bpf_call_free(call);
	return err;
}

static void put_obj(struct wire_buf *out, const struct bpf_obj_info *o)
{
	const uint32_t words[] = { o->handle,	  o->type,	  o->id,       o->key_size,
				   o->value_size, o->max_entries, o->map_flags };

	wire_put_num(out, o->kind);
	if (o->kind)
		wire_put_sparse(out, words, sizeof(words));
}

int unmarshal_reply(const struct bpf_call *call, struct wire_buf *out)
{
	const struct cmd_row *row = cmd_row(call->cmd);
	uint8_t scalars[BPF_CALL_ATTR_MAX];
	const struct cmd_field *f;
	uint32_t i, n = 0, bufs = 0;

	wire_put_snum(out, call->ret);
	if (!row)
		return out->err;
	for (f = row->fields; f->kind; f++) {
		if (f->kind == CMD_SCALAR) {
			__builtin_memcpy(scalars + n, call->attr.bytes + f->off, f->size_bytes);
			n += f->size_bytes;
		}
	}
	wire_put_sparse(out, scalars, n);
	put_obj(out, &call->obj);
	for (i = 0; i < call->buf_cnt; i++)
		bufs += call->bufs[i].out && call->bufs[i].out_len;
	wire_put_num(out, bufs);
	for (i = 0; i < call->buf_cnt; i++) {
		const struct bpf_call_buf *b = &call->bufs[i];

		if (!b->out || !b->out_len)
			continue;
		wire_put_num(out, i);
		wire_put_num(out, b->out_len);
		wire_put_sparse(out, b->data, b->out_len);
	}
	return out->err;
}
