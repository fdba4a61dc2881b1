/* SPDX-License-Identifier: BSD-2-Clause */
#include "board/fdt.h"

#include "board/ranges.h"
#include "board/tree.h"
#include "include/err.h"

/* Arm's own timer and PMU INTIDs, for trees that leave them out (Arm Base System Architecture). */
#define TIMER_VIRT_INTID 27
#define TIMER_PHYS_INTID 30

#define RNG_SEED_MIN_BYTES 8

/* More fixed clocks than any known board has. */
#define MAX_CLOCKS 16

/*
 * One pass over the tree. What refers to a node that may come later is kept and looked up at the
 * end: interrupts (the GIC), clocks, the console's path, the PMU's cores.
 */
struct reader {
	struct tree tree;
	struct board_info *out;
	uint64_t boot_mpidr;

	/* Any GIC's own phandle; the cells of interrupts that name it as their parent. */
	struct tree_gic gic;
	struct tree_irqs uart_irqs[BOARD_MAX_UARTS];
	struct tree_irqs timer_irqs;
	struct tree_irqs pmu_irqs;
	const uint8_t *pmu_affinity; /* phandles of cores, NULL: in the order of the cores */
	uint32_t pmu_affinity_cells;
	uint32_t cpu_phandle[BOARD_MAX_CPUS];

	int uart_offset[BOARD_MAX_UARTS];
	uint32_t uart_clock[BOARD_MAX_UARTS]; /* phandle, 0: none or rate known */
	struct {
		uint32_t phandle;
		uint32_t hz;
	} clock[MAX_CLOCKS];
	unsigned int n_clocks;
	const char *stdout_path;

	enum board_cpu_method psci_method; /* BOARD_CPU_NONE: no PSCI */
	bool any_spin_table;
	bool any_psci_cpu;
	const char *problem;
};

typedef void (*node_fn)(struct reader *r);

static void copy_text(char *out, size_t size, const char *text)
{
	size_t n = 0;

	while (text[n] && n + 1 < size) {
		out[n] = text[n];
		n++;
	}
	out[n] = '\0';
}

static void read_root(struct reader *r)
{
	const char *model = tree_get_string(&r->tree, "model");

	copy_text(r->out->model, sizeof(r->out->model), model ? model : "");
}

static void read_memory(struct reader *r)
{
	struct board_range range;

	for (unsigned int i = 0; tree_get_reg(&r->tree, i, &range) == 0; i++)
		ranges_add_ram(r->out, range);
}

static void add_reserved(struct reader *r, struct board_range range, bool no_map)
{
	struct board_reserved reserved = { .range = range,
					   .type = BOARD_RESERVED_FIRMWARE,
					   .no_map = no_map };

	if (ranges_add_reserved(r->out, &reserved))
		r->problem = "more reserved memory ranges than can be kept";
}

static void read_reserved(struct reader *r)
{
	bool no_map = tree_has_prop(&r->tree, "no-map");
	struct board_range range;

	for (unsigned int i = 0; !r->problem && tree_get_reg(&r->tree, i, &range) == 0; i++)
		add_reserved(r, range, no_map);
}

/* A number of one or two cells, as U-Boot and QEMU write initrd addresses. */
static void read_initrd(struct reader *r)
{
	uint64_t start, end;

	if (tree_get_number(&r->tree, "linux,initrd-start", &start) ||
	    tree_get_number(&r->tree, "linux,initrd-end", &end) || end <= start)
		return;
	r->out->initrd = (struct board_range){ .base_pa = start, .size_bytes = end - start };
}

static void read_chosen(struct reader *r)
{
	const char *args = tree_get_string(&r->tree, "bootargs");
	const uint8_t *seed;
	int len;

	r->stdout_path = tree_get_string(&r->tree, "stdout-path");
	if (args) {
		copy_text(r->out->bootargs, sizeof(r->out->bootargs), args);
		for (len = 0; r->out->bootargs[len]; len++)
			continue;
		r->out->bootargs_cut = args[len];
	}
	len = tree_get_bytes(&r->tree, "rng-seed", &seed);
	if (len >= RNG_SEED_MIN_BYTES) {
		r->out->rng_seed_bytes = MIN((uint32_t)len, (uint32_t)BOARD_SEED_BYTES);
		__builtin_memcpy(r->out->rng_seed, seed, r->out->rng_seed_bytes);
	}
	read_initrd(r);
}

