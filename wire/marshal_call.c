/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/marshal.h"

#include "wire/cmds.h"

/* Offset in bytes of the pointer that names buffer i, or -1. */
static int pointer_at(const uint8_t *bytes, uint32_t len, uint32_t i)
{
	uint64_t p;
	uint32_t off;

	for (off = 0; off + 8 <= len; off += 8) {
		__builtin_memcpy(&p, bytes + off, 8);
		if (p == call_buf_ptr(i))
			return (int)off;
	}
	return -1;
}

/* Where buffer i's pointer lies, as a request states it, or -1. */
static int place_of(const struct bpf_call *call, uint32_t i)
{
	int off = pointer_at(call->attr.bytes, call->attr_size, i);
	uint32_t parent;

	if (off >= 0)
		return off / 8;
	for (parent = 0; parent < i; parent++) {
		const struct bpf_call_buf *b = &call->bufs[parent];

		if (call->attr.bpf.info.info == call_buf_ptr(parent))
			off = pointer_at(b->data, MIN(b->in_len, (uint32_t)512), i);
		if (off >= 0)
			return (int)(parent + 1) * 64 + off / 8;
	}
	return -1;
}

static bool is_name(const struct bpf_call *call, uint64_t p)
{
	uint32_t i;

	for (i = 0; i < call->buf_cnt; i++) {
		if (p == call_buf_ptr(i))
			return true;
	}
	return false;
}

/* Bytes with the names of buffers taken out. */
static void put_without_names(const struct bpf_call *call, const uint8_t *bytes, uint32_t len,
			      struct wire_buf *out)
{
	struct wire_buf copy = { 0 };
	uint32_t off;
	uint64_t p;

	wire_put_bytes(&copy, bytes, len);
	if (copy.err)
		out->err = copy.err;
	for (off = 0; !copy.err && off + 8 <= len; off += 8) {
		__builtin_memcpy(&p, copy.data + off, 8);
		if (is_name(call, p))
			__builtin_memset(copy.data + off, 0, 8);
	}
	wire_put_sparse(out, copy.data, out->err ? 0 : len);
	wire_buf_free(&copy);
}

int marshal_call_request(const struct bpf_call *call, struct wire_buf *out)
{
	const struct cmd_row *row = cmd_row(call->cmd);
	size_t start = out->len;
	unsigned int dir;
	uint32_t i;
	int place;

	if (!row)
		return -EINVAL;
	wire_put_num(out, call->cmd);
	wire_put_num(out, call->attr_size);
	put_without_names(call, call->attr.bytes, call->attr_size, out);
	wire_put_num(out, call->buf_cnt);
	for (i = 0; i < call->buf_cnt; i++) {
		const struct bpf_call_buf *b = &call->bufs[i];

		place = place_of(call, i);
		if (place < 0) {
			out->len = start;
			return -EINVAL;
		}
		dir = place < 64 ? cmd_ptr_dir(row, (uint32_t)place * 8) : CMD_OUT;
		wire_put_num(out, (uint64_t)place);
		if (dir & CMD_IN)
			wire_put_num(out, b->in_len);
		if (dir & CMD_OUT)
			wire_put_num(out, b->cap);
		if (row->cmd == BPF_OBJ_GET_INFO_BY_FD)
			put_without_names(call, b->data, b->in_len, out);
		else
			wire_put_sparse(out, b->data, b->in_len);
	}
	if (out->err)
		out->len = start;
	return out->err;
}
