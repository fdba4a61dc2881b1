/* SPDX-License-Identifier: BSD-2-Clause */
/* Ring buffers, dynamic pointers, perf event arrays. */
#include <string.h>

#include "bpf/ctx.h"
#include "bpf/dynptr.h"
#include "bpf/helpers.h"
#include "bpf/packet.h"
#include "bpf/prog.h"

HELPER_DEF(ringbuf_output)
{
	struct bpf_map *map = helper_map(r1);

	return helper_ret(map->ops->ringbuf_output(map, helper_ptr(r2), r3, r4));
}

/* A record that the run gives back if it is aborted; NULL. */
static void *reserve(struct bpf_map *map, uint64_t size, uint64_t flags)
{
	void *record = map->ops->ringbuf_reserve(map, size, flags);

	if (record && !helper_hold(hal_run_current(), RUN_HELD_RINGBUF, map, record)) {
		bpf_ringbuf_commit(record, BPF_RB_NO_WAKEUP, true);
		return NULL;
	}
	return record;
}

static void commit(void *record, uint64_t flags, bool discard)
{
	if (helper_unhold(hal_run_current(), RUN_HELD_RINGBUF, record))
		bpf_ringbuf_commit(record, flags, discard);
}

HELPER_DEF(ringbuf_reserve)
{
	return (uintptr_t)reserve(helper_map(r1), r2, r3);
}

HELPER_DEF(ringbuf_submit)
{
	commit(helper_ptr(r1), r2, false);
	return 0;
}

HELPER_DEF(ringbuf_discard)
{
	commit(helper_ptr(r1), r2, true);
	return 0;
}

HELPER_DEF(ringbuf_query)
{
	struct bpf_map *map = helper_map(r1);

	return map->ops->ringbuf_query(map, r2);
}

/* ---- dynamic pointers ------------------------------------------------------------------------ */

static struct bpf_dynptr_kern *helper_dynptr(uint64_t r)
{
	return helper_ptr(r);
}

HELPER_DEF(dynptr_from_mem)
{
	struct bpf_dynptr_kern *d = helper_dynptr(r4);

	dynptr_set_null(d);
	if ((uint32_t)r2 > DYNPTR_SIZE_MAX)
		return helper_ret(-E2BIG);
	if (r3)
		return helper_ret(-EINVAL);
	dynptr_init(d, helper_ptr(r1), DYNPTR_LOCAL, 0, (uint32_t)r2);
	return 0;
}

HELPER_DEF(ringbuf_reserve_dynptr)
{
	struct bpf_dynptr_kern *d = helper_dynptr(r4);
	void *record;

	dynptr_set_null(d);
	if (r3)
		return helper_ret(-EINVAL);
	if ((uint32_t)r2 > DYNPTR_SIZE_MAX)
		return helper_ret(-E2BIG);
	record = reserve(helper_map(r1), (uint32_t)r2, 0);
	if (!record)
		return helper_ret(-EINVAL);
	dynptr_init(d, record, DYNPTR_RINGBUF, 0, (uint32_t)r2);
	return 0;
}

static void dynptr_commit(struct bpf_dynptr_kern *d, uint64_t flags, bool discard)
{
	if (d->data)
		commit(d->data, flags, discard);
	dynptr_set_null(d);
}

HELPER_DEF(ringbuf_submit_dynptr)
{
	dynptr_commit(helper_dynptr(r1), r2, false);
	return 0;
}

HELPER_DEF(ringbuf_discard_dynptr)
{
	dynptr_commit(helper_dynptr(r1), r2, true);
	return 0;
}

static bool dynptr_holds(const struct bpf_dynptr_kern *d, uint32_t off, uint32_t len)
{
	uint32_t size = dynptr_size(d);

	return len <= size && off <= size - len;
}

static uint8_t *dynptr_at(const struct bpf_dynptr_kern *d, uint32_t off)
{
	return (uint8_t *)d->data + d->offset + off;
}

