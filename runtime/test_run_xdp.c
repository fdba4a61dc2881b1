/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/test_run.h"

/* As on Linux, whose frames lie in a page: room before the packet, room behind it up to the end. */
#define XDP_HEADROOM	256u
#define XDP_FRAME_BYTES (4096u - 320u)
#define XDP_META_MAX	216u /* headroom less what Linux keeps in it */
#define LOOPBACK	1u   /* ifindex that packets of a test run come from */

static int check_attr(const struct test_run *t)
{
	const __typeof__(t->attr->test) *test = &t->attr->test;

	if (t->prog->expected_attach_type == BPF_XDP_DEVMAP ||
	    t->prog->expected_attach_type == BPF_XDP_CPUMAP)
		return -EINVAL;
	/* Choosing a CPU goes beyond Linux; live frames have no device to go out by. */
	if (test->flags & ~(uint32_t)BPF_F_TEST_RUN_ON_CPU ||
	    (!(test->flags & BPF_F_TEST_RUN_ON_CPU) && test->cpu) || test->batch_size)
		return -EINVAL;
	return 0;
}

/* The client's xdp_md in terms of the data it gives: *meta_bytes of metadata come first. */
static int check_layout(const struct test_run *t, const struct xdp_md *md, uint32_t *meta_bytes)
{
	if (md->data_meta || md->data_end > t->attr->test.data_size_in || md->data > md->data_end)
		return -EINVAL;
	if (md->data % 4 || md->data > XDP_META_MAX)
		return -EINVAL;
	*meta_bytes = md->data;
	return 0;
}

static int check_device(const struct xdp_md *md)
{
	if (md->egress_ifindex || (!md->ingress_ifindex && md->rx_queue_index))
		return -EINVAL;
	if (md->ingress_ifindex > LOOPBACK)
		return -ENODEV;
	return md->rx_queue_index ? -EINVAL : 0;
}

static int run(struct test_run *t, struct ctx_xdp *ctx, uint32_t meta_bytes, struct xdp_md *md,
	       bool have_md)
{
	struct ctx_pkt *pkt = &ctx->pkt;
	int err;

	ctx->ingress_ifindex = LOOPBACK;
	pkt->data = pkt->data_meta + meta_bytes;
	err = test_run_loop(t, ctx);
	if (err)
		return err;
	md->data = (uint32_t)(pkt->data - pkt->data_meta);
	md->data_end = (uint32_t)(pkt->data_end - pkt->data_meta);
	err = test_run_finish(t, pkt->data_meta, md->data_end);
	if (!err && have_md)
		err = test_run_ctx_out(t, md, sizeof(*md));
	return err;
}

int test_run_xdp(struct test_run *t)
{
	uint32_t size = t->attr->test.data_size_in, meta_bytes = 0, headroom, used;
	struct ctx_xdp ctx = { 0 };
	struct xdp_md md = { 0 };
	bool have_md;
	int err;

	err = check_attr(t);
	if (!err)
		err = test_run_ctx_in(t, &md, sizeof(md), &have_md);
	if (!err && have_md)
		err = check_layout(t, &md, &meta_bytes);
	if (err)
		return err;
	if (size < meta_bytes || size - meta_bytes < ETH_HLEN)
		return -EINVAL;
	headroom = XDP_HEADROOM - meta_bytes;
	used = headroom + MIN(size, XDP_FRAME_BYTES);
	err = test_run_packet(t, headroom, XDP_FRAME_BYTES - MIN(used, XDP_FRAME_BYTES), &ctx.pkt);
	if (err)
		return err;
	err = check_device(&md);
	if (!err)
		err = run(t, &ctx, meta_bytes, &md, have_md);
	hal_free(ctx.pkt.hard_start);
	return err;
}
