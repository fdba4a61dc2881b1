/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "board/board.h"
#include "boot/boot.h"
#include "include/hal.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/early_console.h"
#include "kernel/irq.h"
#include "kernel/log.h"
#include "kernel/machine.h"
#include "kernel/memory.h"
#include "kernel/platform.h"
#include "runtime/rt.h"
#include "kernel/pmu.h"
#include "kernel/random.h"
#include "kernel/selftest.h"
#include "kernel/serial.h"
#include "kernel/smp.h"
#include "kernel/time.h"

/* From boot/head.S: CPU 0, upper half, caches on, interrupts masked. */
void kernel_main(void);

static void say_machine(void)
{
	const struct board_info *board = machine_get_info();
	char cpu[40];

	cpu_describe(cpu_get_features()->midr, cpu, sizeof(cpu));
	log_info("%s (%s), %s, %u CPUs, entered at EL%llu, counter %llu Hz", board->name,
		 board->model, cpu, cpu_count(), (unsigned long long)boot_info.entry_el,
		 (unsigned long long)time_counter_hz());
}

/* Boot argument selftest=NAME (all): run the built-in checks and leave. */
static void run_selftest(void)
{
	static char text[4096];
	uint32_t failed = 0;
	char name[32];
	int len = bootarg_get("selftest", name, sizeof(name));

	if (len < 0)
		return;
	len = selftest_run(name, text, sizeof(text), &failed);
	serial_put_text(text, strlen(text));
	serial_flush();
	machine_off(len < 0 || failed);
}

/* Only there to end a wait. */
static void wake(struct hal_timer *timer)
{
	(void)timer;
}

/* What has come on the line since the last call. */
static void serve_line(void)
{
	static struct hal_timer timer = { .fn = wake };
	uint8_t bytes[512];
	uint64_t next_ns;
	size_t n;

	while ((n = serial_rx_read(bytes, sizeof(bytes))) > 0)
		console_rx(bytes, n);
	next_ns = console_poll(hal_ktime_ns());
	if (next_ns != UINT64_MAX)
		hal_timer_arm(&timer, next_ns);
}

void kernel_main(void)
{
	int ret;

	cpu_detect_features();
	cpu_init_this(0);
	time_init();
	memory_init_early();
	early_console_init();
	machine_init();
	ret = serial_init(machine_get_info());
	if (ret)
		log_error("no console: error %d", ret);
	smp_init();
	say_machine();
	random_init_cpu(machine_get_info()->rng_seed, machine_get_info()->rng_seed_bytes);
	ret = irq_init(machine_get_info());
	if (ret)
		log_error("no interrupts: error %d", ret);
	ret = time_init_irq(machine_get_info());
	if (ret)
		log_error("no timer interrupts: error %d", ret);
	ret = serial_start_irq(machine_get_info());
	if (ret)
		log_warn("the console has no interrupt: error %d", ret);
	struct rt *rt = rt_new(platform_get()); console_init(rt, NULL);
	this_cpu()->online = 1;
	cpu_irq_enable();
	smp_start();
	log_info("CPUs online: 0x%x; %llu instructions so far", smp_online_mask(),
		 (unsigned long long)pmu_read_insns());
	run_selftest();
	log_info("ready");
	for (;;) {
		serve_line();
		smp_run_work();
		smp_wait(serial_rx_pending);
	}
}
