/* SPDX-License-Identifier: BSD-2-Clause */
/* Handles, ids, sessions and pins. */
#include "support_rt.h"
#include "test.h"

static uint32_t new_map(struct rt *rt)
{
	return (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 8, 4, 0);
}

static int64_t map_by_id(struct rt *rt, uint32_t id, uint32_t flags)
{
	struct bpf_call *c = rt_call(BPF_MAP_GET_FD_BY_ID);

	c->attr.bpf.map_id = id;
	c->attr.bpf.open_flags = flags;
	return rt_do(rt);
}

static int64_t next_map_id(struct rt *rt, uint32_t id)
{
	struct bpf_call *c = rt_call(BPF_MAP_GET_NEXT_ID);
	int64_t ret;

	c->attr.bpf.start_id = id;
	ret = rt_do(rt);
	return ret ? ret : c->attr.bpf.next_id;
}

/* Never 0, never negative as an int, and a closed handle is dead though its slot is used again. */
TEST(handle_values)
{
	struct rt *rt = rt_new(NULL);
	uint32_t seen[100], nr = 0;

	for (int i = 0; i < 100; i++) {
		uint32_t h = new_map(rt);

		CHECK((int32_t)h > 0);
		for (uint32_t k = 0; k < nr; k++)
			CHECK(seen[k] != h);
		seen[nr++] = h;
		if (i % 3)
			CHECK_EQ(rt_close(rt, h), 0);
	}
	for (uint32_t k = 0; k < nr; k++) {
		void *obj;

		CHECK_EQ(rt_handle_get(rt, seen[k], RT_MAP, &obj), k % 3 ? -EBADF : 0);
	}
	CHECK_EQ(rt_free(rt), 0);
}

TEST(handle_kinds)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = new_map(rt);
	void *obj;

	CHECK_EQ(rt_handle_get(rt, map, RT_MAP, &obj), 0);
	CHECK_EQ(rt_handle_get(rt, map, RT_PROG, &obj), -EINVAL);
	CHECK_EQ(rt_handle_get(rt, map, RT_LINK, &obj), -EINVAL);
	CHECK_EQ(rt_handle_get(rt, map + 1, RT_MAP, &obj), -EBADF);
	CHECK_EQ(rt_handle_get(rt, 0, RT_MAP, &obj), -EBADF);
	CHECK_EQ(rt_handle_get(rt, BPF_HANDLE_EINVAL, RT_MAP, &obj), -EINVAL);
	CHECK_EQ(rt_free(rt), 0);
}

TEST(ids)
{
	struct rt *rt = rt_new(NULL);
	uint32_t a = new_map(rt), b = new_map(rt), c = new_map(rt);
	int64_t h;

	CHECK_EQ(next_map_id(rt, 0), 1);
	CHECK_EQ(next_map_id(rt, 1), 2);
	CHECK_EQ(next_map_id(rt, 3), -ENOENT);
	CHECK_EQ(next_map_id(rt, 0x7fffffff), -EINVAL);
	CHECK_EQ(rt_close(rt, b), 0);
	CHECK_EQ(next_map_id(rt, 1), 3);
	CHECK_EQ(map_by_id(rt, 2, 0), -ENOENT);
	CHECK_EQ(map_by_id(rt, 0, 0), -ENOENT);
	CHECK_EQ(map_by_id(rt, 1, 1), -EINVAL);
	CHECK_EQ(map_by_id(rt, 1, BPF_F_RDONLY | BPF_F_WRONLY), -EINVAL);
	h = map_by_id(rt, 1, 0);
	CHECK(h > 0 && h != a);
	/* An id is not used again at once: a client may still hold it. */
	new_map(rt);
	CHECK_EQ(next_map_id(rt, 3), 4);
	/* The object lives as long as one handle does. */
	CHECK_EQ(rt_close(rt, a), 0);
	CHECK_EQ(next_map_id(rt, 0), 1);
	CHECK_EQ(rt_close(rt, (uint32_t)h), 0);
	CHECK_EQ(next_map_id(rt, 0), 3);
	CHECK_EQ(rt_close(rt, c), 0);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* Dead objects that wait for a grace period are not found, and their memory comes back. */
TEST(many_ids)
{
	struct rt *rt = rt_new(NULL);
	uint32_t h[200];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 200; i++)
			h[i] = new_map(rt);
		CHECK_EQ(rt_count(rt, RT_MAP), 200);
		for (int i = 0; i < 200; i += 2)
			CHECK_EQ(rt_close(rt, h[i]), 0);
		CHECK_EQ(rt_count(rt, RT_MAP), 100);
		for (int i = 1; i < 200; i += 2)
			CHECK_EQ(rt_close(rt, h[i]), 0);
		CHECK_EQ(rt_count(rt, RT_MAP), 0);
	}
	CHECK_EQ(rt_free(rt), 0);
}

