/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "bpf/run_ctx.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/cpu.h"
#include "kernel/quiesce.h"
#include "kernel/selftest.h"
#include "kernel/smp.h"
#include "kernel/time.h"
#include "lib/spinlock.h"
#include "mm/heap.h"

/* ---- timers ---------------------------------------------------------------------------------- */

#define N_TIMERS 24

static struct {
	struct hal_timer timer[N_TIMERS];
	uint32_t fired[N_TIMERS];
	uint32_t order;
	uint32_t early;
	uint32_t out_of_order;
	uint64_t last_expiry_ns;
} timers;

static void timer_fired(struct hal_timer *timer)
{
	unsigned int i = (unsigned int)(timer - timers.timer);

	if (hal_ktime_ns() < timer->expires_ns)
		timers.early++;
	if (timer->expires_ns < timers.last_expiry_ns)
		timers.out_of_order++;
	timers.last_expiry_ns = timer->expires_ns;
	timers.fired[i] = ++timers.order;
}

static uint32_t periodic_left;

static void timer_periodic(struct hal_timer *timer)
{
	if (--periodic_left)
		hal_timer_arm(timer, timer->expires_ns + 50000);
}

static void wait_ms(unsigned int ms)
{
	time_delay_ns(ms * 1000000ull);
}

/* Until *value is want, or for two seconds: an emulator on a busy host may be slow. */
static bool wait_for(const uint32_t *value, uint32_t want)
{
	uint64_t end = hal_ktime_ns() + 2000000000;

	while (__atomic_load_n(value, __ATOMIC_ACQUIRE) != want && hal_ktime_ns() < end)
		spin_relax();
	return __atomic_load_n(value, __ATOMIC_ACQUIRE) == want;
}

static void order_check(struct selftest *t)
{
	unsigned long flags = hal_irq_save();
	uint64_t start = hal_ktime_ns() + 1000000;

	memset(&timers, 0, sizeof(timers));
	for (unsigned int i = 0; i < N_TIMERS; i++) {
		timers.timer[i].fn = timer_fired;
		hal_timer_arm(&timers.timer[i], start + i * 7 % N_TIMERS * 20000);
	}
	/* Some are taken back, one is moved behind all others. */
	SELF_CHECK(t, hal_timer_cancel(&timers.timer[5], true));
	SELF_CHECK(t, !hal_timer_cancel(&timers.timer[5], true));
	SELF_CHECK(t, hal_timer_cancel(&timers.timer[0], false));
	hal_timer_arm(&timers.timer[7], start + 1000000);
	hal_irq_restore(flags);
	SELF_CHECK(t, wait_for(&timers.order, N_TIMERS - 2));
	SELF_CHECK(t, !timers.fired[5] && !timers.fired[0]);
	SELF_CHECK(t, timers.fired[7] == N_TIMERS - 2);
	SELF_CHECK(t, timers.early == 0 && timers.out_of_order == 0);
}

static void periodic_check(struct selftest *t)
{
	static struct hal_timer periodic = { .fn = timer_periodic };
	uint32_t left;

	periodic_left = 10;
	hal_timer_arm(&periodic, hal_ktime_ns());
	SELF_CHECK(t, wait_for(&periodic_left, 0));
	SELF_CHECK(t, !hal_timer_cancel(&periodic, true));
	/* Taken back while it arms itself again and again. */
	periodic_left = ~0u;
	hal_timer_arm(&periodic, hal_ktime_ns());
	while (READ_ONCE(periodic_left) > ~0u - 5)
		spin_relax();
	hal_timer_cancel(&periodic, true);
	left = READ_ONCE(periodic_left);
	wait_ms(1);
	SELF_CHECK(t, READ_ONCE(periodic_left) == left);
}

void selftest_timers(struct selftest *t)
{
	uint64_t now = hal_ktime_ns();
	bool forward = true;

	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t next = hal_ktime_ns();

		forward &= next >= now;
		now = next;
	}
	SELF_CHECK(t, forward);
	order_check(t);
	periodic_check(t);
}