HELPER_DEF(dynptr_read)
{
	const struct bpf_dynptr_kern *d = helper_dynptr(r3);

	if (!d->data || r5)
		return helper_ret(-EINVAL);
	if (!dynptr_holds(d, (uint32_t)r4, (uint32_t)r2))
		return helper_ret(-E2BIG);
	memmove(helper_ptr(r1), dynptr_at(d, (uint32_t)r4), (uint32_t)r2);
	return 0;
}

HELPER_DEF(dynptr_write)
{
	const struct bpf_dynptr_kern *d = helper_dynptr(r1);

	if (!d->data || dynptr_is_rdonly(d))
		return helper_ret(-EINVAL);
	if (!dynptr_holds(d, (uint32_t)r2, (uint32_t)r4))
		return helper_ret(-E2BIG);
	if (r5)
		return helper_ret(-EINVAL);
	memmove(dynptr_at(d, (uint32_t)r2), helper_ptr(r3), (uint32_t)r4);
	return 0;
}

HELPER_DEF(dynptr_data)
{
	const struct bpf_dynptr_kern *d = helper_dynptr(r1);

	if (!d->data || dynptr_is_rdonly(d) || !dynptr_holds(d, (uint32_t)r2, (uint32_t)r3))
		return 0;
	return (uintptr_t)dynptr_at(d, (uint32_t)r2);
}

/* ---- perf event arrays ----------------------------------------------------------------------- */

/* Bytes of the packet that go with the sample, asked for in the upper half of the flags. */
static int sample_packet(uint64_t ctx, uint64_t *flags, const uint8_t **more, uint32_t *more_bytes)
{
	const struct run_ctx *rc = hal_run_current();
	const struct prog_type *type = prog_type_get(rc->prog->type);
	bool packet = type && (type->ctx == CTX_SKB || type->ctx == CTX_XDP);
	const struct ctx_pkt *pkt = helper_ptr(ctx);

	*more = NULL;
	*more_bytes = 0;
	if (*flags & ~(BPF_F_INDEX_MASK | (packet ? BPF_F_CTXLEN_MASK : 0)))
		return -EINVAL;
	if (!packet)
		return 0;
	*more_bytes = (uint32_t)((*flags & BPF_F_CTXLEN_MASK) >> 32);
	*flags &= BPF_F_INDEX_MASK;
	if (*more_bytes > pkt_len(pkt))
		return -EFAULT;
	*more = pkt->data;
	return 0;
}

HELPER_DEF(perf_event_output)
{
	struct bpf_map *map = helper_map(r2);
	const uint8_t *more;
	uint32_t more_bytes;
	int err;

	err = sample_packet(r1, &r3, &more, &more_bytes);
	if (!err && !map->ops->perf_output)
		err = -EOPNOTSUPP;
	if (!err)
		err = map->ops->perf_output(map, r3, helper_ptr(r4), (uint32_t)r5, more,
					    more_bytes);
	return helper_ret(err);
}

static int perf_read(struct bpf_map *map, uint64_t flags, struct bpf_perf_event_value *value)
{
	if (flags & ~BPF_F_INDEX_MASK)
		return -EINVAL;
	return map->ops->perf_read ? map->ops->perf_read(map, flags, value) : -EOPNOTSUPP;
}

HELPER_DEF(perf_event_read)
{
	struct bpf_perf_event_value value = { 0 };
	int err = perf_read(helper_map(r1), r2, &value);

	/* Linux's own ambiguity: a small negative count is an error. */
	return err ? helper_ret(err) : value.counter;
}

HELPER_DEF(perf_event_read_value)
{
	struct bpf_perf_event_value value = { 0 };
	int err;

	if ((uint32_t)r4 != sizeof(value))
		err = -EINVAL;
	else
		err = perf_read(helper_map(r1), r2, &value);
	if (err)
		memset(helper_ptr(r3), 0, (uint32_t)r4);
	else
		memcpy(helper_ptr(r3), &value, sizeof(value));
	return helper_ret(err);
}
