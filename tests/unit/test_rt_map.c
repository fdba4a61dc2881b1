/* SPDX-License-Identifier: BSD-2-Clause */
/* Map commands: what is checked around the element operations of maps/. */
#include "support_rt.h"
#include "test.h"

static int64_t create(struct rt *rt, void (*change)(union bpf_attr *attr))
{
	struct bpf_call *c = rt_call(BPF_MAP_CREATE);
	int64_t ret;

	c->attr.bpf.map_type = BPF_MAP_TYPE_ARRAY;
	c->attr.bpf.key_size = 4;
	c->attr.bpf.value_size = 8;
	c->attr.bpf.max_entries = 4;
	change(&c->attr.bpf);
	ret = rt_do(rt);
	rt_call_end();
	return ret;
}

static void set_nothing(union bpf_attr *a)
{
	(void)a;
}
static void set_type(union bpf_attr *a)
{
	a->map_type = 9999;
}
static void set_extra(union bpf_attr *a)
{
	a->map_extra = 1;
}
static void set_vmlinux(union bpf_attr *a)
{
	a->btf_vmlinux_value_type_id = 1;
}
static void set_key_type_only(union bpf_attr *a)
{
	a->btf_key_type_id = 1;
}
static void set_btf_bad(union bpf_attr *a)
{
	a->btf_value_type_id = 1;
	a->btf_fd = BPF_HANDLE_EBADF;
}
static void set_btf_not(union bpf_attr *a)
{
	a->btf_key_type_id = a->btf_value_type_id = 1;
	a->btf_fd = BPF_HANDLE_EINVAL;
}
static void set_both_modes(union bpf_attr *a)
{
	a->map_flags = BPF_F_RDONLY | BPF_F_WRONLY;
}
static void set_numa(union bpf_attr *a)
{
	a->map_flags = BPF_F_NUMA_NODE;
	a->numa_node = 1;
}
static void set_ifindex(union bpf_attr *a)
{
	a->map_ifindex = 1;
}
static void set_name_char(union bpf_attr *a)
{
	strcpy(a->map_name, "a-b");
}
static void set_name_long(union bpf_attr *a)
{
	memset(a->map_name, 'a', sizeof(a->map_name));
}
static void set_entries(union bpf_attr *a)
{
	a->max_entries = 0;
}
static void set_flags(union bpf_attr *a)
{
	a->map_flags = 1u << 30;
}
static void set_token_bad(union bpf_attr *a)
{
	a->map_flags = BPF_F_TOKEN_FD;
	a->map_token_fd = (int)BPF_HANDLE_EBADF;
}
static void set_token_not(union bpf_attr *a)
{
	a->map_flags = BPF_F_TOKEN_FD;
	a->map_token_fd = (int)BPF_HANDLE_EINVAL;
}
static void set_inner_unused(union bpf_attr *a)
{
	a->inner_map_fd = 77; /* Linux does not look at it unless the type has inner maps */
}

TEST(create_checks)
{
	static const struct {
		void (*change)(union bpf_attr *attr);
		int64_t ret; /* 1: a handle */
	} cases[] = {
		{ set_nothing, 1 },
		{ set_type, -EINVAL },
		{ set_extra, -EINVAL },
		{ set_vmlinux, -EINVAL },
		{ set_key_type_only, -EINVAL },
		{ set_btf_bad, -EBADF },
		{ set_btf_not, -EINVAL },
		{ set_both_modes, -EINVAL },
		{ set_numa, -EINVAL },
		{ set_ifindex, -EINVAL },
		{ set_name_char, -EINVAL },
		{ set_name_long, -EINVAL },
		{ set_entries, -EINVAL },
		{ set_flags, -EINVAL },
		{ set_token_bad, -EBADF },
		{ set_token_not, -EINVAL },
		{ set_inner_unused, 1 },
	};
	struct rt *rt = rt_new(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t ret = create(rt, cases[i].change);

		if (cases[i].ret < 0)
			CHECK_EQ(ret, cases[i].ret);
		else
			CHECK(ret > 0);
	}
	CHECK_EQ(rt_count(rt, RT_MAP), 2);
	CHECK_EQ(rt_free(rt), 0);
}

