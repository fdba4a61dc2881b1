/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "board/board.h"
#include "boot/boot.h"
#include "include/hal.h"
#include "kernel/cpu.h"
#include "kernel/crash.h"
#include "kernel/early_console.h"
#include "kernel/irq.h"
#include "kernel/log.h"
#include "kernel/machine.h"
#include "kernel/memory.h"
#include "kernel/pins.h"
#include "kernel/platform.h"
#include "kernel/random.h"
#include "kernel/selftest.h"
#include "kernel/serial.h"
#include "kernel/service.h"
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

static void __attribute__((noreturn)) serve(void)
{
	static struct hal_timer timer = { .fn = wake };

	for (;;) {
		uint64_t next_ns = service_poll();

		smp_run_work();
		if (next_ns != UINT64_MAX)
			hal_timer_arm(&timer, next_ns);
		smp_wait(service_is_wanted);
	}
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
	pins_init(machine_get_info());
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
	this_cpu()->online = 1;
	cpu_serror_enable();
	cpu_irq_enable();
	ret = service_start();
	if (ret)
		log_error("no service on the line: error %d", ret);
	smp_start();
	run_selftest();
	service_load_initrd();
	log_info("ready: CPUs 0x%x; %llu instructions to the first frame, %llu KB of memory",
		 smp_online_mask(), (unsigned long long)platform_get_ready_insns(),
		 (unsigned long long)platform_get_ready_ram_bytes() / 1024);
	crash_on_request();
	serve();
}
