/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/test_run.h"

/*
 * Linux can make an skb grow at either end; here it lies in one buffer with room for the headers
 * that programs push. Two bytes more in front put the IP header on a 4-byte boundary.
 */
#define SKB_HEADROOM 258u
#define SKB_TAILROOM 2048u
#define LOOPBACK     1u
#define WIRE_LEN_MAX 65536u
#define GSO_SEGS_MAX 65535u

#define ETH_P_IP     0x0800
#define ETH_P_IPV6   0x86dd
#define ETH_P_802_3  0x0001
#define ETH_P_802_2  0x0004
#define ETH_P_MIN    0x0600 /* below: the field is a length */
#define IPV4_HDR_MIN 20u
#define IPV6_HDR     40u

enum { PACKET_HOST, PACKET_BROADCAST, PACKET_MULTICAST, PACKET_OTHERHOST };

/* What Linux's eth_type_trans finds at a loopback device, whose address is all zeros. */
static uint32_t packet_type(const uint8_t *eth)
{
	uint32_t any = 0, all = 0xff;

	for (int i = 0; i < 6; i++) {
		any |= eth[i];
		all &= eth[i];
	}
	if (!any)
		return PACKET_HOST;
	if (!(eth[0] & 1))
		return PACKET_OTHERHOST;
	return all == 0xff ? PACKET_BROADCAST : PACKET_MULTICAST;
}

/* In host order. */
static uint32_t packet_protocol(const uint8_t *eth, uint32_t size)
{
	uint32_t proto = (uint32_t)eth[12] << 8 | eth[13];

	if (proto >= ETH_P_MIN)
		return proto;
	/* Novell's raw frames begin with all ones where LLC has its addresses. */
	if (size >= ETH_HLEN + 2 && eth[14] == 0xff && eth[15] == 0xff)
		return ETH_P_802_3;
	return ETH_P_802_2;
}

static int check_attr(const struct test_run *t)
{
	const __typeof__(t->attr->test) *test = &t->attr->test;

	/*
	 * Choosing a CPU goes beyond Linux. There is no checksum state that
	 * BPF_F_TEST_SKB_CHECKSUM_ COMPLETE could be about.
	 */
	if (test->flags & ~(uint32_t)BPF_F_TEST_RUN_ON_CPU ||
	    (!(test->flags & BPF_F_TEST_RUN_ON_CPU) && test->cpu) || test->batch_size)
		return -EINVAL;
	return test->data_size_in < ETH_HLEN ? -EINVAL : 0;
}

static bool is_zero_between(const struct __sk_buff *skb, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (((const uint8_t *)skb)[i])
			return false;
	}
	return true;
}

#define OFF(field) offsetof(struct __sk_buff, field)
#define END(field) (OFF(field) + sizeof(((struct __sk_buff *)0)->field))

/* Fields between the ones that a client may set must be zero. */
static const struct {
	uint16_t from, to;
} must_be_zero[] = {
	{ 0, OFF(mark) },
	{ END(mark), OFF(priority) },
	{ END(ifindex), OFF(cb) },
	{ END(cb), OFF(tstamp) },
	{ END(gso_segs), OFF(gso_size) },
	{ END(gso_size), OFF(hwtstamp) },
	{ END(hwtstamp), sizeof(struct __sk_buff) },
};

static int skb_from_client(struct ctx_skb *skb, const struct __sk_buff *user, uint32_t *wire_len)
{
	for (size_t i = 0; i < ARRAY_SIZE(must_be_zero); i++) {
		if (!is_zero_between(user, must_be_zero[i].from, must_be_zero[i].to))
			return -EINVAL;
	}
	*wire_len = user->wire_len ? user->wire_len : skb->len;
	if (*wire_len < skb->len || *wire_len > WIRE_LEN_MAX || user->gso_segs > GSO_SEGS_MAX)
		return -EINVAL;
	skb->mark = user->mark;
	skb->priority = user->priority;
	skb->ingress_ifindex = user->ingress_ifindex;
	skb->tstamp = user->tstamp;
	skb->gso_segs = user->gso_segs;
	skb->gso_size = user->gso_size;
	skb->hwtstamp = user->hwtstamp;
	__builtin_memcpy(skb->cb, user->cb, sizeof(skb->cb));
	return 0;
}

static void skb_to_client(const struct ctx_skb *skb, struct __sk_buff *user, uint32_t wire_len)
{
	user->mark = skb->mark;
	user->priority = skb->priority;
	user->ingress_ifindex = skb->ingress_ifindex;
	user->ifindex = skb->ifindex;
	user->tstamp = skb->tstamp;
	user->wire_len = wire_len;
	user->gso_segs = skb->gso_segs;
	user->hwtstamp = skb->hwtstamp;
	__builtin_memcpy(user->cb, skb->cb, sizeof(skb->cb));
}

/* Link header parsed, network header complete; a socket filter's packet begins behind the former.
 */
static int skb_prepare(struct ctx_skb *skb, bool is_l2)
{
	const uint8_t *eth = skb->pkt.data;
	uint32_t size = (uint32_t)(skb->pkt.data_end - eth);
	uint32_t proto = packet_protocol(eth, size);

	if ((proto == ETH_P_IP && size - ETH_HLEN < IPV4_HDR_MIN) ||
	    (proto == ETH_P_IPV6 && size - ETH_HLEN < IPV6_HDR))
		return -EINVAL;
	skb->pkt_type = packet_type(eth);
	skb->protocol = (proto >> 8 | proto << 8) & 0xffff;
	skb->ifindex = LOOPBACK;
	if (!is_l2) {
		skb->l2_bytes = ETH_HLEN;
		skb->pkt.data += ETH_HLEN;
		skb->pkt.data_meta = skb->pkt.data;
	}
	skb->len = (uint32_t)(skb->pkt.data_end - skb->pkt.data);
	return 0;
}

static int run(struct test_run *t, struct ctx_skb *skb, bool is_l2, struct __sk_buff *user,
	       bool have_user)
{
	uint32_t wire_len = 0;
	int err = skb_prepare(skb, is_l2);

	if (!err && have_user)
		err = skb_from_client(skb, user, &wire_len);
	if (!err)
		err = test_run_loop(t, skb);
	if (err)
		return err;
	if (!is_l2) {
		/* Linux puts an empty link header back. */
		skb->pkt.data -= ETH_HLEN;
		__builtin_memset(skb->pkt.data, 0, ETH_HLEN);
	}
	err = test_run_finish(t, skb->pkt.data, (uint32_t)(skb->pkt.data_end - skb->pkt.data));
	if (err || !have_user)
		return err;
	skb_to_client(skb, user, wire_len);
	return test_run_ctx_out(t, user, sizeof(*user));
}

int test_run_skb(struct test_run *t)
{
	bool is_l2 = t->prog->type != BPF_PROG_TYPE_SOCKET_FILTER;
	struct ctx_skb skb = { 0 };
	struct __sk_buff user = { 0 };
	bool have_user;
	int err;

	err = check_attr(t);
	if (!err)
		err = test_run_packet(t, SKB_HEADROOM, SKB_TAILROOM, &skb.pkt);
	if (err)
		return err;
	err = test_run_ctx_in(t, &user, sizeof(user), &have_user);
	if (!err && user.ifindex > LOOPBACK)
		err = -ENODEV;
	if (!err)
		err = run(t, &skb, is_l2, &user, have_user);
	hal_free(skb.pkt.hard_start);
	return err;
}
