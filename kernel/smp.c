/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/smp.h"

#include <string.h>

#include "board/board.h"
#include "boot/boot.h"
#include "drivers/psci.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/log.h"
#include "kernel/machine.h"
#include "kernel/quiesce.h"
#include "kernel/random.h"
#include "kernel/time.h"
#include "lib/spinlock.h"
#include "mm/phys.h"
#include "mm/xlat.h"

#define START_TIMEOUT_NS 500000000ull

/* One slot for each (target, source): a source waits for its own last call only. */
struct call_slot {
	void (*fn)(void *arg);
	void *arg;
	uint32_t pending;
};
static struct call_slot call_slots[MAX_CPUS][MAX_CPUS];

/* Work for a CPU's thread: one piece at a time. */
enum { CALL_NONE, CALL_POSTED, CALL_RUNNING };
struct thread_call {
	struct spinlock lock; /* of the callers */
	void (*fn)(void *arg);
	void *arg;
	uint32_t caller;
	uint32_t state;
};
static struct thread_call thread_calls[MAX_CPUS];

static bool is_online(unsigned int cpu)
{
	return __atomic_load_n(&cpu_at(cpu)->online, __ATOMIC_ACQUIRE);
}

uint32_t smp_online_mask(void)
{
	uint32_t mask = 0;

	for (unsigned int i = 0; i < cpu_count(); i++)
		if (is_online(i))
			mask |= 1u << i;
	return mask;
}

/* ---- calls in irq context -------------------------------------------------------------------- */

static void call_irq(void *arg, uint32_t intid)
{
	struct call_slot *slots = call_slots[this_cpu()->id];

	(void)arg;
	(void)intid;
	for (unsigned int from = 0; from < cpu_count(); from++) {
		if (!__atomic_load_n(&slots[from].pending, __ATOMIC_ACQUIRE))
			continue;
		slots[from].fn(slots[from].arg);
		__atomic_store_n(&slots[from].pending, 0, __ATOMIC_RELEASE);
	}
}

static void slot_wait(const struct call_slot *slot)
{
	while (__atomic_load_n(&slot->pending, __ATOMIC_ACQUIRE))
		spin_relax();
}

static void slot_post(unsigned int cpu, void (*fn)(void *), void *arg)
{
	struct call_slot *slot = &call_slots[cpu][this_cpu()->id];

	slot_wait(slot);
	slot->fn = fn;
	slot->arg = arg;
	__atomic_store_n(&slot->pending, 1, __ATOMIC_RELEASE);
	irq_send(SMP_SGI_CALL, cpu);
}

int smp_call(unsigned int cpu, void (*fn)(void *arg), void *arg, bool wait)
{
	if (cpu >= cpu_count() || cpu == this_cpu()->id)
		return -EINVAL;
	if (!is_online(cpu))
		return -ENODEV;
	slot_post(cpu, fn, arg);
	if (wait)
		slot_wait(&call_slots[cpu][this_cpu()->id]);
	return 0;
}

void smp_call_others(void (*fn)(void *arg), void *arg)
{
	unsigned int self = this_cpu()->id;
	uint32_t mask = smp_online_mask() & ~(1u << self);

	for (unsigned int i = 0; i < cpu_count(); i++)
		if (mask & 1u << i)
			slot_post(i, fn, arg);
	for (unsigned int i = 0; i < cpu_count(); i++)
		if (mask & 1u << i)
			slot_wait(&call_slots[i][self]);
}

static void do_isb(void *arg)
{
	(void)arg;
	__asm__ volatile("isb" ::: "memory");
}

void smp_sync_code(void)
{
	smp_call_others(do_isb, NULL);
}

/* ---- calls in the thread --------------------------------------------------------------------- */

static void wake_irq(void *arg, uint32_t intid)
{
	(void)arg;
	(void)intid;
}

void smp_run_work(void)
{
	struct cpu *cpu = this_cpu();
	struct thread_call *call = &thread_calls[cpu->id];
	uint32_t caller;

	if (__atomic_load_n(&call->state, __ATOMIC_ACQUIRE) != CALL_POSTED)
		return;
	/* Only this thread goes on from here; fn itself may come back to this function. */
	WRITE_ONCE(call->state, CALL_RUNNING);
	quiesce_enter(cpu);
	call->fn(call->arg);
	quiesce_leave(cpu);
	caller = call->caller;
	__atomic_store_n(&call->state, CALL_NONE, __ATOMIC_RELEASE);
	irq_send(SMP_SGI_WAKE, caller);
}

