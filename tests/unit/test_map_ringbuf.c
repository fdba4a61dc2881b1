/* SPDX-License-Identifier: BSD-2-Clause */
/* Ring buffer: positions, bits and bytes as a consumer of the UAPI sees them. */
#include "test.h"

#include "hal_host.h"
#include "include/hal.h"
#include "maps/map_lock.h"
#include "support_map.h"

static struct bpf_map *ringbuf(uint32_t bytes)
{
	struct bpf_map *map;

	return map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 0, bytes, 0) ? NULL : map;
}

/* A consumer by the book: reads at the mapping without the mirror. */
struct consumer {
	struct map_ring ring;
	uint64_t pos;
};

/* Next complete record into buf: its length, -1 none, -2 a discarded one was passed over. */
static int consume(struct consumer *c, uint8_t *buf)
{
	uint32_t word, len;

	if (c->pos >= *c->ring.prod_pos)
		return -1;
	memcpy(&word, c->ring.data + (c->pos & (c->ring.bytes - 1)), 4);
	if (word & BPF_RINGBUF_BUSY_BIT)
		return -1;
	len = word & ~(uint32_t)BPF_RINGBUF_DISCARD_BIT;
	for (uint32_t i = 0; i < len; i++)
		buf[i] = c->ring.data[(c->pos + 8 + i) & (c->ring.bytes - 1)];
	c->pos += (len + 8 + 7) & ~7ull;
	*c->ring.cons_pos = c->pos;
	return word & BPF_RINGBUF_DISCARD_BIT ? -2 : (int)len;
}

TEST(ringbuf_checks)
{
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 4, 0, 4096, 0), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 8, 4096, 0), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 0, 0, 0), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 0, 2048, 0), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 0, 3 * 4096, 0), -EINVAL);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, BPF_F_RDONLY), -EINVAL);
	hal_host_fail_alloc(1, false);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0), -ENOMEM);
	map = ringbuf(4096);
	CHECK_EQ(map->ops->mem_usage(map), test_leaked_bytes());
	map_end(map);
}

TEST(ringbuf_has_no_elements)
{
	struct bpf_map *map = ringbuf(4096);
	uint64_t x = 0;

	CHECK_EQ(bpf_map_sys_lookup(map, NULL, &x, 0), -ENOTSUPP);
	CHECK_EQ(bpf_map_sys_update(map, NULL, &x, 0), -ENOTSUPP);
	CHECK_EQ(bpf_map_sys_delete(map, NULL), -ENOTSUPP);
	CHECK_EQ(bpf_map_sys_next_key(map, NULL, &x), -ENOTSUPP);
	CHECK_EQ(bpf_map_sys_lookup_delete(map, NULL, &x, 0), -ENOTSUPP);
	map_end(map);
}

TEST(ringbuf_record_life)
{
	struct bpf_map *map = ringbuf(4096);
	struct consumer c = { 0 };
	uint8_t buf[4096], *a, *b;

	map->ops->ring(map, &c.ring);
	CHECK_EQ(c.ring.bytes, 4096);
	a = map->ops->ringbuf_reserve(map, 5, 0);
	b = map->ops->ringbuf_reserve(map, 16, 0);
	CHECK(a && b);
	CHECK_EQ((uintptr_t)a % 8, 0);
	CHECK_EQ(b - a, 16);
	CHECK_EQ(map->ops->ringbuf_query(map, BPF_RB_PROD_POS), 40);
	CHECK_EQ(map->ops->ringbuf_query(map, BPF_RB_AVAIL_DATA), 40);
	CHECK_EQ(map->ops->ringbuf_query(map, BPF_RB_RING_SIZE), 4096);
	CHECK_EQ(map->ops->ringbuf_query(map, 9), 0);
	memcpy(a, "hello", 5);
	memset(b, 7, 16);
	/* The second is complete, the first is not: the consumer waits for the first. */
	bpf_ringbuf_commit(b, 0, false);
	CHECK_EQ(map->wakeups, 0);
	CHECK_EQ(consume(&c, buf), -1);
	bpf_ringbuf_commit(a, 0, false);
	CHECK_EQ(map->wakeups, 1);
	CHECK_EQ(consume(&c, buf), 5);
	CHECK_MEM(buf, "hello", 5);
	CHECK_EQ(consume(&c, buf), 16);
	CHECK_EQ(consume(&c, buf), -1);
	CHECK_EQ(map->ops->ringbuf_query(map, BPF_RB_CONS_POS), 40);
	a = map->ops->ringbuf_reserve(map, 0, 0);
	bpf_ringbuf_commit(a, BPF_RB_NO_WAKEUP, true);
	CHECK_EQ(map->wakeups, 1);
	CHECK_EQ(consume(&c, buf), -2);
	a = map->ops->ringbuf_reserve(map, 1, 0);
	b = map->ops->ringbuf_reserve(map, 1, 0);
	bpf_ringbuf_commit(b, BPF_RB_FORCE_WAKEUP, false);
	CHECK_EQ(map->wakeups, 2);
	bpf_ringbuf_commit(a, 0, false);
	map_end(map);
}

