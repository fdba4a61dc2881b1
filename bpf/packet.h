/* SPDX-License-Identifier: BSD-2-Clause */
/* Packet contexts as the packet helpers see them. Network order is big endian. */
#pragma once

#include <linux/if_ether.h>

#include "bpf/ctx.h"
#include "include/base.h"

/* Room that a program must leave at the start of an XDP buffer (struct xdp_frame in Linux). */
#define XDP_FRAME_BYTES 40
/* Longest metadata before an XDP packet, a multiple of 4. */
#define XDP_META_MAX 255

static inline uint32_t pkt_len(const struct ctx_pkt *pkt)
{
	return (uint32_t)(pkt->data_end - pkt->data);
}

/* [off, off+len) of the packet, or NULL. */
static inline uint8_t *pkt_at(const struct ctx_pkt *pkt, uint64_t off, uint64_t len)
{
	uint64_t have = pkt_len(pkt);

	return off <= have && len <= have - off ? pkt->data + off : NULL;
}

static inline uint16_t be16_get(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline void be16_put(uint8_t *p, uint16_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* A 16-bit number between host (little endian) and network order. */
static inline uint16_t be16_swap(uint16_t v)
{
	return __builtin_bswap16(v);
}

/* Link header of a socket buffer, and what follows it. */
static inline uint8_t *skb_mac(const struct ctx_skb *skb)
{
	return skb->pkt.data - skb->l2_bytes;
}

static inline uint8_t *skb_network(const struct ctx_skb *skb)
{
	return skb_mac(skb) + ETH_HLEN;
}

/* After data or data_end moved. */
static inline void skb_moved(struct ctx_skb *skb)
{
	skb->pkt.data_meta = skb->pkt.data;
	skb->len = pkt_len(&skb->pkt);
}
