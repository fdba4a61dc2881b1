/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF_MAP_TYPE_QUEUE (first in, first out) and _STACK (last in, first out): max_entries values in a
 * ring, no keys.
 *
 *	tail: position of the oldest value, 0 .. max_entries - 1
 *	used: number of values; the newest is at tail + used - 1
 */
#include "maps/map_lock.h"

struct queue_map {
	struct bpf_map map;
	struct map_lock lock;
	uint32_t max, tail, used;
	bool lifo;
	size_t area_bytes;
	uint8_t values[] __aligned(8);
};

static struct queue_map *to_queue(struct bpf_map *map)
{
	return container_of(map, struct queue_map, map);
}

static int queue_alloc_check(const union bpf_attr *attr)
{
	if (!attr->max_entries || attr->key_size || !attr->value_size)
		return -EINVAL;
	return attr->value_size > MAP_ELEM_BYTES_MAX ? -E2BIG : 0;
}

static int queue_alloc(const union bpf_attr *attr, struct bpf_map **out)
{
	struct queue_map *q;
	size_t bytes;

	if (!map_area_bytes(sizeof(*q), attr->max_entries, ROUND_UP((uint64_t)attr->value_size, 8),
			    &bytes))
		return -ENOMEM;
	q = hal_map_alloc(bytes);
	if (!q)
		return -ENOMEM;
	map_init(&q->map, attr);
	q->max = attr->max_entries;
	q->lifo = attr->map_type == BPF_MAP_TYPE_STACK;
	q->area_bytes = bytes;
	*out = &q->map;
	return 0;
}

static void queue_free(struct bpf_map *map)
{
	struct queue_map *q = to_queue(map);

	hal_map_free(q, q->area_bytes);
}

/* The n-th oldest value. */
static uint8_t *value_at(struct queue_map *q, uint32_t n)
{
	uint64_t at = (uint64_t)q->tail + n;

	if (at >= q->max)
		at -= q->max;
	return q->values + at * q->map.value_stride;
}

static void drop_oldest(struct queue_map *q)
{
	q->tail = q->tail + 1 == q->max ? 0 : q->tail + 1;
	q->used--;
}

static int queue_push(struct bpf_map *map, const void *value, uint64_t flags)
{
	struct queue_map *q = to_queue(map);
	unsigned long irq;
	int err;

	/* BPF_EXIST: a full map drops its oldest value. */
	if (flags != BPF_ANY && flags != BPF_EXIST)
		return -EINVAL;
	err = map_lock(&q->lock, &irq);
	if (err)
		return err;
	if (unlikely(q->used == q->max)) {
		if (flags == BPF_EXIST)
			drop_oldest(q);
		else
			err = -E2BIG;
	}
	if (likely(!err))
		map_copy_plain(map, value_at(q, q->used++), value);
	map_unlock(&q->lock, irq);
	return err;
}

/* Zeros when there is nothing, as Linux: the caller's buffer may have been no value before. */
static __always_inline int take(struct bpf_map *map, void *value, bool remove)
{
	struct queue_map *q = to_queue(map);
	unsigned long irq;
	int err = map_lock(&q->lock, &irq);

	if (unlikely(err)) {
		__builtin_memset(value, 0, map->value_size);
		return err;
	}
	if (unlikely(!q->used)) {
		__builtin_memset(value, 0, map->value_size);
		err = -ENOENT;
	} else {
		map_copy_to(map, value, value_at(q, q->lifo ? q->used - 1 : 0));
		if (remove && q->lifo)
			q->used--;
		else if (remove)
			drop_oldest(q);
	}
	map_unlock(&q->lock, irq);
	return err;
}

static int queue_pop(struct bpf_map *map, void *value)
{
	return take(map, value, true);
}

static int queue_peek(struct bpf_map *map, void *value)
{
	return take(map, value, false);
}

/* There are no keys. */
static int queue_delete(struct bpf_map *map, const void *key)
{
	(void)map;
	(void)key;
	return -EINVAL;
}

static int queue_get_next_key(struct bpf_map *map, const void *key, void *next_key)
{
	(void)map;
	(void)key;
	(void)next_key;
	return -EINVAL;
}

static uint64_t queue_mem_usage(struct bpf_map *map)
{
	return map_area_charge(to_queue(map)->area_bytes);
}

const struct bpf_map_ops queue_map_ops = {
	.alloc_check = queue_alloc_check,
	.alloc = queue_alloc,
	.free = queue_free,
	.push = queue_push,
	.pop = queue_pop,
	.peek = queue_peek,
	.delete = queue_delete,
	.get_next_key = queue_get_next_key,
	.mem_usage = queue_mem_usage,
	.inner_fits = map_meta_equal,
};
