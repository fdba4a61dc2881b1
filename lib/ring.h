/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Byte ring between one writer and one reader that may run on different CPUs or in an interrupt: no
 * lock, no exclusive access, only ordered loads and stores. Several writers (or readers) need a
 * lock among themselves.
 *
 *   head: bytes ever written, stored by the writer only
 *   tail: bytes ever read, stored by the reader only
 *   both count modulo 2^32; head - tail bytes are in the ring
 */
#pragma once

#include "include/base.h"

struct ring {
	uint8_t *buf;
	uint32_t size; /* power of two, at most 2^31 */
	uint32_t head;
	uint32_t tail;
};

/* buf holds size bytes, a power of two. */
static inline void ring_init(struct ring *r, uint8_t *buf, uint32_t size)
{
	*r = (struct ring){ .buf = buf, .size = size };
}

/* Bytes that can be read. Context: any. */
static inline uint32_t ring_used(const struct ring *r)
{
	uint32_t tail = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) - tail;
}

/* Bytes that can be written. Context: any. */
static inline uint32_t ring_free(const struct ring *r)
{
	return r->size - ring_used(r);
}

/* Writer: false when the ring is full. */
static inline bool ring_put(struct ring *r, uint8_t byte)
{
	uint32_t head = r->head;

	if (head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE) >= r->size)
		return false;
	r->buf[head & (r->size - 1)] = byte;
	__atomic_store_n(&r->head, head + 1, __ATOMIC_RELEASE);
	return true;
}

/* Reader: false when the ring is empty. */
static inline bool ring_get(struct ring *r, uint8_t *byte)
{
	uint32_t tail = r->tail;

	if (__atomic_load_n(&r->head, __ATOMIC_ACQUIRE) == tail)
		return false;
	*byte = r->buf[tail & (r->size - 1)];
	__atomic_store_n(&r->tail, tail + 1, __ATOMIC_RELEASE);
	return true;
}

/* Writer: copies as much as fits, returns how much. */
static inline uint32_t ring_write(struct ring *r, const uint8_t *data, size_t len)
{
	uint32_t head = r->head;
	uint32_t room = r->size - (head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE));
	uint32_t n = len < room ? (uint32_t)len : room;
	uint32_t at = head & (r->size - 1);
	uint32_t first = MIN(n, r->size - at);

	__builtin_memcpy(r->buf + at, data, first);
	__builtin_memcpy(r->buf, data + first, n - first);
	__atomic_store_n(&r->head, head + n, __ATOMIC_RELEASE);
	return n;
}

/* Reader: copies at most len bytes, returns how many there were. */
static inline uint32_t ring_read(struct ring *r, uint8_t *data, size_t len)
{
	uint32_t tail = r->tail;
	uint32_t used = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) - tail;
	uint32_t n = len < used ? (uint32_t)len : used;
	uint32_t at = tail & (r->size - 1);
	uint32_t first = MIN(n, r->size - at);

	__builtin_memcpy(data, r->buf + at, first);
	__builtin_memcpy(data + first, r->buf, n - first);
	__atomic_store_n(&r->tail, tail + n, __ATOMIC_RELEASE);
	return n;
}