static bool is_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static void read_cpu(struct reader *r)
{
	struct board_info *out = r->out;
	const char *status = tree_get_string(&r->tree, "status");
	const char *method = tree_get_string(&r->tree, "enable-method");
	struct board_cpu cpu = { 0 };
	struct board_range reg;
	unsigned int at;

	/* "disabled" means not running yet; "fail" and "fail-..." mean do not touch. */
	if (status && status[0] == 'f')
		return;
	if (tree_get_reg(&r->tree, 0, &reg) || reg.base_pa & ~BOARD_MPIDR_MASK)
		return;
	cpu.mpidr = reg.base_pa;
	if (method && is_equal(method, "spin-table"))
		tree_get_number(&r->tree, "cpu-release-addr", &cpu.release_pa);
	/* Entry 0 waits for the boot core, wherever the tree has it. */
	if (cpu.mpidr == r->boot_mpidr) {
		at = 0;
	} else if (out->n_cpus < BOARD_MAX_CPUS) {
		at = out->n_cpus++;
	} else {
		out->n_cpus_ignored++;
		return;
	}
	r->any_spin_table |= cpu.release_pa != 0;
	r->any_psci_cpu |= method && is_equal(method, "psci");
	out->cpu[at] = cpu;
	r->cpu_phandle[at] = tree_get_phandle(&r->tree);
}

static void read_psci(struct reader *r)
{
	const char *method = tree_get_string(&r->tree, "method");

	if (method && is_equal(method, "smc"))
		r->psci_method = BOARD_CPU_PSCI_SMC;
	else if (method && is_equal(method, "hvc"))
		r->psci_method = BOARD_CPU_PSCI_HVC;
}

static void read_uart(struct reader *r, enum board_uart_type type)
{
	struct board_info *out = r->out;
	struct board_uart uart = { .type = type };
	struct board_range reg;

	if (out->n_uarts == BOARD_MAX_UARTS || tree_get_mmio(&r->tree, 0, &reg))
		return;
	uart.base_pa = reg.base_pa;
	uart.size_bytes = reg.size_bytes;
	if (tree_get_cell(&r->tree, "clock-frequency", 0, &uart.clock_hz))
		tree_get_cell(&r->tree, "clocks", 0, &r->uart_clock[out->n_uarts]);
	tree_get_irqs(&r->tree, &r->uart_irqs[out->n_uarts]);
	r->uart_offset[out->n_uarts] = tree_get_offset(&r->tree);
	out->uart[out->n_uarts++] = uart;
}

static void read_pl011(struct reader *r)
{
	read_uart(r, BOARD_UART_PL011);
}

static void read_mini_uart(struct reader *r)
{
	read_uart(r, BOARD_UART_MINI);
}

static void read_fixed_clock(struct reader *r)
{
	uint32_t hz;

	if (r->n_clocks == MAX_CLOCKS || tree_get_cell(&r->tree, "clock-frequency", 0, &hz))
		return;
	r->clock[r->n_clocks].phandle = tree_get_phandle(&r->tree);
	r->clock[r->n_clocks++].hz = hz;
}

/* The first GIC that can be understood is the one. */
static void take_gic(struct reader *r, const struct board_gic *gic)
{
	uint32_t cells;

	if (r->out->gic.type != BOARD_GIC_NONE ||
	    tree_get_cell(&r->tree, "#interrupt-cells", 0, &cells))
		return;
	r->gic = (struct tree_gic){ .phandle = tree_get_phandle(&r->tree), .cells = cells };
	r->out->gic = *gic;
}

static void read_gic_v2(struct reader *r)
{
	struct board_gic gic = { .type = BOARD_GIC_V2 };

	if (tree_get_mmio(&r->tree, 0, &gic.dist) || tree_get_mmio(&r->tree, 1, &gic.cpu))
		return;
	take_gic(r, &gic);
}

static void read_gic_v3(struct reader *r)
{
	struct board_gic gic = { .type = BOARD_GIC_V3 };
	uint32_t n_regions = 1;

	if (tree_get_mmio(&r->tree, 0, &gic.dist))
		return;
	tree_get_cell(&r->tree, "#redistributor-regions", 0, &n_regions);
	while (gic.n_redists < n_regions && gic.n_redists < BOARD_MAX_REDISTS &&
	       tree_get_mmio(&r->tree, 1 + gic.n_redists, &gic.redist[gic.n_redists]) == 0)
		gic.n_redists++;
	if (gic.n_redists)
		take_gic(r, &gic);
}

