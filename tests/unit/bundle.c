/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bundles from recording to replay: wire/bundle.h, bundle_replay of runtime/rt.h. Calls are made on
 * one runtime and recorded as the host's recorder does it, then replayed on another.
 */
#include "test.h"

#include "hal_host.h"
#include "include/hal.h"
#include "lib/crc32c.h"
#include "runtime/rt_int.h"
#include "wire/bundle.h"
#include "wire/marshal.h"

static const struct rt_platform platform;
static struct rt *rt;
static struct bundle_writer writer;
static struct wire_buf bundle;

/* ---- recording --------------------------------------------------------------------------------
 */

static struct {
	struct bpf_obj_info info;
	uint32_t call;
} objs[32];
static unsigned int objs_nr;
static struct bundle_ref refs[64];
static uint32_t refs_nr;

static int peek(void *arg, void *dst, uint64_t addr, size_t n)
{
	(void)arg;
	memcpy(dst, (void *)(uintptr_t)addr, n);
	return 0;
}

static int poke(void *arg, uint64_t addr, const void *src, size_t n)
{
	(void)arg;
	memcpy((void *)(uintptr_t)addr, src, n);
	return 0;
}

static int find(uint32_t handle)
{
	for (unsigned int i = objs_nr; i-- > 0;) {
		if (objs[i].info.handle == handle)
			return (int)i;
	}
	return -1;
}

static int fd_info(void *arg, int fd, struct bpf_obj_info *info)
{
	int i = find((uint32_t)fd);

	(void)arg;
	if (i < 0)
		return -EBADF;
	*info = objs[i].info;
	return 0;
}

static void handle_ref(void *arg, int buf, uint32_t off, uint32_t handle)
{
	(void)arg;
	refs[refs_nr++] = (struct bundle_ref){ buf, off, objs[find(handle)].call };
}

static const struct marshal_io io = {
	.peek = peek, .poke = poke, .fd_info = fd_info, .handle_ref = handle_ref, .cpus = 4
};

/* Do it, and record it if it worked. */
static int64_t record(uint32_t cmd, void *attr, uint32_t size)
{
	struct wire_buf req = { 0 }, rep = { 0 };
	struct bpf_obj_info obj = { 0 };
	struct marshal_call mc;
	struct bpf_call call;
	int64_t ret;
	int number;

	refs_nr = 0;
	if (marshal_request(&mc, cmd, (uintptr_t)attr, size, &io, &req) ||
	    unmarshal_request(req.data, req.len, &call))
		abort();
	call.session = 1;
	bpf_syscall(rt, &call);
	if (unmarshal_reply(&call, &rep) || marshal_reply(&mc, rep.data, rep.len, &io, &ret, &obj))
		abort();
	bpf_call_free(&call);
	number = ret < 0 ? -1 : bundle_add(&writer, req.data, req.len, refs, refs_nr);
	if (obj.kind && number >= 0) {
		objs[objs_nr].info = obj;
		objs[objs_nr++].call = (uint32_t)number;
	}
	wire_buf_free(&req);
	wire_buf_free(&rep);
	return ret;
}

static int64_t make_map(uint32_t type, uint32_t value, uint32_t entries, const char *name)
{
	union bpf_attr attr = {
		.map_type = type, .key_size = 4, .value_size = value, .max_entries = entries
	};

	strcpy(attr.map_name, name);
	return record(BPF_MAP_CREATE, &attr, sizeof(attr));
}

static int64_t update(int64_t map, uint32_t key, const void *value)
{
	union bpf_attr attr = { .map_fd = (uint32_t)map };

	attr.key = (uintptr_t)&key;
	attr.value = (uintptr_t)value;
	return record(BPF_MAP_UPDATE_ELEM, &attr, sizeof(attr));
}

static int64_t pin(int64_t obj, const char *path)
{
	char copy[64] __aligned(64) = "";
	union bpf_attr attr = { .bpf_fd = (uint32_t)obj, .pathname = (uintptr_t)copy };

	strcpy(copy, path);
	return record(BPF_OBJ_PIN, &attr, sizeof(attr));
}

static int64_t make_dir(const char *path)
{
	char copy[64] __aligned(64) = "";
	union board_attr attr = { .path = { .path = (uintptr_t)copy } };

	strcpy(copy, path);
	return record(BOARD_PATH_MKDIR, &attr, sizeof(attr));
}

