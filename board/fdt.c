/* SPDX-License-Identifier: BSD-2-Clause */
#include "board/fdt.h"

#include "board/ranges.h"
#include "board/tree.h"
#include "include/err.h"

/* Arm's own timer and PMU INTIDs, for trees that leave them out (Arm Base System Architecture). */
#define TIMER_VIRT_INTID 27
#define TIMER_PHYS_INTID 30

#define RNG_SEED_MIN_BYTES 8

struct reader {
	struct tree tree;
	struct tree_gic gic;
	struct board_info *out;
	uint64_t boot_mpidr;
	uint32_t cpu_phandle[BOARD_MAX_CPUS];
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
	uart.intid = tree_get_intid(&r->tree, &r->gic, 0);
	uart.clock_hz = tree_get_clock_hz(&r->tree);
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

static void read_gic_v2(struct reader *r)
{
	struct board_gic gic = { .type = BOARD_GIC_V2 };

	if (tree_get_phandle(&r->tree) != r->gic.phandle || tree_get_mmio(&r->tree, 0, &gic.dist) ||
	    tree_get_mmio(&r->tree, 1, &gic.cpu))
		return;
	r->out->gic = gic;
}

static void read_gic_v3(struct reader *r)
{
	struct board_gic gic = { .type = BOARD_GIC_V3 };
	uint32_t n_regions = 1;

	if (tree_get_phandle(&r->tree) != r->gic.phandle || tree_get_mmio(&r->tree, 0, &gic.dist))
		return;
	tree_get_cell(&r->tree, "#redistributor-regions", 0, &n_regions);
	while (gic.n_redists < n_regions && gic.n_redists < BOARD_MAX_REDISTS &&
	       tree_get_mmio(&r->tree, 1 + gic.n_redists, &gic.redist[gic.n_redists]) == 0)
		gic.n_redists++;
	if (gic.n_redists)
		r->out->gic = gic;
}

/* Secure physical, non-secure physical, virtual, hypervisor. */
static void read_timer(struct reader *r)
{
	uint32_t phys = tree_get_intid(&r->tree, &r->gic, 1);
	uint32_t virt = tree_get_intid(&r->tree, &r->gic, 2);

	if (phys)
		r->out->timer_phys_intid = phys;
	if (virt)
		r->out->timer_virt_intid = virt;
}

/* One PPI for all cores, or an SPI for each, in the order of interrupt-affinity or of the cores. */
static void read_pmu(struct reader *r)
{
	uint32_t intid, phandle;

	for (unsigned int i = 0; i < BOARD_MAX_CPUS; i++) {
		unsigned int cpu = i;

		intid = tree_get_intid(&r->tree, &r->gic, i);
		if (!intid)
			return;
		if (intid < 32) {
			r->out->pmu_ppi_intid = intid;
			return;
		}
		if (tree_get_cell(&r->tree, "interrupt-affinity", i, &phandle) == 0)
			for (cpu = 0; cpu < r->out->n_cpus && r->cpu_phandle[cpu] != phandle; cpu++)
				continue;
		if (cpu < r->out->n_cpus)
			r->out->cpu[cpu].pmu_spi = intid;
	}
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

/* What other nodes refer to comes first: the GIC's cells, the cores' handles. */
static void find_gic(struct reader *r)
{
	uint32_t cells;

	if (!r->gic.phandle && tree_get_cell(&r->tree, "#interrupt-cells", 0, &cells) == 0)
		r->gic = (struct tree_gic){ .phandle = tree_get_phandle(&r->tree), .cells = cells };
}

struct node_reader {
	const char *compatible;
	node_fn read;
};

static const struct node_reader first_pass[] = {
	{ "arm,gic-400", find_gic },
	{ "arm,cortex-a15-gic", find_gic },
	{ "arm,gic-v3", find_gic },
};

static const struct node_reader second_pass[] = {
	{ "arm,gic-400", read_gic_v2 },
	{ "arm,cortex-a15-gic", read_gic_v2 },
	{ "arm,gic-v3", read_gic_v3 },
	{ "arm,pl011", read_pl011 },
	{ "brcm,bcm2835-aux-uart", read_mini_uart },
	{ "arm,armv8-timer", read_timer },
	{ "arm,armv8-pmuv3", read_pmu },
	{ "arm,cortex-a53-pmu", read_pmu },
	{ "arm,cortex-a72-pmu", read_pmu },
	{ "arm,psci-1.0", read_psci },
	{ "arm,psci-0.2", read_psci },
	{ "brcm,bcm2835-pm-wdt", read_watchdog },
	{ "brcm,bcm2711-gpio", read_gpio_bcm },
	{ "arm,pl061", read_gpio_pl061 },
	{ "brcm,bcm2835-mbox", read_mailbox },
};

static void read_compatible(struct reader *r, const struct node_reader *readers, size_t n)
{
	if (!r->tree.level[r->tree.depth].compatible || !tree_is_available(&r->tree))
		return;
	for (size_t i = 0; i < n; i++) {
		if (tree_is_compatible(&r->tree, readers[i].compatible)) {
			readers[i].read(r);
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
	} else if (tree_is_child_of(&r->tree, "reserved-memory") && tree_is_available(&r->tree)) {
		read_reserved(r);
	}
}

static void read_first_pass(struct reader *r, const void *fdt)
{
	const char *type;

	tree_start(&r->tree, fdt);
	while (tree_next(&r->tree)) {
		read_compatible(r, first_pass, ARRAY_SIZE(first_pass));
		if (!tree_is_child_of(&r->tree, "cpus"))
			continue;
		type = tree_get_string(&r->tree, "device_type");
		if (type && is_equal(type, "cpu"))
			read_cpu(r);
	}
}

static void read_second_pass(struct reader *r, const void *fdt)
{
	tree_start(&r->tree, fdt);
	while (tree_next(&r->tree)) {
		read_place(r);
		read_compatible(r, second_pass, ARRAY_SIZE(second_pass));
	}
}

static void choose_console(struct board_info *out, const void *fdt)
{
	uint64_t base_pa;
	uint32_t baud;

	if (tree_get_stdout(fdt, &base_pa, &baud))
		return;
	for (unsigned int i = 0; i < out->n_uarts; i++) {
		if (out->uart[i].base_pa == base_pa) {
			out->console_uart = i;
			out->uart[i].baud = baud;
		}
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
	read_first_pass(&r, fdt);
	read_second_pass(&r, fdt);
	finish_cpus(&r);
	for (unsigned int i = 0; !r.problem && tree_get_memreserve(fdt, i, &range) == 0; i++)
		add_reserved(&r, range, false);
	choose_console(out, fdt);
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