/* ---- CPUs ------------------------------------------------------------------------------------ */

static struct {
	struct spinlock lock;
	uint64_t plain;	 /* under the lock */
	uint64_t atomic; /* without */
	uint32_t go;
	uint32_t done;
	uint32_t seen[MAX_CPUS];
	uint32_t wrong;
	uint32_t released;
	struct hal_timer timer;
	uint32_t timer_cpu;
} cpus;

#define ROUNDS 2000

static void who_am_i(void *arg)
{
	unsigned int cpu = (unsigned int)(uintptr_t)arg;

	if (hal_cpu_id() != cpu || this_cpu() != cpu_at(cpu) || this_cpu()->id != cpu)
		cpus.wrong++;
	cpus.seen[cpu]++;
}

static void contend(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&cpus.go, __ATOMIC_ACQUIRE))
		spin_relax();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		spin_lock(&cpus.lock);
		cpus.plain++;
		spin_unlock(&cpus.lock);
		__atomic_fetch_add(&cpus.atomic, 1, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&cpus.done, 1, __ATOMIC_RELEASE);
}

static void lock_check(struct selftest *t, uint32_t others)
{
	uint32_t n = 1;

	for (unsigned int i = 0; i < cpu_count(); i++)
		if (others & 1u << i) {
			SELF_CHECK(t, smp_call(i, contend, NULL, false) == 0);
			n++;
		}
	__atomic_store_n(&cpus.go, 1, __ATOMIC_RELEASE);
	contend(NULL);
	while (__atomic_load_n(&cpus.done, __ATOMIC_ACQUIRE) < n)
		spin_relax();
	SELF_CHECK(t, cpus.plain == n * ROUNDS && cpus.atomic == n * ROUNDS);
	SELF_CHECK(t, !spin_is_locked(&cpus.lock) && spin_trylock(&cpus.lock) &&
			      !spin_trylock(&cpus.lock));
}

/*
 * Objects are allocated on one CPU, filled, handed over in a common table and freed by whoever
 * takes them out. Each word of an object holds its size and its address.
 */
#define SLOTS 64
static uint64_t *slots[SLOTS];

static void object_fill(uint64_t *p, size_t words)
{
	for (size_t i = 0; i < words; i++)
		p[i] = (uint64_t)p ^ words;
}

static bool object_is_intact(const uint64_t *p)
{
	size_t words = (size_t)(p[0] ^ (uint64_t)p);

	if (words == 0 || words > 512)
		return false;
	for (size_t i = 0; i < words; i++)
		if (p[i] != ((uint64_t)p ^ words))
			return false;
	return true;
}

static void exchange(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&cpus.go, __ATOMIC_ACQUIRE))
		spin_relax();
	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint64_t r = hal_random_u64();
		size_t words = 1 + (r >> 8) % (r & 7 ? 40 : 512);
		uint64_t *p = hal_alloc_atomic(words * sizeof(*p)), *old;

		if (p)
			object_fill(p, words);
		old = __atomic_exchange_n(&slots[(r >> 32) % SLOTS], p, __ATOMIC_ACQ_REL);
		if (old && !object_is_intact(old))
			__atomic_fetch_add(&cpus.wrong, 1, __ATOMIC_RELAXED);
		hal_free_atomic(old);
	}
	__atomic_fetch_add(&cpus.done, 1, __ATOMIC_RELEASE);
}

static void heap_exchange_check(struct selftest *t, uint32_t others)
{
	struct heap_stats before, after;
	uint32_t n = 1;

	heap_get_stats(&before);
	cpus.go = cpus.done = 0;
	for (unsigned int i = 0; i < cpu_count(); i++)
		if (others & 1u << i) {
			SELF_CHECK(t, smp_call(i, exchange, NULL, false) == 0);
			n++;
		}
	__atomic_store_n(&cpus.go, 1, __ATOMIC_RELEASE);
	exchange(NULL);
	while (__atomic_load_n(&cpus.done, __ATOMIC_ACQUIRE) < n)
		spin_relax();
	for (unsigned int i = 0; i < SLOTS; i++) {
		SELF_CHECK(t, !slots[i] || object_is_intact(slots[i]));
		hal_free_atomic(slots[i]);
		slots[i] = NULL;
	}
	heap_get_stats(&after);
	SELF_CHECK(t, before.used_bytes == after.used_bytes &&
			      before.used_objects == after.used_objects);
}

