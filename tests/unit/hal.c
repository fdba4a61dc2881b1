/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's hal itself: unit tests rest on it, so what it promises is checked here. */
#include "test.h"

#include "bpf/run_ctx.h"
#include "include/err.h"
#include "include/hal.h"
#include "tests/unit/hal_host.h"

TEST(hal_alloc_is_zeroed_aligned_and_accounted)
{
	uint8_t *p = hal_alloc(100);

	CHECK(p);
	CHECK_EQ((uintptr_t)p % 16, 0);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(p[i], 0);
	CHECK_EQ(test_leaked_bytes(), 100);
	hal_free(p);
	hal_free(NULL);
	CHECK_EQ(test_leaked_bytes(), 0);
	CHECK(!hal_alloc(SIZE_MAX));
}

TEST(hal_fail_alloc_hits_the_nth)
{
	void *p[3];

	hal_host_fail_alloc(2, false);
	p[0] = hal_alloc(1);
	CHECK(p[0] && !hal_host_fail_hit());
	p[1] = hal_map_alloc(1);
	CHECK(!p[1] && hal_host_fail_hit());
	p[2] = hal_percpu_alloc(8, 8);
	CHECK(p[2]);
	hal_host_fail_alloc(1, true);
	CHECK(!hal_alloc(1));
	CHECK(!hal_alloc_atomic(1));
	hal_host_fail_alloc(0, false);
	CHECK_EQ(hal_host_allocs(), 5);
	hal_free(p[0]);
	hal_percpu_free(p[2], 8);
}

TEST(hal_atomic_reserve_is_kept)
{
	void *a, *b;

	hal_host_set_atomic_reserve(64);
	a = hal_alloc_atomic(40);
	CHECK(a);
	CHECK(!hal_alloc_atomic(40));
	b = hal_alloc_atomic(24);
	CHECK(b);
	hal_free_atomic(a);
	a = hal_alloc_atomic(40);
	CHECK(a);
	hal_free_atomic(a);
	hal_free_atomic(b);
}

TEST(hal_percpu_copies_are_apart_and_zeroed)
{
	char *base = hal_percpu_alloc(100, 8), *other;

	CHECK(base);
	for (unsigned int cpu = 0; cpu < hal_cpu_count(); cpu++) {
		char *p = hal_percpu_ptr(base, cpu);

		CHECK_EQ(p[0] | p[99], 0);
		memset(p, (int)cpu + 1, 100);
	}
	for (unsigned int cpu = 0; cpu < hal_cpu_count(); cpu++)
		CHECK_EQ(((char *)hal_percpu_ptr(base, cpu))[99], cpu + 1);
	other = hal_percpu_alloc(1, 1);
	CHECK(other && (other < base || other >= base + 100));
	hal_percpu_free(base, 100);
	base = hal_percpu_alloc(100, 64);
	CHECK(base);
	CHECK_EQ(((char *)hal_percpu_ptr(base, 3))[50], 0);
	hal_percpu_free(base, 100);
	hal_percpu_free(other, 1);
}

TEST(hal_mirror_shows_its_bytes_twice)
{
	char *p = hal_map_alloc_mirror(4096, 8192);

	CHECK(p);
	for (int i = 0; i < 8192; i++)
		CHECK(!p[4096 + i]);
	p[4096 + 8191] = 1;
	p[4096 + 8192] = 2; /* over the end */
	CHECK_EQ(p[4096], 2);
	CHECK_EQ(p[4096 + 8192 + 8191], 1);
	CHECK_EQ(test_leaked_bytes(), 12288);
	hal_map_free_mirror(p, 4096, 8192);
}

TEST(hal_probe_read_survives_bad_addresses)
{
	char src[9000], dst[9000];
	char *page;

	memset(src, 7, sizeof(src));
	CHECK_EQ(hal_probe_read(dst, src, sizeof(src)), 0);
	CHECK_MEM(dst, src, sizeof(src));
	CHECK_EQ(hal_probe_read(dst, (void *)16, 8), -EFAULT);
	CHECK_EQ(dst[0] | dst[7], 0);
	CHECK_EQ(hal_probe_read(dst, (void *)-8l, 16), -EFAULT);
	page = hal_map_alloc(4096);
	CHECK(page);
	CHECK_EQ(hal_probe_read(dst, page + 4090, 6), 0);
	dst[0] = 1;
	CHECK_EQ(hal_probe_read(dst, page + 4090, 7), -EFAULT);
	CHECK_EQ(dst[0], 0);
	hal_map_free(page, 4096);
}

static uint64_t run_returns(void *arg)
{
	return (uintptr_t)arg + (hal_run_current() ? 1 : 0);
}

