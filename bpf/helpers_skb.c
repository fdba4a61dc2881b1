/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Socket buffers: reading, writing, growing and shrinking. The whole packet lies in one buffer with
 * room at both ends; what does not fit there fails as an allocation does in Linux.
 */
#include <string.h>

#include "bpf/helpers.h"
#include "bpf/packet.h"

static struct ctx_skb *helper_skb(uint64_t ctx)
{
	return helper_ptr(ctx);
}

HELPER_DEF(skb_load_bytes)
{
	const struct ctx_skb *skb = helper_skb(r1);
	uint32_t off = (uint32_t)r2, len = (uint32_t)r4;
	const uint8_t *from = off > INT32_MAX ? NULL : pkt_at(&skb->pkt, off, len);

	if (!from) {
		memset(helper_ptr(r3), 0, len);
		return helper_ret(-EFAULT);
	}
	memcpy(helper_ptr(r3), from, len);
	return 0;
}

HELPER_DEF(skb_load_bytes_relative)
{
	const struct ctx_skb *skb = helper_skb(r1);
	uint32_t off = (uint32_t)r2, len = (uint32_t)r4;
	const uint8_t *start = NULL;

	if (r5 == BPF_HDR_START_MAC)
		start = skb_mac(skb);
	else if (r5 == BPF_HDR_START_NET)
		start = skb_network(skb);
	if (!start || off > 0xffff || start > skb->pkt.data_end ||
	    (uint64_t)off + len > (uint64_t)(skb->pkt.data_end - start)) {
		memset(helper_ptr(r3), 0, len);
		return helper_ret(-EFAULT);
	}
	memcpy(helper_ptr(r3), start + off, len);
	return 0;
}

HELPER_DEF(skb_store_bytes)
{
	struct ctx_skb *skb = helper_skb(r1);
	uint32_t off = (uint32_t)r2, len = (uint32_t)r4;
	uint8_t *to;

	if (r5 & ~(uint64_t)(BPF_F_RECOMPUTE_CSUM | BPF_F_INVALIDATE_HASH))
		return helper_ret(-EINVAL);
	to = off > INT32_MAX ? NULL : pkt_at(&skb->pkt, off, len);
	if (!to)
		return helper_ret(-EFAULT);
	memcpy(to, helper_ptr(r3), len);
	if (r5 & BPF_F_INVALIDATE_HASH)
		helper_set_hash_invalid(r1, 0, 0, 0, 0);
	return 0;
}

/* Everything is linear and writable already; what the packet does not have cannot be pulled. */
HELPER_DEF(skb_pull_data)
{
	return (uint32_t)r2 > pkt_len(&helper_skb(r1)->pkt) ? helper_ret(-ENOMEM) : 0;
}

/* ---- the ends -------------------------------------------------------------------------------- */

HELPER_DEF(skb_change_tail)
{
	struct ctx_skb *skb = helper_skb(r1);
	uint32_t len = pkt_len(&skb->pkt), new_len = (uint32_t)r2;

	if (r3 || new_len < ETH_HLEN - skb->l2_bytes)
		return helper_ret(-EINVAL);
	if (new_len > (uint64_t)(skb->pkt.hard_end - skb->pkt.data))
		return helper_ret(-ENOMEM);
	if (new_len > len)
		memset(skb->pkt.data_end, 0, new_len - len);
	skb->pkt.data_end = skb->pkt.data + new_len;
	skb_moved(skb);
	return 0;
}

/* Move data down: bytes of room before the packet, content undefined. */
static int skb_push(struct ctx_skb *skb, uint32_t bytes)
{
	if (bytes > (uint64_t)(skb->pkt.data - skb->pkt.hard_start))
		return -ENOMEM;
	skb->pkt.data -= bytes;
	skb_moved(skb);
	return 0;
}

HELPER_DEF(skb_change_head)
{
	struct ctx_skb *skb = helper_skb(r1);
	uint32_t room = (uint32_t)r2;
	int err;

	if (r3 || room > INT32_MAX)
		return helper_ret(-EINVAL);
	err = skb_push(skb, room);
	if (err)
		return helper_ret(err);
	memset(skb->pkt.data, 0, room);
	skb->l2_bytes = 0;
	return 0;
}

