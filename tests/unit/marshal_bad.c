/* SPDX-License-Identifier: BSD-2-Clause */
/* wire/marshal.h with bad messages and without memory. */
#include "test.h"

#include "hal_host.h"
#include "support_client.h"
#include "wire/cmds.h"
#include "wire/link.h"
#include "wire/marshal.h"

/* A message with everything in it: an info request with nested buffers. */
static void big_request(void)
{
	struct bpf_prog_info info = { .xlated_prog_len = 80, .nr_map_ids = 2 };
	union bpf_attr attr = { .info = { .bpf_fd = FD_PROG, .info_len = sizeof(info) } };
	struct bpf_call call;

	info.xlated_prog_insns = client_put(NULL, 80);
	info.map_ids = client_put(NULL, 8);
	attr.info.info = PUT(info);
	if (client_send_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr), &call))
		abort();
	bpf_call_free(&call);
}

TEST(request_cut_or_damaged)
{
	struct bpf_call call;
	size_t i;

	client_start();
	big_request();
	for (i = 0; i < client.request.len; i++)
		CHECK_EQ(unmarshal_request(client.request.data, i, &call), -EBADMSG);
	CHECK(wire_buf_grow(&client.request, 1)); /* one byte too many */
	client.request.data[client.request.len - 1] = 0;
	CHECK_EQ(unmarshal_request(client.request.data, client.request.len, &call), -EBADMSG);
	client.request.len--;
	/* Any change is either refused or gives a call whose buffers are in order. */
	for (i = 0; i < client.request.len * 256; i++) {
		uint8_t *p = &client.request.data[i / 256], old = *p;

		*p = (uint8_t)i;
		if (!unmarshal_request(client.request.data, client.request.len, &call)) {
			for (uint32_t k = 0; k < call.buf_cnt; k++)
				CHECK(call.bufs[k].in_len <= call.bufs[k].room &&
				      call.bufs[k].room <= call.bufs[k].cap);
			bpf_call_free(&call);
		}
		*p = old;
	}
	client_finish();
}

TEST(request_with_forged_places)
{
	struct wire_buf b = { 0 };
	struct bpf_call call;
	uint8_t attr[64] = { 0 };
	static const struct {
		uint32_t cmd, place;
		int err;
	} cases[] = {
		{ BPF_MAP_UPDATE_ELEM, 1, 0 },		   /* key */
		{ BPF_MAP_UPDATE_ELEM, 0, -EBADMSG },	   /* map_fd is no pointer */
		{ BPF_MAP_UPDATE_ELEM, 3, -EBADMSG },	   /* nor are flags */
		{ BPF_MAP_UPDATE_ELEM, 64 + 1, -EBADMSG }, /* no nested ones here */
		{ BPF_MAP_UPDATE_ELEM, 20, -EBADMSG },	   /* beyond the attr */
		{ BPF_MAP_FREEZE, 1, -EBADMSG },
		{ BPF_OBJ_GET_INFO_BY_FD, 64 + 4, -EBADMSG }, /* parent does not exist */
		{ 500, 1, -EBADMSG },
	};

	client_start();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		b.len = 0;
		wire_put_num(&b, cases[i].cmd);
		wire_put_num(&b, sizeof(attr));
		wire_put_sparse(&b, attr, sizeof(attr));
		wire_put_num(&b, 1);
		wire_put_num(&b, cases[i].place);
		wire_put_num(&b, 4);
		wire_put_sparse(&b, "abcd", 4);
		if (unmarshal_request(b.data, b.len, &call) != cases[i].err)
			TEST_FAIL("case %zu", i);
		if (!cases[i].err)
			bpf_call_free(&call);
	}
	/* The same pointer twice. */
	b.len = 0;
	wire_put_num(&b, BPF_MAP_UPDATE_ELEM);
	wire_put_num(&b, sizeof(attr));
	wire_put_sparse(&b, attr, sizeof(attr));
	wire_put_num(&b, 2);
	for (int i = 0; i < 2; i++) {
		wire_put_num(&b, 1);
		wire_put_num(&b, 4);
		wire_put_sparse(&b, "abcd", 4);
	}
	CHECK_EQ(unmarshal_request(b.data, b.len, &call), -EBADMSG);
	/* More bytes than a message can mean, all of them zero. */
	b.len = 0;
	wire_put_num(&b, BPF_MAP_UPDATE_ELEM);
	wire_put_num(&b, sizeof(attr));
	wire_put_sparse(&b, attr, sizeof(attr));
	wire_put_num(&b, 1);
	wire_put_num(&b, 1);
	wire_put_num(&b, LINK_MSG_MAX + 1);
	wire_put_bytes(&b, "\xff", 1);
	wire_put_num(&b, LINK_MSG_MAX + 1 - 64);
	CHECK_EQ(unmarshal_request(b.data, b.len, &call), -EBADMSG);
	wire_buf_free(&b);
	client_finish();
}

