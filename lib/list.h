/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Doubly linked list whose links live in the members. A list is a struct list that links to itself
 * when empty; a member embeds one and is found again by container_of. Not synchronised.
 */
#pragma once

#include "include/base.h"

struct list {
	struct list *next;
	struct list *prev;
};

#define LIST_INIT(name) { .next = &(name), .prev = &(name) }

static inline void list_init(struct list *l)
{
	l->next = l;
	l->prev = l;
}

static inline bool list_is_empty(const struct list *l)
{
	return l->next == l;
}

/* Insert item after at; with the list itself as at, item becomes the first. */
static inline void list_add(struct list *at, struct list *item)
{
	item->prev = at;
	item->next = at->next;
	at->next->prev = item;
	at->next = item;
}

/* Insert item before at; with the list itself as at, item becomes the last. */
static inline void list_add_tail(struct list *at, struct list *item)
{
	list_add(at->prev, item);
}

/* Take item out of its list. It then links to itself, so that a second removal does nothing. */
static inline void list_del(struct list *item)
{
	item->prev->next = item->next;
	item->next->prev = item->prev;
	list_init(item);
}

#define list_entry(ptr, type, member) container_of(ptr, type, member)

/* The first member, or NULL. */
#define list_first(l, type, member) (list_is_empty(l) ? NULL : list_entry((l)->next, type, member))

/* pos is a struct list *. The body must not remove pos. */
#define list_for_each(pos, l) for (pos = (l)->next; pos != (l); pos = pos->next)

/* The body may remove (and free) pos; tmp is a struct list * of the caller's. */
#define list_for_each_safe(pos, tmp, l)                                                            \
	for (pos = (l)->next, tmp = pos->next; pos != (l); pos = tmp, tmp = pos->next)
