/* SPDX-License-Identifier: BSD-2-Clause */
/* Clock and timers. A timer's priv: [0] next in the list, [1] armed. */
#include "tests/unit/hal_host_int.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#include "include/hal.h"

#define START_NS 1000000000ull

static struct {
	atomic_uint_fast64_t now_ns;
	bool real;
	pthread_t real_thread;
	struct hal_timer *armed; /* by expiry */
	atomic_bool pending;
	pthread_mutex_t lock;
} tm = { .now_ns = START_NS, .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t machine_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t hal_ktime_ns(void)
{
	return tm.real ? machine_ns() : atomic_fetch_add(&tm.now_ns, 1);
}

/* The alarm signal stays blocked while the list is changed. */
static void list_lock(sigset_t *old)
{
	sigset_t alarm;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, old);
	pthread_mutex_lock(&tm.lock);
}

static void list_unlock(const sigset_t *old)
{
	pthread_mutex_unlock(&tm.lock);
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

static bool list_remove(struct hal_timer *t)
{
	if (!t->priv[1])
		return false;
	for (struct hal_timer **at = &tm.armed; *at; at = (struct hal_timer **)&(*at)->priv[0]) {
		if (*at == t) {
			*at = t->priv[0];
			t->priv[1] = NULL;
			return true;
		}
	}
	fprintf(stderr, "hal_host: timer memory reused while armed, or not zeroed before use\n");
	abort();
}

static void list_insert(struct hal_timer *t)
{
	struct hal_timer **at = &tm.armed;

	while (*at && (*at)->expires_ns <= t->expires_ns)
		at = (struct hal_timer **)&(*at)->priv[0];
	t->priv[0] = *at;
	t->priv[1] = t;
	*at = t;
}

static void alarm_set(void)
{
	struct itimerval when = { 0 };
	uint64_t now = machine_ns(), us;

	if (!tm.real)
		return;
	if (tm.armed) {
		us = tm.armed->expires_ns > now ? (tm.armed->expires_ns - now) / 1000 + 1 : 1;
		when.it_value.tv_sec = (time_t)(us / 1000000);
		when.it_value.tv_usec = (suseconds_t)(us % 1000000);
	}
	setitimer(ITIMER_REAL, &when, NULL);
}

void hal_timer_arm(struct hal_timer *t, uint64_t expires_ns)
{
	sigset_t old;

	list_lock(&old);
	list_remove(t);
	t->expires_ns = expires_ns;
	list_insert(t);
	alarm_set();
	list_unlock(&old);
}

bool hal_timer_cancel(struct hal_timer *t, bool wait)
{
	sigset_t old;
	bool was_armed;

	(void)wait; /* a timer's function runs on the thread that armed it: not now */
	list_lock(&old);
	was_armed = list_remove(t);
	alarm_set();
	list_unlock(&old);
	return was_armed;
}

/* Take the first timer that is due by `until_ns` off the list. */
static struct hal_timer *take_due(uint64_t until_ns)
{
	struct hal_timer *t;
	sigset_t old;

	list_lock(&old);
	t = tm.armed;
	if (t && t->expires_ns <= until_ns)
		list_remove(t);
	else
		t = NULL;
	list_unlock(&old);
	return t;
}

static void fire(struct hal_timer *t)
{
	unsigned long flags = hal_irq_save();

	t->fn(t);
	hal_irq_restore(flags);
}

void hal_host_set_time_ns(uint64_t now_ns)
{
	atomic_store(&tm.now_ns, now_ns);
}

void hal_host_advance_ns(uint64_t delta_ns)
{
	uint64_t until = atomic_load(&tm.now_ns) + delta_ns;
	struct hal_timer *t;

	while ((t = take_due(until))) {
		if (t->expires_ns > atomic_load(&tm.now_ns))
			atomic_store(&tm.now_ns, t->expires_ns);
		fire(t);
	}
	if (until > atomic_load(&tm.now_ns))
		atomic_store(&tm.now_ns, until);
}

static void run_real_due(void)
{
	struct hal_timer *t;
	sigset_t old;

	while ((t = take_due(machine_ns()))) {
		/* fn may leave by hal_run_abort: set the next alarm first. */
		list_lock(&old);
		alarm_set();
		list_unlock(&old);
		fire(t);
	}
	list_lock(&old);
	alarm_set();
	list_unlock(&old);
}

static void on_alarm(int sig)
{
	if (!pthread_equal(pthread_self(), tm.real_thread)) {
		pthread_kill(tm.real_thread, sig);
		return;
	}
	if (hal_host_irq_depth())
		atomic_store(&tm.pending, true);
	else
		run_real_due();
}

void hal_host_timers_pending(void)
{
	if (atomic_exchange(&tm.pending, false))
		run_real_due();
}

void hal_host_use_real_time(void)
{
	struct sigaction sa = { .sa_handler = on_alarm, .sa_flags = SA_RESTART | SA_NODEFER };

	tm.real = true;
	tm.real_thread = pthread_self();
	sigaction(SIGALRM, &sa, NULL);
	alarm_set();
}

unsigned int hal_host_timers_armed(void)
{
	unsigned int nr = 0;
	sigset_t old;

	list_lock(&old);
	for (struct hal_timer *t = tm.armed; t; t = t->priv[0])
		nr++;
	list_unlock(&old);
	return nr;
}

void hal_host_time_reset(void)
{
	struct itimerval off = { 0 };

	setitimer(ITIMER_REAL, &off, NULL);
	tm.real = false;
	tm.armed = NULL; /* its memory may be gone with the test that armed it */
	atomic_store(&tm.pending, false);
	atomic_store(&tm.now_ns, START_NS);
}
