/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/crash.h"

#include <string.h>

#include "boot/early_mmu.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/log.h"
#include "kernel/machine.h"
#include "kernel/panic.h"
#include "kernel/smp.h"
#include "mm/heap.h"
#include "mm/layout.h"

/* A call before this one is no tail call, so that the caller is in the backtrace. */
static __always_inline void stay(void)
{
	__asm__ volatile("" ::: "memory");
}

/* The compiler must not see that what follows cannot work. */
static __noinline void *hide(const void *p)
{
	__asm__ volatile("" : "+r"(p));
	return (void *)p;
}

static void crash_null(void)
{
	*(volatile uint32_t *)hide(NULL) = 1;
}

static void crash_text(void)
{
	*(volatile uint32_t *)hide(__text_start) = 1;
}

static void crash_rodata(void)
{
	*(volatile uint32_t *)hide(__rodata_start) = 1;
}

static void crash_exec(void)
{
	static const uint32_t ret_insn = 0xd65f03c0;

	((void (*)(void))hide(&ret_insn))();
	stay();
}

static void crash_fill(void)
{
	((void (*)(void))hide((void *)(TEXT_END - 4096)))();
	stay();
}

static void crash_undefined(void)
{
	__asm__ volatile("udf #7");
}

static void crash_brk(void)
{
	__asm__ volatile("brk #7");
}

static __noinline uint64_t recurse(uint64_t n)
{
	volatile uint64_t frame[16];

	frame[n % 16] = n;
	return n == ~0ull ? 0 : recurse(n + 1) + frame[n % 16];
}

static void crash_stack(void)
{
	recurse((uint64_t)hide(NULL));
}

/* SP somewhere that is no stack at all. */
static void crash_sp(void)
{
	__asm__ volatile("mov x9, #0x8000; mov sp, x9; str xzr, [sp]" ::: "x9", "memory");
}

static void crash_heap(void)
{
	void *p = heap_alloc(100);

	heap_free(p);
	heap_free(hide(p));
	stay();
}

static void crash_panic(void)
{
	panic("asked for by a boot argument, %s %u", "number", 42u);
}

static void crash_assert(void)
{
	kernel_assert(hide(NULL) != NULL);
}

static void null_there(void *arg)
{
	(void)arg;
	crash_null();
}

static void crash_other(void)
{
	if (hal_cpu_call(1, null_there, NULL))
		log_error("no other CPU");
}

static void null_in_irq(struct hal_timer *timer)
{
	(void)timer;
	crash_null();
}

static void crash_irq(void)
{
	static struct hal_timer timer = { .fn = null_in_irq };

	hal_timer_arm(&timer, 0);
	for (;;)
		smp_wait(NULL);
}

void crash_on_request(void)
{
	static const struct {
		const char *kind;
		void (*fail)(void);
	} kinds[] = {
		{ "null", crash_null },	    { "text", crash_text },
		{ "rodata", crash_rodata }, { "exec", crash_exec },
		{ "fill", crash_fill },	    { "undefined", crash_undefined },
		{ "brk", crash_brk },	    { "stack", crash_stack },
		{ "sp", crash_sp },	    { "heap", crash_heap },
		{ "panic", crash_panic },   { "assert", crash_assert },
		{ "other", crash_other },   { "irq", crash_irq },
	};
	char kind[16];

	if (bootarg_get("crash", kind, sizeof(kind)) < 0)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kind, kinds[i].kind) == 0)
			kinds[i].fail();
	log_error("boot argument crash=%s: nothing of the kind", kind);
}