TEST(ringbuf_full)
{
	struct bpf_map *map = ringbuf(4096);
	struct consumer c = { 0 };
	uint8_t buf[4096], data[100];

	map->ops->ring(map, &c.ring);
	/* A record takes all but one byte at most: 4088 with its header. */
	CHECK(!map->ops->ringbuf_reserve(map, 4088, 0));
	CHECK(!map->ops->ringbuf_reserve(map, 1ull << 40, 0));
	CHECK(!map->ops->ringbuf_reserve(map, UINT64_MAX - 4, 0));
	CHECK(!map->ops->ringbuf_reserve(map, 8, 1));
	CHECK_EQ(map->ops->ringbuf_query(map, BPF_RB_PROD_POS), 0);
	bpf_ringbuf_commit(map->ops->ringbuf_reserve(map, 4080, 0), 0, false);
	CHECK(!map->ops->ringbuf_reserve(map, 0, 0));
	CHECK_EQ(map->ops->ringbuf_output(map, data, 0, 0), -EAGAIN);
	CHECK_EQ(consume(&c, buf), 4080);
	for (int i = 0; i < 36; i++)
		CHECK_EQ(map->ops->ringbuf_output(map, data, 100, 0), 0);
	CHECK_EQ(map->ops->ringbuf_output(map, data, 100, 0), -EAGAIN);
	CHECK_EQ(map->ops->ringbuf_output(map, data, 4, 4), -EINVAL);
	map_end(map);
}

/* Random sizes and a consumer that lags: every byte arrives, in order, over many turns. */
TEST(ringbuf_stream)
{
	struct bpf_map *map = ringbuf(8192);
	struct consumer c = { 0 };
	static uint8_t buf[8192], want[8192];
	uint32_t sent = 0, got = 0;

	map->ops->ring(map, &c.ring);
	for (int step = 0; step < 20000; step++) {
		uint32_t size = (uint32_t)(hal_random_u64() % 600);
		uint8_t *rec;
		int n;

		if (hal_random_u64() % 2) {
			rec = map->ops->ringbuf_reserve(map, size + 4, 0);
			if (!rec)
				continue;
			CHECK(map->ops->owns_value(map, (uintptr_t)rec, size + 4));
			CHECK(!map->ops->owns_value(map, (uintptr_t)rec, size + 5));
			CHECK(!map->ops->owns_value(map, (uintptr_t)rec - 4, 4));
			memset(rec, (int)sent, size + 4);
			memcpy(rec, &sent, 4);
			bpf_ringbuf_commit(rec, 0, sent % 3 == 0);
			CHECK(!map->ops->owns_value(map, (uintptr_t)rec, 1));
			sent++;
			continue;
		}
		n = consume(&c, buf);
		if (n == -1) {
			CHECK_EQ(got, sent);
			continue;
		}
		if (n == -2) {
			CHECK_EQ(got % 3, 0);
		} else {
			CHECK(got % 3);
			memset(want, (int)got, (size_t)n);
			memcpy(want, &got, 4);
			CHECK_MEM(buf, want, n);
		}
		got++;
	}
	CHECK(sent > 1000);
	map_end(map);
}

TEST(ringbuf_reserve_inside_reserve_is_refused)
{
	struct bpf_map *map = ringbuf(4096);
	struct map_lock *lock = (struct map_lock *)(map + 1);
	unsigned long irq;
	char x = 0;

	CHECK_EQ(map_lock(lock, &irq), 0);
	CHECK(!map->ops->ringbuf_reserve(map, 8, 0));
	CHECK_EQ(map->ops->ringbuf_output(map, &x, 1, 0), -EAGAIN);
	map_unlock(lock, irq);
	CHECK_EQ(map->ops->ringbuf_output(map, &x, 1, 0), 0);
	CHECK_EQ(hal_host_irq_depth(), 0);
	map_end(map);
}