TEST(create_object_info)
{
	struct rt *rt = rt_new(NULL);
	struct bpf_call *c = rt_call(BPF_MAP_CREATE);

	c->attr.bpf.map_type = BPF_MAP_TYPE_HASH;
	c->attr.bpf.key_size = 12;
	c->attr.bpf.value_size = 20;
	c->attr.bpf.max_entries = 100;
	c->attr.bpf.map_flags = BPF_F_RDONLY;
	CHECK(rt_do(rt) > 0);
	CHECK_EQ(c->obj.handle, c->ret);
	CHECK_EQ(c->obj.kind, 'm');
	CHECK_EQ(c->obj.type, BPF_MAP_TYPE_HASH);
	CHECK_EQ(c->obj.key_size, 12);
	CHECK_EQ(c->obj.value_size, 20);
	CHECK_EQ(c->obj.max_entries, 100);
	/* BPF_F_RDONLY belongs to the handle, not to the map. */
	CHECK_EQ(c->obj.map_flags, 0);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(permissions)
{
	struct rt *rt = rt_new(NULL);
	uint32_t ro = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_HASH, 4, 8, 4, BPF_F_RDONLY);
	uint32_t wo = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_HASH, 4, 8, 4, BPF_F_WRONLY);
	uint32_t key = 1;
	uint64_t value = 2;
	struct bpf_call *c;

	CHECK_EQ(rt_map_put(rt, ro, &key, 4, &value, 8), -EPERM);
	CHECK_EQ(rt_map_look(rt, ro, &key, 4, &value, 8), -ENOENT);
	CHECK_EQ(rt_map_put(rt, wo, &key, 4, &value, 8), 0);
	CHECK_EQ(rt_map_look(rt, wo, &key, 4, &value, 8), -EPERM);
	c = rt_call(BPF_MAP_GET_NEXT_KEY);
	c->attr.bpf.map_fd = wo;
	CHECK_EQ(rt_do(rt), -EPERM);
	c = rt_call(BPF_MAP_LOOKUP_AND_DELETE_ELEM);
	c->attr.bpf.map_fd = wo;
	CHECK_EQ(rt_do(rt), -EPERM);
	c->attr.bpf.map_fd = ro;
	CHECK_EQ(rt_do(rt), -EPERM);
	c = rt_call(BPF_MAP_DELETE_ELEM);
	c->attr.bpf.map_fd = ro;
	CHECK_EQ(rt_do(rt), -EPERM);
	c = rt_call(BPF_MAP_LOOKUP_BATCH);
	c->attr.bpf.batch.map_fd = wo;
	CHECK_EQ(rt_do(rt), -EPERM);
	c = rt_call(BPF_MAP_UPDATE_BATCH);
	c->attr.bpf.batch.map_fd = ro;
	CHECK_EQ(rt_do(rt), -EPERM);
	c = rt_call(BPF_MAP_FREEZE);
	c->attr.bpf.map_fd = ro;
	CHECK_EQ(rt_do(rt), -EPERM);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(freeze)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0), key = 1;
	uint64_t value = 2;

	CHECK_EQ(rt_map_put(rt, map, &key, 4, &value, 8), 0);
	rt_call(BPF_MAP_FREEZE)->attr.bpf.map_fd = map;
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(rt_map_put(rt, map, &key, 4, &value, 8), -EPERM);
	CHECK_EQ(rt_map_look(rt, map, &key, 4, &value, 8), 0);
	CHECK_EQ(value, 2);
	/* Frozen maps have lost their write permission, and freezing needs it. */
	rt_call(BPF_MAP_FREEZE)->attr.bpf.map_fd = map;
	CHECK_EQ(rt_do(rt), -EPERM);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* A failing lookup sends nothing back; bad pointers are -EFAULT, too short ones too. */
