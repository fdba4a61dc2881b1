/* SPDX-License-Identifier: BSD-2-Clause */
#include "mm/area.h"

#include "mm/heap.h"

#define AREA(l) list_entry(l, struct area, link)

static uint64_t end_of(const struct area_space *s, const struct list *l)
{
	const struct area *a = AREA(l);

	return l == &s->areas ? s->base : a->base + a->bytes;
}

static uint64_t base_of(const struct area_space *s, const struct list *l)
{
	return l == &s->areas ? s->end : AREA(l)->base;
}

uint64_t area_prev_end(const struct area_space *s, const struct area *a)
{
	return end_of(s, a->link.prev);
}

uint64_t area_next_base(const struct area_space *s, const struct area *a)
{
	return base_of(s, a->link.next);
}

/* Does the hole behind `after` take it? Then *base is where. */
static bool hole_fits(const struct area_space *s, const struct list *after, uint64_t bytes,
		      uint64_t align, uint64_t gap, uint64_t *base)
{
	uint64_t from = end_of(s, after);
	uint64_t at, limit = base_of(s, after->next);

	/* The gap behind the area before. */
	if (after != &s->areas)
		from += gap;
	at = ROUND_UP(from, align);
	if (at < from || at > limit || limit - at < bytes + gap)
		return false;
	*base = at;
	return true;
}

struct area *area_alloc(struct area_space *s, uint64_t bytes, uint64_t align, uint64_t gap)
{
	struct list *at = s->cursor;
	struct area *a;
	uint64_t base;

	if (bytes == 0 || bytes > s->end - s->base)
		return NULL;
	do {
		if (hole_fits(s, at, bytes, align, gap, &base))
			goto found;
		at = at->next;
	} while (at != s->cursor);
	return NULL;
found:
	a = heap_alloc(sizeof(*a));
	if (!a)
		return NULL;
	a->base = base;
	a->bytes = bytes;
	list_add(at, &a->link);
	s->cursor = &a->link;
	s->used_bytes += bytes;
	return a;
}

struct area *area_find(struct area_space *s, uint64_t base)
{
	struct list *l;

	list_for_each (l, &s->areas) {
		if (AREA(l)->base >= base)
			return AREA(l)->base == base ? AREA(l) : NULL;
	}
	return NULL;
}

void area_free(struct area_space *s, struct area *a)
{
	if (s->cursor == &a->link)
		s->cursor = a->link.prev;
	list_del(&a->link);
	s->used_bytes -= a->bytes;
	heap_free(a);
}
