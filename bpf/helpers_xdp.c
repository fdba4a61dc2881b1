/* SPDX-License-Identifier: BSD-2-Clause */
/* XDP packets, and verdicts that send a packet elsewhere. */
#include <linux/pkt_cls.h>
#include <string.h>

#include "bpf/helpers.h"
#include "bpf/packet.h"
#include "bpf/prog.h"

static struct ctx_pkt *xdp_pkt(uint64_t ctx)
{
	return &((struct ctx_xdp *)helper_ptr(ctx))->pkt;
}

/* Lowest place for the metadata. */
static const uint8_t *frame_start(const struct ctx_pkt *pkt)
{
	return pkt->hard_start + XDP_FRAME_BYTES;
}

/* [low + off] stays within [low, high]? Offsets are as large as a program wants. */
static bool stays(const uint8_t *place, int32_t off, const uint8_t *low, const uint8_t *high)
{
	int64_t at = (place - low) + off;

	return at >= 0 && at <= high - low;
}

HELPER_DEF(xdp_adjust_head)
{
	struct ctx_pkt *pkt = xdp_pkt(r1);
	int32_t off = (int32_t)r2;
	size_t meta_bytes = (size_t)(pkt->data - pkt->data_meta);

	if (pkt_len(pkt) < ETH_HLEN || frame_start(pkt) + meta_bytes > pkt->data_end - ETH_HLEN ||
	    !stays(pkt->data, off, frame_start(pkt) + meta_bytes, pkt->data_end - ETH_HLEN))
		return helper_ret(-EINVAL);
	memmove(pkt->data_meta + off, pkt->data_meta, meta_bytes);
	pkt->data_meta += off;
	pkt->data += off;
	return 0;
}

HELPER_DEF(xdp_adjust_meta)
{
	struct ctx_pkt *pkt = xdp_pkt(r1);
	int32_t off = (int32_t)r2;
	int64_t bytes;

	if (frame_start(pkt) > pkt->data ||
	    !stays(pkt->data_meta, off, frame_start(pkt), pkt->data))
		return helper_ret(-EINVAL);
	bytes = pkt->data - pkt->data_meta - off;
	if (bytes & 3 || bytes > XDP_META_MAX)
		return helper_ret(-EACCES);
	pkt->data_meta += off;
	return 0;
}

HELPER_DEF(xdp_adjust_tail)
{
	struct ctx_pkt *pkt = xdp_pkt(r1);
	int32_t off = (int32_t)r2;

	if (pkt->data + ETH_HLEN > pkt->hard_end ||
	    !stays(pkt->data_end, off, pkt->data + ETH_HLEN, pkt->hard_end))
		return helper_ret(-EINVAL);
	if (off > 0)
		memset(pkt->data_end, 0, (size_t)off);
	pkt->data_end += off;
	return 0;
}

HELPER_DEF(xdp_get_buff_len)
{
	return pkt_len(xdp_pkt(r1));
}

/* 0 and *at, -EFAULT or -EINVAL. */
static int xdp_bytes(uint64_t ctx, uint64_t off, uint64_t len, uint8_t **at)
{
	if ((uint32_t)off > 0xffff || (uint32_t)len > 0xffff)
		return -EFAULT;
	*at = pkt_at(xdp_pkt(ctx), (uint32_t)off, (uint32_t)len);
	return *at ? 0 : -EINVAL;
}

HELPER_DEF(xdp_load_bytes)
{
	uint8_t *at;
	int err = xdp_bytes(r1, r2, r4, &at);

	if (!err)
		memcpy(helper_ptr(r3), at, (uint32_t)r4);
	return helper_ret(err);
}

HELPER_DEF(xdp_store_bytes)
{
	uint8_t *at;
	int err = xdp_bytes(r1, r2, r4, &at);

	if (!err)
		memcpy(at, helper_ptr(r3), (uint32_t)r4);
	return helper_ret(err);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

HELPER_DEF(redirect)
{
	struct run_ctx *rc = hal_run_current();
	bool xdp = rc->prog->type == BPF_PROG_TYPE_XDP;

	if (r2 & ~(xdp ? 0ull : (uint64_t)BPF_F_INGRESS))
		return xdp ? XDP_ABORTED : TC_ACT_SHOT;
	rc->redirect_ifindex = (uint32_t)r1;
	rc->redirect_flags = (uint32_t)r2;
	return xdp ? XDP_REDIRECT : TC_ACT_REDIRECT;
}

/* Maps of devices, CPUs and sockets do not exist here; a lookup in one finds nothing. */
HELPER_DEF(redirect_map)
{
	return r3 & ~3ull ? XDP_ABORTED : r3;
}

HELPER_DEF(get_attach_cookie)
{
	return hal_run_current()->cookie;
}