TEST(element_pointers)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_HASH, 4, 8, 4, 0), key = 1;
	struct bpf_call *c = rt_call(BPF_MAP_LOOKUP_ELEM);

	c->attr.bpf.map_fd = map;
	rt_in(&c->attr.bpf.key, &key, 4);
	rt_out(&c->attr.bpf.value, 8);
	CHECK_EQ(rt_do(rt), -ENOENT);
	CHECK_EQ(rt_result_len(c->attr.bpf.value), 0);
	c->attr.bpf.value = 0;
	CHECK_EQ(rt_do(rt), -EFAULT);
	c = rt_call(BPF_MAP_LOOKUP_ELEM);
	c->attr.bpf.map_fd = map;
	rt_in(&c->attr.bpf.key, &key, 3);
	rt_out(&c->attr.bpf.value, 8);
	CHECK_EQ(rt_do(rt), -EFAULT);
	c->attr.bpf.key = 0x12345678;
	CHECK_EQ(rt_do(rt), -EFAULT);
	c->attr.bpf.flags = BPF_F_LOCK;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c->attr.bpf.flags = 8;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = rt_call(BPF_MAP_UPDATE_ELEM);
	c->attr.bpf.map_fd = map;
	rt_in(&c->attr.bpf.key, &key, 4);
	rt_in(&c->attr.bpf.value, "1234567", 7);
	CHECK_EQ(rt_do(rt), -EFAULT);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(next_key)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0), key, n = 0;
	struct bpf_call *c = rt_call(BPF_MAP_GET_NEXT_KEY);

	c->attr.bpf.map_fd = map;
	rt_out(&c->attr.bpf.next_key, 4);
	while (!rt_do(rt)) {
		memcpy(&key, rt_result(c->attr.bpf.next_key, 4), 4);
		CHECK_EQ(key, n++);
		c = rt_call(BPF_MAP_GET_NEXT_KEY);
		c->attr.bpf.map_fd = map;
		rt_in(&c->attr.bpf.key, &key, 4);
		rt_out(&c->attr.bpf.next_key, 4);
	}
	CHECK_EQ(c->ret, -ENOENT);
	CHECK_EQ(rt_result_len(c->attr.bpf.next_key), 0);
	CHECK_EQ(n, 3);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(lookup_and_delete)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_HASH, 4, 8, 3, 0), key = 5;
	uint64_t value = 6;
	struct bpf_call *c;

	CHECK_EQ(rt_map_put(rt, map, &key, 4, &value, 8), 0);
	c = rt_call(BPF_MAP_LOOKUP_AND_DELETE_ELEM);
	c->attr.bpf.map_fd = map;
	rt_in(&c->attr.bpf.key, &key, 4);
	/* Where the value has nowhere to go, it must stay in the map. */
	CHECK_EQ(rt_do(rt), -EFAULT);
	rt_out(&c->attr.bpf.value, 8);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_MEM(rt_result(c->attr.bpf.value, 8), &value, 8);
	CHECK_EQ(rt_map_look(rt, map, &key, 4, &value, 8), -ENOENT);
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- batches --------------------------------------------------------------------------------- */

static uint32_t filled_hash(struct rt *rt, uint32_t n)
{
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_HASH, 4, 8, 64, 0);
	struct bpf_call *c = rt_call(BPF_MAP_UPDATE_BATCH);
	uint32_t keys[64];
	uint64_t values[64];

	for (uint32_t i = 0; i < n; i++) {
		keys[i] = i;
		values[i] = i * 10;
	}
	c->attr.bpf.batch.map_fd = map;
	c->attr.bpf.batch.count = n;
	rt_in(&c->attr.bpf.batch.keys, keys, n * 4);
	rt_in(&c->attr.bpf.batch.values, values, n * 8);
	if (rt_do(rt) || c->attr.bpf.batch.count != n)
		abort();
	rt_call_end();
	return map;
}

static struct bpf_call *batch_call(uint32_t cmd, uint32_t map, uint32_t count)
{
	struct bpf_call *c = rt_call(cmd);

	c->attr.bpf.batch.map_fd = map;
	c->attr.bpf.batch.count = count;
	rt_out(&c->attr.bpf.batch.out_batch, 4);
	rt_out(&c->attr.bpf.batch.keys, count * 4);
	rt_out(&c->attr.bpf.batch.values, count * 8);
	return c;
}

