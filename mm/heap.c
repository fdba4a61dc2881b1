/* SPDX-License-Identifier: BSD-2-Clause */
#include "mm/heap.h"

#include <string.h>

#include "include/hal.h"
#include "lib/list.h"
#include "lib/spinlock.h"
#include "mm/oops.h"
#include "mm/phys.h"

#define SLAB_PAGES 4u
#define SLAB_BYTES (SLAB_PAGES * PAGE_BYTES)

/* Sizes that leave little of 16 KB unused; multiples of 16. */
static const uint16_t class_bytes[] = {
	16,   32,   48,	  64,	80,
	96,   112,  128,  160,	192,
	224,  256,  320,  384,	448,
	512,  576,  672,  800,	896,
	1008, 1152, 1344, 1616, HEAP_SMALL_MAX,
};
#define N_CLASSES ARRAY_SIZE(class_bytes)

enum { MAGIC_SLAB = 0x736c6162, MAGIC_LARGE = 0x6c617267 };

#define SLAB_HEADER  176u
#define OBJECTS_MAX  ((SLAB_BYTES - SLAB_HEADER) / 16)
#define LARGE_HEADER 64u

struct slab {
	uint32_t magic;
	uint16_t class;
	uint16_t n_live;
	uint16_t n_fresh; /* objects from this one on have never been handed out */
	uint16_t listed;
	uint32_t unused;
	void *free; /* chain of objects that were given back */
	struct list link;
	uint64_t live[ROUND_UP(OBJECTS_MAX, 64) / 64];
} __aligned(16);
_Static_assert(sizeof(struct slab) == SLAB_HEADER, "objects behind the header are aligned");

struct large {
	uint32_t magic;
	uint32_t n_pages;
	uint64_t bytes;
};
_Static_assert(sizeof(struct large) <= LARGE_HEADER, "header of a large object");

struct size_class {
	struct spinlock lock;
	struct list partial; /* slabs with an object to give */
	uint16_t n_objects;
	uint16_t n_empty; /* slabs in partial without a live object */
	uint32_t n_slabs;
	uint64_t n_live;
	uint64_t n_allocs;
};

static struct {
	struct size_class class[N_CLASSES];
	uint8_t class_of[HEAP_SMALL_MAX / 16 + 1]; /* by size in 16 bytes, rounded up */
	bool ready;
	uint64_t large_bytes, large_objects, large_pages, large_allocs, failures;
	uint64_t fail_countdown;
} heap;

/* First use is by the boot core alone. */
static void heap_init(void)
{
	unsigned int class = 0;

	for (unsigned int i = 0; i < N_CLASSES; i++) {
		list_init(&heap.class[i].partial);
		heap.class[i].n_objects =
			(uint16_t)((SLAB_BYTES - sizeof(struct slab)) / class_bytes[i]);
	}
	for (unsigned int n = 0; n <= HEAP_SMALL_MAX / 16; n++) {
		if (n * 16 > class_bytes[class])
			class ++;
		heap.class_of[n] = (uint8_t)class;
	}
	heap.ready = true;
}

static void *object_at(struct slab *s, unsigned int i)
{
	return (char *)(s + 1) + i * class_bytes[s->class];
}

/* ---- tests ----------------------------------------------------------------------------------- */

void heap_fail_after(uint64_t n)
{
	__atomic_store_n(&heap.fail_countdown, n, __ATOMIC_RELAXED);
}

