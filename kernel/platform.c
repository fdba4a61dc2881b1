/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/platform.h"

#include <string.h>

#include "board/board.h"
#include "boot/boot.h"
#include "include/err.h"
#include "include/hal.h"
#include "include/uapi_board.h"
#include "kernel/backtrace.h"
#include "kernel/cpu.h"
#include "kernel/log.h"
#include "kernel/machine.h"
#include "kernel/panic.h"
#include "kernel/pmu.h"
#include "kernel/selftest.h"
#include "kernel/serial.h"
#include "kernel/service.h"
#include "kernel/smp.h"
#include "kernel/time.h"
#include "kernel/trace.h"
#include "lib/fmt.h"
#include "mm/heap.h"
#include "mm/percpu.h"
#include "mm/phys.h"
#include "mm/vmem.h"
#include "runtime/rt.h"
#include "runtime/server.h"

#define VERSION		 "0.1"
#define RESET_TIMEOUT_NS 500000000ull

/* As in the comment of struct board_attr_reset. */
enum { RESET_REBOOT, RESET_OFF, RESET_EXIT };

static struct {
	uint64_t boot_id;
	uint64_t ready_ram_bytes, ready_insns;
	bool ready;
	bool reset_wanted;
	uint32_t reset_how, reset_status;
	uint64_t reset_deadline_ns;
} platform;

uint64_t platform_get_boot_id(void)
{
	/* 0 stands for no boot at all. */
	while (!platform.boot_id)
		platform.boot_id = hal_random_u64();
	return platform.boot_id;
}

static uint64_t ram_used_bytes(const struct phys_stats *s)
{
	return (s->total_pages - s->free_pages) * PAGE_BYTES;
}

void platform_note_ready(void)
{
	struct phys_stats s;

	if (platform.ready)
		return;
	phys_get_stats(&s);
	platform.ready_ram_bytes = ram_used_bytes(&s);
	platform.ready_insns = pmu_read_insns();
	platform.ready = true;
}

uint64_t platform_get_ready_insns(void)
{
	return platform.ready_insns;
}

uint64_t platform_get_ready_ram_bytes(void)
{
	return platform.ready_ram_bytes;
}

/* "el2,psci-smc,gicv2" */
static void describe_start(const struct board_info *b, char *buf, size_t size)
{
	static const char *const methods[] = {
		[BOARD_CPU_NONE] = "one-core",
		[BOARD_CPU_PSCI_HVC] = "psci-hvc",
		[BOARD_CPU_PSCI_SMC] = "psci-smc",
		[BOARD_CPU_SPIN_TABLE] = "spin-table",
	};
	static const char *const gics[] = {
		[BOARD_GIC_NONE] = "no-gic",
		[BOARD_GIC_V2] = "gicv2",
		[BOARD_GIC_V3] = "gicv3",
	};

	fmt_snprintf(buf, size, "el%u,%s,%s", (unsigned int)boot_info.entry_el,
		     methods[b->cpu_method], gics[b->gic.type]);
}

static void get_info(void *arg, struct board_info_reply *out)
{
	const struct board_info *b = machine_get_info();
	const struct cpu_features *f = cpu_get_features();
	struct serial_info line;
	struct phys_stats s;

	(void)arg;
	serial_get_info(&line);
	phys_get_stats(&s);
	memset(out, 0, sizeof(*out));
	out->abi = 1;
	out->cpus = cpu_count();
	out->online_mask = smp_online_mask();
	out->baud = line.baud;
	out->boot_id = platform_get_boot_id();
	out->ktime_ns = hal_ktime_ns();
	out->counter_hz = time_counter_hz();
	out->ram_bytes = s.total_pages * PAGE_BYTES;
	out->ram_free_bytes = s.free_pages * PAGE_BYTES;
	out->boot_ram_used_bytes = platform.ready_ram_bytes;
	out->features = f->lse ? BOARD_FEAT_LSE : 0;
	out->midr = (uint32_t)f->midr;
	out->page_size = PAGE_BYTES;
	fmt_snprintf(out->board, sizeof(out->board), "%s", b->name);
	cpu_describe(f->midr, out->cpu, sizeof(out->cpu));
	fmt_snprintf(out->version, sizeof(out->version), VERSION);
	describe_start(b, out->start, sizeof(out->start));
}

/* ---- reset ----------------------------------------------------------------------------------- */

static int ask_reset(void *arg, uint32_t how, uint32_t status)
{
	(void)arg;
	if (how > RESET_EXIT)
		return -EINVAL;
	if (how == RESET_EXIT && !machine_has_semihosting())
		return -EOPNOTSUPP;
	platform.reset_how = how;
	platform.reset_status = status;
	platform.reset_deadline_ns = hal_ktime_ns() + RESET_TIMEOUT_NS;
	platform.reset_wanted = true;
	return 0;
}

uint64_t platform_reset_deadline_ns(void)
{
	return platform.reset_wanted ? platform.reset_deadline_ns : UINT64_MAX;
}

void platform_poll_reset(bool answered)
{
	if (!platform.reset_wanted || (!answered && hal_ktime_ns() < platform.reset_deadline_ns))
		return;
	serial_flush();
	smp_stop_others();
	if (platform.reset_how == RESET_REBOOT)
		machine_reset();
	machine_off(platform.reset_status);
}

/* ---- counters -------------------------------------------------------------------------------- */

struct pmu_request {
	struct board_attr_pmu *pmu;
	int ret;
};

static void pmu_there(void *arg)
{
	struct pmu_request *r = arg;
	struct board_attr_pmu *p = r->pmu;

	if (p->flags & 1)
		r->ret = pmu_program(p->events, p->nr);
	p->supported = 0;
	if (r->ret == 0)
		r->ret = pmu_read(p->events, p->nr, (uint64_t *)p->value, &p->supported);
	p->ktime_ns = hal_ktime_ns();
}