/* More room than elements: all of them, -ENOENT, and only their bytes on the line. */
TEST(batch_all)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = filled_hash(rt, 10), sum = 0;
	struct bpf_call *c = batch_call(BPF_MAP_LOOKUP_BATCH, map, 1000);
	const uint32_t *keys;

	CHECK_EQ(rt_do(rt), -ENOENT);
	CHECK_EQ(c->attr.bpf.batch.count, 10);
	CHECK_EQ(rt_result_len(c->attr.bpf.batch.keys), 40);
	CHECK_EQ(rt_result_len(c->attr.bpf.batch.values), 80);
	keys = rt_result(c->attr.bpf.batch.keys, 40);
	for (int i = 0; i < 10; i++) {
		uint64_t value;

		memcpy(&value, (const char *)rt_result(c->attr.bpf.batch.values, 80) + 8 * i, 8);
		CHECK_EQ(value, keys[i] * 10);
		sum += keys[i];
	}
	CHECK_EQ(sum, 45);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(batch_in_pieces_and_delete)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = filled_hash(rt, 50), sum = 0, total = 0, cursor = 0;
	bool first = true;
	int64_t ret;

	do {
		struct bpf_call *c = batch_call(BPF_MAP_LOOKUP_AND_DELETE_BATCH, map, 16);
		uint32_t count;

		if (!first)
			rt_in(&c->attr.bpf.batch.in_batch, &cursor, 4);
		first = false;
		ret = rt_do(rt);
		CHECK(!ret || ret == -ENOENT);
		count = c->attr.bpf.batch.count;
		total += count;
		for (uint32_t i = 0; i < count; i++)
			sum += ((const uint32_t *)rt_result(c->attr.bpf.batch.keys, count * 4))[i];
		if (!ret)
			memcpy(&cursor, rt_result(c->attr.bpf.batch.out_batch, 4), 4);
		CHECK(total <= 50);
	} while (!ret);
	CHECK_EQ(total, 50);
	CHECK_EQ(sum, 49 * 50 / 2);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(batch_errors)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = filled_hash(rt, 10);
	uint32_t array = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0);
	struct bpf_call *c = batch_call(BPF_MAP_LOOKUP_BATCH, map, 20);

	c->attr.bpf.batch.elem_flags = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = batch_call(BPF_MAP_LOOKUP_BATCH, map, 20);
	c->attr.bpf.batch.out_batch = 0;
	CHECK_EQ(rt_do(rt), -EFAULT);
	c = batch_call(BPF_MAP_LOOKUP_BATCH, map, 20);
	c->attr.bpf.batch.in_batch = 1;
	CHECK_EQ(rt_do(rt), -EFAULT);
	c = batch_call(BPF_MAP_LOOKUP_BATCH, map, 0);
	CHECK_EQ(rt_do(rt), 0);
	batch_call(BPF_MAP_LOOKUP_BATCH, array, 4);
	CHECK_EQ(rt_do(rt), -ENOTSUPP);
	c = rt_call(BPF_MAP_UPDATE_BATCH);
	c->attr.bpf.batch.map_fd = map;
	c->attr.bpf.batch.count = 3;
	rt_in(&c->attr.bpf.batch.keys, "123412341234", 12);
	rt_in(&c->attr.bpf.batch.values, "1234567", 8);
	CHECK_EQ(rt_do(rt), -EFAULT);
	/* A batch that stops in the middle says how far it came. */
	c = rt_call(BPF_MAP_DELETE_BATCH);
	c->attr.bpf.batch.map_fd = map;
	c->attr.bpf.batch.count = 3;
	rt_in(&c->attr.bpf.batch.keys, (uint32_t[]){ 1, 99, 2 }, 12);
	CHECK_EQ(rt_do(rt), -ENOENT);
	CHECK_EQ(c->attr.bpf.batch.count, 1);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- objects in maps ------------------------------------------------------------------------- */

