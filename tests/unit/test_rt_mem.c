/* SPDX-License-Identifier: BSD-2-Clause */
/* Ring buffers as a client's shadow of them sees them: BOARD_MEM_READ and
 * BOARD_MEM_WRITE. */
#include "support_rt.h"
#include "test.h"

/* ---- arrays ---------------------------------------------------------------------------------- */

static struct bpf_call *mem_call(uint32_t cmd, uint32_t map, uint64_t off, const void *data,
				 uint32_t len)
{
	struct bpf_call *c = rt_call(cmd);

	c->attr.board.mem.map_fd = map;
	c->attr.board.mem.off = off;
	c->attr.board.mem.len = len;
	if (data)
		rt_in(&c->attr.board.mem.buf, data, len);
	else
		rt_out(&c->attr.board.mem.buf, len);
	return c;
}

TEST(array_memory)
{
	struct rt *rt = rt_new(NULL);
	uint32_t map = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 8, 3, BPF_F_MMAPABLE);
	uint32_t plain = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0), key = 1;
	uint32_t ro = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 8, 3,
					      BPF_F_MMAPABLE | BPF_F_RDONLY);
	uint32_t prog_ro = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 8, 3,
						   BPF_F_MMAPABLE | BPF_F_RDONLY_PROG);
	uint64_t value;
	struct bpf_call *c;

	/* Bytes 10 to 12 of the area are bytes 2 to 4 of value 1. */
	mem_call(BOARD_MEM_WRITE, map, 10, "\xaa\xbb\xcc", 3);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(rt_map_look(rt, map, &key, 4, &value, 8), 0);
	CHECK_EQ(value, 0xccbbaa0000);
	value = 0x1122334455667788;
	CHECK_EQ(rt_map_put(rt, map, &key, 4, &value, 8), 0);
	c = mem_call(BOARD_MEM_READ, map, 7, NULL, 12);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.mem.len, 12);
	CHECK_MEM(rt_result(c->attr.board.mem.buf, 12), "\0\x88\x77\x66\x55\x44\x33\x22\x11\0\0\0",
		  12);
	/* A read past the end is cut, a write is refused. */
	c = mem_call(BOARD_MEM_READ, map, 16, NULL, 1 << 20);
	CHECK_EQ(rt_do(rt), 0);
	CHECK(c->attr.board.mem.len >= 8 && c->attr.board.mem.len < 5000);
	CHECK_EQ(rt_result_len(c->attr.board.mem.buf), c->attr.board.mem.len);
	mem_call(BOARD_MEM_READ, map, 1 << 20, NULL, 1);
	CHECK_EQ(rt_do(rt), -EINVAL);
	mem_call(BOARD_MEM_WRITE, map, 1 << 20, "x", 1);
	CHECK_EQ(rt_do(rt), -EINVAL);
	mem_call(BOARD_MEM_WRITE, map, ~0ull, "x", 1);
	CHECK_EQ(rt_do(rt), -EINVAL);
	mem_call(BOARD_MEM_READ, plain, 0, NULL, 8);
	CHECK_EQ(rt_do(rt), -ENOTSUPP);
	mem_call(BOARD_MEM_WRITE, ro, 0, "x", 1);
	CHECK_EQ(rt_do(rt), -EPERM);
	mem_call(BOARD_MEM_WRITE, prog_ro, 0, "x", 1);
	CHECK_EQ(rt_do(rt), -EACCES);
	mem_call(BOARD_MEM_READ, prog_ro, 0, NULL, 8);
	CHECK_EQ(rt_do(rt), 0);
	rt_call(BPF_MAP_FREEZE)->attr.bpf.map_fd = map;
	CHECK_EQ(rt_do(rt), 0);
	mem_call(BOARD_MEM_WRITE, map, 0, "x", 1);
	CHECK_EQ(rt_do(rt), -EPERM);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- rings ----------------------------------------------------------------------------------- */

static struct bpf_map *map_of(struct rt *rt, uint32_t handle)
{
	void *obj;

	return rt_handle_get(rt, handle, RT_MAP, &obj) ? NULL : obj;
}

static int64_t ring_read(struct rt *rt, uint32_t ring, uint64_t off, uint32_t len)
{
	struct bpf_call *c = rt_call(BOARD_MEM_READ);

	c->attr.board.mem.map_fd = ring;
	c->attr.board.mem.off = off;
	c->attr.board.mem.len = len;
	rt_out(&c->attr.board.mem.buf, len);
	return rt_do(rt);
}