static bool has_call(unsigned int cpu)
{
	return __atomic_load_n(&thread_calls[cpu].state, __ATOMIC_ACQUIRE) == CALL_POSTED;
}

void smp_wait(bool (*has_work)(void))
{
	unsigned long flags = cpu_irq_save();

	/* WFI wakes for a pending interrupt even while it is masked, so that a WAKE between this
	 * look and the WFI is not slept over. */
	if (!has_call(this_cpu()->id) && !(has_work && has_work()))
		__asm__ volatile("dsb sy; wfi" ::: "memory");
	cpu_irq_restore(flags);
}

/* Sleep until the call is done; its CPU wakes this one. */
static void call_wait(const struct thread_call *call)
{
	while (__atomic_load_n(&call->state, __ATOMIC_ACQUIRE) != CALL_NONE) {
		unsigned long flags = cpu_irq_save();

		if (!has_call(this_cpu()->id) &&
		    __atomic_load_n(&call->state, __ATOMIC_ACQUIRE) != CALL_NONE)
			__asm__ volatile("dsb sy; wfi" ::: "memory");
		cpu_irq_restore(flags);
		smp_run_work();
	}
}

int hal_cpu_call(unsigned int cpu, void (*fn)(void *arg), void *arg)
{
	struct thread_call *call;

	if (cpu >= cpu_count())
		return -EINVAL;
	if (cpu == this_cpu()->id) {
		fn(arg);
		return 0;
	}
	if (!is_online(cpu))
		return -ENODEV;
	call = &thread_calls[cpu];
	/* Not waited for idly: two callers that want each other's CPU still do what they are
	 * asked to. */
	while (!spin_trylock(&call->lock)) {
		smp_run_work();
		spin_relax();
	}
	call->fn = fn;
	call->arg = arg;
	call->caller = this_cpu()->id;
	__atomic_store_n(&call->state, CALL_POSTED, __ATOMIC_RELEASE);
	irq_send(SMP_SGI_WAKE, cpu);
	call_wait(call);
	spin_unlock(&call->lock);
	return 0;
}

/* ---- stopping -------------------------------------------------------------------------------- */

static void stop_irq(void *arg, uint32_t intid)
{
	(void)arg;
	(void)intid;
	__atomic_store_n(&this_cpu()->online, 0, __ATOMIC_RELEASE);
	for (;;)
		__asm__ volatile("msr daifset, #0xf; wfi" ::: "memory");
}

void smp_stop_others(void)
{
	unsigned int self = this_cpu()->id;

	for (unsigned int i = 0; i < cpu_count(); i++)
		if (i != self && is_online(i))
			irq_send(SMP_SGI_STOP, i);
	/* Masked interrupts may keep one from hearing; 10 ms are enough for those that listen. */
	for (uint64_t end = hal_ktime_ns() + 10000000; hal_ktime_ns() < end;)
		if (!(smp_online_mask() & ~(1u << self)))
			break;
}

/* ---- starting -------------------------------------------------------------------------------- */

/* Memory for CPU id: the head of its per-CPU area and its two stacks. */
static int map_fresh(uint64_t va, uint64_t bytes, enum phys_purpose purpose)
{
	for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
		uint64_t pa;
		int ret = phys_alloc_pages(1, 1, purpose, &pa);

		if (ret)
			return ret;
		memset(phys_to_virt(pa), 0, PAGE_BYTES);
		ret = xlat_map(va + at, pa, PAGE_BYTES, XLAT_RW);
		if (ret)
			return ret;
	}
	return 0;
}

static int cpu_make_memory(unsigned int id)
{
	int ret = map_fresh((uint64_t)cpu_at(id), PERCPU_BOOT_BYTES, PHYS_PERCPU);

	if (!ret)
		ret = map_fresh(STACK_TOP(id, STACK_MAIN) - STACK_BYTES, STACK_BYTES, PHYS_STACK);
	if (!ret)
		ret = map_fresh(STACK_TOP(id, STACK_EMERGENCY) - STACK_EMERGENCY_BYTES,
				STACK_EMERGENCY_BYTES, PHYS_STACK);
	if (!ret)
		cpu_at(id)->id = id;
	return ret;
}

