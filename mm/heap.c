/* SPDX-License-Identifier: BSD-2-Clause */
#include "mm/heap.h"

#include <string.h>

#include "include/hal.h"
#include "lib/list.h"
#include "lib/spinlock.h"
#include "mm/oops.h"
#include "mm/percpu.h"
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
	uint64_t n_live; /* those in caches among them */
	uint64_t n_fills;
};

/*
 * Objects at hand on one CPU, taken from the slabs and given back to them in batches: most requests
 * need no lock. Used with interrupts masked. To its slab such an object is live; its second word
 * tells that it is not (poison), until it is handed out.
 */
#define CACHE_MAX	15u
#define CACHE_SMALL_MAX 512u /* bytes; of larger objects fewer are kept */
#define CACHE_LARGE_MAX 4u
struct cache {
	uint32_t n;
	uint32_t max;
	void *object[CACHE_MAX];
};
_Static_assert(PERCPU_HEAP_OFFSET + N_CLASSES * sizeof(struct cache) <= PERCPU_BOOT_BYTES,
	       "caches fit the pages that boot code maps");

static struct cache *caches_of(unsigned int cpu)
{
	return (struct cache *)(PERCPU_BASE + cpu * PERCPU_STRIDE + PERCPU_HEAP_OFFSET);
}

static __always_inline struct cache *cache_here(unsigned int class)
{
	return (struct cache *)(percpu_this_area() + PERCPU_HEAP_OFFSET) + class;
}

static struct {
	struct size_class class[N_CLASSES];
	uint8_t class_of[HEAP_SMALL_MAX / 16 + 1]; /* by size in 16 bytes, rounded up */
	bool ready;
	bool unusual; /* something must be looked at before an object is handed out */
	uint64_t large_bytes, large_objects, large_pages, failures;
	uint64_t fail_countdown;
} heap = { .unusual = true };

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
	heap.unusual = false;
}

static void *object_at(struct slab *s, unsigned int i)
{
	return (char *)(s + 1) + i * class_bytes[s->class];
}

/* ---- tests ----------------------------------------------------------------------------------- */

