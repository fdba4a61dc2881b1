/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host's side of wire/marshal.h: requests, row by row. Replies are read in
 * wire/marshal_reply.c.
 */
#include "wire/marshal.h"

#include "wire/cmds.h"
#include "wire/map_shape.h"
#include "wire/request.h"

#define ATTR_COPY_MAX	4096	   /* Linux refuses an attr or info beyond a page */
#define UNBOUNDED_BYTES (1u << 20) /* more than any packet or context */

/* Length of a buffer, as the rows of bpf_cmds.def state it. */
struct length {
	enum {
		LEN_BYTES,
		LEN_STRING,
		LEN_PATH,
		LEN_KEYS,
		LEN_VALUES,
		LEN_CURSOR,
		LEN_INSNS,
		LEN_FDS,
		LEN_NAMES,
		LEN_ITER_INFO,
		LEN_INFO,
	} kind;
	int fd;
	uint64_t n;
};

static uint64_t mul_sat(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static void take_fd(struct request *r, uint32_t off, bool optional)
{
	int32_t fd;

	__builtin_memcpy(&fd, r->attr.bytes + off, 4);
	if (off + 4 > r->mc->attr_size || (optional && (fd == 0 || fd == -1)))
		return;
	request_translate_fd(r, -1, off, r->mc->sent.bytes + off);
}

/* ---- buffers of maps ------------------------------------------------------------------------- */

static void translate_elems(struct request *r, int buf, uint64_t step, uint32_t fd_at,
			    bool only_positive)
{
	uint8_t *data = request_data(r, buf);
	uint64_t at;

	for (at = fd_at; at + 4 <= r->mc->bufs[buf].in_len; at += step) {
		int32_t fd;

		__builtin_memcpy(&fd, data + at, 4);
		if (!only_positive || fd > 0)
			request_translate_fd(r, buf, (uint32_t)at, data + at);
	}
}

static int take_elems(struct request *r, uint32_t off, uint64_t user, unsigned int dir,
		      const struct length *l)
{
	struct bpf_obj_info map;
	uint64_t step, n = l->n, bytes;
	int buf;

	if (!request_map_info(r, l->fd, &map))
		return 0;
	if (l->kind == LEN_CURSOR)
		step = map_cursor_bytes(&map);
	else
		step = l->kind == LEN_KEYS ? map.key_size : map_value_bytes(&map, r->io->cpus);
	if (n > 1 && !(dir & CMD_IN)) {
		/* More than the map can hold comes to the same and costs no room. */
		n = MIN(n, (uint64_t)map.max_entries + 1);
		r->mc->sent.bpf.batch.count = (uint32_t)n;
	}
	bytes = mul_sat(step, n);
	buf = request_take_bytes(r, off, user, dir & CMD_IN ? bytes : 0, bytes);
	if (buf < 0 || !r->mc->bufs[buf].in_len)
		return buf;
	if (l->kind == LEN_KEYS && map_key_is_fd(&map))
		translate_elems(r, buf, step, 0, false);
	else if (l->kind == LEN_VALUES && map_value_is_fd(&map))
		translate_elems(r, buf, step, 0, false);
	else if (l->kind == LEN_VALUES && map_value_has_prog(&map))
		translate_elems(r, buf, step, 4, true);
	return buf;
}

/* ---- buffers of PROG_LOAD -------------------------------------------------------------------- */

static void translate_insns(struct request *r, int buf)
{
	uint32_t i, cnt = r->mc->bufs[buf].in_len / (uint32_t)sizeof(struct bpf_insn);
	struct bpf_insn insn[2];
	const uint32_t imm = offsetof(struct bpf_insn, imm);
	uint8_t *p = request_data(r, buf);

	for (i = 0; i < cnt; i++, p += sizeof(insn[0])) {
		__builtin_memcpy(insn, p, sizeof(insn[0]));
		if (insn[0].code == (BPF_JMP | BPF_CALL) &&
		    insn[0].src_reg == BPF_PSEUDO_KFUNC_CALL)
			r->max_index = MAX(r->max_index, (int64_t)insn[0].off);
		if (insn[0].code != (BPF_LD | BPF_IMM | BPF_DW) || i + 1 == cnt)
			continue;
		__builtin_memcpy(insn, p, sizeof(insn));
		if (insn[0].src_reg == BPF_PSEUDO_MAP_FD || insn[0].src_reg == BPF_PSEUDO_MAP_VALUE)
			request_translate_fd(r, buf, i * 8 + imm, p + imm);
		else if (insn[0].src_reg == BPF_PSEUDO_BTF_ID && insn[1].imm)
			request_translate_fd(r, buf, i * 8 + 8 + imm, p + 8 + imm);
		else if (insn[0].src_reg == BPF_PSEUDO_MAP_IDX ||
			 insn[0].src_reg == BPF_PSEUDO_MAP_IDX_VALUE)
			r->max_index = MAX(r->max_index, (int64_t)insn[0].imm);
		i++;
		p += sizeof(insn[0]);
	}
}

static int take_fds(struct request *r, uint32_t off, uint64_t user, uint64_t n)
{
	int buf;
	uint32_t i;

	n = mul_sat(n ? n : (uint64_t)(r->max_index + 1), 4);
	buf = request_take_bytes(r, off, user, n, n);
	for (i = 0; buf >= 0 && i < r->mc->bufs[buf].in_len; i += 4) {
		uint8_t *p = request_data(r, buf) + i;
		int32_t fd;

		__builtin_memcpy(&fd, p, 4);
		if (fd) /* libbpf leaves unused slots 0 */
			request_translate_fd(r, buf, i, p);
	}
	return buf;
}

/* ---- info structs ---------------------------------------------------------------------------- */

static int take_info_ptr(struct request *r, int parent, uint32_t off, struct length l)
{
	uint8_t *slot = request_data(r, parent) + off;
	uint64_t user;
	int buf;

	if (off + 8 > r->mc->bufs[parent].in_len)
		return 0;
	__builtin_memcpy(&user, slot, 8);
	if (!user)
		return 0;
	__builtin_memset(slot, 0, 8);
	buf = request_add_buf(r, parent, off, user, l.n, 0);
	if (buf >= 0)
		r->mc->bufs[buf].out = 1;
	return buf;
}

#define BYTES(bytes) ((struct length){ LEN_BYTES, 0, bytes })
#define ALWAYS	     true

static int take_info(struct request *r, uint32_t off, uint64_t user, const struct length *l)
{
	uint64_t in_len = MIN(l->n, (uint64_t)ATTR_COPY_MAX);
	int buf = request_take_bytes(r, off, user, in_len, l->n), err = 0;
	union bpf_any_info info = { 0 };
	struct bpf_obj_info obj;

	if (buf < 0 || !r->mc->bufs[buf].in_len || r->io->fd_info(r->io->arg, l->fd, &obj))
		return buf;
	__builtin_memcpy(&info, request_data(r, buf), (size_t)MIN(in_len, (uint64_t)sizeof(info)));

#define KIND_PROG 'p'
#define KIND_MAP  'm'
#define KIND_BTF  'b'
#define KIND_LINK 'l'
#define LINK_TYPE obj.type
#define I(f)	  info.f
#define CMD(nr, cmd, result, last, ...)
#define INFO_PTR(of, f, bytes, when)                                                               \
	if (err >= 0 && obj.kind == KIND_##of && (when))                                           \
		err = take_info_ptr(r, buf, offsetof(union bpf_any_info, f), bytes);
#include "wire/bpf_cmds.def"
#undef INFO_PTR
#undef CMD
	return err < 0 ? err : buf;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int take_iter_info(struct request *r, uint32_t off, uint64_t user, uint64_t n)
{
	int buf = request_take_bytes(r, off, user, n, n);
	int fd;

	if (buf < 0 || r->mc->bufs[buf].in_len < 4)
		return buf;
	/* The union's other members begin with a small order or tid: only a map's fd is one. */
	__builtin_memcpy(&fd, request_data(r, buf), 4);
	if (request_map_type(r, fd) != BPF_MAP_TYPE_UNSPEC)
		request_translate_fd(r, buf, 0, request_data(r, buf));
	return buf;
}

static int take_any(struct request *r, uint32_t off, uint64_t user, unsigned int dir,
		    const struct length *l)
{
	int buf;

	switch (l->kind) {
	case LEN_STRING:
		return request_take_string(r, off, user, (uint32_t)l->n);
	case LEN_PATH:
		return request_take_path(r, off, user);
	case LEN_KEYS:
	case LEN_VALUES:
	case LEN_CURSOR:
		return take_elems(r, off, user, dir, l);
	case LEN_FDS:
		return take_fds(r, off, user, l->n);
	case LEN_NAMES:
		return request_take_names(r, off, user, l->n);
	case LEN_ITER_INFO:
		return take_iter_info(r, off, user, l->n);
	case LEN_INFO:
		return take_info(r, off, user, l);
	case LEN_INSNS:
		buf = request_take_bytes(r, off, user, mul_sat(l->n, sizeof(struct bpf_insn)),
					 mul_sat(l->n, sizeof(struct bpf_insn)));
		if (buf >= 0)
			translate_insns(r, buf);
		return buf;
	case LEN_BYTES:
		break;
	}
	return request_take_bytes(r, off, user, dir & CMD_IN ? l->n : 0, l->n);
}

/* The pointer at off of attr. 0 or -errno. */
static int take_ptr(struct request *r, uint32_t off, unsigned int dir, struct length l)
{
	uint32_t first = r->mc->buf_cnt;
	uint64_t user;
	int err;

	__builtin_memcpy(&user, r->attr.bytes + off, 8);
	if (off + 8 > r->mc->attr_size || !user)
		return 0;
	__builtin_memset(r->mc->sent.bytes + off, 0, 8);
	err = take_any(r, off, user, dir, &l);
	if (err < 0)
		return err;
	if (r->mc->buf_cnt > first && dir & CMD_OUT)
		r->mc->bufs[first].out = 1;
	return 0;
}

/* Attach types whose target_fd is an interface number, which means the same on both ends. */
static bool by_ifindex(uint32_t attach_type)
{
	return attach_type == BPF_XDP || attach_type == BPF_TCX_INGRESS ||
	       attach_type == BPF_TCX_EGRESS || attach_type == BPF_NETKIT_PRIMARY ||
	       attach_type == BPF_NETKIT_PEER;
}

#define A(f)		 (a->f)
#define OFF(f)		 offsetof(union bpf_call_attr, f)
#define FD_NEEDED	 false
#define FD_OPTIONAL	 true
#define MAP_TYPE(f)	 request_map_type(r, (int)A(f))
#define BY_IFINDEX(type) by_ifindex(type)
#define LINK_FOR(type)	 (A(bpf.link_create.attach_type) == (type))
#define STRING(max)	 ((struct length){ LEN_STRING, 0, max })
#define PATH		 ((struct length){ LEN_PATH, 0, 0 })
#define KEY(f)		 ((struct length){ LEN_KEYS, (int)A(f), 1 })
#define VALUE(f)	 ((struct length){ LEN_VALUES, (int)A(f), 1 })
#define KEYS(f, count)	 ((struct length){ LEN_KEYS, (int)A(f), count })
#define VALUES(f, count) ((struct length){ LEN_VALUES, (int)A(f), count })
#define CURSOR(f)	 ((struct length){ LEN_CURSOR, (int)A(f), 1 })
#define INSNS(count)	 ((struct length){ LEN_INSNS, 0, count })
#define FDS(count)	 ((struct length){ LEN_FDS, 0, count })
#define NAMES(count)	 ((struct length){ LEN_NAMES, 0, count })
#define HINT(bytes)	 BYTES((bytes) ? (bytes) : UNBOUNDED_BYTES)
#define ITER_INFO(bytes) ((struct length){ LEN_ITER_INFO, 0, bytes })
#define INFO(f, bytes)	 ((struct length){ LEN_INFO, (int)A(f), bytes })

static int take_fields(struct request *r)
{
	const union bpf_call_attr *a = &r->attr;
	int err = 0;

	switch (r->mc->cmd) {
#define FD(f, how, when)                                                                           \
	if (when)                                                                                  \
		take_fd(r, OFF(f), FD_##how);
#define PTR(f, dir, length, when)                                                                  \
	if (!err && (when))                                                                        \
		err = take_ptr(r, OFF(f), CMD_##dir, length);
#define SCALAR(f)
#define INFO_PTR(kind, f, length, when)
#define CMD(nr, cmd, result, last, ...)                                                            \
	case nr:                                                                                   \
		__VA_ARGS__                                                                        \
		break;
#include "wire/bpf_cmds.def"
	}
	return err;
}

/* Linux's bpf_check_uarg_tail_zero and copy: what we do not know must be zero. */
static int fetch_attr(struct request *r, uint64_t uattr, uint32_t size)
{
	uint8_t tail[256];
	uint32_t at, i;

	if (size > ATTR_COPY_MAX)
		return -E2BIG;
	for (at = BPF_CALL_ATTR_MAX; at < size; at += sizeof(tail)) {
		uint32_t n = MIN(size - at, (uint32_t)sizeof(tail));

		if (r->io->peek(r->io->arg, tail, uattr + at, n))
			return -EFAULT;
		for (i = 0; i < n; i++) {
			if (tail[i])
				return -E2BIG;
		}
	}
	size = MIN(size, (uint32_t)BPF_CALL_ATTR_MAX);
	if (size && r->io->peek(r->io->arg, &r->attr, uattr, size))
		return -EFAULT;
	r->mc->sent = r->attr;
	r->mc->attr_size = size;
	return 0;
}

static void put_request(struct request *r, const struct cmd_row *row, struct wire_buf *out)
{
	const struct marshal_call *mc = r->mc;
	unsigned int dir;
	uint32_t i;

	wire_put_num(out, mc->cmd);
	wire_put_num(out, mc->attr_size);
	wire_put_sparse(out, &mc->sent, mc->attr_size);
	wire_put_num(out, mc->buf_cnt);
	for (i = 0; i < mc->buf_cnt; i++) {
		dir = mc->bufs[i].parent < 0 ? cmd_ptr_dir(row, mc->bufs[i].off) : CMD_OUT;
		wire_put_num(out, (uint64_t)(mc->bufs[i].parent + 1) * 64 + mc->bufs[i].off / 8);
		if (dir & CMD_IN)
			wire_put_num(out, mc->bufs[i].in_len);
		if (dir & CMD_OUT)
			wire_put_num(out, mc->bufs[i].cap);
		wire_put_sparse(out, r->data.data + r->at[i], mc->bufs[i].in_len);
	}
}

int marshal_request(struct marshal_call *mc, uint32_t cmd, uint64_t uattr, uint32_t size,
		    const struct marshal_io *io, struct wire_buf *out)
{
	const struct cmd_row *row = cmd_row(cmd);
	struct request r = { .io = io, .mc = mc, .max_index = -1 };
	size_t start = out->len;
	int err;

	__builtin_memset(mc, 0, sizeof(*mc));
	mc->cmd = cmd;
	mc->uattr = uattr;
	err = fetch_attr(&r, uattr, size);
	if (!err && !row)
		err = -EINVAL;
	if (!err && row->result == CMD_LOCAL)
		err = -ENOTSUPP;
	if (!err)
		err = take_fields(&r);
	if (!err) {
		put_request(&r, row, out);
		err = out->err;
	}
	if (err)
		out->len = start;
	wire_buf_free(&r.data);
	return err;
}
