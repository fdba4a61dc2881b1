/* SPDX-License-Identifier: BSD-2-Clause */
/* Console commands about the machine. */
#include "kernel/commands.h"

#include <string.h>

#include "board/board.h"
#include "boot/boot.h"
#include "include/err.h"
#include "include/hal.h"
#include "kernel/console.h"
#include "kernel/cpu.h"
#include "kernel/irq.h"
#include "kernel/log.h"
#include "kernel/machine.h"
#include "kernel/pmu.h"
#include "kernel/serial.h"
#include "kernel/smp.h"
#include "kernel/time.h"
#include "lib/fmt.h"
#include "mm/phys.h"
#include "mm/xlat.h"

/* A decimal number that is all of the text. */
static int parse_u64(const char *text, uint64_t *out)
{
	uint64_t v = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v))
			return -EINVAL;
	}
	*out = v;
	return 0;
}

int command_help(int argc, char **argv)
{
	const struct console_command *c;

	if (argc > 2)
		return -EINVAL;
	for (unsigned int i = 0; (c = console_get_command(i)); i++) {
		if (argc == 2 && strcmp(argv[1], c->name) != 0)
			continue;
		console_printf("  %-9s %-15s %s\n", c->name, c->usage, c->help);
		if (argc == 2)
			return 0;
	}
	if (argc == 2) {
		console_printf("%.64s: no such command\n", argv[1]);
		return -ENOENT;
	}
	return 0;
}

static const char *const gic_names[] = {
	[BOARD_GIC_NONE] = "none",
	[BOARD_GIC_V2] = "GICv2",
	[BOARD_GIC_V3] = "GICv3",
};

static const char *const method_names[] = {
	[BOARD_CPU_NONE] = "none",
	[BOARD_CPU_PSCI_HVC] = "PSCI by HVC",
	[BOARD_CPU_PSCI_SMC] = "PSCI by SMC",
	[BOARD_CPU_SPIN_TABLE] = "spin table",
};

static const char *const reserved_names[] = {
	[BOARD_RESERVED_FIRMWARE] = "firmware",
	[BOARD_RESERVED_SPIN_TABLE] = "spin table",
	[BOARD_RESERVED_FDT] = "device tree",
	[BOARD_RESERVED_INITRD] = "initrd",
};

static void print_range(const char *what, const struct board_range *r)
{
	console_printf("  %-12s %#12lx - %#lx\n", what, r->base_pa, r->base_pa + r->size_bytes - 1);
}

int command_board(int argc, char **argv)
{
	const struct board_info *b = machine_get_info();

	(void)argv;
	if (argc != 1)
		return -EINVAL;
	console_printf("%s (%s), %s\n", b->name, b->model[0] ? b->model : "no model",
		       b->from_tree ? "from its device tree" : "compiled in");
	console_printf("  entered at EL%lu, loaded at %#lx, device tree at %#lx\n",
		       boot_info.entry_el, boot_info.load_pa, boot_info.fdt_pa);
	console_printf("  interrupts by %s, cores by %s, timer %lu Hz\n", gic_names[b->gic.type],
		       method_names[b->cpu_method], time_counter_hz());
	for (unsigned int i = 0; i < b->n_ram; i++)
		print_range("RAM", &b->ram[i]);
	for (unsigned int i = 0; i < b->n_reserved; i++)
		print_range(reserved_names[b->reserved[i].type], &b->reserved[i].range);
	for (unsigned int i = 0; i < b->n_uarts; i++)
		console_printf("  %-12s %#12lx   INTID %u%s\n",
			       b->uart[i].type == BOARD_UART_PL011 ? "PL011" : "mini UART",
			       b->uart[i].base_pa, b->uart[i].intid,
			       i == b->console_uart ? "   console" : "");
	console_printf("  boot arguments: %s%s\n", b->bootargs, b->bootargs_cut ? "..." : "");
	return 0;
}

int command_cpu(int argc, char **argv)
{
	const struct cpu_features *f = cpu_get_features();
	char name[40];

	(void)argv;
	if (argc != 1)
		return -EINVAL;
	cpu_describe(f->midr, name, sizeof(name));
	console_printf("%s, D line %u, I line %u bytes,%s%s%s%s%s%s\n", name, f->dcache_line_bytes,
		       f->icache_line_bytes, f->lse ? " lse" : "", f->crc32 ? " crc32" : "",
		       f->pauth ? " pauth" : "", f->bti ? " bti" : "", f->idc ? " idc" : "",
		       f->dic ? " dic" : "");
	for (unsigned int i = 0; i < cpu_count(); i++) {
		const struct cpu *c = cpu_at(i);

		console_printf("  cpu %-2u mpidr %#-10lx %-7s %10lu interrupts %6lu faults "
			       "%6lu bytes of stack used\n",
			       i, c->mpidr, c->online ? "online" : "offline", READ_ONCE(c->irqs),
			       READ_ONCE(c->faults), cpu_stack_used(i));
	}
	return 0;
}

