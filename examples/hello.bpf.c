/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hello: prints from a raw tracepoint program; `barebpf trace` shows it.
 *	barebpf run build/examples/hello.bpf.o
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

__u64 runs;

SEC("raw_tp/sched_switch")
int hello(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 now_ns = bpf_ktime_get_ns();

	__sync_fetch_and_add(&runs, 1);
	bpf_printk("hello from core %d at %llu ns, run %llu", bpf_get_smp_processor_id(), now_ns,
		   runs);
	return 0;
}

char _license[] SEC("license") = "Dual BSD/GPL";