static int read_pmu(void *arg, struct board_attr_pmu *pmu)
{
	struct board_attr_pmu copy = *pmu;
	struct pmu_request r = { .pmu = &copy };
	int ret;

	(void)arg;
	if (pmu->nr > ARRAY_SIZE(pmu->events) || pmu->flags > 1)
		return -EINVAL;
	ret = hal_cpu_call(pmu->cpu, pmu_there, &r);
	if (!ret)
		ret = r.ret;
	if (!ret)
		*pmu = copy;
	return ret;
}

static uint64_t insns_retired(void *arg)
{
	(void)arg;
	return pmu_read_insns();
}

/* ---- text ------------------------------------------------------------------------------------ */

static uint32_t read_log(void *arg, uint32_t which, char *buf, uint32_t len, uint64_t *pos,
			 uint64_t *lost)
{
	uint64_t now_lost = 0;
	uint32_t n;

	(void)arg;
	n = which ? trace_read(buf, len, pos, &now_lost) : log_read_text(buf, len, pos, &now_lost);
	*lost += now_lost;
	return n;
}

static void get_load(void *arg, struct board_load_stat *out)
{
	struct serial_info line;

	(void)arg;
	serial_get_info(&line);
	if (service_get_server())
		server_load_stat(service_get_server(), out);
	out->rx_overruns = line.stats.overruns;
}

static int run_selftest(void *arg, const char *name, char *log, uint32_t len, uint32_t *failed)
{
	int n = selftest_run(name, log, len, failed);

	(void)arg;
	return n < 0 ? n : 0;
}

static uint32_t get_syms(void *arg, uint32_t *first, char *buf, uint32_t len)
{
	uint32_t i = *first, n = 0;
	char name[KSYMS_NAME_MAX];
	uint64_t addr;
	bool more;

	(void)arg;
	for (; (more = ksyms_at(i, name, &addr)); i++) {
		char line[KSYMS_NAME_MAX + 24];
		int need = fmt_snprintf(line, sizeof(line), "%016llx T %s\n",
					(unsigned long long)addr, name);
		uint32_t bytes = (uint32_t)MIN((size_t)need, sizeof(line) - 1);

		if (bytes > len - n)
			break;
		line[bytes - 1] = '\n';
		memcpy(buf + n, line, bytes);
		n += bytes;
	}
	*first = more ? i : 0;
	return n;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void row_add(struct board_mem_purpose *rows, uint32_t nr, uint32_t *n, const char *name,
		    uint64_t bytes, uint64_t objects)
{
	if (*n < nr) {
		memset(&rows[*n], 0, sizeof(rows[*n]));
		fmt_snprintf(rows[*n].name, sizeof(rows[*n].name), "%s", name);
		rows[*n].bytes = bytes;
		rows[*n].objects = objects;
	}
	++*n;
}

/*
 * Pages by purpose, which with the free ones add up to all; then, under names in brackets, what is
 * handed out of these pages, to the byte.
 */
static uint32_t get_memory(void *arg, struct board_mem_purpose *rows, uint32_t nr, uint64_t *total,
			   uint64_t *free_bytes)
{
	struct phys_stats s;
	struct heap_stats heap;
	struct vmem_stats maps;
	uint32_t n = 0;

	(void)arg;
	phys_get_stats(&s);
	heap_get_stats(&heap);
	vmem_get_stats(&maps);
	for (unsigned int i = 0; i < PHYS_PURPOSES; i++)
		row_add(rows, nr, &n, phys_purpose_name((enum phys_purpose)i),
			s.used_pages[i] * PAGE_BYTES, s.used_pages[i]);
	row_add(rows, nr, &n, "[heap]", heap.used_bytes, heap.used_objects);
	row_add(rows, nr, &n, "[maps]", maps.used_bytes, maps.areas);
	row_add(rows, nr, &n, "[percpu]", percpu_used_bytes() * cpu_count(), cpu_count());
	*total = s.total_pages * PAGE_BYTES;
	*free_bytes = s.free_pages * PAGE_BYTES;
	return MIN(n, nr);
}

/* ---- knobs ----------------------------------------------------------------------------------- */

static int set_knob(void *arg, enum rt_knob k, int64_t value)
{
	(void)arg;
	switch (k) {
	case KNOB_PANIC:
		panic_set_action(value ? PANIC_RESET : PANIC_HALT);
		return 0;
	case KNOB_LOG_LEVEL:
		log_set_console_level((enum log_level)value);
		return 0;
	default:
		return 0;
	}
}

void platform_apply_bootargs(struct rt *rt)
{
	static const char *const names[] = {
#define KNOB(id, name, dflt, min, max, flags, text) [KNOB_##id] = name,
#include "runtime/knobs.def"
#undef KNOB
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		uint64_t value;
		int ret;

		if (!bootarg_is_set(names[i]))
			continue;
		value = bootarg_get_u64(names[i], INT64_MAX);
		ret = value < INT64_MAX ? rt_knob_set(rt, names[i], (int64_t)value) : -EINVAL;
		if (ret)
			log_warn("boot argument %s: error %d", names[i], ret);
	}
}

const struct rt_platform *platform_get(void)
{
	static const struct rt_platform ops = {
		.info = get_info,
		.reset = ask_reset,
		.pmu_read = read_pmu,
		.log_read = read_log,
		.mem_stat = get_memory,
		.selftest = run_selftest,
		.syms = get_syms,
		.load_stat = get_load,
		.insns_retired = insns_retired,
		.knob_set = set_knob,
	};

	return &ops;
}