void heap_fail_after(uint64_t n)
{
	__atomic_store_n(&heap.fail_countdown, n, __ATOMIC_RELAXED);
	__atomic_store_n(&heap.unusual, n != 0, __ATOMIC_RELAXED);
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

/* One object of a slab with room. The class is locked. */
static void *slab_take(struct size_class *c, struct slab *s)
{
	void *p = s->free;
	unsigned int i;

	if (p) {
		s->free = *(void **)p;
		i = (unsigned int)((char *)p - (char *)(s + 1)) / class_bytes[s->class];
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
	return p;
}

/* Give an object back to its slab. Returns a slab that is to be deleted, or NULL. */
static struct slab *slab_put(struct size_class *c, void *p)
{
	struct slab *s = (struct slab *)ROUND_DOWN((uint64_t)p, SLAB_BYTES);
	unsigned int i = (unsigned int)((char *)p - (char *)(s + 1)) / class_bytes[s->class];

	if (!(s->live[i / 64] & BIT(i % 64)))
		mm_oops("heap: %p freed twice", p);
	s->live[i / 64] &= ~BIT(i % 64);
	*(void **)p = s->free;
	s->free = p;
	if (s->n_live-- == c->n_objects)
		list_add(&c->partial, &s->link);
	c->n_live--;
	if (s->n_live > 0)
		return NULL;
	list_del(&s->link);
	if (c->n_empty > 0) {
		c->n_slabs--;
		return s;
	}
	/* Last in line, so that it stays empty while others have room. */
	c->n_empty++;
	list_add_tail(&c->partial, &s->link);
	return NULL;
}

/* Is p the start of one of the slab's objects? */
static __always_inline bool slab_has_object(const struct slab *s, const void *p)
{
	uint32_t offset = (uint32_t)((const char *)p - (const char *)(s + 1));
	uint32_t i = offset / class_bytes[s->class];

	/* A p before the first object makes a huge offset. */
	return i * class_bytes[s->class] == offset && i < heap.class[s->class].n_objects;
}

static __always_inline uint64_t poison_of(const void *p)
{
	return (uint64_t)p ^ 0x5f6672656564215full;
}

/* Half a cache full, as far as there is memory. Interrupts are masked. */
static void cache_fill(struct cache *cache, unsigned int class)
{
	struct size_class *c = &heap.class[class];

	cache->max = class_bytes[class] <= CACHE_SMALL_MAX ? CACHE_MAX : CACHE_LARGE_MAX;
	spin_lock(&c->lock);
	while (cache->n < cache->max / 2) {
		struct slab *s = class_get_slab(c, class);

		if (!s)
			break;
		cache->object[cache->n++] = slab_take(c, s);
	}
	c->n_fills++;
	spin_unlock(&c->lock);
}

/* Half a cache full goes back, the oldest first. */
static void cache_drain(struct cache *cache, unsigned int class)
{
	struct size_class *c = &heap.class[class];
	unsigned int keep = cache->max / 2;

	struct slab *surplus[CACHE_MAX];
	unsigned int n_surplus = 0;

	spin_lock(&c->lock);
	for (unsigned int i = 0; i < cache->n - keep; i++) {
		surplus[n_surplus] = slab_put(c, cache->object[i]);
		n_surplus += surplus[n_surplus] != NULL;
	}
	spin_unlock(&c->lock);
	for (unsigned int i = 0; i < n_surplus; i++)
		slab_delete(surplus[i]);
	memmove(cache->object, cache->object + cache->n - keep, keep * sizeof(void *));
	cache->n = keep;
}

static __always_inline void *cache_take(struct cache *cache)
{
	uint32_t n = cache->n - 1;
	uint64_t *p = cache->object[n];

	cache->n = n;
	p[1] = 0;
	return p;
}

/* The CPU has none at hand. flags: from spin_irq_save. */
static __noinline void *small_alloc_slow(struct cache *cache, unsigned int class,
					 unsigned long flags)
{
	void *p;

	cache_fill(cache, class);
	p = cache->n ? cache_take(cache) : refuse();
	spin_irq_restore(flags);
	return p;
}

static __always_inline void *small_alloc(size_t bytes)
{
	unsigned int class = heap.class_of[(bytes + 15) / 16];
	unsigned long flags = spin_irq_save();
	struct cache *cache = cache_here(class);
	void *p;

	if (unlikely(cache->n == 0))
		return small_alloc_slow(cache, class, flags);
	p = cache_take(cache);
	spin_irq_restore(flags);
	return p;
}

/* The cache is full, or the object looks as if it were free already. */
static __noinline void small_free_slow(struct cache *cache, unsigned int class, uint64_t *p,
				       unsigned long flags)
{
	for (unsigned int cpu = 0; p[1] == poison_of(p) && cpu < hal_cpu_count(); cpu++)
		for (unsigned int i = 0; i < READ_ONCE(caches_of(cpu)[class].n); i++)
			if (READ_ONCE(caches_of(cpu)[class].object[i]) == p)
				mm_oops("heap: %p freed twice", p);
	/* A CPU that has never allocated of this class has no limit set. */
	if (cache->max == 0)
		cache_fill(cache, class);
	if (cache->n == cache->max)
		cache_drain(cache, class);
	p[1] = poison_of(p);
	cache->object[cache->n++] = p;
	spin_irq_restore(flags);
}

static __always_inline void small_free(struct slab *s, uint64_t *p)
{
	unsigned int class = s->class;
	unsigned long flags;
	struct cache *cache;
	uint64_t poison;

	if (unlikely(!slab_has_object(s, p)))
		mm_oops("heap: %p is no object's address", p);
	flags = spin_irq_save();
	cache = cache_here(class);
	poison = poison_of(p);
	if (unlikely(cache->n == cache->max || p[1] == poison)) {
		small_free_slow(cache, class, p, flags);
		return;
	}
	p[1] = poison;
	cache->object[cache->n++] = p;
	spin_irq_restore(flags);
}

/* ---- large objects --------------------------------------------------------------------------- */

static void *large_alloc(size_t bytes)
{
	unsigned int n_pages;
	struct large *l;
	uint64_t pa;

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

static __noinline void *alloc_unusual(size_t bytes)
{
	if (unlikely(!heap.ready))
		heap_init();
	if (bytes == 0 || bytes > HEAP_LARGE_MAX || must_fail())
		return refuse();
	return bytes <= HEAP_SMALL_MAX ? small_alloc(bytes) : large_alloc(bytes);
}

void *heap_alloc_raw(size_t bytes)
{
	if (unlikely(bytes - 1 >= HEAP_SMALL_MAX || READ_ONCE(heap.unusual)))
		return alloc_unusual(bytes);
	return small_alloc(bytes);
}

void *heap_alloc(size_t bytes)
{
	void *p = heap_alloc_raw(bytes);

	if (p)
		memset(p, 0, bytes);
	return p;
}

/* Header of what holds p: a magic number first. */
static __always_inline void *header_of(const void *p)
{
	if (unlikely((uint64_t)p - DIRECT_BASE >= DIRECT_BYTES))
		mm_oops("heap: %p is no object's address", p);
	return (void *)ROUND_DOWN((uint64_t)p, SLAB_BYTES);
}

static __noinline void free_large(void *header, void *p)
{
	struct large *l = header;

	if (l->magic != MAGIC_LARGE)
		mm_oops("heap: %p is no object's address, or was freed", p);
	large_free(l, p);
}

void heap_free(void *p)
{
	uint32_t *magic;

	if (unlikely(!p))
		return;
	magic = header_of(p);
	if (likely(*magic == MAGIC_SLAB))
		small_free((struct slab *)magic, p);
	else
		free_large(magic, p);
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
		.failures = __atomic_load_n(&heap.failures, __ATOMIC_RELAXED),
	};
	for (unsigned int i = 0; i < N_CLASSES; i++) {
		struct size_class *c = &heap.class[i];
		unsigned long flags = spin_lock_irqsave(&c->lock);
		uint64_t n = c->n_live;

		for (unsigned int cpu = 0; cpu < hal_cpu_count(); cpu++)
			n -= READ_ONCE(caches_of(cpu)[i].n);
		out->used_bytes += n * class_bytes[i];
		out->used_objects += n;
		out->backing_bytes += c->n_slabs * SLAB_BYTES;
		out->fills += c->n_fills;
		spin_unlock_irqrestore(&c->lock, flags);
	}
}