static void read_timer(struct reader *r)
{
	tree_get_irqs(&r->tree, &r->timer_irqs);
}

static void read_pmu(struct reader *r)
{
	int bytes = tree_get_bytes(&r->tree, "interrupt-affinity", &r->pmu_affinity);

	r->pmu_affinity_cells = bytes > 0 ? (uint32_t)bytes / 4 : 0;
	tree_get_irqs(&r->tree, &r->pmu_irqs);
}

static void read_watchdog(struct reader *r)
{
	if (tree_get_mmio(&r->tree, 0, &r->out->watchdog) == 0)
		r->out->watchdog_type = BOARD_WATCHDOG_BCM;
}

static void read_gpio_bcm(struct reader *r)
{
	if (tree_get_mmio(&r->tree, 0, &r->out->gpio) == 0)
		r->out->gpio_type = BOARD_GPIO_BCM2711;
}

static void read_gpio_pl061(struct reader *r)
{
	if (tree_get_mmio(&r->tree, 0, &r->out->gpio) == 0)
		r->out->gpio_type = BOARD_GPIO_PL061;
}

static void read_mailbox(struct reader *r)
{
	tree_get_mmio(&r->tree, 0, &r->out->mailbox);
}

struct node_reader {
	const char *compatible;
	node_fn read;
};

static const struct node_reader node_readers[] = {
	{ "arm,gic-400", read_gic_v2 },
	{ "arm,cortex-a15-gic", read_gic_v2 },
	{ "arm,gic-v3", read_gic_v3 },
	{ "arm,pl011", read_pl011 },
	{ "brcm,bcm2835-aux-uart", read_mini_uart },
	{ "arm,armv8-timer", read_timer },
	{ "arm,armv8-pmuv3", read_pmu },
	{ "arm,cortex-a53-pmu", read_pmu },
	{ "arm,cortex-a72-pmu", read_pmu },
	{ "fixed-clock", read_fixed_clock },
	{ "arm,psci-1.0", read_psci },
	{ "arm,psci-0.2", read_psci },
	{ "brcm,bcm2835-pm-wdt", read_watchdog },
	{ "brcm,bcm2711-gpio", read_gpio_bcm },
	{ "arm,pl061", read_gpio_pl061 },
	{ "brcm,bcm2835-mbox", read_mailbox },
};

static void read_compatible(struct reader *r)
{
	if (!r->tree.level[r->tree.depth].compatible || !tree_is_available(&r->tree))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(node_readers); i++) {
		if (tree_is_compatible(&r->tree, node_readers[i].compatible)) {
			node_readers[i].read(r);
			return;
		}
	}
}

/* Nodes that are told by place and device_type rather than by `compatible`. */
static void read_place(struct reader *r)
{
	const char *type;

	if (r->tree.depth == 0) {
		read_root(r);
	} else if (r->tree.depth == 1) {
		type = tree_get_string(&r->tree, "device_type");
		if (type && is_equal(type, "memory") && tree_is_available(&r->tree))
			read_memory(r);
		else if (is_equal(tree_get_name(&r->tree), "chosen"))
			read_chosen(r);
	} else if (tree_is_child_of(&r->tree, "cpus")) {
		type = tree_get_string(&r->tree, "device_type");
		if (type && is_equal(type, "cpu"))
			read_cpu(r);
	} else if (tree_is_child_of(&r->tree, "reserved-memory") && tree_is_available(&r->tree)) {
		read_reserved(r);
	}
}

static void read_nodes(struct reader *r, const void *fdt)
{
	tree_start(&r->tree, fdt);
	while (tree_next(&r->tree)) {
		read_place(r);
		read_compatible(r);
	}
}

static uint32_t find_clock_hz(const struct reader *r, uint32_t phandle)
{
	for (unsigned int i = 0; phandle && i < r->n_clocks; i++)
		if (r->clock[i].phandle == phandle)
			return r->clock[i].hz;
	return 0;
}

/* "115200n8": the digits. */
static uint32_t parse_baud(const char *options)
{
	uint32_t baud = 0;

	for (; *options >= '0' && *options <= '9' && baud < 100000000; options++)
		baud = baud * 10 + (uint32_t)(*options - '0');
	return baud;
}

