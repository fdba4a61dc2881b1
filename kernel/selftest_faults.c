/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "bpf/run_ctx.h"
#include "board/board.h"
#include "boot/early_mmu.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/backtrace.h"
#include "kernel/cpu.h"
#include "kernel/machine.h"
#include "kernel/selftest.h"
#include "mm/vmem.h"
#include "mm/xlat.h"

#define UNMAPPED ((const void *)0xdead000)

static void probe_check(struct selftest *t)
{
	const struct board_info *board = machine_get_info();
	uint8_t *page = vmem_alloc(PAGE_BYTES);
	uint64_t word = ~0ull;
	uint8_t buf[64];
	void *device;

	if (!SELF_CHECK(t, page != NULL))
		return;
	for (unsigned int i = 0; i < 64; i++)
		page[PAGE_BYTES - 64 + i] = (uint8_t)i;
	SELF_CHECK(t, hal_probe_read(buf, page + PAGE_BYTES - 64, 64) == 0 && buf[63] == 63);
	SELF_CHECK(t, hal_probe_read(buf, page + PAGE_BYTES - 63, 63) == 0 && buf[0] == 1);
	/* One byte too far: nothing of it counts. */
	SELF_CHECK(t, hal_probe_read(buf, page + PAGE_BYTES - 63, 64) == -EFAULT);
	SELF_CHECK(t, buf[0] == 0 && buf[63] == 0);
	SELF_CHECK(t, hal_probe_read(&word, (const void *)UNMAPPED, 8) == -EFAULT && word == 0);
	SELF_CHECK(t, hal_probe_read(buf, (const void *)-8, 16) == -EFAULT);
	SELF_CHECK(t, hal_probe_read(buf, (const void *)UNMAPPED, 0) == 0);
	if (board->n_uarts > 0) {
		device = xlat_device_map(board->uart[board->console_uart].base_pa, 4);
		SELF_CHECK(t, device && hal_probe_read(buf, device, 4) == -EFAULT);
	}
	vmem_free(page);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static uint64_t run_good(void *arg)
{
	return *(uint64_t *)arg + 1;
}

static uint64_t run_load(void *arg)
{
	return *(volatile uint64_t *)arg;
}

static uint64_t run_store(void *arg)
{
	*(volatile uint64_t *)arg = 1;
	return 0;
}

static uint64_t run_call(void *arg)
{
	((void (*)(void))arg)();
	return 0;
}

static uint64_t run_undefined(void *arg)
{
	(void)arg;
	__asm__ volatile("udf #0");
	return 0;
}

static uint64_t run_brk(void *arg)
{
	(void)arg;
	__asm__ volatile("brk #77");
	return 0;
}

static uint64_t run_masked(void *arg)
{
	unsigned long flags = hal_irq_save();
	uint64_t v = *(volatile uint64_t *)arg;

	hal_irq_restore(flags);
	return v;
}

static uint64_t run_abort(void *arg)
{
	struct run_ctx *rc = hal_run_current();

	rc->end.why = RUN_END_BUDGET;
	rc->end.addr = (uint64_t)arg;
	hal_run_abort(rc);
}

static __noinline uint64_t recurse(uint64_t n)
{
	volatile uint64_t frame[64];

	frame[n % 64] = n;
	return n > 1000000 ? 0 : recurse(n + 1) + frame[n % 64];
}

static uint64_t run_overflow(void *arg)
{
	return recurse((uint64_t)arg);
}

/* An inner run fails; the outer goes on. */
static uint64_t run_nested(void *arg)
{
	struct run_ctx inner = { 0 }, *outer = hal_run_current();
	uint64_t ret = 7;
	int err = hal_run_enter(&inner, run_load, arg, &ret);

	return err == -EFAULT && ret == 7 && inner.outer == outer && hal_run_current() == outer &&
	       inner.end.why == RUN_END_FAULT;
}

static int run(struct run_ctx *rc, uint64_t (*fn)(void *), const volatile void *arg, uint64_t *ret)
{
	memset(rc, 0, sizeof(*rc));
	*ret = 0x5151;
	return hal_run_enter(rc, fn, (void *)arg, ret);
}

static void fault_check(struct selftest *t, uint64_t (*fn)(void *), const volatile void *arg,
			bool address, bool write)
{
	uint64_t ret, flags_before, flags_after;
	struct run_ctx rc;

	__asm__ volatile("mrs %0, daif" : "=r"(flags_before));
	SELF_CHECK(t, run(&rc, fn, arg, &ret) == -EFAULT);
	__asm__ volatile("mrs %0, daif" : "=r"(flags_after));
	SELF_CHECK(t, ret == 0x5151 && rc.end.why == RUN_END_FAULT);
	SELF_CHECK(t, !address || rc.end.addr == (uint64_t)arg);
	SELF_CHECK(t, rc.end.write == write && rc.end.pc != 0);
	SELF_CHECK(t, hal_run_current() == NULL && flags_before == flags_after);
	SELF_CHECK(t, (this_cpu()->busy & 1) == 0 && this_cpu()->busy_depth == 0);
}

static void runs_check(struct selftest *t)
{
	uint64_t one = 1, ret;
	struct run_ctx rc;

	SELF_CHECK(t, run(&rc, run_good, &one, &ret) == 0 && ret == 2);
	fault_check(t, run_load, UNMAPPED, true, false);
	fault_check(t, run_store, UNMAPPED, true, true);
	fault_check(t, run_load, NULL, true, false);
	fault_check(t, run_masked, UNMAPPED, true, false);
	/* Permissions: text and rodata are read-only, data is not executable, guards are guards. */
	fault_check(t, run_store, __text_start, true, true);
	fault_check(t, run_store, __rodata_start, true, true);
	fault_check(t, run_call, &one, true, false);
	fault_check(t, run_call, __rodata_start, true, false);
	fault_check(t, run_call, (const void *)0x4000, true, false);
	fault_check(t, run_store, (void *)(STACK_TOP(0, STACK_MAIN) - STACK_BYTES - 8), true, true);
	fault_check(t, run_undefined, NULL, false, false);
	fault_check(t, run_brk, NULL, false, false);
	/* The rest of the text block traps. */
	fault_check(t, run_call, (const void *)(TEXT_END - 64), false, false);

	SELF_CHECK(t, run(&rc, run_abort, (void *)0x1234, &ret) == -EFAULT);
	SELF_CHECK(t, rc.end.why == RUN_END_BUDGET && rc.end.addr == 0x1234 && ret == 0x5151);
	SELF_CHECK(t, run(&rc, run_nested, UNMAPPED, &ret) == 0 && ret == 1);
	SELF_CHECK(t, run(&rc, run_overflow, NULL, &ret) == -EFAULT);
	SELF_CHECK(t, rc.end.why == RUN_END_STACK || rc.end.why == RUN_END_FAULT);
	/* And again: the emergency stack is free for the next one. */
	SELF_CHECK(t, run(&rc, run_overflow, NULL, &ret) == -EFAULT);
	SELF_CHECK(t, hal_run_current() == NULL);
}

static void symbols_check(struct selftest *t)
{
	uint64_t offset, addr, last = 0;
	char name[KSYMS_NAME_MAX];
	bool found = false, sorted = true;

	SELF_CHECK(t, ksyms_find((uint64_t)selftest_faults + 8, name, &offset));
	SELF_CHECK(t, strcmp(name, "selftest_faults") == 0 && offset == 8);
	SELF_CHECK(t, !ksyms_find((uint64_t)__rodata_start, name, &offset));
	SELF_CHECK(t, !ksyms_find(0, name, &offset));
	for (uint32_t i = 0; ksyms_at(i, name, &addr); i++) {
		sorted &= addr > last && strlen(name) > 0;
		last = addr;
		found |= addr == (uint64_t)memcpy && strcmp(name, "memcpy") == 0;
	}
	SELF_CHECK(t, found && sorted);
}

void selftest_faults(struct selftest *t)
{
	probe_check(t);
	runs_check(t);
	symbols_check(t);
}
