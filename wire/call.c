/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/bpf_call.h"

#include "include/err.h"
#include "include/hal.h"

#define PTR_TAG	  0x4250ull /* non-canonical on arm64 (with and without TBI) and x86-64 */
#define PTR_SHIFT 40
#define OFF_MASK  ((1ull << PTR_SHIFT) - 1)

uint64_t call_buf_ptr(uint32_t index)
{
	return PTR_TAG << 48 | ((uint64_t)index + 1) << PTR_SHIFT;
}

/* Index of the buffer that p names, or -1. */
static int buf_index(const struct bpf_call *call, uint64_t p)
{
	uint64_t nr = p >> PTR_SHIFT & 0xff;

	if (p >> 48 != PTR_TAG || !nr || nr > call->buf_cnt)
		return -1;
	return (int)nr - 1;
}

static bool in_range(uint64_t off, uint64_t len, uint64_t limit)
{
	return off <= limit && len <= limit - off;
}

const void *call_in(const struct bpf_call *call, uint64_t p, uint64_t len)
{
	const struct bpf_call_buf *b;
	uint64_t off = p & OFF_MASK;
	int i;

	if (!len)
		return call;
	i = buf_index(call, p);
	if (i < 0)
		return NULL;
	b = &call->bufs[i];
	return in_range(off, len, MAX(b->in_len, b->out_len)) ? b->data + off : NULL;
}

bool call_may_write(const struct bpf_call *call, uint64_t p, uint64_t len)
{
	int i = buf_index(call, p);

	return i >= 0 && call->bufs[i].out && in_range(p & OFF_MASK, len, call->bufs[i].cap);
}

void *call_out(struct bpf_call *call, uint64_t p, uint64_t len)
{
	struct bpf_call_buf *b;
	uint64_t off = p & OFF_MASK;
	uint32_t end;
	uint8_t *data;

	if (!len)
		return call;
	if (!call_may_write(call, p, len))
		return NULL;
	b = &call->bufs[buf_index(call, p)];
	end = (uint32_t)(off + len);
	if (end > b->room) {
		data = hal_alloc(end);
		if (!data)
			return NULL;
		if (b->room)
			__builtin_memcpy(data, b->data, b->room);
		hal_free(b->data);
		b->data = data;
		b->room = end;
	}
	b->out_len = MAX(b->out_len, end);
	return b->data + off;
}

void call_trim(struct bpf_call *call, uint64_t p, uint64_t len)
{
	uint64_t end = (p & OFF_MASK) + len;
	int i = buf_index(call, p);

	if (i >= 0 && end < call->bufs[i].out_len)
		call->bufs[i].out_len = (uint32_t)end;
}

const char *call_str(const struct bpf_call *call, uint64_t p, uint32_t max)
{
	int i = buf_index(call, p);
	uint64_t off = p & OFF_MASK;
	const struct bpf_call_buf *b;
	uint64_t len;

	if (i < 0)
		return NULL;
	b = &call->bufs[i];
	if (off >= b->in_len)
		return NULL;
	len = MIN((uint64_t)max, b->in_len - off);
	return len && __builtin_memchr(b->data + off, 0, (size_t)len) ? (const char *)b->data + off
								      : NULL;
}

int bpf_call_add_buf(struct bpf_call *call, __u64 *ptr, const void *in, uint32_t in_len,
		     uint32_t cap, bool out)
{
	struct bpf_call_buf b = { .room = in_len, .cap = cap, .in_len = in_len, .out = out };

	if (in_len > cap || call->buf_cnt >= BPF_CALL_BUFS_MAX)
		return -EINVAL;
	if (in_len) {
		b.data = hal_alloc(in_len);
		if (!b.data)
			return -ENOMEM;
		if (in)
			__builtin_memcpy(b.data, in, in_len);
	}
	*ptr = call_buf_ptr(call->buf_cnt);
	call->bufs[call->buf_cnt++] = b;
	return 0;
}

void bpf_call_free(struct bpf_call *call)
{
	uint32_t i;

	for (i = 0; i < call->buf_cnt; i++)
		hal_free(call->bufs[i].data);
	__builtin_memset(call->bufs, 0, sizeof(call->bufs));
	call->buf_cnt = 0;
}