static void finish_uarts(struct reader *r, const void *fdt)
{
	const char *options = "";
	int console = -1;

	if (r->stdout_path && r->out->n_uarts)
		console = tree_find_path(fdt, r->stdout_path, &options);
	for (unsigned int i = 0; i < r->out->n_uarts; i++) {
		struct board_uart *uart = &r->out->uart[i];

		uart->intid = tree_irqs_intid(&r->uart_irqs[i], &r->gic, 0);
		if (!uart->clock_hz)
			uart->clock_hz = find_clock_hz(r, r->uart_clock[i]);
		if (r->uart_offset[i] == console) {
			r->out->console_uart = i;
			uart->baud = parse_baud(options);
		}
	}
}

/* Secure physical, non-secure physical, virtual, hypervisor. */
static void finish_timer(struct reader *r)
{
	uint32_t phys = tree_irqs_intid(&r->timer_irqs, &r->gic, 1);
	uint32_t virt = tree_irqs_intid(&r->timer_irqs, &r->gic, 2);

	if (phys)
		r->out->timer_phys_intid = phys;
	if (virt)
		r->out->timer_virt_intid = virt;
}

/* Number of the core that interrupt i of the PMU comes from; n_cpus if there is none. */
static unsigned int find_pmu_cpu(const struct reader *r, unsigned int i)
{
	unsigned int cpu = i;

	if (i < r->pmu_affinity_cells) {
		uint32_t phandle = tree_read_cell(r->pmu_affinity + 4 * i);

		for (cpu = 0; cpu < r->out->n_cpus && r->cpu_phandle[cpu] != phandle; cpu++)
			continue;
	}
	return MIN(cpu, r->out->n_cpus);
}

/* One PPI for all cores, or an SPI for each. */
static void finish_pmu(struct reader *r)
{
	for (unsigned int i = 0; i < BOARD_MAX_CPUS; i++) {
		uint32_t intid = tree_irqs_intid(&r->pmu_irqs, &r->gic, i);
		unsigned int cpu = find_pmu_cpu(r, i);

		if (!intid)
			return;
		if (intid < 32) {
			r->out->pmu_ppi_intid = intid;
			return;
		}
		if (cpu < r->out->n_cpus)
			r->out->cpu[cpu].pmu_spi = intid;
	}
}

static void finish_cpus(struct reader *r)
{
	struct board_info *out = r->out;
	struct board_reserved slots = { .type = BOARD_RESERVED_SPIN_TABLE };

	/* With one core there may be no enable-method, and PSCI still turns the machine off. */
	if (r->psci_method != BOARD_CPU_NONE && (r->any_psci_cpu || !r->any_spin_table)) {
		out->cpu_method = r->psci_method;
		out->has_psci = true;
	} else if (r->any_spin_table) {
		out->cpu_method = BOARD_CPU_SPIN_TABLE;
	}
	for (unsigned int i = 0; i < out->n_cpus; i++) {
		if (!out->cpu[i].release_pa)
			continue;
		slots.range.base_pa = ROUND_DOWN(out->cpu[i].release_pa, 4096);
		slots.range.size_bytes = 4096;
		if (ranges_add_reserved(out, &slots))
			r->problem = "more reserved memory ranges than can be kept";
	}
}

const char *fdt_read_board(const void *fdt, uint64_t image_pa, uint64_t boot_mpidr,
			   struct board_info *out)
{
	struct reader r = { .out = out, .boot_mpidr = boot_mpidr & BOARD_MPIDR_MASK };
	struct board_range range;

	*out = (struct board_info){ .from_tree = true,
				    .n_cpus = 1,
				    .timer_virt_intid = TIMER_VIRT_INTID,
				    .timer_phys_intid = TIMER_PHYS_INTID };
	out->cpu[0].mpidr = r.boot_mpidr;
	read_nodes(&r, fdt);
	finish_cpus(&r);
	finish_uarts(&r, fdt);
	finish_timer(&r);
	finish_pmu(&r);
	for (unsigned int i = 0; !r.problem && tree_get_memreserve(fdt, i, &range) == 0; i++)
		add_reserved(&r, range, false);
	if (r.problem)
		return r.problem;
	if (!out->n_ram)
		return "no memory node";
	if (!ranges_is_ram(out, image_pa, 1))
		return "its memory does not hold this image";
	return NULL;
}

bool fdt_is_compatible(const void *fdt, const char *what)
{
	struct tree t;

	tree_start(&t, fdt);
	return tree_next(&t) && tree_is_compatible(&t, what);
}