static uint64_t run_aborts(void *arg)
{
	struct run_ctx *rc = arg;

	(void)hal_irq_save();
	rc->end.why = RUN_END_BUDGET;
	hal_run_abort(rc);
}

static uint64_t run_faults(void *arg)
{
	return *(volatile uint64_t *)arg;
}

static uint64_t run_nests(void *arg)
{
	struct run_ctx inner = { 0 };
	uint64_t ret = 5;
	int err = hal_run_enter(&inner, run_faults, arg, &ret);

	return err == -EFAULT && inner.outer == hal_run_current() && ret == 5;
}

TEST(hal_run_returns_aborts_and_faults)
{
	struct run_ctx rc = { 0 };
	char *page = hal_map_alloc(4096);
	uint64_t ret = 0;

	CHECK(page);
	CHECK_EQ(hal_run_enter(&rc, run_returns, (void *)41, &ret), 0);
	CHECK_EQ(ret, 42);
	CHECK_EQ(hal_run_enter(&rc, run_aborts, &rc, &ret), -EFAULT);
	CHECK_EQ(rc.end.why, RUN_END_BUDGET);
	CHECK_EQ(hal_host_irq_depth(), 0);
	/* Before the page: no access there. */
	CHECK_EQ(hal_run_enter(&rc, run_faults, page - 8, &ret), -EFAULT);
	CHECK_EQ(rc.end.why, RUN_END_FAULT);
	CHECK_EQ(rc.end.addr, (uintptr_t)page - 8);
	CHECK_EQ(ret, 42);
	CHECK_EQ(hal_run_enter(&rc, run_nests, page - 8, &ret), 0);
	CHECK_EQ(ret, 1);
	CHECK(!hal_run_current());
	hal_map_free(page, 4096);
}

static void timer_counts(struct hal_timer *t)
{
	(*(int *)t->priv[3])++;
}

TEST(hal_timers_fire_in_order_at_their_time)
{
	int fired = 0;
	struct hal_timer a = { .fn = timer_counts, .priv = { [3] = &fired } }, b = a;
	uint64_t now = hal_ktime_ns();

	hal_timer_arm(&a, now + 1000);
	hal_timer_arm(&b, now + 500);
	hal_host_advance_ns(600);
	CHECK_EQ(fired, 1);
	CHECK(!hal_timer_cancel(&b, true));
	hal_timer_arm(&a, now + 5000);
	hal_host_advance_ns(600);
	CHECK_EQ(fired, 1);
	CHECK(hal_timer_cancel(&a, true));
	CHECK_EQ(hal_host_timers_armed(), 0);
}

static void timer_aborts(struct hal_timer *t)
{
	struct run_ctx *rc = t->priv[3];

	rc->end.why = RUN_END_BUDGET;
	hal_run_abort(rc);
}

static uint64_t run_spins(void *arg)
{
	while (READ_ONCE(*(int *)arg))
		;
	return 0;
}

TEST(hal_real_time_ends_a_run_that_spins)
{
	struct run_ctx rc = { 0 };
	struct hal_timer t = { .fn = timer_aborts, .priv = { [3] = &rc } };
	int forever = 1;
	uint64_t ret = 0;

	hal_host_use_real_time();
	hal_timer_arm(&t, hal_ktime_ns() + 2000000);
	CHECK_EQ(hal_run_enter(&rc, run_spins, &forever, &ret), -EFAULT);
	CHECK_EQ(rc.end.why, RUN_END_BUDGET);
	CHECK_EQ(hal_host_irq_depth(), 0);
}

static void deferred_free(struct hal_deferred *d)
{
	hal_free(d);
}

TEST(hal_deferred_frees_run_at_the_flush)
{
	struct hal_deferred *d = hal_alloc(sizeof(*d));

	CHECK(d);
	hal_quiesce_defer(d, deferred_free);
	hal_quiesce_flush(true);
	CHECK_EQ(test_leaked_bytes(), 0);
}

static void note_cpu(void *arg)
{
	*(unsigned int *)arg = hal_cpu_id();
}

TEST(hal_cpu_call_runs_there)
{
	unsigned int cpu = 99;

	CHECK_EQ(hal_cpu_call(2, note_cpu, &cpu), 0);
	CHECK_EQ(cpu, 2);
	CHECK_EQ(hal_cpu_id(), 0);
	CHECK_EQ(hal_cpu_call(4, note_cpu, &cpu), -EINVAL);
	hal_host_set_online(3, false);
	CHECK_EQ(hal_cpu_call(3, note_cpu, &cpu), -ENODEV);
}