static bool must_fail(void)
{
	uint64_t n = __atomic_load_n(&heap.fail_countdown, __ATOMIC_RELAXED);

	while (n && !__atomic_compare_exchange_n(&heap.fail_countdown, &n, n - 1, true,
						 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return n == 1;
}

static void *refuse(void)
{
	__atomic_fetch_add(&heap.failures, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* ---- small objects --------------------------------------------------------------------------- */

static struct slab *slab_new(unsigned int class)
{
	struct slab *s;
	uint64_t pa;

	if (phys_alloc_pages(SLAB_PAGES, SLAB_PAGES, PHYS_HEAP, &pa))
		return NULL;
	s = phys_to_virt(pa);
	memset(s, 0, sizeof(*s));
	s->magic = MAGIC_SLAB;
	s->class = (uint16_t)class;
	return s;
}

static void slab_delete(struct slab *s)
{
	s->magic = 0;
	phys_free_pages(virt_to_phys(s), SLAB_PAGES, PHYS_HEAP);
}

/* A slab with room. The class is locked. */
static struct slab *class_get_slab(struct size_class *c, unsigned int class)
{
	struct slab *s = list_first(&c->partial, struct slab, link);

	if (!s) {
		s = slab_new(class);
		if (!s)
			return NULL;
		c->n_slabs++;
		c->n_empty++;
		list_add(&c->partial, &s->link);
	}
	return s;
}

static void *small_alloc(size_t bytes)
{
	unsigned int class = heap.class_of[(bytes + 15) / 16], i;
	struct size_class *c = &heap.class[class];
	unsigned long flags = spin_lock_irqsave(&c->lock);
	struct slab *s = class_get_slab(c, class);
	void *p;

	if (!s) {
		spin_unlock_irqrestore(&c->lock, flags);
		return refuse();
	}
	p = s->free;
	if (p) {
		s->free = *(void **)p;
		i = (unsigned int)((char *)p - (char *)(s + 1)) / class_bytes[class];
	} else {
		i = s->n_fresh++;
		p = object_at(s, i);
	}
	s->live[i / 64] |= BIT(i % 64);
	if (s->n_live++ == 0)
		c->n_empty--;
	if (s->n_live == c->n_objects)
		list_del(&s->link);
	c->n_live++;
	c->n_allocs++;
	spin_unlock_irqrestore(&c->lock, flags);
	return p;
}

static void small_free(struct slab *s, void *p)
{
	struct size_class *c = &heap.class[s->class];
	size_t offset = (size_t)((char *)p - (char *)(s + 1));
	unsigned int i = (unsigned int)(offset / class_bytes[s->class]);
	struct slab *surplus = NULL;
	unsigned long flags;

	if ((char *)p < (char *)(s + 1) || offset % class_bytes[s->class] || i >= c->n_objects)
		mm_oops("heap: %p is no object's address", p);
	flags = spin_lock_irqsave(&c->lock);
	if (!(s->live[i / 64] & BIT(i % 64)))
		mm_oops("heap: %p freed twice", p);
	s->live[i / 64] &= ~BIT(i % 64);
	*(void **)p = s->free;
	s->free = p;
	if (s->n_live-- == c->n_objects)
		list_add(&c->partial, &s->link);
	c->n_live--;
	if (s->n_live == 0) {
		if (c->n_empty > 0) {
			list_del(&s->link);
			c->n_slabs--;
			surplus = s;
		} else {
			/* Last in line, so that it empties for good if the class shrinks. */
			c->n_empty++;
			list_del(&s->link);
			list_add_tail(&c->partial, &s->link);
		}
	}
	spin_unlock_irqrestore(&c->lock, flags);
	if (surplus)
		slab_delete(surplus);
}

/* ---- large objects --------------------------------------------------------------------------- */

static void *large_alloc(size_t bytes)
{
	unsigned int n_pages;
	struct large *l;
	uint64_t pa;

	if (bytes > HEAP_LARGE_MAX)
		return refuse();
	n_pages = (unsigned int)((bytes + LARGE_HEADER + PAGE_BYTES - 1) / PAGE_BYTES);
	if (phys_alloc_pages(n_pages, SLAB_PAGES, PHYS_HEAP, &pa))
		return refuse();
	l = phys_to_virt(pa);
	*l = (struct large){ .magic = MAGIC_LARGE,
			     .n_pages = n_pages,
			     .bytes = n_pages * PAGE_BYTES - LARGE_HEADER };
	__atomic_fetch_add(&heap.large_bytes, l->bytes, __ATOMIC_RELAXED);
	__atomic_fetch_add(&heap.large_objects, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&heap.large_pages, n_pages, __ATOMIC_RELAXED);
	__atomic_fetch_add(&heap.large_allocs, 1, __ATOMIC_RELAXED);
	return (char *)l + LARGE_HEADER;
}

static void large_free(struct large *l, void *p)
{
	unsigned int n_pages = l->n_pages;

	if ((char *)p != (char *)l + LARGE_HEADER)
		mm_oops("heap: %p is no object's address", p);
	__atomic_fetch_sub(&heap.large_bytes, l->bytes, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&heap.large_objects, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&heap.large_pages, n_pages, __ATOMIC_RELAXED);
	l->magic = 0;
	if (phys_free_pages(virt_to_phys(l), n_pages, PHYS_HEAP))
		mm_oops("heap: %p: pages are not in use", p);
}

/* ---- both ------------------------------------------------------------------------------------ */

void *heap_alloc_raw(size_t bytes)
{
	if (unlikely(!heap.ready))
		heap_init();
	if (bytes == 0 || unlikely(READ_ONCE(heap.fail_countdown) && must_fail()))
		return refuse();
	return bytes <= HEAP_SMALL_MAX ? small_alloc(bytes) : large_alloc(bytes);
}

void *heap_alloc(size_t bytes)
{
	void *p = heap_alloc_raw(bytes);

	if (p)
		memset(p, 0, bytes);
	return p;
}

/* Header of what holds p. */
static void *header_of(const void *p)
{
	if ((uint64_t)p - DIRECT_BASE >= DIRECT_BYTES || ((uint64_t)p & 15))
		mm_oops("heap: %p is no object's address", p);
	return (void *)ROUND_DOWN((uint64_t)p, SLAB_BYTES);
}

void heap_free(void *p)
{
	uint32_t *magic;

	if (!p)
		return;
	magic = header_of(p);
	if (*magic == MAGIC_SLAB)
		small_free((struct slab *)magic, p);
	else if (*magic == MAGIC_LARGE)
		large_free((struct large *)magic, p);
	else
		mm_oops("heap: %p is no object's address, or was freed", p);
}

size_t heap_usable_bytes(const void *p)
{
	const uint32_t *magic = header_of(p);

	if (*magic == MAGIC_SLAB)
		return class_bytes[((const struct slab *)magic)->class];
	return ((const struct large *)magic)->bytes;
}

void heap_get_stats(struct heap_stats *out)
{
	*out = (struct heap_stats){
		.used_bytes = __atomic_load_n(&heap.large_bytes, __ATOMIC_RELAXED),
		.used_objects = __atomic_load_n(&heap.large_objects, __ATOMIC_RELAXED),
		.backing_bytes = __atomic_load_n(&heap.large_pages, __ATOMIC_RELAXED) * PAGE_BYTES,
		.allocs = __atomic_load_n(&heap.large_allocs, __ATOMIC_RELAXED),
		.failures = __atomic_load_n(&heap.failures, __ATOMIC_RELAXED),
	};
	for (unsigned int i = 0; i < N_CLASSES; i++) {
		struct size_class *c = &heap.class[i];
		unsigned long flags = spin_lock_irqsave(&c->lock);

		out->used_bytes += c->n_live * class_bytes[i];
		out->used_objects += c->n_live;
		out->backing_bytes += c->n_slabs * SLAB_BYTES;
		out->allocs += c->n_allocs;
		spin_unlock_irqrestore(&c->lock, flags);
	}
}