int command_irq(int argc, char **argv)
{
	struct irq_stats s;

	(void)argv;
	if (argc != 1)
		return -EINVAL;
	for (unsigned int i = 0; irq_get_stats(i, &s) == 0; i++)
		console_printf("  %4u  %-16s %12lu\n", s.intid, s.name, s.count);
	console_printf("        %-16s %12lu\n", "without handler", irq_spurious_count());
	return 0;
}

int command_mem(int argc, char **argv)
{
	struct phys_stats s;
	struct xlat_stats x;

	(void)argv;
	if (argc != 1)
		return -EINVAL;
	phys_get_stats(&s);
	xlat_get_stats(&x);
	for (unsigned int i = 0; i < PHYS_PURPOSES; i++)
		if (s.used_pages[i])
			console_printf("  %-12s %10lu KB\n",
				       phys_purpose_name((enum phys_purpose)i),
				       s.used_pages[i] * 4);
	console_printf("  %-12s %10lu KB, %lu whole frames of 2 MB\n", "free", s.free_pages * 4,
		       s.free_frames);
	console_printf("  %-12s %10lu KB\n", "all", s.total_pages * 4);
	console_printf("  TLB invalidations %lu\n", x.tlbi);
	return 0;
}

int command_line(int argc, char **argv)
{
	struct serial_info s;

	(void)argv;
	if (argc != 1)
		return -EINVAL;
	serial_get_info(&s);
	console_printf("%s at %#lx, INTID %u, %u baud from %u Hz\n", s.driver, s.base_pa, s.intid,
		       s.baud, s.clock_hz);
	console_printf("  received %lu bytes, sent %lu, %lu interrupts\n", s.stats.rx_bytes,
		       s.stats.tx_bytes, s.stats.irqs);
	console_printf(
		"  overruns %lu, line errors %lu, receive stalls %lu, log lines dropped %lu\n",
		s.stats.overruns, s.stats.line_errors, s.stats.rx_stalls, s.log_lines_dropped);
	return 0;
}

int command_log(int argc, char **argv)
{
	uint64_t end = log_next_seq(), from = 0, n;
	char text[LOG_LINE_BYTES + 40];
	struct log_line line;

	if (argc > 2)
		return -EINVAL;
	if (argc == 2) {
		if (parse_u64(argv[1], &n))
			return -EINVAL;
		from = n < end ? end - n : 0;
	}
	/* Lines that are written meanwhile are not shown, or this would never end. */
	for (; from < end && log_read(from, &line) == 0; from = line.seq + 1) {
		size_t len = log_format(&line, text, sizeof(text));

		serial_put_text(text, len);
	}
	return 0;
}

int command_pmu(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return -EINVAL;
	if (!cpu_get_features()->pmu_version) {
		console_printf("this core has no performance counters\n");
		return -ENODEV;
	}
	console_printf("%u event counters, cycles %lu\n", pmu_counter_count(), pmu_read_cycles());
	if (pmu_has_event(PMU_INST_RETIRED))
		console_printf("instructions %lu\n", pmu_read_insns());
	else
		console_printf("instructions are not counted by this core\n");
	console_printf("events:");
	for (uint32_t event = 0; event < 0x40; event++)
		if (pmu_has_event(event))
			console_printf(" 0x%02x", event);
	console_printf("\n");
	return 0;
}

int command_load(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return -EINVAL;
	console_printf("send the bundle by YMODEM now (ctrl-C gives up)\n");
	return console_begin_load();
}

int command_reboot(int argc, char **argv)
{
	(void)argv;
	if (argc != 1)
		return -EINVAL;
	console_printf("rebooting\n");
	serial_flush();
	smp_stop_others();
	machine_reset();
}

int command_poweroff(int argc, char **argv)
{
	uint64_t status = 0;

	if (argc > 2 || (argc == 2 && (parse_u64(argv[1], &status) || status > 255)))
		return -EINVAL;
	console_printf("off\n");
	serial_flush();
	smp_stop_others();
	machine_off((uint32_t)status);
}
