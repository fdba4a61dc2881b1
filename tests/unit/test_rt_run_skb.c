/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF_PROG_TEST_RUN of the types whose context is a __sk_buff. */
#include "support_rt_run.h"
#include "test.h"

/* r0 = *(u32 *)(r1 + off) */
#define CTX_U32(off) LDX(BPF_W, 0, 1, off), EXIT()
#define SKB(field)   ((int16_t)offsetof(struct __sk_buff, field))

/* tc sees the link header; a socket filter's packet begins behind it: 50 of 64 bytes. */
TEST(skb_lengths)
{
	struct rt *rt = rt_new(NULL);

	memset(packet, 0, sizeof(packet));
	CHECK_EQ(run_value(rt, LOAD(rt, BPF_PROG_TYPE_SCHED_CLS, CTX_U32(SKB(len)))), 64);
	CHECK_EQ(run_value(rt, LOAD(rt, BPF_PROG_TYPE_SCHED_ACT, CTX_U32(SKB(len)))), 64);
	CHECK_EQ(run_value(rt, LOAD(rt, BPF_PROG_TYPE_SOCKET_FILTER, CTX_U32(SKB(len)))), 50);
	CHECK_EQ(rt_free(rt), 0);
}

TEST(skb_link_header)
{
	static const struct {
		uint8_t dst[6];
		uint8_t proto[2];
		uint32_t pkt_type, protocol;
	} cases[] = {
		{ { 0 }, { 0x08, 0x06 }, 0, 0x0608 },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff }, { 0x08, 0x00 }, 1, 0x0008 },
		{ { 0x01, 0, 0x5e, 0, 0, 1 }, { 0x86, 0xdd }, 2, 0xdd86 },
		{ { 0x02, 0, 0, 0, 0, 1 }, { 0x00, 0x20 }, 3, 0x0400 },
	};
	struct rt *rt = rt_new(NULL);
	int64_t type = LOAD(rt, BPF_PROG_TYPE_SCHED_CLS, CTX_U32(SKB(pkt_type)));
	int64_t proto = LOAD(rt, BPF_PROG_TYPE_SCHED_CLS, CTX_U32(SKB(protocol)));

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(packet, 0, sizeof(packet));
		memcpy(packet, cases[i].dst, 6);
		memcpy(packet + 12, cases[i].proto, 2);
		CHECK_EQ(run_value(rt, type), cases[i].pkt_type);
		CHECK_EQ(run_value(rt, proto), cases[i].protocol);
	}
	/* Too short for the network header that it claims to have. */
	memset(packet, 0, sizeof(packet));
	packet[12] = 0x08;
	run_call(type, 14 + 19);
	CHECK_EQ(rt_do(rt), -EINVAL);
	run_call(type, 14 + 20);
	CHECK_EQ(rt_do(rt), 0);
	packet[12] = 0x86;
	packet[13] = 0xdd;
	run_call(type, 14 + 39);
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	memset(packet, 0, sizeof(packet));
	CHECK_EQ(rt_free(rt), 0);
}

static int64_t run_skb(struct rt *rt, int64_t prog, const struct __sk_buff *skb,
		       struct __sk_buff *out)
{
	struct bpf_call *c = run_call(prog, sizeof(packet));
	int64_t ret;

	c->attr.bpf.test.ctx_size_in = c->attr.bpf.test.ctx_size_out = sizeof(*skb);
	rt_in(&c->attr.bpf.test.ctx_in, skb, sizeof(*skb));
	rt_out(&c->attr.bpf.test.ctx_out, sizeof(*skb));
	ret = rt_do(rt);
	if (!ret && out)
		memcpy(out, rt_result(c->attr.bpf.test.ctx_out, sizeof(*skb)), sizeof(*skb));
	rt_call_end();
	return ret;
}

/* Each byte that Linux lets a client set, and each that it does not. */
TEST(skb_context_fields)
{
	struct rt *rt = rt_new(NULL);
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_SCHED_CLS, MOV_IMM(0, 0), EXIT());

	for (size_t at = 0; at < sizeof(struct __sk_buff); at++) {
		struct __sk_buff skb;
		int64_t want = -EINVAL;

		memset(&skb, 0, sizeof(skb));
		((uint8_t *)&skb)[at] = 1;
		if (skb.mark || skb.priority || skb.ingress_ifindex || skb.tstamp || skb.gso_size ||
		    skb.hwtstamp || skb.cb[0] || skb.cb[1] || skb.cb[2] || skb.cb[3] || skb.cb[4] ||
		    skb.ifindex == 1 || (skb.gso_segs && skb.gso_segs < 65536) ||
		    (skb.wire_len >= 64 && skb.wire_len <= 65536))
			want = 0;
		else if (skb.ifindex > 1)
			want = -ENODEV;
		CHECK_EQ(run_skb(rt, prog, &skb, NULL), want);
	}
	CHECK_EQ(rt_free(rt), 0);
}

TEST(skb_context_out)
{
	struct rt *rt = rt_new(NULL);
	/* mark += 1, cb[2] = 9; returns priority */
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_SCHED_CLS, LDX(BPF_W, 2, 1, SKB(mark)), ADD_IMM(2, 1),
			    STX(BPF_W, 1, 2, SKB(mark)), MOV_IMM(2, 9),
			    STX(BPF_W, 1, 2, SKB(cb[2])), CTX_U32(SKB(priority)));
	struct __sk_buff skb = {
		.mark = 41, .priority = 7, .cb = { 1, 2, 3, 4, 5 }, .gso_segs = 3
	};
	struct __sk_buff out;

	CHECK(prog > 0);
	CHECK_EQ(run_skb(rt, prog, &skb, &out), 0);
	CHECK_EQ(out.mark, 42);
	CHECK_EQ(out.cb[2], 9);
	CHECK_EQ(out.cb[4], 5);
	CHECK_EQ(out.priority, 7);
	CHECK_EQ(out.ifindex, 1);
	CHECK_EQ(out.wire_len, 64);
	CHECK_EQ(out.gso_segs, 3);
	skb.wire_len = 63;
	CHECK_EQ(run_skb(rt, prog, &skb, NULL), -EINVAL);
	CHECK_EQ(rt_free(rt), 0);
}

/* A socket filter's data come back behind an empty link header. */
TEST(socket_filter_data_out)
{
	struct rt *rt = rt_new(NULL);
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_SOCKET_FILTER, MOV_IMM(0, 0), EXIT());
	struct bpf_call *c;

	for (size_t i = 0; i < sizeof(packet); i++)
		packet[i] = (uint8_t)(i + 1);
	c = run_call(prog, 64);
	c->attr.bpf.test.data_size_out = 64;
	rt_out(&c->attr.bpf.test.data_out, 64);
	CHECK_EQ(rt_do(rt), 0);
	memset(packet, 0, 14);
	CHECK_MEM(rt_result(c->attr.bpf.test.data_out, 64), packet, 64);
	rt_call_end();
	memset(packet, 0, sizeof(packet));
	CHECK_EQ(rt_free(rt), 0);
}
