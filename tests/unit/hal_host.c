/* SPDX-License-Identifier: BSD-2-Clause */
/* The host's include/hal.h for unit tests: CPUs, runs, reclamation, words. */
#include "tests/unit/hal_host_int.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/run_ctx.h"
#include "include/err.h"
#include "include/hal.h"

#define TEXT_BYTES 16384

struct text {
	char buf[TEXT_BYTES];
	size_t len;
};

static struct {
	unsigned int cpus;
	bool offline[HAL_HOST_CPUS_MAX];
	atomic_ulong run_seq[HAL_HOST_CPUS_MAX]; /* odd while that CPU is in a run */
	atomic_uint_fast64_t random;
	struct hal_deferred *deferred; /* newest first */
	pthread_mutex_t lock;	       /* deferred, text */
	struct text trace, log;
	struct sigaction old_action[NSIG];
	bool catching;
} host = { .cpus = 4, .random = 88172645463325252ull, .lock = PTHREAD_MUTEX_INITIALIZER };

/* A run that is being made: where to go when it is ended. */
struct run_frame {
	struct run_frame *outer;
	struct run_ctx *rc;
	unsigned int irq_depth;
	sigjmp_buf back;
};

static _Thread_local unsigned int this_cpu;
static _Thread_local unsigned int irq_depth;
static _Thread_local struct run_frame *frames;

/* ---- CPUs ---------------------------------------------------------------------------------------
 */

unsigned int hal_cpu_id(void)
{
	return this_cpu;
}

unsigned int hal_cpu_count(void)
{
	return host.cpus;
}

unsigned long hal_irq_save(void)
{
	return irq_depth++;
}

void hal_irq_restore(unsigned long flags)
{
	if (flags + 1 != irq_depth) {
		fprintf(stderr, "hal_host: hal_irq_restore out of order\n");
		abort();
	}
	irq_depth = (unsigned int)flags;
	if (!irq_depth)
		hal_host_timers_pending();
}

int hal_cpu_call(unsigned int cpu, void (*fn)(void *arg), void *arg)
{
	unsigned int caller = this_cpu;

	if (cpu >= host.cpus)
		return -EINVAL;
	if (host.offline[cpu])
		return -ENODEV;
	this_cpu = cpu;
	fn(arg);
	this_cpu = caller;
	return 0;
}

void hal_host_set_cpus(unsigned int nr)
{
	if (!nr || nr > HAL_HOST_CPUS_MAX)
		abort();
	host.cpus = nr;
}

void hal_host_set_cpu(unsigned int cpu)
{
	if (cpu >= host.cpus)
		abort();
	this_cpu = cpu;
}

void hal_host_set_online(unsigned int cpu, bool online)
{
	host.offline[cpu] = !online;
}

unsigned int hal_host_irq_depth(void)
{
	return irq_depth;
}

/* ---- runs
 * ----------------------------------------------------------------------------------------- */

struct run_ctx *hal_run_current(void)
{
	return frames ? frames->rc : NULL;
}

void hal_run_abort(struct run_ctx *rc)
{
	if (!frames || frames->rc != rc) {
		fprintf(stderr, "hal_host: hal_run_abort of a run that is not the current one\n");
		abort();
	}
	siglongjmp(frames->back, 1);
}

static uint64_t fault_pc(const void *context)
{
	const ucontext_t *uc = context;

#if defined(__aarch64__)
	return uc->uc_mcontext.pc;
#elif defined(__x86_64__)
	return (uint64_t)uc->uc_mcontext.gregs[REG_RIP];
#else
	(void)uc;
	return 0;
#endif
}

/* A fault inside a run ends the run; any other is the test's own and goes to who was there. */
static void on_fault(int sig, siginfo_t *info, void *context)
{
	if (!frames) {
		sigaction(sig, &host.old_action[sig], NULL);
		return; /* the instruction faults again, for the old handler */
	}
	memset(&frames->rc->end, 0, sizeof(frames->rc->end));
	frames->rc->end.why = RUN_END_FAULT;
	frames->rc->end.insn = ~0u;
	frames->rc->end.addr = (uint64_t)(uintptr_t)info->si_addr;
	frames->rc->end.pc = fault_pc(context);
	frames->rc->end.prog = frames->rc->prog;
	siglongjmp(frames->back, 1);
}

static void catch_faults(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE };
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER };

	if (host.catching)
		return;
	host.catching = true;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &sa, &host.old_action[signals[i]]);
}

int hal_run_enter(struct run_ctx *rc, uint64_t (*fn)(void *arg), void *arg, uint64_t *ret)
{
	struct run_frame frame = { .outer = frames, .rc = rc, .irq_depth = irq_depth };
	volatile int err = 0;
	uint64_t value;

	catch_faults();
	rc->outer = frames ? frames->rc : NULL;
	if (!frames)
		atomic_fetch_add(&host.run_seq[this_cpu], 1);
	if (sigsetjmp(frame.back, 1)) {
		irq_depth = frame.irq_depth;
		err = -EFAULT;
	} else {
		frames = &frame;
		value = fn(arg);
		*ret = value;
	}
	frames = frame.outer;
	if (!frames)
		atomic_fetch_add(&host.run_seq[this_cpu], 1);
	return err;
}