/* A run on another CPU that lasts until it is released. */
static uint64_t hold(void *arg)
{
	(void)arg;
	__atomic_store_n(&cpus.go, 2, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&cpus.released, __ATOMIC_ACQUIRE))
		spin_relax();
	return 0;
}

static void hold_run(void *arg)
{
	static struct run_ctx rc;
	uint64_t ret;

	(void)arg;
	if (hal_run_enter(&rc, hold, NULL, &ret))
		cpus.wrong++;
}

static void release(struct hal_timer *timer)
{
	(void)timer;
	__atomic_store_n(&cpus.released, 1, __ATOMIC_RELEASE);
}

static uint32_t deferred_ran;
static void deferred_fn(struct hal_deferred *d)
{
	(void)d;
	deferred_ran++;
}

static void quiesce_check(struct selftest *t, unsigned int other)
{
	static struct hal_timer timer = { .fn = release };
	struct hal_deferred d[3];

	SELF_CHECK(t, smp_call(other, hold_run, NULL, false) == 0);
	while (__atomic_load_n(&cpus.go, __ATOMIC_ACQUIRE) != 2)
		spin_relax();
	deferred_ran = 0;
	hal_quiesce_defer(&d[0], deferred_fn);
	hal_quiesce_flush(false);
	hal_quiesce_flush(false);
	SELF_CHECK(t, deferred_ran == 0 && quiesce_waiting() >= 1);
	hal_timer_arm(&timer, hal_ktime_ns() + 2000000);
	hal_quiesce_wait();
	SELF_CHECK(t, cpus.released);
	hal_quiesce_defer(&d[1], deferred_fn);
	hal_quiesce_defer(&d[2], deferred_fn);
	hal_quiesce_flush(true);
	SELF_CHECK(t, deferred_ran == 3 && quiesce_waiting() == 0);
}

static void fault_there(void *arg)
{
	struct run_ctx rc = { 0 };
	uint64_t ret;

	if (hal_run_enter(&rc, hold, NULL, &ret) || ret)
		cpus.wrong++;
	if (hal_probe_read(&ret, arg, 8) != -EFAULT)
		cpus.wrong++;
}

static void timer_there(struct hal_timer *timer)
{
	(void)timer;
	cpus.timer_cpu = hal_cpu_id() + 1;
}

static void arm_there(void *arg)
{
	(void)arg;
	cpus.timer.fn = timer_there;
	hal_timer_arm(&cpus.timer, hal_ktime_ns() + 200000);
}

void selftest_cpus(struct selftest *t)
{
	uint32_t others = smp_online_mask() & ~(1u << hal_cpu_id());
	unsigned int n = cpu_count();

	memset(&cpus, 0, sizeof(cpus));
	for (unsigned int i = 0; i < n; i++) {
		bool online = smp_online_mask() & 1u << i;

		SELF_CHECK(t, hal_cpu_call(i, who_am_i, (void *)(uintptr_t)i) ==
				      (online ? 0 : -ENODEV));
		SELF_CHECK(t, cpus.seen[i] == online);
		if (!(others & 1u << i))
			continue;
		for (unsigned int k = 0; k < 20; k++)
			SELF_CHECK(t, smp_call(i, who_am_i, (void *)(uintptr_t)i, true) == 0);
		SELF_CHECK(t, cpus.seen[i] == 21);
		SELF_CHECK(t, hal_cpu_call(i, arm_there, NULL) == 0);
		SELF_CHECK(t, wait_for(&cpus.timer_cpu, i + 1));
	}
	SELF_CHECK(t, hal_cpu_call(n, who_am_i, NULL) == -EINVAL);
	SELF_CHECK(t, smp_call(hal_cpu_id(), who_am_i, NULL, true) == -EINVAL);
	smp_sync_code();
	lock_check(t, others);
	heap_exchange_check(t, others);
	if (others) {
		unsigned int other = (unsigned int)__builtin_ctz(others);

		quiesce_check(t, other);
		SELF_CHECK(t, hal_cpu_call(other, fault_there, (void *)8) == 0);
	}
	SELF_CHECK(t, cpus.wrong == 0);
	selftest_note(t, "  CPUs online: 0x%x\n", smp_online_mask());
}

