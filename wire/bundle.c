/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/bundle.h"

#include "include/hal.h"
#include "lib/crc32c.h"
#include "wire/cmds.h"
#include "wire/marshal.h"

#define CRC_BYTES 4

static const uint16_t allowed[] = {
	BPF_MAP_CREATE,	  BPF_MAP_UPDATE_ELEM,	   BPF_MAP_UPDATE_BATCH, BPF_MAP_DELETE_ELEM,
	BPF_MAP_FREEZE,	  BPF_PROG_LOAD,	   BPF_PROG_BIND_MAP,	 BPF_BTF_LOAD,
	BPF_LINK_CREATE,  BPF_RAW_TRACEPOINT_OPEN, BPF_OBJ_PIN,		 BOARD_MEM_WRITE,
	BOARD_PATH_MKDIR,
};

bool bundle_allows(uint32_t cmd)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(allowed); i++) {
		if (allowed[i] == cmd)
			return true;
	}
	return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

static uint32_t get_u32(const uint8_t *p)
{
	uint32_t v;

	__builtin_memcpy(&v, p, 4);
	return v;
}

int bundle_open(const void *image, size_t len, struct wire_in *in, uint32_t *calls)
{
	const uint8_t *p = image;
	uint32_t bytes;

	if (len < BUNDLE_HEADER || __builtin_memcmp(p, BUNDLE_MAGIC, 8))
		return -EINVAL;
	if (get_u32(p + 8) != BUNDLE_VERSION)
		return -EPROTONOSUPPORT;
	bytes = get_u32(p + 12);
	if (bytes > len || bytes < BUNDLE_HEADER + CRC_BYTES)
		return -EBADMSG;
	if (crc32c(0, p, bytes - CRC_BYTES) != get_u32(p + bytes - CRC_BYTES))
		return -EBADMSG;
	*calls = get_u32(p + 16);
	*in = wire_in(p + BUNDLE_HEADER, bytes - BUNDLE_HEADER - CRC_BYTES);
	return 0;
}

int bundle_next(struct wire_in *in, struct bundle_call *call)
{
	struct bundle_ref ref;
	struct bundle_call look;
	uint32_t i;

	call->flags = wire_get_u32(in, BUNDLE_DROP);
	call->nr_refs = wire_get_u32(in, UINT32_MAX);
	call->refs = *in;
	look = *call;
	for (i = 0; i < call->nr_refs; i++) {
		if (bundle_next_ref(&look, &ref))
			return -EBADMSG;
	}
	*in = look.refs;
	call->len = wire_get_u32(in, UINT32_MAX);
	call->request = wire_get_bytes(in, call->len);
	return in->err;
}

int bundle_next_ref(struct bundle_call *call, struct bundle_ref *ref)
{
	ref->buf = (int)wire_get_u32(&call->refs, BPF_CALL_BUFS_MAX) - 1;
	ref->off = wire_get_u32(&call->refs, UINT32_MAX);
	ref->call = wire_get_u32(&call->refs, UINT32_MAX);
	return call->refs.err;
}

/* ---- writing --------------------------------------------------------------------------------- */

struct bundle_record {
	uint8_t *request;
	size_t len;
	struct bundle_ref *refs;
	uint32_t nr_refs;
	uint32_t number; /* in the bundle */
	bool makes;	 /* a handle */
	bool closed, live;
	bool stays; /* leaves something behind without a handle */
};

static int make_room(struct bundle_writer *w)
{
	uint32_t room = w->room ? w->room * 2 : 16;
	struct bundle_record *records;

	if (w->nr < w->room)
		return 0;
	records = hal_alloc(room * sizeof(*records));
	if (!records)
		return -ENOMEM;
	if (w->nr)
		__builtin_memcpy(records, w->records, w->nr * sizeof(*records));
	hal_free(w->records);
	w->records = records;
	w->room = room;
	return 0;
}

uint8_t *bundle_ref_slot(struct bpf_call *call, const struct bundle_ref *ref)
{
	const struct bpf_call_buf *b;

	if (ref->buf < 0)
		return ref->off <= call->attr_size && call->attr_size - ref->off >= 4
			       ? call->attr.bytes + ref->off
			       : NULL;
	if ((uint32_t)ref->buf >= call->buf_cnt)
		return NULL;
	b = &call->bufs[ref->buf];
	return ref->off <= b->in_len && b->in_len - ref->off >= 4 ? b->data + ref->off : NULL;
}