TEST(map_in_map_values)
{
	struct rt *rt = rt_new(NULL);
	uint32_t inner = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_HASH, 4, 8, 4, 0), key = 1, id;
	uint32_t same = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_HASH, 4, 8, 99, 0);
	uint32_t other = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_HASH, 4, 16, 4, 0), outer;
	struct bpf_call *c = rt_call(BPF_MAP_CREATE);

	c->attr.bpf.map_type = BPF_MAP_TYPE_ARRAY_OF_MAPS;
	c->attr.bpf.key_size = c->attr.bpf.value_size = 4;
	c->attr.bpf.max_entries = 4;
	c->attr.bpf.inner_map_fd = BPF_HANDLE_EBADF;
	CHECK_EQ(rt_do(rt), -EBADF);
	/* What is wrong with attr itself comes before a bad inner map. */
	c->attr.bpf.max_entries = 0;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c->attr.bpf.max_entries = 4;
	c->attr.bpf.inner_map_fd = inner;
	outer = (uint32_t)rt_do(rt);
	CHECK((int32_t)outer > 0);
	CHECK_EQ(rt_map_put(rt, outer, &key, 4, &same, 4), 0);
	CHECK_EQ(rt_map_look(rt, outer, &key, 4, &id, 4), 0);
	CHECK_EQ(id, 2);
	CHECK_EQ(rt_map_put(rt, outer, &key, 4, &other, 4), -EINVAL);
	CHECK_EQ(rt_map_put(rt, outer, &key, 4, &outer, 4), -EINVAL);
	CHECK_EQ(rt_map_put(rt, outer, &key, 4, &(uint32_t){ BPF_HANDLE_EBADF }, 4), -EBADF);
	/* The outer map holds its inner ones, and gives them back when it goes. */
	CHECK_EQ(rt_close(rt, same), 0);
	CHECK_EQ(rt_count(rt, RT_MAP), 4);
	CHECK_EQ(rt_close(rt, outer), 0);
	rt_call(BPF_ENABLE_STATS);
	rt_do(rt);
	rt_session_end(rt, RT_TEST_SESSION);
	CHECK_EQ(rt_count(rt, RT_MAP), 0);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* A prog array that a program in it uses: neither goes while the other holds it, unless ... */
TEST(prog_array_cycle)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0), key = 0;
	uint32_t prog =
		(uint32_t)LOAD(rt, BPF_PROG_TYPE_XDP, LDIMM64(2, BPF_PSEUDO_MAP_FD, (int)map, 0),
			       MOV_IMM(3, 0), CALL(BPF_FUNC_tail_call), MOV_IMM(0, 0), EXIT());

	CHECK((int32_t)prog > 0);
	CHECK_EQ(rt_map_put(rt, map, &key, 4, &prog, 4), 0);
	CHECK_EQ(rt_close(rt, prog), 0);
	CHECK_EQ(rt_count(rt, RT_PROG), 1);
	/* ... the array's last handle is closed: then it is emptied. */
	CHECK_EQ(rt_close(rt, map), 0);
	rt_session_end(rt, RT_TEST_SESSION);
	CHECK_EQ(rt_count(rt, RT_PROG) + rt_count(rt, RT_MAP), 0);
	CHECK_EQ(rt_free(rt), 0);
}

TEST(prog_array_values)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_PROG_ARRAY, 4, 4, 4, 0), key = 1,
		 id;
	uint32_t prog = (uint32_t)LOAD(rt, BPF_PROG_TYPE_XDP, MOV_IMM(0, 2), EXIT());
	uint32_t other = (uint32_t)LOAD(rt, BPF_PROG_TYPE_SOCKET_FILTER, MOV_IMM(0, 2), EXIT());

	CHECK_EQ(rt_map_put(rt, map, &key, 4, &prog, 4), 0);
	CHECK_EQ(rt_map_look(rt, map, &key, 4, &id, 4), 0);
	CHECK_EQ(id, 1);
	CHECK_EQ(rt_map_put(rt, map, &key, 4, &other, 4), -EINVAL);
	CHECK_EQ(rt_map_put(rt, map, &key, 4, &map, 4), -EINVAL);
	CHECK_EQ(rt_map_put(rt, map, &key, 4, &(uint32_t){ BPF_HANDLE_EBADF }, 4), -EBADF);
	/* The array holds the program; when its last handle goes, it lets go. */
	CHECK_EQ(rt_close(rt, prog), 0);
	CHECK_EQ(rt_count(rt, RT_PROG), 2);
	CHECK_EQ(rt_close(rt, map), 0);
	rt_session_end(rt, RT_TEST_SESSION);
	CHECK_EQ(rt_count(rt, RT_PROG), 0);
	CHECK_EQ(rt_free(rt), 0);
}