/* ---- strings --------------------------------------------------------------------------------- */

static uint8_t text_a[600], text_b[600];

static void fill(uint8_t *p, unsigned int seed)
{
	for (unsigned int i = 0; i < sizeof(text_a); i++) {
		seed = seed * 1103515245 + 12345;
		p[i] = (uint8_t)(seed >> 16);
	}
}

/* Results of the functions against plain loops over all small sizes and alignments. */
static bool move_is_right(unsigned int from, unsigned int to, unsigned int n)
{
	fill(text_a, from * 7 + to);
	memcpy(text_b, text_a, sizeof(text_a));
	memmove(text_a + to, text_a + from, n);
	for (unsigned int i = 0; i < sizeof(text_a); i++) {
		uint8_t want = i >= to && i < to + n ? text_b[from + i - to] : text_b[i];

		if (text_a[i] != want)
			return false;
	}
	return true;
}

static bool set_is_right(unsigned int at, unsigned int n, int byte)
{
	fill(text_a, n);
	fill(text_b, n);
	memset(text_a + at, byte, n);
	for (unsigned int i = 0; i < sizeof(text_a); i++) {
		uint8_t want = i >= at && i < at + n ? (uint8_t)byte : text_b[i];

		if (text_a[i] != want)
			return false;
	}
	return true;
}

void selftest_strings(struct selftest *t)
{
	bool good = true;

	for (unsigned int n = 0; n < 200; n += n < 70 ? 1 : 13)
		for (unsigned int to = 0; to < 40; to += 3)
			good &= move_is_right(20, to, n);
	SELF_CHECK(t, good);
	for (unsigned int n = 0; n < 500; n += n < 70 ? 1 : 17)
		for (unsigned int at = 0; at < 20; at++)
			good &= set_is_right(at, n, 0) && set_is_right(at, n, (int)n | 1);
	SELF_CHECK(t, good);
	for (unsigned int n = 0; n < 40; n++)
		for (unsigned int at = 0; at < n; at++) {
			fill(text_a, 1);
			memcpy(text_b + 1, text_a, sizeof(text_a) - 1);
			good &= memcmp(text_a, text_b + 1, n) == 0;
			text_b[1 + at]++;
			good &= (memcmp(text_a, text_b + 1, n) < 0) ==
				(text_a[at] < text_b[1 + at]);
			good &= memcmp(text_a, text_b + 1, at) == 0;
		}
	SELF_CHECK(t, good);
	memset(text_a, 'x', sizeof(text_a));
	for (unsigned int at = 0; at < 40; at++)
		for (unsigned int from = 0; from < at; from++) {
			text_a[at] = 0;
			good &= strlen((char *)text_a + from) == at - from;
			good &= strnlen((char *)text_a + from, 600) == at - from;
			good &= strnlen((char *)text_a + from, at - from - 1) == at - from - 1;
			good &= strchr((char *)text_a + from, 0) == (char *)text_a + at;
			text_a[at] = 'x';
		}
	SELF_CHECK(t, good);
	SELF_CHECK(t, strcmp("abc", "abd") < 0 && strcmp("ab", "a") > 0 && strcmp("", "") == 0);
	SELF_CHECK(t, strncmp("abc", "abd", 2) == 0 && strrchr("a/b/c", '/')[1] == 'c');
}