static void close_obj(int64_t handle)
{
	bundle_closed(&writer, objs[find((uint32_t)handle)].call);
	if (rt_handle_close(rt, (uint32_t)handle))
		abort();
}

static unsigned int live_maps(void)
{
	uint32_t id = 0;
	unsigned int n = 0;

	hal_quiesce_flush(true);
	while (!rt_next_id(rt, RT_MAP, id, &id))
		n++;
	return n;
}

static bool exists(const char *path)
{
	struct pin *p;

	return !pin_find(rt, path, &p);
}

static void restart(void)
{
	if (rt && rt_free(rt))
		TEST_FAIL("objects are left");
	rt = rt_new(&platform);
}

static void start(void)
{
	objs_nr = refs_nr = 0;
	rt = NULL;
	restart();
}

static void finish(void)
{
	if (rt_free(rt))
		TEST_FAIL("objects are left");
	rt = NULL;
	bundle_writer_free(&writer);
	wire_buf_free(&bundle);
}

/* Two maps that stay, one of them pinned in a directory, and two probes that leave nothing. */
static uint32_t record_some(void)
{
	uint64_t value[2] = { 0x1111111111111111, 0x2222222222222222 };
	union bpf_attr attr = { 0 };
	int64_t a, b, probe;
	uint32_t kept = 0;

	probe = make_map(BPF_MAP_TYPE_ARRAY, 4, 1, "probe");
	update(probe, 0, "abcd");
	close_obj(probe);
	a = make_map(BPF_MAP_TYPE_ARRAY, 16, 3, "a");
	probe = make_map(BPF_MAP_TYPE_HASH, 4, 10, "probe2");
	b = make_map(BPF_MAP_TYPE_HASH, 16, 10, "b");
	update(a, 2, value);
	update(b, 77, value);
	close_obj(probe);
	make_dir("/sys/fs/bpf/dir");
	pin(b, "/sys/fs/bpf/dir/b");
	close_obj(b);
	attr.map_fd = (uint32_t)a;
	record(BPF_MAP_FREEZE, &attr, sizeof(attr));
	if (bundle_finish(&writer, &bundle, &kept))
		abort();
	return kept;
}

static const struct bpf_map *map_named(const char *name)
{
	uint32_t id = 0;

	while (!rt_next_id(rt, RT_MAP, id, &id)) {
		const struct bpf_map *map = rt_by_id(rt, RT_MAP, id);

		if (!strcmp(map->name, name))
			return map;
	}
	return NULL;
}

/* ---- tests ------------------------------------------------------------------------------------
 */

TEST(replay)
{
	uint32_t at = 99, key = 2;
	const struct bpf_map *a, *b;
	const uint64_t *v;

	start();
	CHECK_EQ(record_some(), 7);
	restart();
	CHECK_EQ(bundle_replay(rt, bundle.data, bundle.len, &at), 0);
	CHECK_EQ(at, 99);
	CHECK_EQ(live_maps(), 2);
	a = map_named("a");
	b = map_named("b");
	CHECK(a && b && a->frozen);
	v = a->ops->lookup((struct bpf_map *)a, &key);
	CHECK(v && v[0] == 0x1111111111111111 && v[1] == 0x2222222222222222);
	key = 77;
	v = b->ops->lookup((struct bpf_map *)b, &key);
	CHECK(v && v[0] == 0x1111111111111111);
	CHECK(exists("/sys/fs/bpf/dir/b"));
	/* They belong to no host: a session's end leaves them alone. */
	rt_session_end(rt, 1);
	rt_session_end(rt, 0xffffffff);
	CHECK_EQ(live_maps(), 2);
	/* b had been closed by its maker, so only the pin holds it. */
	CHECK_EQ(pin_unlink(rt, "/sys/fs/bpf/dir/b", 0), 0);
	CHECK_EQ(live_maps(), 1);
	/* A loader's padding behind it does no harm. */
	restart();
	CHECK(wire_buf_grow(&bundle, 511));
	CHECK_EQ(bundle_replay(rt, bundle.data, bundle.len, &at), 0);
	CHECK_EQ(live_maps(), 2);
	finish();
}

