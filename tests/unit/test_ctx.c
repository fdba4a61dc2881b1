/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

#include "bpf/ctx.h"
#include "bpf/run_ctx.h"
#include "include/err.h"

#define SOCKET BPF_PROG_TYPE_SOCKET_FILTER
#define TC     BPF_PROG_TYPE_SCHED_CLS
#define OFF(f) (uint32_t)offsetof(struct __sk_buff, f)

TEST(program_types)
{
	CHECK_STR(prog_type_get(BPF_PROG_TYPE_XDP)->name, "xdp");
	CHECK_EQ(prog_type_get(BPF_PROG_TYPE_XDP)->ctx, CTX_XDP);
	CHECK(!prog_type_get(BPF_PROG_TYPE_UNSPEC));
	CHECK(!prog_type_get(BPF_PROG_TYPE_KPROBE));
	CHECK(!prog_type_get(10000));
	CHECK(!prog_type_get((enum bpf_prog_type) - 1));
	for (int type = 0; type < 64; type++) {
		const struct prog_type *row = prog_type_get((enum bpf_prog_type)type);

		CHECK(!row || row->type == (enum bpf_prog_type)type);
	}
}

/* Every byte of a UAPI structure belongs to one row or none. */
TEST(rows_do_not_overlap)
{
	for (int kind = 0; kind < CTX_KIND_NR; kind++) {
		uint32_t size = ctx_uapi_size((enum ctx_kind)kind);

		for (uint32_t off = 0; off < MIN(size, 256u); off++) {
			const struct ctx_field *f = ctx_field_find((enum ctx_kind)kind, off, 1);

			CHECK(!f || (off >= f->off && off - f->off < (uint32_t)f->size * f->count));
		}
		CHECK(!ctx_field_find((enum ctx_kind)kind, size, 1));
	}
	CHECK_EQ(ctx_uapi_size(CTX_XDP), sizeof(struct xdp_md));
	CHECK_EQ(ctx_uapi_size(CTX_SKB), sizeof(struct __sk_buff));
	CHECK_EQ(ctx_uapi_size(CTX_PERF_EVENT), 288);
}

