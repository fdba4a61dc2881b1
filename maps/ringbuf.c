/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF_MAP_TYPE_RINGBUF: records of any size from all CPUs to one consumer, in the order of reserve.
 *
 *	page 0	struct ringbuf
 *	page 1	consumer position
 *	page 2	producer position
 *	then	data, max_entries bytes, and the same bytes again: no record is cut by the end
 *
 * A record is a header and its bytes, both rounded up to 8:
 *
 *	31   30	     29 .. 0	63 .. 32
 *	busy discard length	pages from the start of struct ringbuf to the header's
 *
 * Producers take the lock only to reserve; a record is written and given back without it. Positions
 * count bytes and never wrap; the consumer's is moved by bpf(2) alone, over complete records.
 */
#include "maps/map_lock.h"

#define RING_HDR_BYTES	  BPF_RINGBUF_HDR_SZ
#define RING_HEAD_BYTES	  (3 * MAP_PAGE_BYTES)
#define RING_RECORD_MAX	  (UINT32_MAX / 4) /* Linux's bound */
#define RING_OUTPUT_FLAGS ((uint64_t)(BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP))

struct ring_hdr {
	uint32_t len;
	uint32_t pages;
};

struct ringbuf {
	struct bpf_map map;
	struct map_lock lock;
	uint64_t mask; /* data bytes - 1 */
	uint8_t *data;
	uint64_t *cons_pos, *prod_pos;
};

_Static_assert(sizeof(struct ringbuf) <= MAP_PAGE_BYTES, "struct ringbuf is one page");
_Static_assert(sizeof(struct ring_hdr) == RING_HDR_BYTES, "UAPI");

static struct ringbuf *to_ringbuf(struct bpf_map *map)
{
	return container_of(map, struct ringbuf, map);
}

static int ringbuf_alloc_check(const union bpf_attr *attr)
{
	uint32_t n = attr->max_entries;

	if (attr->key_size || attr->value_size || !n || (n & (n - 1)) || n % MAP_PAGE_BYTES)
		return -EINVAL;
	return 0;
}

static int ringbuf_alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	struct ringbuf *rb = hal_map_alloc_mirror(RING_HEAD_BYTES, attr->max_entries);

	if (!rb)
		return -ENOMEM;
	map_init(&rb->map, attr);
	rb->mask = attr->max_entries - 1;
	rb->data = (uint8_t *)rb + RING_HEAD_BYTES;
	rb->cons_pos = (uint64_t *)(void *)((uint8_t *)rb + MAP_PAGE_BYTES);
	rb->prod_pos = (uint64_t *)(void *)((uint8_t *)rb + 2 * MAP_PAGE_BYTES);
	*out = &rb->map;
	return 0;
}

static void ringbuf_free(struct bpf_map *map)
{
	hal_map_free_mirror(to_ringbuf(map), RING_HEAD_BYTES, map->max_entries);
}

static struct ring_hdr *header_at(const struct ringbuf *rb, uint64_t pos)
{
	return (struct ring_hdr *)(void *)(rb->data + (pos & rb->mask));
}

static void *ringbuf_reserve(struct bpf_map *map, uint64_t size, uint64_t flags)
{
	struct ringbuf *rb = to_ringbuf(map);
	struct ring_hdr *hdr;
	uint64_t pos, bytes;
	unsigned long irq;

	if (unlikely(flags || size > RING_RECORD_MAX))
		return NULL;
	bytes = ROUND_UP(size + RING_HDR_BYTES, 8);
	if (map_lock(&rb->lock, &irq))
		return NULL;
	pos = *rb->prod_pos;
	if (unlikely(pos + bytes - __atomic_load_n(rb->cons_pos, __ATOMIC_ACQUIRE) > rb->mask)) {
		map_unlock(&rb->lock, irq);
		return NULL;
	}
	hdr = header_at(rb, pos);
	hdr->pages = (uint32_t)(((uintptr_t)hdr - (uintptr_t)rb) / MAP_PAGE_BYTES);
	__atomic_store_n(&hdr->len, (uint32_t)size | BPF_RINGBUF_BUSY_BIT, __ATOMIC_RELAXED);
	/* With the position, the consumer sees the header: busy until the record is complete. */
	__atomic_store_n(rb->prod_pos, pos + bytes, __ATOMIC_RELEASE);
	map_unlock(&rb->lock, irq);
	return hdr + 1;
}