/*
 * A pipe is the judge of an address: write(2) from bad memory is EFAULT on the host and under
 * qemu-aarch64 alike. Called as a system call, not as libc's function, in which the sanitizer would
 * object to bytes beside an object, where reads of strings in pieces may go.
 */
static int probe_piece(int fds[2], char *dst, const char *src, size_t n)
{
	if (syscall(SYS_write, fds[1], src, n) != (ssize_t)n)
		return -EFAULT;
	return read(fds[0], dst, n) == (ssize_t)n ? 0 : -EFAULT;
}

int hal_probe_read(void *dst, const void *src, size_t n)
{
	uintptr_t end;
	int fds[2], err = 0;

	if (!n)
		return 0;
	if (__builtin_add_overflow((uintptr_t)src, n - 1, &end) || pipe(fds))
		err = -EFAULT;
	for (size_t done = 0; !err && done < n; done += 4096)
		err = probe_piece(fds, (char *)dst + done, (const char *)src + done,
				  MIN(n - done, (size_t)4096));
	if (err)
		memset(dst, 0, n);
	close(fds[0]);
	close(fds[1]);
	return err;
}

/* ---- reclamation
 * ------------------------------------------------------------------------------------ */

void hal_quiesce_wait(void)
{
	for (unsigned int cpu = 0; cpu < HAL_HOST_CPUS_MAX; cpu++) {
		unsigned long seq = atomic_load(&host.run_seq[cpu]);

		if (cpu == this_cpu)
			continue;
		while ((seq & 1) && atomic_load(&host.run_seq[cpu]) == seq)
			sched_yield();
	}
}

void hal_quiesce_defer(struct hal_deferred *d, void (*fn)(struct hal_deferred *d))
{
	pthread_mutex_lock(&host.lock);
	d->fn = fn;
	d->next = host.deferred;
	host.deferred = d;
	pthread_mutex_unlock(&host.lock);
}

void hal_quiesce_flush(bool wait)
{
	struct hal_deferred *list, *next;

	if (wait)
		hal_quiesce_wait();
	for (unsigned int cpu = 0; !wait && cpu < HAL_HOST_CPUS_MAX; cpu++) {
		if (cpu != this_cpu && (atomic_load(&host.run_seq[cpu]) & 1))
			return; /* nothing is due while another CPU is in a run */
	}
	do {
		pthread_mutex_lock(&host.lock);
		list = host.deferred;
		host.deferred = NULL;
		pthread_mutex_unlock(&host.lock);
		for (; list; list = next) {
			next = list->next;
			list->fn(list);
		}
	} while (wait && host.deferred);
}

/* ---- words and chance
 * --------------------------------------------------------------------------------- */

/* xorshift64*: the same numbers in every run of a test. */
uint64_t hal_random_u64(void)
{
	uint64_t old = atomic_load(&host.random), x;

	do {
		x = old;
		x ^= x >> 12;
		x ^= x << 25;
		x ^= x >> 27;
	} while (!atomic_compare_exchange_weak(&host.random, &old, x));
	return x * 2685821657736338717ull;
}

void hal_host_set_seed(uint64_t seed)
{
	atomic_store(&host.random, seed ? seed : 1);
}

static void text_add(struct text *text, const char *add, size_t len)
{
	pthread_mutex_lock(&host.lock);
	if (len >= TEXT_BYTES) {
		add += len - (TEXT_BYTES - 1);
		len = TEXT_BYTES - 1;
	}
	if (text->len + len >= TEXT_BYTES) {
		size_t drop = text->len + len - (TEXT_BYTES - 1);

		memmove(text->buf, text->buf + drop, text->len - drop);
		text->len -= drop;
	}
	memcpy(text->buf + text->len, add, len);
	text->len += len;
	text->buf[text->len] = '\0';
	pthread_mutex_unlock(&host.lock);
}

void hal_trace(const char *text, size_t len)
{
	text_add(&host.trace, text, len);
}

void hal_log(int level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int len;

	(void)level;
	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (len > 0)
		text_add(&host.log, line, MIN((size_t)len, sizeof(line) - 1));
}

const char *hal_host_trace_text(void)
{
	return host.trace.buf;
}

const char *hal_host_log_text(void)
{
	return host.log.buf;
}

void test_reset(void)
{
	hal_quiesce_flush(true);
	host.cpus = 4;
	this_cpu = 0;
	irq_depth = 0;
	frames = NULL;
	memset(host.offline, 0, sizeof(host.offline));
	for (unsigned int cpu = 0; cpu < HAL_HOST_CPUS_MAX; cpu++)
		atomic_store(&host.run_seq[cpu], 0);
	host.trace.len = host.log.len = 0;
	host.trace.buf[0] = host.log.buf[0] = '\0';
	hal_host_set_seed(88172645463325252ull);
	hal_host_time_reset();
	hal_host_mem_reset();
	hal_host_board_reset();
}
