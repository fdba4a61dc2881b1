/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/time.h"

#include "board/board.h"
#include "drivers/timer_arm.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "lib/spinlock.h"

/* The Raspberry Pi's crystal, in case firmware left CNTFRQ_EL0 at 0. */
#define FALLBACK_HZ 54000000

static struct timer_arm timer;
static uint64_t boot_ticks;

void time_init(void)
{
	if (timer_arm_init(&timer, FALLBACK_HZ))
		timer = (struct timer_arm){ 0 };
	boot_ticks = timer_arm_now();
}

uint64_t hal_ktime_ns(void)
{
	return timer_arm_ticks_to_ns(&timer, timer_arm_now() - boot_ticks);
}

uint64_t time_counter_hz(void)
{
	return timer.freq_hz;
}

void time_delay_ns(uint64_t ns)
{
	uint64_t end = hal_ktime_ns() + ns;

	while (hal_ktime_ns() < end)
		spin_relax();
}

/*
 * One queue a CPU: a pairing heap by expiry, whose links are in the timers (hal_timer.priv).
 *
 *   priv[0] first child   priv[1] next sibling   priv[2] previous sibling, or parent if first
 *   priv[3] CPU number + 1 while armed, else 0
 */
struct timer_queue {
	struct spinlock lock;
	struct hal_timer *root;
	struct hal_timer *running; /* its fn is being called */
};
static struct timer_queue queues[MAX_CPUS];

#define CHILD(t) ((t)->priv[0])
#define NEXT(t)	 ((t)->priv[1])
#define PREV(t)	 ((t)->priv[2])

static struct hal_timer *heap_meld(struct hal_timer *a, struct hal_timer *b)
{
	struct hal_timer *first;

	if (!a)
		return b;
	if (!b)
		return a;
	if (b->expires_ns < a->expires_ns) {
		struct hal_timer *t = a;

		a = b;
		b = t;
	}
	first = CHILD(a);
	NEXT(b) = first;
	if (first)
		PREV(first) = b;
	PREV(b) = a;
	CHILD(a) = b;
	return a;
}

/* Meld a list of siblings, two by two from the left, then from the right. */
static struct hal_timer *heap_meld_siblings(struct hal_timer *list)
{
	struct hal_timer *pairs = NULL, *all = NULL;

	while (list) {
		struct hal_timer *a = list, *b = NEXT(a);

		list = b ? NEXT(b) : NULL;
		NEXT(a) = PREV(a) = NULL;
		if (b)
			NEXT(b) = PREV(b) = NULL;
		a = heap_meld(a, b);
		NEXT(a) = pairs;
		pairs = a;
	}
	while (pairs) {
		struct hal_timer *a = pairs;

		pairs = NEXT(a);
		NEXT(a) = PREV(a) = NULL;
		all = heap_meld(all, a);
	}
	return all;
}

static void heap_remove(struct timer_queue *q, struct hal_timer *t)
{
	struct hal_timer *children = heap_meld_siblings(CHILD(t));
	struct hal_timer *prev = PREV(t), *next = NEXT(t);

	CHILD(t) = NULL;
	if (q->root == t) {
		q->root = children;
		return;
	}
	if (CHILD(prev) == t)
		CHILD(prev) = next;
	else
		NEXT(prev) = next;
	if (next)
		PREV(next) = prev;
	NEXT(t) = PREV(t) = NULL;
	q->root = heap_meld(q->root, children);
}

static void set_armed_on(struct hal_timer *t, uintptr_t cpu_plus_1)
{
	__atomic_store_n((uintptr_t *)&t->priv[3], cpu_plus_1, __ATOMIC_RELEASE);
}

static uintptr_t armed_on(const struct hal_timer *t)
{
	return __atomic_load_n((const uintptr_t *)&t->priv[3], __ATOMIC_ACQUIRE);
}

/* The owner of the queue only: the comparator is its own. */
static void deadline_update(struct timer_queue *q)
{
	uint64_t ticks, now_ns;

	if (!q->root) {
		timer_arm_stop();
		return;
	}
	/* From now, not from boot: what rounding loses must not grow with the time since then. */
	ticks = timer_arm_now();
	now_ns = timer_arm_ticks_to_ns(&timer, ticks - boot_ticks);
	if (q->root->expires_ns > now_ns)
		ticks += timer_arm_ns_to_ticks(&timer, q->root->expires_ns - now_ns);
	timer_arm_set_deadline(ticks);
}

/* Take t off whatever queue it is on. Interrupts masked. */
static bool timer_disarm(struct hal_timer *t)
{
	uintptr_t cpu;

	while ((cpu = armed_on(t)) != 0) {
		struct timer_queue *q = &queues[cpu - 1];
		bool mine;

		spin_lock(&q->lock);
		mine = armed_on(t) == cpu;
		if (mine) {
			heap_remove(q, t);
			set_armed_on(t, 0);
		}
		spin_unlock(&q->lock);
		if (mine)
			return true;
	}
	return false;
}

void hal_timer_arm(struct hal_timer *t, uint64_t expires_ns)
{
	unsigned long flags = cpu_irq_save();
	unsigned int cpu = this_cpu()->id;
	struct timer_queue *q = &queues[cpu];

	timer_disarm(t);
	spin_lock(&q->lock);
	t->expires_ns = expires_ns;
	CHILD(t) = NEXT(t) = PREV(t) = NULL;
	set_armed_on(t, cpu + 1);
	q->root = heap_meld(q->root, t);
	if (q->root == t)
		deadline_update(q);
	spin_unlock(&q->lock);
	cpu_irq_restore(flags);
}

bool hal_timer_cancel(struct hal_timer *t, bool wait)
{
	bool was_armed = false;

	/* fn may arm its timer again while we wait for its end. */
	do {
		unsigned long flags = cpu_irq_save();

		was_armed |= timer_disarm(t);
		cpu_irq_restore(flags);
		for (unsigned int i = 0; wait && i < cpu_count(); i++)
			while (__atomic_load_n(&queues[i].running, __ATOMIC_ACQUIRE) == t)
				spin_relax();
	} while (wait && armed_on(t));
	return was_armed;
}

static void timer_irq(void *arg, uint32_t intid)
{
	struct timer_queue *q = &queues[this_cpu()->id];
	struct hal_timer *t;

	(void)arg;
	(void)intid;
	spin_lock(&q->lock);
	while ((t = q->root) != NULL && t->expires_ns <= hal_ktime_ns()) {
		heap_remove(q, t);
		/* running is set before the timer stops being armed: a canceller sees either. */
		__atomic_store_n(&q->running, t, __ATOMIC_RELEASE);
		set_armed_on(t, 0);
		spin_unlock(&q->lock);
		t->fn(t);
		spin_lock(&q->lock);
		__atomic_store_n(&q->running, NULL, __ATOMIC_RELEASE);
	}
	deadline_update(q);
	spin_unlock(&q->lock);
}

int time_init_irq(const struct board_info *board)
{
	if (timer.freq_hz == 0 || board->timer_virt_intid == 0)
		return -ENODEV;
	return irq_register(board->timer_virt_intid, "timer", timer_irq, NULL, GIC_PRIORITY_NORMAL,
			    0, 0);
}

void time_init_cpu(void)
{
	timer_arm_stop();
}