TEST(session_end)
{
	struct rt *rt = rt_new(NULL);
	uint32_t kept = new_map(rt), other;
	struct bpf_call *c;
	void *obj;

	new_map(rt);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/kept", kept), 0);
	c = rt_call(BPF_MAP_GET_FD_BY_ID);
	c->session = 9;
	c->attr.bpf.map_id = 2;
	other = (uint32_t)rt_do(rt);
	rt_call_end();
	rt_session_end(rt, RT_TEST_SESSION);
	CHECK_EQ(rt_handle_get(rt, kept, RT_MAP, &obj), -EBADF);
	CHECK_EQ(rt_handle_get(rt, other, RT_MAP, &obj), 0);
	CHECK_EQ(rt_count(rt, RT_MAP), 2);
	rt_session_end(rt, 9);
	CHECK_EQ(rt_count(rt, RT_MAP), 1);
	CHECK(rt_path(rt, BPF_OBJ_GET, "/sys/fs/bpf/kept", 0) > 0);
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- pins ------------------------------------------------------------------------------------ */

static const char *list(struct rt *rt, const char *path, uint32_t room)
{
	static char text[256];
	struct bpf_call *c = rt_call(BOARD_PATH_LIST);
	int64_t ret;

	rt_in(&c->attr.board.path.path, path, (uint32_t)strlen(path) + 1);
	rt_out(&c->attr.board.path.list, room);
	c->attr.board.path.list_len = room;
	ret = rt_do(rt);
	if (ret) {
		snprintf(text, sizeof(text), "%d", (int)ret);
	} else {
		uint32_t n = rt_result_len(c->attr.board.path.list);
		int used = snprintf(text, sizeof(text), "%u:", c->attr.board.path.list_len);

		if (n)
			memcpy(text + used, rt_result(c->attr.board.path.list, n), n);
		text[(uint32_t)used + n] = '\0';
	}
	rt_call_end();
	return text;
}

TEST(pin_paths)
{
	char long_name[300];
	struct rt *rt = rt_new(NULL);
	uint32_t map = new_map(rt);

	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/m", map), 0);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/m", map), -EEXIST);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/no/m", map), -ENOENT);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/m/x", map), -ENOTDIR);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/n/", map), -ENOENT);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/a.b", map), -EPERM);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf", map), -EEXIST);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/x", map), -EPERM);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/tmp/x", map), -ENOENT);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "x", map), -ENOENT);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "", map), -ENOENT);
	CHECK_EQ(rt_path(rt, BPF_OBJ_GET, "/sys/fs/bpf", 0), -EACCES);
	CHECK_EQ(rt_path(rt, BPF_OBJ_GET, "/sys/fs/bpf/none", 0), -ENOENT);
	CHECK_EQ(rt_path(rt, BPF_OBJ_GET, "/sys/fs/bpf/m/", 0), -ENOTDIR);
	CHECK_EQ(rt_path(rt, BPF_OBJ_GET, "/sys/fs/bpf/m", map), -EINVAL);
	CHECK(rt_path(rt, BPF_OBJ_GET, "//sys/./fs/../fs//bpf/m", 0) > 0);

	memset(long_name, 'a', sizeof(long_name));
	memcpy(long_name, "/sys/fs/bpf/", 12);
	long_name[12 + 255] = '\0';
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, long_name, map), 0);
	long_name[12 + 255] = 'a';
	long_name[12 + 256] = '\0';
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, long_name, map), -ENAMETOOLONG);
	CHECK_EQ(rt_free(rt), 0);
}