TEST(same_calls_same_bundle)
{
	struct wire_buf first;
	int64_t other;

	start();
	record_some();
	first = bundle;
	bundle = (struct wire_buf){ 0 };
	bundle_writer_free(&writer);
	objs_nr = 0;
	restart();
	/* Other handles this time. */
	other = make_map(BPF_MAP_TYPE_ARRAY, 4, 1, "other");
	close_obj(other);
	make_map(BPF_MAP_TYPE_ARRAY, 4, 1, "other");
	bundle_writer_free(&writer);
	record_some();
	CHECK_EQ(bundle.len, first.len);
	CHECK_MEM(bundle.data, first.data, first.len);
	wire_buf_free(&first);
	finish();
}

TEST(objects_that_others_need)
{
	int64_t progs, inner, outer, btf_like;
	uint32_t kept, at;
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY_OF_MAPS,
				.key_size = 4,
				.value_size = 4,
				.max_entries = 2 };

	start();
	inner = make_map(BPF_MAP_TYPE_ARRAY, 8, 1, "inner");
	attr.inner_map_fd = (uint32_t)inner;
	outer = record(BPF_MAP_CREATE, &attr, sizeof(attr));
	if (outer < 0) {
		finish();
		SKIP("no maps of maps yet");
	}
	btf_like = make_map(BPF_MAP_TYPE_ARRAY, 8, 1, "value");
	CHECK_EQ(update(outer, 1, &(uint32_t){ (uint32_t)btf_like }), 0);
	close_obj(inner);
	close_obj(btf_like);
	progs = make_map(BPF_MAP_TYPE_PROG_ARRAY, 4, 1, "progs");
	close_obj(progs);
	CHECK_EQ(bundle_finish(&writer, &bundle, &kept), 0);
	CHECK_EQ(kept, 4); /* all but the prog array */
	restart();
	CHECK_EQ(bundle_replay(rt, bundle.data, bundle.len, &at), 0);
	/* The template's handle is dropped at the end; the element stays with the outer map. */
	CHECK_EQ(live_maps(), 2);
	finish();
}

TEST(any_damage_makes_nothing)
{
	uint32_t at;

	start();
	record_some();
	restart();
	for (size_t i = 0; i < bundle.len; i++) {
		int err;

		bundle.data[i] ^= 0x10;
		err = bundle_replay(rt, bundle.data, bundle.len, &at);
		bundle.data[i] ^= 0x10;
		CHECK(err == -EBADMSG || err == -EINVAL || err == -EPROTONOSUPPORT);
		CHECK_EQ(live_maps(), 0);
		err = bundle_replay(rt, bundle.data, i, &at);
		CHECK(err == -EBADMSG || err == -EINVAL);
	}
	CHECK_EQ(live_maps(), 0);
	finish();
}

/* The CRC made right again, whatever the rest is. */
static void seal(void)
{
	uint32_t crc = crc32c(0, bundle.data, bundle.len - 4);

	memcpy(bundle.data + bundle.len - 4, &crc, 4);
}

TEST(forged_bundles)
{
	uint32_t at;

	start();
	record_some();
	restart();
	/* Every byte to every value, with a valid CRC: refused whole, or done whole. */
	for (size_t i = 0; i < bundle.len - 4; i++) {
		uint8_t old = bundle.data[i];

		for (int v = 0; v < 256; v += i < 60 ? 1 : 37) {
			bundle.data[i] = (uint8_t)v;
			seal();
			if (bundle_replay(rt, bundle.data, bundle.len, &at)) {
				CHECK_EQ(live_maps(), 0);
				CHECK(!exists("/sys/fs/bpf/dir"));
			} else {
				restart();
			}
		}
		bundle.data[i] = old;
	}
	seal();
	CHECK_EQ(bundle_replay(rt, bundle.data, bundle.len, &at), 0);
	finish();
}

