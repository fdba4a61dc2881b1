/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter: counts packets by protocol, keeps a table of senders, drops telnet, and whatever a rule
 * map says. XDP; try it with
 *	barebpf run build/examples/filter.bpf.o --pcap examples/capture.pcap --maps
 */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

enum proto { PROTO_OTHER, PROTO_ARP, PROTO_ICMP, PROTO_ICMPV6, PROTO_TCP, PROTO_UDP, PROTO_NR };

struct count {
	__u64 packets;
	__u64 bytes;
};

struct vlan_head {
	__be16 tci;
	__be16 proto;
};

/* How often a sender was seen, in a form that a table can show. */
struct sender {
	__u8 a, b, c, d;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROTO_NR);
	__type(key, __u32); /* enum proto */
	__type(value, struct count);
} protocols SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct sender);
	__type(value, struct count);
} senders SEC(".maps");

/* Frames by size, a counter for each core. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 12); /* 2^0 .. 2^11 bytes and more */
	__type(key, __u32);
	__type(value, __u64);
} sizes SEC(".maps");

const volatile __u16 blocked_port = 23; /* telnet */
__u64 dropped;

static __always_inline void add(struct count *c, __u64 bytes)
{
	__sync_fetch_and_add(&c->packets, 1);
	__sync_fetch_and_add(&c->bytes, bytes);
}

static __always_inline void count_size(__u64 bytes)
{
	__u32 bucket = 0;
	__u64 *n;

	for (int i = 1; i < 12; i++)
		if (bytes >> i)
			bucket = i;
	n = bpf_map_lookup_elem(&sizes, &bucket);
	if (n)
		(*n)++;
}

static __always_inline void count_sender(__be32 addr, __u64 bytes)
{
	struct sender key;
	struct count *c, first = { 1, bytes };

	__builtin_memcpy(&key, &addr, sizeof(key));
	c = bpf_map_lookup_elem(&senders, &key);
	if (c)
		add(c, bytes);
	else
		bpf_map_update_elem(&senders, &key, &first, BPF_NOEXIST);
}

/* The destination port of TCP and UDP, else 0; *proto becomes ours. */
static __always_inline __u16 transport(void *l4, void *end, __u8 ip_proto, enum proto *proto)
{
	struct udphdr *ports = l4; /* TCP's ports lie in the same place */

	switch (ip_proto) {
	case IPPROTO_ICMP:
		*proto = PROTO_ICMP;
		return 0;
	case IPPROTO_ICMPV6:
		*proto = PROTO_ICMPV6;
		return 0;
	case IPPROTO_TCP:
		*proto = PROTO_TCP;
		break;
	case IPPROTO_UDP:
		*proto = PROTO_UDP;
		break;
	default:
		return 0;
	}
	if ((void *)(ports + 1) > end)
		return 0;
	return bpf_ntohs(ports->dest);
}

SEC("xdp")
int filter(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u64 bytes = end - data;
	enum proto proto = PROTO_OTHER;
	struct ethhdr *eth = data;
	void *l3 = eth + 1;
	struct count *c;
	__be16 type;
	__u16 port = 0;
	__u32 key;

	if (l3 > end)
		return XDP_ABORTED;
	count_size(bytes);
	type = eth->h_proto;
	if (type == bpf_htons(ETH_P_8021Q)) {
		struct vlan_head *tag = l3;

		if ((void *)(tag + 1) > end)
			return XDP_ABORTED;
		type = tag->proto;
		l3 = tag + 1;
	}
	if (type == bpf_htons(ETH_P_ARP)) {
		proto = PROTO_ARP;
	} else if (type == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = l3;

		if ((void *)(ip + 1) > end || ip->ihl < 5)
			return XDP_ABORTED;
		count_sender(ip->saddr, bytes);
		port = transport((void *)ip + ip->ihl * 4, end, ip->protocol, &proto);
	} else if (type == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip6 = l3;

		if ((void *)(ip6 + 1) > end)
			return XDP_ABORTED;
		port = transport(ip6 + 1, end, ip6->nexthdr, &proto);
	}
	key = proto;
	c = bpf_map_lookup_elem(&protocols, &key);
	if (c)
		add(c, bytes);
	if (proto == PROTO_TCP && port == blocked_port) {
		__sync_fetch_and_add(&dropped, 1);
		return XDP_DROP;
	}
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