static int64_t ring_consume(struct rt *rt, uint32_t ring, uint64_t cons)
{
	struct bpf_call *c = rt_call(BOARD_MEM_WRITE);

	c->attr.board.mem.map_fd = ring;
	c->attr.board.mem.cons_pos = cons;
	return rt_do(rt);
}

TEST(ring_memory)
{
	struct rt *rt = rt_new(NULL);
	int64_t ring = rt_map_create(rt, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0);
	struct bpf_call *c = rt_call(0);
	struct bpf_map *map;
	const uint8_t *data;
	void *open;

	CHECK(ring > 0);
	map = map_of(rt, (uint32_t)ring);
	CHECK_EQ(ring_read(rt, (uint32_t)ring, 0, 0), 0);
	CHECK_EQ(c->attr.board.mem.cons_pos, 0);
	CHECK_EQ(c->attr.board.mem.prod_pos, 0);
	CHECK_EQ(map->ops->ringbuf_output(map, "first", 5, 0), 0);
	open = map->ops->ringbuf_reserve(map, 12, 0);
	CHECK(open);
	CHECK_EQ(map->ops->ringbuf_output(map, "third", 5, 0), 0);
	/* The first record only: the second is being written. 8 + 5 bytes, rounded
	 * up. */
	CHECK_EQ(ring_read(rt, (uint32_t)ring, 0, 1000), 0);
	CHECK_EQ(c->attr.board.mem.len, 16);
	CHECK_EQ(c->attr.board.mem.prod_pos, 16 + 24 + 16);
	data = rt_result(c->attr.board.mem.buf, 16);
	CHECK_EQ(*(const uint32_t *)data, 5);
	CHECK_MEM(data + 8, "first", 5);
	/* Consuming over it is refused, to its beginning allowed. */
	CHECK_EQ(ring_consume(rt, (uint32_t)ring, 56), -EINVAL);
	CHECK_EQ(ring_consume(rt, (uint32_t)ring, 8), -EINVAL);
	CHECK_EQ(ring_consume(rt, (uint32_t)ring, 16), 0);
	CHECK_EQ(ring_consume(rt, (uint32_t)ring, 0), -EINVAL);
	CHECK_EQ(ring_read(rt, (uint32_t)ring, 0, 1000), -EINVAL);
	CHECK_EQ(ring_read(rt, (uint32_t)ring, 16, 1000), 0);
	CHECK_EQ(c->attr.board.mem.len, 0);
	bpf_ringbuf_commit(open, 0, true);
	/* Whole records that fit, no more; none fits: how long the first one is. */
	CHECK_EQ(ring_read(rt, (uint32_t)ring, 16, 39), 0);
	CHECK_EQ(c->attr.board.mem.len, 24);
	CHECK_EQ(ring_read(rt, (uint32_t)ring, 16, 23), -ENOSPC);
	CHECK_EQ(c->attr.board.mem.len, 24);
	CHECK_EQ(ring_read(rt, (uint32_t)ring, 16, 40), 0);
	CHECK_EQ(c->attr.board.mem.len, 40);
	data = rt_result(c->attr.board.mem.buf, 40);
	CHECK_EQ(*(const uint32_t *)data, 12 | (uint32_t)BPF_RINGBUF_DISCARD_BIT);
	CHECK_MEM(data + 24 + 8, "third", 5);
	CHECK_EQ(ring_consume(rt, (uint32_t)ring, 56), 0);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* Records over the end of the data area come out whole, again and again. */
TEST(ring_wraps)
{
	struct rt *rt = rt_new(NULL);
	uint32_t ring = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0);
	struct bpf_call *c = rt_call(0);
	struct bpf_map *map = map_of(rt, ring);
	uint64_t pos = 0;
	uint8_t rec[1000];

	CHECK(map);
	for (unsigned int i = 0; i < 50; i++) {
		memset(rec, (int)i, sizeof(rec));
		CHECK_EQ(map->ops->ringbuf_output(map, rec, sizeof(rec), 0), 0);
		CHECK_EQ(ring_read(rt, ring, pos, 4096), 0);
		CHECK_EQ(c->attr.board.mem.len, 1008);
		CHECK_MEM((const uint8_t *)rt_result(c->attr.board.mem.buf, 1008) + 8, rec, 1000);
		pos += 1008;
		CHECK_EQ(ring_consume(rt, ring, pos), 0);
	}
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}