TEST(a_failing_call_undoes_all)
{
	uint32_t at = 0;

	start();
	record_some();
	restart();
	CHECK_EQ(bundle_replay(rt, bundle.data, bundle.len, &at), 0);
	CHECK_EQ(live_maps(), 2);
	/* The pin's directory exists: the second time its call fails. */
	CHECK_EQ(bundle_replay(rt, bundle.data, bundle.len, &at), -EEXIST);
	CHECK_EQ(at, 4);
	CHECK_EQ(live_maps(), 2);
	CHECK(exists("/sys/fs/bpf/dir/b"));
	CHECK(strstr(hal_host_log_text(), "BOARD_PATH_MKDIR: error"));
	/* Whatever allocation fails, the map that was there before stays alone. */
	CHECK_EQ(pin_unlink(rt, "/sys/fs/bpf/dir/b", 0), 0);
	CHECK_EQ(pin_unlink(rt, "/sys/fs/bpf/dir", 0), 0);
	for (unsigned long n = 1;; n++) {
		int err;

		hal_host_fail_alloc(n, true);
		err = bundle_replay(rt, bundle.data, bundle.len, &at);
		bool hit = hal_host_fail_hit();

		hal_host_fail_alloc(0, false);
		if (!hit) {
			CHECK_EQ(err, 0);
			CHECK(n > 10);
			break;
		}
		CHECK_EQ(err, -ENOMEM);
		CHECK_EQ(live_maps(), 1);
		CHECK(!exists("/sys/fs/bpf/dir"));
	}
	finish();
}

TEST(what_recorders_may_not_do)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};
	struct bundle_ref bad = { -1, 0, 0 };
	struct wire_buf req = { 0 };
	struct marshal_call mc;

	start();
	CHECK(!bundle_allows(BPF_OBJ_GET) && !bundle_allows(BOARD_RESET) &&
	      bundle_allows(BPF_PROG_LOAD));
	CHECK_EQ(marshal_request(&mc, BPF_MAP_CREATE, (uintptr_t)&attr, sizeof(attr), &io, &req),
		 0);
	CHECK_EQ(bundle_add(&writer, req.data, req.len, &bad, 1), -EINVAL); /* no call 0 yet */
	CHECK_EQ(bundle_add(&writer, req.data, req.len - 1, NULL, 0), -EBADMSG);
	CHECK_EQ(bundle_add(&writer, req.data, req.len, NULL, 0), 0);
	bad.off = 1000; /* beyond the attr */
	CHECK_EQ(bundle_add(&writer, req.data, req.len, &bad, 1), -EINVAL);
	bad.buf = 3; /* no such buffer */
	CHECK_EQ(bundle_add(&writer, req.data, req.len, &bad, 1), -EINVAL);
	req.len = 0;
	CHECK_EQ(marshal_request(&mc, BOARD_RESET, (uintptr_t)&attr, 8, &io, &req), 0);
	CHECK_EQ(bundle_add(&writer, req.data, req.len, NULL, 0), -EOPNOTSUPP);
	wire_buf_free(&req);
	finish();
}

TEST(recorder_without_memory)
{
	for (unsigned long n = 1;; n++) {
		union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY,
					.key_size = 4,
					.value_size = 4,
					.max_entries = 1 };
		struct wire_buf req = { 0 }, out = { 0 };
		struct bundle_ref ref = { -1, offsetof(union bpf_attr, inner_map_fd), 0 };
		struct marshal_call mc;
		uint32_t kept;
		int err;

		CHECK_EQ(marshal_request(&mc, BPF_MAP_CREATE, (uintptr_t)&attr, sizeof(attr), &io,
					 &req),
			 0);
		hal_host_fail_alloc(n, false);
		err = bundle_add(&writer, req.data, req.len, NULL, 0);
		if (!err)
			err = bundle_add(&writer, req.data, req.len, &ref, 1);
		if (err >= 0)
			err = bundle_finish(&writer, &out, &kept);
		bundle_writer_free(&writer);
		wire_buf_free(&req);
		wire_buf_free(&out);
		if (!hal_host_fail_hit()) {
			CHECK_EQ(err, 0);
			break;
		}
		CHECK_EQ(err, -ENOMEM);
	}
}

TEST(empty_bundle)
{
	uint32_t kept, at;

	start();
	CHECK_EQ(bundle_finish(&writer, &bundle, &kept), 0);
	CHECK_EQ(kept, 0);
	CHECK_EQ(bundle_replay(rt, bundle.data, bundle.len, &at), 0);
	CHECK_EQ(bundle_replay(rt, NULL, 0, &at), -EINVAL);
	finish();
}