void smp_init(void)
{
	const struct board_info *board = machine_get_info();
	unsigned int n = MIN(board->n_cpus, (unsigned int)MAX_CPUS);

	boot_cpu_mpidr[0] = this_cpu()->mpidr;
	if (board->n_cpus + board->n_cpus_ignored > MAX_CPUS)
		log_warn("%u CPUs, of which %u are used", board->n_cpus + board->n_cpus_ignored,
			 (unsigned int)MAX_CPUS);
	for (unsigned int i = 1; i < n; i++) {
		int ret = cpu_make_memory(i);

		if (ret) {
			log_error("no memory for CPU %u: error %d", i, ret);
			n = i;
		} else {
			cpu_at(i)->mpidr = board->cpu[i].mpidr;
			boot_cpu_mpidr[i] = board->cpu[i].mpidr;
		}
	}
	cpu_set_count(MAX(n, 1u));
}

static int release_spin_table(uint64_t release_pa, uint64_t entry_pa)
{
	uint64_t *slot;

	if (release_pa & 7)
		return -EINVAL;
	if (phys_is_ram(release_pa, sizeof(*slot)))
		slot = phys_to_virt(release_pa);
	else
		slot = xlat_device_map(release_pa, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	__atomic_store_n(slot, entry_pa, __ATOMIC_RELEASE);
	/* The parked core reads it with its caches off. */
	cpu_dcache_clean_poc(slot, sizeof(*slot));
	__asm__ volatile("sev" ::: "memory");
	return 0;
}

static int cpu_release(const struct board_info *board, const struct psci *psci, unsigned int i)
{
	uint64_t entry_pa = boot_info.text_pa + ((uint64_t)secondary_entry - TEXT_BASE);

	switch (board->cpu_method) {
	case BOARD_CPU_PSCI_HVC:
	case BOARD_CPU_PSCI_SMC:
		return psci_cpu_on(psci, board->cpu[i].mpidr, entry_pa, i);
	case BOARD_CPU_SPIN_TABLE:
		return release_spin_table(board->cpu[i].release_pa, entry_pa);
	default:
		return -ENODEV;
	}
}

void smp_start(void)
{
	const struct board_info *board = machine_get_info();
	struct psci psci = { .conduit = board->cpu_method == BOARD_CPU_PSCI_SMC ? PSCI_SMC
										: PSCI_HVC };
	uint32_t want = 1, online;
	uint64_t end;

	if (irq_register(SMP_SGI_CALL, "call", call_irq, NULL, GIC_PRIORITY_HIGH, IRQ_EDGE, 0) ||
	    irq_register(SMP_SGI_WAKE, "wake", wake_irq, NULL, GIC_PRIORITY_NORMAL, IRQ_EDGE, 0) ||
	    irq_register(SMP_SGI_STOP, "stop", stop_irq, NULL, GIC_PRIORITY_URGENT, IRQ_EDGE, 0)) {
		log_warn("no interrupts between CPUs: only CPU 0 is used");
		return;
	}
	/* Read by the others before their caches are on. */
	cpu_dcache_clean_poc(boot_cpu_mpidr, sizeof(boot_cpu_mpidr));
	cpu_dcache_clean_poc(&boot_info, sizeof(boot_info));
	for (unsigned int i = 1; i < cpu_count(); i++) {
		int ret = cpu_release(board, &psci, i);

		if (ret)
			log_warn("CPU %u cannot be started: error %d", i, ret);
		else
			want |= 1u << i;
	}
	end = hal_ktime_ns() + START_TIMEOUT_NS;
	do
		online = smp_online_mask();
	while (online != want && hal_ktime_ns() < end);
	if (online != want)
		log_warn("CPUs started 0x%x, of which came up 0x%x", want, online);
}

/* First C code of a secondary core: upper half, caches on, own stack, interrupts masked. */
void smp_secondary_main(unsigned int id);
void smp_secondary_main(unsigned int id)
{
	int ret;

	cpu_init_this(id);
	time_init_cpu();
	random_init_cpu(NULL, 0);
	ret = irq_init_cpu(id);
	if (!ret)
		ret = irq_enable_cpu(id);
	if (ret) {
		log_error("CPU %u: no interrupts: error %d", id, ret);
		stop_irq(NULL, 0);
	}
	__atomic_store_n(&this_cpu()->online, 1, __ATOMIC_RELEASE);
	cpu_serror_enable();
	cpu_irq_enable();
	for (;;) {
		smp_run_work();
		smp_wait(NULL);
	}
}