/* `bytes` zero bytes after the first `at`. */
static int open_gap(struct ctx_skb *skb, uint32_t at, uint32_t bytes)
{
	int err = skb_push(skb, bytes);

	if (err)
		return err;
	memmove(skb->pkt.data, skb->pkt.data + bytes, at);
	memset(skb->pkt.data + at, 0, bytes);
	return 0;
}

/* Remove `bytes` after the first `at`; the packet has that many. */
static void close_gap(struct ctx_skb *skb, uint32_t at, uint32_t bytes)
{
	memmove(skb->pkt.data + bytes, skb->pkt.data, at);
	skb->pkt.data += bytes;
	skb_moved(skb);
}

/* ---- VLAN tags: the outermost one is in the context, as from a device that strips it ----------
 */

static bool is_vlan(uint32_t proto)
{
	return proto == be16_swap(ETH_P_8021Q) || proto == be16_swap(ETH_P_8021AD);
}

HELPER_DEF(skb_vlan_push)
{
	struct ctx_skb *skb = helper_skb(r1);
	uint32_t proto = (uint16_t)r2;
	int err;

	if (!is_vlan(proto))
		proto = be16_swap(ETH_P_8021Q);
	if (skb->vlan_present) {
		if (pkt_len(&skb->pkt) < ETH_HLEN)
			return helper_ret(-EINVAL);
		err = open_gap(skb, 2 * ETH_ALEN, 4);
		if (err)
			return helper_ret(err);
		memcpy(skb->pkt.data + 2 * ETH_ALEN, &skb->vlan_proto, 2);
		be16_put(skb->pkt.data + 2 * ETH_ALEN + 2, (uint16_t)skb->vlan_tci);
		skb->protocol = skb->vlan_proto;
	}
	skb->vlan_present = 1;
	skb->vlan_proto = proto;
	skb->vlan_tci = (uint16_t)r3;
	return 0;
}

/* Take a tag out of the packet's bytes. */
static int tag_pop(struct ctx_skb *skb, uint32_t *tci)
{
	uint16_t proto;

	if (pkt_len(&skb->pkt) < ETH_HLEN + 4)
		return -ENOMEM;
	*tci = be16_get(skb->pkt.data + ETH_HLEN);
	memcpy(&proto, skb->pkt.data + ETH_HLEN + 2, sizeof(proto));
	close_gap(skb, 2 * ETH_ALEN, 4);
	skb->protocol = proto;
	return 0;
}

HELPER_DEF(skb_vlan_pop)
{
	struct ctx_skb *skb = helper_skb(r1);
	uint32_t tci = 0, proto;
	int err;

	if (skb->vlan_present) {
		skb->vlan_present = skb->vlan_tci = skb->vlan_proto = 0;
	} else {
		err = is_vlan(skb->protocol) ? tag_pop(skb, &tci) : 0;
		if (err)
			return helper_ret(err);
	}
	if (!is_vlan(skb->protocol))
		return 0;
	proto = skb->protocol;
	err = tag_pop(skb, &tci);
	if (err)
		return helper_ret(err);
	skb->vlan_present = 1;
	skb->vlan_proto = proto;
	skb->vlan_tci = tci;
	return 0;
}

/* ---- room between headers -------------------------------------------------------------------- */

#define IPV4_BYTES     20u
#define IPV6_BYTES     40u
#define DECAP_FLAGS    (BPF_F_ADJ_ROOM_DECAP_L3_IPV4 | BPF_F_ADJ_ROOM_DECAP_L3_IPV6)
#define ENCAP_L3_FLAGS (BPF_F_ADJ_ROOM_ENCAP_L3_IPV4 | BPF_F_ADJ_ROOM_ENCAP_L3_IPV6)
#define ENCAP_L4_FLAGS (BPF_F_ADJ_ROOM_ENCAP_L4_GRE | BPF_F_ADJ_ROOM_ENCAP_L4_UDP)
#define ENCAP_L2_LEN   ((uint64_t)BPF_ADJ_ROOM_ENCAP_L2_MASK << BPF_ADJ_ROOM_ENCAP_L2_SHIFT)
#define SHRINK_FLAGS   (BPF_F_ADJ_ROOM_FIXED_GSO | DECAP_FLAGS | BPF_F_ADJ_ROOM_NO_CSUM_RESET)
#define ROOM_FLAGS                                                                                 \
	(BPF_F_ADJ_ROOM_FIXED_GSO | ENCAP_L3_FLAGS | ENCAP_L4_FLAGS |                              \
	 BPF_F_ADJ_ROOM_ENCAP_L2_ETH | BPF_F_ADJ_ROOM_NO_CSUM_RESET | DECAP_FLAGS | ENCAP_L2_LEN)