TEST(pin_directories)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = new_map(rt);

	CHECK_EQ(rt_path(rt, BOARD_PATH_MKDIR, "/sys/fs/bpf/d", 0), 0);
	CHECK_EQ(rt_path(rt, BOARD_PATH_MKDIR, "/sys/fs/bpf/d/", 0), -EEXIST);
	CHECK_EQ(rt_path(rt, BOARD_PATH_MKDIR, "/sys/fs/bpf/d/e/", 0), 0);
	CHECK_EQ(rt_path(rt, BOARD_PATH_MKDIR, "/sys/fs/x", 0), -EPERM);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/d/e/m", map), 0);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/d/a", map), 0);
	CHECK_STR(list(rt, "/sys/fs/bpf", 100), "3:d/\n");
	CHECK_STR(list(rt, "/sys/fs/bpf/d", 100), "5:a\ne/\n");
	CHECK_STR(list(rt, "/sys/fs/bpf/d", 4), "5:a\n");
	CHECK_STR(list(rt, "/sys/fs/bpf/d", 0), "5:");
	CHECK_STR(list(rt, "/sys/fs/bpf/d/a", 100), "-20");
	CHECK_STR(list(rt, "/sys/fs", 100), "5:bpf/\n");

	CHECK_EQ(rt_path(rt, BOARD_PATH_UNLINK, "/sys/fs/bpf/d", 0), -ENOTEMPTY);
	CHECK_EQ(rt_path(rt, BOARD_PATH_UNLINK, "/sys/fs/bpf", 0), -EBUSY);
	CHECK_EQ(rt_path(rt, BOARD_PATH_UNLINK, "/sys", 0), -EBUSY);
	CHECK_EQ(rt_path(rt, BOARD_PATH_UNLINK, "/sys/fs/bpf/d/e/m", 0), 0);
	CHECK_EQ(rt_path(rt, BOARD_PATH_UNLINK, "/sys/fs/bpf/d/e/m", 0), -ENOENT);
	CHECK_EQ(rt_path(rt, BOARD_PATH_UNLINK, "/sys/fs/bpf/d/e", 0), 0);
	CHECK_EQ(rt_path(rt, BOARD_PATH_UNLINK, "/sys/fs/bpf/d/a", 0), 0);
	CHECK_EQ(rt_path(rt, BOARD_PATH_UNLINK, "/sys/fs/bpf/d", 0), 0);
	CHECK_STR(list(rt, "/sys/fs/bpf", 100), "0:");
	CHECK_EQ(rt_free(rt), 0);
}

TEST(pin_stat_and_unlink_modes)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = new_map(rt);
	struct bpf_call *c;

	CHECK_EQ(rt_path(rt, BOARD_PATH_MKDIR, "/sys/fs/bpf/d", 0), 0);
	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/m", map), 0);
	c = rt_call(BOARD_PATH_STAT);
	rt_in(&c->attr.board.path.path, "/sys/fs/bpf/d", 14);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.path.mode, 1);
	c = rt_call(BOARD_PATH_STAT);
	rt_in(&c->attr.board.path.path, "/sys/fs/bpf/m", 14);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.path.mode, 2);
	c = rt_call(BOARD_PATH_UNLINK);
	rt_in(&c->attr.board.path.path, "/sys/fs/bpf/m", 14);
	c->attr.board.path.mode = 1;
	CHECK_EQ(rt_do(rt), -ENOTDIR);
	c->attr.board.path.mode = 2;
	CHECK_EQ(rt_do(rt), 0);
	c = rt_call(BOARD_PATH_UNLINK);
	rt_in(&c->attr.board.path.path, "/sys/fs/bpf/d", 14);
	c->attr.board.path.mode = 2;
	CHECK_EQ(rt_do(rt), -EISDIR);
	c->attr.board.path.mode = 1;
	CHECK_EQ(rt_do(rt), 0);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* A pin holds its object; the last of pin and handle frees it. */
TEST(pin_references)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = new_map(rt);

	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/m", map), 0);
	CHECK_EQ(rt_close(rt, map), 0);
	CHECK_EQ(rt_count(rt, RT_MAP), 1);
	map = (uint32_t)rt_path(rt, BPF_OBJ_GET, "/sys/fs/bpf/m", 0);
	CHECK_EQ(rt_path(rt, BOARD_PATH_UNLINK, "/sys/fs/bpf/m", 0), 0);
	CHECK_EQ(rt_count(rt, RT_MAP), 1);
	CHECK_EQ(rt_close(rt, map), 0);
	CHECK_EQ(rt_count(rt, RT_MAP), 0);
	CHECK_EQ(rt_free(rt), 0);
}

TEST(obj_get_flags)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = new_map(rt), key = 0;
	uint64_t value = 1;
	struct bpf_call *c;
	int64_t h;

	CHECK_EQ(rt_path(rt, BPF_OBJ_PIN, "/sys/fs/bpf/m", map), 0);
	c = rt_call(BPF_OBJ_GET);
	rt_in(&c->attr.bpf.pathname, "/sys/fs/bpf/m", 14);
	c->attr.bpf.file_flags = BPF_F_RDONLY | BPF_F_WRONLY;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c->attr.bpf.file_flags = 1;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c->attr.bpf.file_flags = 0;
	c->attr.bpf.path_fd = 3;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c->attr.bpf.path_fd = 0;
	c->attr.bpf.file_flags = BPF_F_RDONLY;
	h = rt_do(rt);
	CHECK(h > 0);
	CHECK_EQ(rt_map_put(rt, (uint32_t)h, &key, 4, &value, 8), -EPERM);
	CHECK_EQ(rt_map_look(rt, (uint32_t)h, &key, 4, &value, 8), 0);
	CHECK_EQ(rt_map_put(rt, map, &key, 4, &value, 8), 0);
	CHECK_EQ(rt_free(rt), 0);
}
