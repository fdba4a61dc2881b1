/* SPDX-License-Identifier: BSD-2-Clause */
/* flows: a record in a ring buffer for every IPv4 packet, totals in global variables. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "examples/flows.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16384);
} records SEC(".maps");

const volatile __u32 min_bytes; /* shorter packets make no record */
__u64 packets, bytes, lost;

SEC("xdp")
int flows(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct iphdr *ip = (void *)(eth + 1);
	struct flow_record *r;

	packets++;
	bytes += end - data;
	if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP) || end - data < min_bytes)
		return XDP_PASS;
	r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		lost++;
		return XDP_PASS;
	}
	r->time_ns = bpf_ktime_get_ns();
	r->saddr = ip->saddr;
	r->daddr = ip->daddr;
	r->bytes = end - data;
	r->protocol = ip->protocol;
	r->cpu = bpf_get_smp_processor_id();
	bpf_ringbuf_submit(r, 0);
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