/* The request again, with zeros where handles stood: bundles of the same calls are equal. */
static int put_record(struct bundle_record *r, const uint8_t *request, size_t len,
		      const struct bundle_ref *refs, uint32_t nr_refs)
{
	struct wire_buf out = { 0 };
	struct bpf_call call;
	uint32_t i;
	int err = unmarshal_request(request, len, &call);

	if (err)
		return err;
	if (!bundle_allows(call.cmd))
		err = -EOPNOTSUPP;
	for (i = 0; i < nr_refs && !err; i++) {
		uint8_t *slot = bundle_ref_slot(&call, &refs[i]);

		if (slot)
			__builtin_memset(slot, 0, 4);
		else
			err = -EINVAL;
	}
	if (!err)
		err = marshal_call_request(&call, &out);
	if (!err) {
		r->makes = cmd_row(call.cmd)->result == CMD_HANDLE;
		r->stays = call.cmd == BPF_OBJ_PIN || call.cmd == BOARD_PATH_MKDIR;
		r->request = out.data;
		r->len = out.len;
	} else {
		wire_buf_free(&out);
	}
	bpf_call_free(&call);
	return err;
}

int bundle_add(struct bundle_writer *w, const uint8_t *request, size_t len,
	       const struct bundle_ref *refs, uint32_t nr_refs)
{
	struct bundle_record r = { .nr_refs = nr_refs };
	int err = make_room(w);
	uint32_t i;

	for (i = 0; i < nr_refs && !err; i++) {
		if (refs[i].call >= w->nr || !w->records[refs[i].call].makes)
			err = -EINVAL;
	}
	if (err)
		return err;
	if (nr_refs) {
		r.refs = hal_alloc(nr_refs * sizeof(*refs));
		if (!r.refs)
			return -ENOMEM;
		__builtin_memcpy(r.refs, refs, nr_refs * sizeof(*refs));
	}
	err = put_record(&r, request, len, refs, nr_refs);
	if (err) {
		hal_free(r.refs);
		return err;
	}
	w->records[w->nr] = r;
	return (int)w->nr++;
}

void bundle_closed(struct bundle_writer *w, uint32_t call)
{
	if (call < w->nr)
		w->records[call].closed = true;
}

/* Does the record change the object of a live call (a map's element, a program's map)? */
static bool serves_live(const struct bundle_writer *w, const struct bundle_record *r)
{
	uint32_t i;

	for (i = 0; i < r->nr_refs; i++) {
		if (r->refs[i].buf < 0 && w->records[r->refs[i].call].live)
			return true;
	}
	return false;
}

/* Record i, and what it refers to: those are earlier ones, so one walk back finds them all. */
static void make_live(const struct bundle_writer *w, uint32_t i)
{
	uint32_t k;

	w->records[i].live = true;
	for (;; i--) {
		const struct bundle_record *r = &w->records[i];

		for (k = 0; r->live && k < r->nr_refs; k++)
			w->records[r->refs[k].call].live = true;
		if (!i)
			return;
	}
}

/* What must be in the bundle: objects that stay, all that they need, all that fills them. */
static void find_live(const struct bundle_writer *w)
{
	bool more = true;
	uint32_t i;

	for (i = 0; i < w->nr; i++)
		w->records[i].live = false;
	while (more) {
		more = false;
		for (i = w->nr; i-- > 0;) {
			struct bundle_record *r = &w->records[i];

			if (r->live || !(r->stays || (r->makes ? !r->closed : serves_live(w, r))))
				continue;
			more = true;
			make_live(w, i);
		}
	}
}

static void put_call(const struct bundle_writer *w, const struct bundle_record *r,
		     struct wire_buf *out)
{
	uint32_t i;

	wire_put_num(out, r->makes && r->closed ? BUNDLE_DROP : 0);
	wire_put_num(out, r->nr_refs);
	for (i = 0; i < r->nr_refs; i++) {
		wire_put_num(out, (uint64_t)(r->refs[i].buf + 1));
		wire_put_num(out, r->refs[i].off);
		wire_put_num(out, w->records[r->refs[i].call].number);
	}
	wire_put_num(out, r->len);
	wire_put_bytes(out, r->request, r->len);
}

int bundle_finish(const struct bundle_writer *w, struct wire_buf *out, uint32_t *kept)
{
	size_t start = out->len;
	uint32_t header[3] = { BUNDLE_VERSION, 0, 0 }, crc, i, nr = 0;

	find_live(w);
	wire_put_bytes(out, BUNDLE_MAGIC, 8);
	wire_put_bytes(out, header, sizeof(header));
	for (i = 0; i < w->nr; i++) {
		if (!w->records[i].live)
			continue;
		w->records[i].number = nr++;
		put_call(w, &w->records[i], out);
	}
	if (!out->err) {
		header[1] = (uint32_t)(out->len - start + CRC_BYTES);
		header[2] = nr;
		__builtin_memcpy(out->data + start + 8, header, sizeof(header));
		crc = crc32c(0, out->data + start, out->len - start);
		wire_put_bytes(out, &crc, sizeof(crc));
	}
	if (out->err) {
		out->len = start;
		return out->err;
	}
	*kept = nr;
	return 0;
}

void bundle_writer_free(struct bundle_writer *w)
{
	uint32_t i;

	for (i = 0; i < w->nr; i++) {
		hal_free(w->records[i].request);
		hal_free(w->records[i].refs);
	}
	hal_free(w->records);
	*w = (struct bundle_writer){ 0 };
}