TEST(skb_rules)
{
	static const struct {
		enum bpf_prog_type type;
		uint32_t off, size;
		bool write, ok;
	} cases[] = {
		{ SOCKET, OFF(len), 4, false, true },
		{ SOCKET, OFF(len), 4, true, false },
		{ SOCKET, OFF(len), 8, false, false },
		{ SOCKET, OFF(len) + 1, 1, false, true },
		{ SOCKET, OFF(len) + 2, 2, false, true },
		{ SOCKET, OFF(len) + 1, 2, false, false },
		{ SOCKET, OFF(hash), 1, false, true },
		{ SOCKET, OFF(mark), 4, true, false },
		{ TC, OFF(mark), 4, true, true },
		{ TC, OFF(mark), 2, true, false },
		{ SOCKET, OFF(cb), 8, true, true },
		{ SOCKET, OFF(cb) + 3, 1, true, true },
		{ SOCKET, OFF(cb) + 16, 4, true, true },
		{ SOCKET, OFF(cb) + 16, 8, true, false },
		{ SOCKET, OFF(data), 4, false, false },
		{ TC, OFF(data), 4, false, true },
		{ TC, OFF(data), 2, false, false },
		{ TC, OFF(data), 4, true, false },
		{ TC, OFF(data_meta), 4, false, true },
		{ SOCKET, OFF(tstamp), 8, false, false },
		{ TC, OFF(tstamp), 8, true, true },
		{ TC, OFF(tstamp), 4, false, false },
		{ SOCKET, OFF(tc_classid), 4, false, false },
		{ TC, OFF(tc_classid), 4, true, true },
		{ TC, OFF(family), 4, false, false },
		{ TC, OFF(remote_ip6), 4, false, false },
		{ TC, OFF(tstamp_type), 1, false, true },
		{ TC, OFF(tstamp_type) + 1, 1, false, false },
		{ TC, OFF(hwtstamp), 8, false, true },
		{ TC, sizeof(struct __sk_buff), 4, false, false },
		{ TC, ~0u, 4, false, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool ok = ctx_field_check(CTX_SKB, cases[i].type, cases[i].off, cases[i].size,
					  cases[i].write);

		if (ok != cases[i].ok)
			TEST_FAIL("case %zu", i);
	}
}

TEST(other_rules)
{
	enum bpf_prog_type xdp = BPF_PROG_TYPE_XDP, tp = BPF_PROG_TYPE_TRACEPOINT;
	enum bpf_prog_type raw = BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE;
	enum bpf_prog_type perf = BPF_PROG_TYPE_PERF_EVENT, sys = BPF_PROG_TYPE_SYSCALL;

	CHECK(ctx_field_check(CTX_XDP, xdp, 0, 4, false));
	CHECK(!ctx_field_check(CTX_XDP, xdp, 0, 2, false));
	CHECK(!ctx_field_check(CTX_XDP, xdp, 0, 8, false));
	CHECK(!ctx_field_check(CTX_XDP, xdp, 16, 4, true));
	CHECK(!ctx_field_check(CTX_XDP, xdp, 20, 4, false));
	CHECK(ctx_field_check(CTX_TRACEPOINT, tp, 8184, 8, false));
	CHECK(!ctx_field_check(CTX_TRACEPOINT, tp, 8192, 1, false));
	CHECK(!ctx_field_check(CTX_TRACEPOINT, tp, 12, 8, false));
	CHECK(!ctx_field_check(CTX_TRACEPOINT, tp, 0, 8, true));
	CHECK(ctx_field_check(CTX_RAW_TP_W, raw, 0, 8, false)->kind == CTX_BUFFER);
	CHECK(!ctx_field_check(CTX_RAW_TP_W, raw, 0, 4, false));
	CHECK(ctx_field_check(CTX_RAW_TP_W, raw, 88, 8, false));
	CHECK(!ctx_field_check(CTX_RAW_TP_W, raw, 96, 8, false));
	CHECK(ctx_field_check(CTX_PERF_EVENT, perf, 264, 8, false));
	CHECK(!ctx_field_check(CTX_PERF_EVENT, perf, 264, 4, false));
	CHECK(ctx_field_check(CTX_PERF_EVENT, perf, 272, 4, false));
	CHECK(!ctx_field_check(CTX_PERF_EVENT, perf, 268, 8, false));
	CHECK(ctx_field_check(CTX_SYSCALL, sys, 65528, 4, true));
	CHECK(!ctx_field_check(CTX_SYSCALL, sys, 65535, 1, true));
}

TEST(loads_and_stores)
{
	uint8_t packet[64];
	struct ctx_skb skb = { .pkt = { packet, packet + 60, packet + 4, packet, packet + 64 },
			       .len = 0x01020304,
			       .tstamp = 0x1122334455667788 };
	struct ctx_bytes event = { packet, 20 };
	uint64_t v = 7;

	CHECK_EQ(ctx_load(CTX_SKB, TC, &skb, OFF(data), 4, &v), 0);
	CHECK_EQ(v, (uintptr_t)packet);
	CHECK_EQ(ctx_load(CTX_SKB, TC, &skb, OFF(data_end), 4, &v), 0);
	CHECK_EQ(v, (uintptr_t)packet + 60);
	CHECK_EQ(ctx_load(CTX_SKB, TC, &skb, OFF(len) + 2, 1, &v), 0);
	CHECK_EQ(v, 2);
	CHECK_EQ(ctx_load(CTX_SKB, TC, &skb, OFF(wire_len), 4, &v), 0);
	CHECK_EQ(v, 0x01020304);
	CHECK_EQ(ctx_load(CTX_SKB, TC, &skb, OFF(tstamp), 8, &v), 0);
	CHECK_EQ(v, 0x1122334455667788);
	CHECK_EQ(ctx_store(CTX_SKB, TC, &skb, OFF(cb) + 6, 2, 0xffff1234), 0);
	CHECK_EQ(skb.cb[1], 0x12340000);
	v = 7;
	CHECK_EQ(ctx_load(CTX_SKB, SOCKET, &skb, OFF(data), 4, &v), -EACCES);
	CHECK_EQ(v, 7);
	CHECK_EQ(ctx_store(CTX_SKB, TC, &skb, OFF(len), 4, 9), -EACCES);
	CHECK_EQ(skb.len, 0x01020304);
	memset(packet, 0x5a, sizeof(packet));
	CHECK_EQ(ctx_load(CTX_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT, &event, 16, 4, &v), 0);
	CHECK_EQ(v, 0x5a5a5a5a);
	CHECK_EQ(ctx_load(CTX_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT, &event, 16, 8, &v), -EACCES);
	CHECK_EQ(ctx_load(CTX_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT, &event, 24, 4, &v), -EACCES);
}

TEST(regions_of_a_run)
{
	uint8_t bytes[16];
	struct ctx_bytes plain = { bytes, sizeof(bytes) };
	struct ctx_xdp xdp = { 0 };
	struct run_ctx rc = { 0 };

	CHECK(ctx_run_begin(&rc, BPF_PROG_TYPE_XDP, &xdp) == &xdp);
	CHECK_EQ(rc.regions_nr, 2);
	CHECK_EQ(rc.regions[0].kind, RUN_REGION_CTX);
	CHECK_EQ(rc.regions[1].kind, RUN_REGION_PKT);
	CHECK(ctx_run_begin(&rc, BPF_PROG_TYPE_SYSCALL, &plain) == bytes);
	CHECK_EQ(rc.regions_nr, 1);
	CHECK_EQ(rc.regions[0].writable, 1);
	ctx_run_begin(&rc, BPF_PROG_TYPE_TRACEPOINT, &plain);
	CHECK_EQ(rc.regions[0].writable, 0);
	CHECK_EQ(rc.regions[0].size, 16);
}