/*
 * The consumer is woken when it had read up to this record: that it was waiting for. Both sides
 * first write (the length, the position) and then read what the other wrote, so that one of them
 * sees the other.
 */
static void commit(struct ringbuf *rb, struct ring_hdr *hdr, uint64_t flags, bool discard)
{
	uint32_t len = hdr->len & ~(uint32_t)BPF_RINGBUF_BUSY_BIT;
	uint64_t cons;

	if (discard)
		len |= BPF_RINGBUF_DISCARD_BIT;
	__atomic_store_n(&hdr->len, len, __ATOMIC_SEQ_CST);
	cons = __atomic_load_n(rb->cons_pos, __ATOMIC_SEQ_CST);
	if ((flags & BPF_RB_FORCE_WAKEUP) ||
	    (header_at(rb, cons) == hdr && !(flags & BPF_RB_NO_WAKEUP)))
		__atomic_fetch_add(&rb->map.wakeups, 1, __ATOMIC_RELEASE);
}

void bpf_ringbuf_commit(void *record, uint64_t flags, bool discard)
{
	struct ring_hdr *hdr = (struct ring_hdr *)record - 1;
	uintptr_t page = (uintptr_t)hdr & ~(MAP_PAGE_BYTES - 1);

	commit((struct ringbuf *)(page - hdr->pages * MAP_PAGE_BYTES), hdr, flags, discard);
}

static int ringbuf_output(struct bpf_map *map, const void *data, uint64_t size, uint64_t flags)
{
	struct ring_hdr *hdr;
	void *record;

	if (unlikely(flags & ~RING_OUTPUT_FLAGS))
		return -EINVAL;
	record = ringbuf_reserve(map, size, 0);
	if (unlikely(!record))
		return -EAGAIN;
	__builtin_memcpy(record, data, size);
	hdr = (struct ring_hdr *)record - 1;
	commit(to_ringbuf(map), hdr, flags, false);
	return 0;
}

static uint64_t ringbuf_query(struct bpf_map *map, uint64_t what)
{
	struct ringbuf *rb = to_ringbuf(map);
	uint64_t cons = __atomic_load_n(rb->cons_pos, __ATOMIC_ACQUIRE);
	uint64_t prod = __atomic_load_n(rb->prod_pos, __ATOMIC_ACQUIRE);

	switch (what) {
	case BPF_RB_AVAIL_DATA:
		return prod - cons;
	case BPF_RB_RING_SIZE:
		return rb->mask + 1;
	case BPF_RB_CONS_POS:
		return cons;
	case BPF_RB_PROD_POS:
		return prod;
	default:
		return 0;
	}
}

static void ringbuf_ring(struct bpf_map *map, struct map_ring *out)
{
	struct ringbuf *rb = to_ringbuf(map);

	*out = (struct map_ring){ rb->cons_pos, rb->prod_pos, rb->data, map->max_entries };
}

/* Only the bytes of records that are reserved now: not their headers, not what was given back. */
static bool ringbuf_owns_value(struct bpf_map *map, uintptr_t addr, size_t size)
{
	struct ringbuf *rb = to_ringbuf(map);
	uint64_t pos = __atomic_load_n(rb->cons_pos, __ATOMIC_ACQUIRE);
	uint64_t end = __atomic_load_n(rb->prod_pos, __ATOMIC_ACQUIRE);

	while (pos < end) {
		struct ring_hdr *hdr = header_at(rb, pos);
		uint32_t word = __atomic_load_n(&hdr->len, __ATOMIC_ACQUIRE);
		uint32_t len = word & ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		uintptr_t off = addr - (uintptr_t)(hdr + 1);

		if ((word & BPF_RINGBUF_BUSY_BIT) && off <= len && size <= len - off)
			return true;
		pos += ROUND_UP((uint64_t)len + RING_HDR_BYTES, 8);
	}
	return false;
}

static uint64_t ringbuf_mem_usage(struct bpf_map *map)
{
	return RING_HEAD_BYTES + (uint64_t)map->max_entries;
}

const struct bpf_map_ops ringbuf_map_ops = {
	.alloc_check = ringbuf_alloc_check,
	.alloc = ringbuf_alloc,
	.free = ringbuf_free,
	.ringbuf_reserve = ringbuf_reserve,
	.ringbuf_output = ringbuf_output,
	.ringbuf_query = ringbuf_query,
	.ring = ringbuf_ring,
	.owns_value = ringbuf_owns_value,
	.mem_usage = ringbuf_mem_usage,
	.inner_fits = map_meta_equal,
};
