/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/panic.h"

#include "bpf/run_ctx.h"
#include "boot/boot.h"
#include "kernel/backtrace.h"
#include "kernel/cpu.h"
#include "kernel/early_console.h"
#include "kernel/machine.h"
#include "kernel/smp.h"
#include "kernel/trap.h"
#include "lib/fmt.h"
#include "mm/oops.h"
#include "mm/xlat.h"

static enum panic_action panic_action;
/* The first CPU to come here reports; 0: none, else its number + 1. */
static uint32_t panic_owner;

void panic_set_action(enum panic_action action)
{
	WRITE_ONCE(panic_action, action);
}

static void say(const char *fmt, ...) __printf_like(1, 2);
static void say(const char *fmt, ...)
{
	char line[256];
	__builtin_va_list ap;
	int len;

	__builtin_va_start(ap, fmt);
	len = fmt_vsnprintf(line, sizeof(line), fmt, ap);
	__builtin_va_end(ap);
	early_console_write(line, MIN((size_t)len, sizeof(line) - 1));
}

static void __attribute__((noreturn)) park(void)
{
	for (;;)
		__asm__ volatile("msr daifset, #0xf; wfi" ::: "memory");
}

/*
 * One reporter. Another CPU that fails meanwhile waits for its end; a failure of the report itself
 * says so in one line (second time) or stops without a word (third), since every word may be what
 * fails.
 */
static void panic_begin(void)
{
	struct cpu *cpu = this_cpu();
	uint32_t none = 0;

	__asm__ volatile("msr daifset, #0xf" ::: "memory");
	cpu->in_panic++;
	if (cpu->in_panic > 2)
		park();
	if (cpu->in_panic == 2) {
		static const char again[] = "\npanic: the report itself failed\n";

		early_console_write(again, sizeof(again) - 1);
		machine_halt(1);
	}
	if (!__atomic_compare_exchange_n(&panic_owner, &none, cpu->id + 1, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		park();
	smp_stop_others();
}

/*
 * back: bytes before pc that belong to the function. 4 for a return address, since behind a call
 * that does not return another function may begin.
 */
static void say_place(const char *what, uint64_t pc, uint64_t back)
{
	char name[KSYMS_NAME_MAX];
	uint64_t offset;

	if (ksyms_find(pc - back, name, &offset))
		say("%s%016llx %s+0x%llx\n", what, (unsigned long long)pc, name,
		    (unsigned long long)(offset + back));
	else
		say("%s%016llx\n", what, (unsigned long long)pc);
}

static void say_repeats(unsigned int n)
{
	if (n)
		say("  the same %u times more\n", n);
}

/* back: as above, for the first pc. lr: the link register there, 0 unknown. */
static void say_backtrace(uint64_t fp, uint64_t pc, uint64_t back, uint64_t lr)
{
	unsigned int repeats = 0;
	char name[KSYMS_NAME_MAX];
	struct backtrace bt;
	uint64_t offset;

	say("backtrace:\n");
	say_place("  ", pc, back);
	/* Of a jump to where no code is, only the link register knows the origin. */
	if (lr && !ksyms_find(pc, name, &offset))
		say_place("  ", lr, 4);
	for (backtrace_begin(&bt, fp, pc); backtrace_next(&bt); pc = bt.pc) {
		if (bt.pc == pc) {
			repeats++;
			continue;
		}
		say_repeats(repeats);
		repeats = 0;
		say_place("  ", bt.pc, 4);
	}
	say_repeats(repeats);
}

static void say_registers(const struct trap_frame *f)
{
	for (unsigned int i = 0; i < 31; i++)
		say("x%-2u %016llx%s", i, (unsigned long long)f->x[i], i % 4 == 3 ? "\n" : "  ");
	say("sp  %016llx\n", (unsigned long long)f->sp);
	say_place("pc  ", f->pc, 0);
	say("pstate %08llx  esr %08llx", (unsigned long long)f->pstate, (unsigned long long)f->esr);
	if (trap_has_address(f->esr))
		say("  far %016llx", (unsigned long long)f->far);
	say("\n");
}

/* Where an address lies, in the words of mm/layout.h. */
static const char *region_name(uint64_t va)
{
	static const struct {
		uint64_t from, to;
		const char *name;
	} regions[] = {
		{ DIRECT_BASE, DIRECT_END, "direct map" },
		{ MAPMEM_BASE, MAPMEM_END, "map memory" },
		{ PERCPU_BASE, PERCPU_END, "per-CPU memory" },
		{ STACK_BASE, STACK_END, "stacks and their guards" },
		{ DEVICE_BASE, DEVICE_END, "devices" },
		{ JIT_FAR_BASE, JIT_FAR_END, "far program window" },
		{ JIT_NEAR_BASE, JIT_NEAR_END, "near program window" },
		{ TEXT_BASE, TEXT_END, "kernel text" },
		{ DATA_BASE, DATA_END, "kernel data" },
	};

	if (va < PAGE_BYTES)
		return "NULL page";
	if (va < BIT(39))
		return "lower half, where nothing is mapped";
	for (unsigned int i = 0; i < ARRAY_SIZE(regions); i++)
		if (va >= regions[i].from && va < regions[i].to)
			return regions[i].name;
	return "no region";
}

static void say_address(const struct trap_frame *f)
{
	struct xlat_entry e;

	if (!trap_has_address(f->esr))
		return;
	if (xlat_lookup(f->far, &e) == 0)
		say("address %016llx: %s, mapped to %016llx%s%s\n", (unsigned long long)f->far,
		    region_name(f->far), (unsigned long long)(e.pa + (f->far - e.va)),
		    e.attrs & PTE_RO ? " read-only" : " writable",
		    e.attrs & PTE_PXN ? "" : " executable");
	else
		say("address %016llx: %s, not mapped\n", (unsigned long long)f->far,
		    region_name(f->far));
}

static void __attribute__((noreturn)) panic_finish(void)
{
	if (READ_ONCE(panic_action) == PANIC_RESET) {
		say("resetting\n");
		machine_reset();
	}
	say("halted\n");
	machine_halt(1);
}

void panic(const char *fmt, ...)
{
	char line[256];
	__builtin_va_list ap;

	panic_begin();
	__builtin_va_start(ap, fmt);
	fmt_vsnprintf(line, sizeof(line), fmt, ap);
	__builtin_va_end(ap);
	say("\npanic on CPU %u: %s\n", this_cpu()->id, line);
	say_backtrace(*(uint64_t *)__builtin_frame_address(0),
		      (uint64_t)__builtin_return_address(0), 4, 0);
	panic_finish();
}

void mm_oops(const char *fmt, ...)
{
	char line[128];
	__builtin_va_list ap;

	__builtin_va_start(ap, fmt);
	fmt_vsnprintf(line, sizeof(line), fmt, ap);
	__builtin_va_end(ap);
	panic("%s", line);
}

void panic_trap(const struct trap_frame *f, const char *what)
{
	static const char *const type[] = { "synchronous", "IRQ", "FIQ", "SError" };

	panic_begin();
	say("\npanic on CPU %u: %s (%s exception, vector %llu)\n", this_cpu()->id, what,
	    type[f->kind & 3], (unsigned long long)f->kind);
	say_address(f);
	say_registers(f);
	say_place("lr  ", f->x[30], 4);
	say_backtrace(f->x[29], f->pc, 0, f->x[30]);
	panic_finish();
}
