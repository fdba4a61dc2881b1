/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What mmap(2) of a map is to a process: the client's shadow of a map is filled and written back by
 * these commands. Arrays are read and written in place; of a ring only records that are complete
 * leave the board.
 */
#include "runtime/cmd.h"

#define MEM_BYTES_MAX  (1u << 20) /* of one call; clients ask again for more */
#define RING_HDR_BYTES 8u

static int mem_map(const struct rt *rt, const struct board_attr_mem *attr, uint8_t need,
		   struct bpf_map **map)
{
	uint8_t perms;
	int err = rt_map_get(rt, attr->map_fd, map, &perms);

	if (err)
		return err;
	return perms & need ? 0 : -EPERM;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static int mem_area(struct bpf_map *map, uint8_t **base, size_t *bytes)
{
	void *area;
	int err;

	if (!(map->map_flags & BPF_F_MMAPABLE) || !map->ops->mmap_area)
		return -ENOTSUPP;
	err = map->ops->mmap_area(map, &area, bytes);
	if (!err)
		*base = area;
	return err;
}

/*
 * Programs may use these bytes meanwhile, so they are copied in naturally aligned words, each in
 * one piece: no word that a program stores whole is seen half, nor the other way.
 */
static size_t word_bytes(const void *map_at, size_t left)
{
	size_t n = 8;

	while (n > left || (uintptr_t)map_at % n)
		n /= 2;
	return n;
}

static void copy_from_map(uint8_t *dst, const uint8_t *src, size_t left)
{
	for (size_t n; left; left -= n, dst += n, src += n) {
		uint64_t word;

		n = word_bytes(src, left);
		switch (n) {
		case 8:
			word = READ_ONCE(*(const uint64_t *)(const void *)src);
			break;
		case 4:
			word = READ_ONCE(*(const uint32_t *)(const void *)src);
			break;
		case 2:
			word = READ_ONCE(*(const uint16_t *)(const void *)src);
			break;
		default:
			word = READ_ONCE(*src);
			break;
		}
		__builtin_memcpy(dst, &word, n);
	}
}

static void copy_to_map(uint8_t *dst, const uint8_t *src, size_t left)
{
	for (size_t n; left; left -= n, dst += n, src += n) {
		uint64_t word = 0;

		n = word_bytes(dst, left);
		__builtin_memcpy(&word, src, n);
		switch (n) {
		case 8:
			WRITE_ONCE(*(uint64_t *)(void *)dst, word);
			break;
		case 4:
			WRITE_ONCE(*(uint32_t *)(void *)dst, (uint32_t)word);
			break;
		case 2:
			WRITE_ONCE(*(uint16_t *)(void *)dst, (uint16_t)word);
			break;
		default:
			WRITE_ONCE(*dst, (uint8_t)word);
			break;
		}
	}
}

static int array_read(struct bpf_call *call, struct bpf_map *map)
{
	struct board_attr_mem *attr = &call->attr.board.mem;
	uint32_t n = MIN(attr->len, MEM_BYTES_MAX);
	size_t bytes;
	uint8_t *base;
	void *dst;
	int err = mem_area(map, &base, &bytes);

	if (err)
		return err;
	if (attr->off > bytes)
		return -EINVAL;
	n = (uint32_t)MIN((uint64_t)n, bytes - attr->off);
	err = cmd_out(call, attr->buf, n, &dst);
	if (err)
		return err;
	copy_from_map(dst, base + attr->off, n);
	attr->len = n;
	return 0;
}

static int array_write(struct bpf_call *call, struct bpf_map *map)
{
	const struct board_attr_mem *attr = &call->attr.board.mem;
	const void *src;
	uint8_t *base;
	size_t bytes;
	int err;

	/* Linux: no writable mapping of what programs only read. */
	if (map->map_flags & BPF_F_RDONLY_PROG)
		return -EACCES;
	err = mem_area(map, &base, &bytes);
	if (err)
		return err;
	if (attr->off > bytes || attr->len > bytes - attr->off)
		return -EINVAL;
	src = call_in(call, attr->buf, attr->len);
	if (!src)
		return -EFAULT;
	copy_to_map(base + attr->off, src, attr->len);
	return 0;
}

/* ---- rings ----------------------------------------------------------------------------------- */

/* Header word of the record at pos. */
static uint32_t ring_header(const struct map_ring *ring, uint64_t pos)
{
	const uint8_t *at = ring->data + (pos & (ring->bytes - 1));

	return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

/* Bytes of the record at pos, header included; 0 while it is being written. */
static uint64_t record_bytes(const struct map_ring *ring, uint64_t pos)
{
	uint32_t header = ring_header(ring, pos);

	if (header & BPF_RINGBUF_BUSY_BIT)
		return 0;
	return ROUND_UP((uint64_t)(header & ~(uint32_t)BPF_RINGBUF_DISCARD_BIT) + RING_HDR_BYTES,
			8u);
}

/* End of the complete records from pos on, at most max bytes; *first: bytes of the first one. */
static uint64_t ring_scan(const struct map_ring *ring, uint64_t pos, uint64_t prod, uint64_t max,
			  uint64_t *first)
{
	uint64_t start = pos, n;

	*first = 0;
	while (pos < prod) {
		n = record_bytes(ring, pos);
		if (!n || n > prod - pos)
			break;
		if (pos == start)
			*first = n;
		if (n > max - (pos - start))
			break;
		pos += n;
	}
	return pos;
}

static void ring_copy(const struct map_ring *ring, uint64_t pos, uint8_t *dst, uint64_t n)
{
	uint64_t at = pos & (ring->bytes - 1);
	uint64_t head = MIN(n, ring->bytes - at);

	__builtin_memcpy(dst, ring->data + at, head);
	__builtin_memcpy(dst + head, ring->data, n - head);
}

static int ring_read(struct bpf_call *call, struct bpf_map *map)
{
	struct board_attr_mem *attr = &call->attr.board.mem;
	uint32_t max = MIN(attr->len, MEM_BYTES_MAX);
	uint64_t cons, prod, end, first = 0;
	struct map_ring ring;
	void *dst;
	int err;

	map->ops->ring(map, &ring);
	cons = __atomic_load_n(ring.cons_pos, __ATOMIC_ACQUIRE);
	prod = __atomic_load_n(ring.prod_pos, __ATOMIC_ACQUIRE);
	end = attr->off;
	if (max) {
		/* Only what has not been given back to producers is still there. */
		if (attr->off < cons || attr->off > prod || attr->off % 8)
			return -EINVAL;
		end = ring_scan(&ring, attr->off, prod, max, &first);
		if (end == attr->off && first) {
			attr->len = (uint32_t)first;
			return -ENOSPC;
		}
	}
	err = cmd_out(call, attr->buf, end - attr->off, &dst);
	if (err)
		return err;
	ring_copy(&ring, attr->off, dst, end - attr->off);
	attr->len = (uint32_t)(end - attr->off);
	attr->cons_pos = cons;
	attr->prod_pos = prod;
	return 0;
}

static int ring_write(const struct board_attr_mem *attr, struct bpf_map *map)
{
	uint64_t cons, prod, first;
	struct map_ring ring;

	map->ops->ring(map, &ring);
	cons = __atomic_load_n(ring.cons_pos, __ATOMIC_RELAXED);
	/* Forward, over complete records: what is being written stays. */
	if (attr->len || attr->cons_pos < cons || attr->cons_pos % 8)
		return -EINVAL;
	prod = __atomic_load_n(ring.prod_pos, __ATOMIC_ACQUIRE);
	if (ring_scan(&ring, cons, prod, attr->cons_pos - cons, &first) != attr->cons_pos)
		return -EINVAL;
	__atomic_store_n(ring.cons_pos, attr->cons_pos, __ATOMIC_RELEASE);
	return 0;
}

/* ---- commands -------------------------------------------------------------------------------- */

int64_t cmd_mem_read(struct rt *rt, struct bpf_call *call)
{
	struct bpf_map *map;
	int err = mem_map(rt, &call->attr.board.mem, RT_PERM_READ, &map);

	if (err)
		return err;
	return map->ops->ring ? ring_read(call, map) : array_read(call, map);
}

int64_t cmd_mem_write(struct rt *rt, struct bpf_call *call)
{
	const struct board_attr_mem *attr = &call->attr.board.mem;
	struct bpf_map *map;
	int err = mem_map(rt, attr, RT_PERM_WRITE, &map);

	if (err)
		return err;
	return map->ops->ring ? ring_write(attr, map) : array_write(call, map);
}