/* Offset in the packet where room is made or taken. */
static int room_offset(const struct ctx_skb *skb, uint64_t mode, uint32_t *off)
{
	*off = ETH_HLEN - skb->l2_bytes;
	switch (mode) {
	case BPF_ADJ_ROOM_NET:
		*off += skb->protocol == be16_swap(ETH_P_IPV6) ? IPV6_BYTES : IPV4_BYTES;
		return 0;
	case BPF_ADJ_ROOM_MAC:
		return 0;
	default:
		return -ENOTSUPP;
	}
}

static int room_shrink(struct ctx_skb *skb, uint32_t off, uint32_t bytes, uint64_t flags)
{
	uint64_t decap = flags & DECAP_FLAGS;
	uint32_t net = ETH_HLEN - skb->l2_bytes, have = pkt_len(&skb->pkt), min = 0;

	if (flags & ~(uint64_t)SHRINK_FLAGS || decap == DECAP_FLAGS)
		return -EINVAL;
	if (decap)
		min = decap == BPF_F_ADJ_ROOM_DECAP_L3_IPV6 ? IPV6_BYTES : IPV4_BYTES;
	if (have < net || bytes >= have - net || have - net - bytes < min || off + bytes > have)
		return -ENOTSUPP;
	close_gap(skb, off, bytes);
	if (decap)
		skb->protocol =
			be16_swap(decap == BPF_F_ADJ_ROOM_DECAP_L3_IPV6 ? ETH_P_IPV6 : ETH_P_IP);
	return 0;
}

static int room_grow(struct ctx_skb *skb, uint32_t off, uint32_t bytes, uint64_t mode,
		     uint64_t flags)
{
	uint64_t l3 = flags & ENCAP_L3_FLAGS, l4 = flags & ENCAP_L4_FLAGS;
	bool encap = l3 || l4 || flags & (BPF_F_ADJ_ROOM_ENCAP_L2_ETH | ENCAP_L2_LEN);
	int err;

	if (flags & DECAP_FLAGS || l3 == ENCAP_L3_FLAGS || l4 == ENCAP_L4_FLAGS)
		return -EINVAL;
	/* What is wrapped stands behind the link header, and an outer header is named. */
	if (encap && (mode != BPF_ADJ_ROOM_MAC || !l3))
		return -EINVAL;
	if (off > pkt_len(&skb->pkt))
		return -ENOTSUPP;
	err = open_gap(skb, off, bytes);
	if (err)
		return err;
	if (l3)
		skb->protocol =
			be16_swap(l3 == BPF_F_ADJ_ROOM_ENCAP_L3_IPV6 ? ETH_P_IPV6 : ETH_P_IP);
	return 0;
}

HELPER_DEF(skb_adjust_room)
{
	struct ctx_skb *skb = helper_skb(r1);
	int32_t diff = (int32_t)r2;
	uint32_t bytes = (uint32_t)(diff < 0 ? -(int64_t)diff : diff), off;
	uint64_t mode = (uint32_t)r3;
	int err;

	if (r4 & ~ROOM_FLAGS)
		return helper_ret(-EINVAL);
	if (bytes > 0xfff)
		return helper_ret(-EFAULT);
	if (skb->protocol != be16_swap(ETH_P_IP) && skb->protocol != be16_swap(ETH_P_IPV6))
		return helper_ret(-ENOTSUPP);
	err = room_offset(skb, mode, &off);
	if (!err)
		err = diff < 0 ? room_shrink(skb, off, bytes, r4)
			       : room_grow(skb, off, bytes, mode, r4);
	return helper_ret(err);
}

HELPER_DEF(skb_change_type)
{
	struct ctx_skb *skb = helper_skb(r1);

	if (skb->pkt_type > 3 || (uint32_t)r2 > 3)
		return helper_ret(-EINVAL);
	skb->pkt_type = (uint32_t)r2;
	return 0;
}

/* ---- sending elsewhere ----------------------------------------------------------------------- */

/* There is no device to clone to. */
HELPER_DEF(clone_redirect)
{
	return helper_ret(r3 & ~(uint64_t)BPF_F_INGRESS ? -EINVAL : -ENODEV);
}
