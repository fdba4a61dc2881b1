/* SPDX-License-Identifier: BSD-2-Clause */
/* A small object of the usual kind: two maps, globals of three sorts, a subprogram, a print. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} table SEC(".maps");

const volatile int limit = 77;
int total;
char message[16] = "small";

static __attribute__((noinline)) int weigh(int a, int b)
{
	total += a;
	return a * b + limit;
}

SEC("xdp")
int small(struct xdp_md *ctx)
{
	__u32 key = 1;
	__u64 *n = bpf_map_lookup_elem(&counts, &key);
	__u64 weight;

	if (n)
		__sync_fetch_and_add(n, 1);
	weight = weigh(ctx->data_end - ctx->data, 3);
	bpf_map_update_elem(&table, &key, &weight, 0);
	bpf_printk("%s: %d", message, (int)weight);
	return XDP_PASS;
}

char _license[] SEC("license") = "Dual BSD/GPL";