TEST(reply_cut_or_damaged)
{
	union bpf_attr attr = { .map_fd = FD_HASH };
	struct bpf_call call;
	uint8_t before[sizeof(client_mem)];
	int64_t ret;
	size_t i;

	client_start();
	attr.key = client_put("abcd", 4);
	attr.value = client_put(NULL, 12);
	CHECK_EQ(client_send_bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr), &call), 0);
	memset(call_out(&call, call.attr.bpf.value, 12), 0x44, 12);
	call.obj.kind = 'm';
	call.obj.handle = 99;
	CHECK_EQ(unmarshal_reply(&call, &client.reply), 0);
	bpf_call_free(&call);
	memcpy(before, client_mem, sizeof(client_mem));
	for (i = 0; i < client.reply.len; i++) {
		ret = 12345;
		CHECK_EQ(marshal_reply(&client.mc, client.reply.data, i, &client_io, &ret,
				       &client.obj),
			 -EBADMSG);
		CHECK_EQ(ret, 12345);
	}
	CHECK_EQ(client.pokes, 0);
	CHECK_MEM(client_mem, before, sizeof(client_mem));
	/* A buffer that cannot come back, and one that is too long: index, then length */
	for (i = 0; i < client.reply.len * 256; i++) {
		uint8_t *p = &client.reply.data[i / 256], old = *p;

		*p = (uint8_t)i;
		(void)!marshal_reply(&client.mc, client.reply.data, client.reply.len, &client_io,
				     &ret, &client.obj);
		*p = old;
		/* Whatever it said, only the 12 bytes of the value may have changed. */
		memcpy((void *)(uintptr_t)attr.value, before + (attr.value - (uintptr_t)client_mem),
		       12);
		CHECK(!memcmp(client_mem, before, sizeof(client_mem)));
	}
	client_finish();
}

TEST(no_memory)
{
	struct bpf_call call;

	client_start();
	big_request();
	for (unsigned long n = 1;; n++) {
		hal_host_fail_alloc(n, false);
		int err = unmarshal_request(client.request.data, client.request.len, &call);

		if (!hal_host_fail_hit()) {
			CHECK_EQ(err, 0);
			CHECK(n > 1);
			break;
		}
		CHECK_EQ(err, -ENOMEM);
	}
	/* call_out without memory is a fault of this call, no more. */
	hal_host_fail_alloc(1, false);
	CHECK(!call_out(&call, call_buf_ptr(1), 80));
	CHECK(call_out(&call, call_buf_ptr(1), 80));
	hal_host_fail_alloc(1, false);
	CHECK_EQ(unmarshal_reply(&call, &client.reply), -ENOMEM);
	bpf_call_free(&call);
	for (unsigned long n = 1;; n++) {
		struct wire_buf b = { 0 };

		hal_host_fail_alloc(n, false);
		int err = marshal_request(&client.mc, BPF_OBJ_GET_INFO_BY_FD, client.attr_at,
					  sizeof(union bpf_attr), &client_io, &b);

		if (err)
			CHECK_EQ(b.len, 0);
		wire_buf_free(&b);
		if (!hal_host_fail_hit()) {
			CHECK_EQ(err, 0);
			break;
		}
		CHECK_EQ(err, -ENOMEM);
	}
	client_finish();
}
