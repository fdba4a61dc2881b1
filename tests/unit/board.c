/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What board_discover() makes of real device trees (dumped from QEMU when the test is built), of
 * trees for the wrong machine, of none, and of damaged ones.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "board/board.h"
#include "include/base.h"
#include "include/err.h"
#include "test.h"

#define TREE_DIR "build/tests/dtb/"

#define MIDR_A72 0x410fd083u
#define MIDR_A53 0x410fd034u
#define MIDR_MAX 0x000f0510u

#define VIRT_IMAGE_PA 0x40200000u
#define RPI_IMAGE_PA  0x200000u
#define FDT_PA	      0x48000000u

/*
 * The memory that a test machine has at FDT_PA: `bytes` readable bytes whose last one is the last
 * of a page, so that the first byte read beyond it faults.
 */
static struct {
	uint8_t *pages;
	size_t pages_bytes;
	uint8_t *data;
	size_t bytes;
} memory;

static void memory_free(void)
{
	if (memory.pages)
		munmap(memory.pages, memory.pages_bytes);
	memset(&memory, 0, sizeof(memory));
}

/* bytes is a multiple of 8, as the alignment of a tree asks. */
static uint8_t *memory_make(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t used = ROUND_UP(bytes, page);

	memory_free();
	memory.pages_bytes = used + page;
	memory.pages = mmap(NULL, memory.pages_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory.pages == MAP_FAILED || mprotect(memory.pages + used, page, PROT_NONE))
		abort();
	memory.bytes = bytes;
	memory.data = memory.pages + used - bytes;
	return memory.data;
}

static const void *map_memory(uint64_t pa, uint64_t size_bytes)
{
	if (pa < FDT_PA || pa - FDT_PA > memory.bytes || size_bytes > memory.bytes - (pa - FDT_PA))
		return NULL;
	return memory.data + (pa - FDT_PA);
}

static uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

/* Load a tree; QEMU pads its own to 1 MiB: with packed, cut what no block uses. */
static bool load_tree(const char *name, bool packed)
{
	char path[128];
	uint8_t *file;
	uint32_t total;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), TREE_DIR "%s.dtb", name);
	f = fopen(path, "rb");
	if (!f)
		return false;
	file = calloc(1, 4 << 20);
	n = fread(file, 1, 4 << 20, f);
	fclose(f);
	total = get_be32(file + 4);
	if (packed) {
		/* off_dt_struct + size_dt_struct, off_dt_strings + size_dt_strings */
		uint32_t structs = get_be32(file + 8) + get_be32(file + 36);
		uint32_t strings = get_be32(file + 12) + get_be32(file + 32);

		total = ROUND_UP(MAX(structs, strings), 8u);
		put_be32(file + 4, total);
	}
	if (n >= total)
		memcpy(memory_make(ROUND_UP(total, 8u)), file, total);
	free(file);
	return n >= total;
}

static struct board_boot boot_on_virt(void)
{
	return (struct board_boot){ .fdt_pa = FDT_PA,
				    .image_pa = VIRT_IMAGE_PA,
				    .midr = MIDR_A72,
				    .mpidr = 0x80000000,
				    .entry_el = 1,
				    .map = map_memory };
}

static struct board_boot boot_on_rpi4(void)
{
	struct board_boot boot = boot_on_virt();

	boot.image_pa = RPI_IMAGE_PA;
	boot.entry_el = 2;
	return boot;
}

static struct board_info info;
static struct board_note note;

TEST(virt)
{
	struct board_boot boot = boot_on_virt();

	CHECK(load_tree("virt", false));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(note.text, "");
	CHECK_STR(info.name, "qemu-virt");
	CHECK_STR(info.model, "linux,dummy-virt");
	CHECK(info.from_tree);
	CHECK_EQ(info.n_ram, 1);
	CHECK_EQ(info.ram[0].base_pa, 0x40000000);
	CHECK_EQ(info.ram[0].size_bytes, 512u << 20);
	CHECK_EQ(info.n_uarts, 1);
	CHECK_EQ(info.uart[0].type, BOARD_UART_PL011);
	CHECK_EQ(info.uart[0].base_pa, 0x09000000);
	CHECK_EQ(info.uart[0].size_bytes, 0x1000);
	CHECK_EQ(info.uart[0].intid, 33);
	CHECK_EQ(info.uart[0].clock_hz, 24000000);
	CHECK_EQ(info.gic.type, BOARD_GIC_V2);
	CHECK_EQ(info.gic.dist.base_pa, 0x08000000);
	CHECK_EQ(info.gic.cpu.base_pa, 0x08010000);
	CHECK_EQ(info.timer_virt_intid, 27);
	CHECK_EQ(info.timer_phys_intid, 30);
	CHECK_EQ(info.pmu_ppi_intid, 23);
	CHECK_EQ(info.cpu_method, BOARD_CPU_PSCI_HVC);
	CHECK(info.has_psci);
	CHECK_EQ(info.n_cpus, 4);
	for (unsigned int i = 0; i < 4; i++)
		CHECK_EQ(info.cpu[i].mpidr, i);
	CHECK_STR(info.bootargs, "test=1");
	CHECK(!info.bootargs_cut);
	CHECK_EQ(info.fdt.base_pa, FDT_PA);
	CHECK_EQ(info.fdt.size_bytes, 1 << 20);
	CHECK_EQ(info.rng_seed_bytes, 32);
	CHECK_EQ(info.watchdog_type, BOARD_WATCHDOG_NONE);
	CHECK_EQ(info.gpio_type, BOARD_GPIO_PL061);
	CHECK_EQ(info.gpio.base_pa, 0x09030000);
	memory_free();
}

TEST(virt_variants)
{
	struct board_boot boot = boot_on_virt();

	CHECK(load_tree("virt-el2", false));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.cpu_method, BOARD_CPU_PSCI_SMC);
	CHECK_EQ(info.n_cpus, 1);

	CHECK(load_tree("virt-secure", false));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.n_ram, 1);
	CHECK_EQ(info.ram[0].base_pa, 0x40000000);
	CHECK_EQ(info.n_uarts, 1);
	CHECK_EQ(info.uart[0].base_pa, 0x09000000);

	CHECK(load_tree("virt-gicv3", false));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.gic.type, BOARD_GIC_V3);
	CHECK_EQ(info.gic.n_redists, 1);
	CHECK_EQ(info.gic.redist[0].base_pa, 0x080a0000);
	CHECK_EQ(info.uart[0].intid, 33);

	/* More cores than fit, affinity 1 in use, and the boot core is not the tree's first. */
	CHECK(load_tree("virt-16", false));
	boot.mpidr = 0x81000003;
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.n_cpus, 16);
	CHECK_EQ(info.n_cpus_ignored, 4);
	memory_free();
}

TEST(boot_core_comes_first)
{
	struct board_boot boot = boot_on_virt();

	CHECK(load_tree("virt", false));
	boot.mpidr = 0x80000002;
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.n_cpus, 4);
	CHECK_EQ(info.cpu[0].mpidr, 2);
	CHECK_EQ(info.cpu[1].mpidr, 0);
	CHECK_EQ(info.cpu[2].mpidr, 1);
	CHECK_EQ(info.cpu[3].mpidr, 3);
	memory_free();
}

TEST(rpi4)
{
	struct board_boot boot = boot_on_rpi4();
	bool has_slots = false, has_memreserve = false, has_initrd = false;

	CHECK(load_tree("rpi4", false));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(note.text, "");
	CHECK_STR(info.name, "rpi4");
	CHECK_STR(info.model, "Raspberry Pi 4 Model B");
	CHECK_EQ(info.n_ram, 1);
	CHECK_EQ(info.ram[0].base_pa, 0);
	CHECK_EQ(info.ram[0].size_bytes, 0x3c000000);
	/* UART3 to 5 are disabled in the tree. */
	CHECK_EQ(info.n_uarts, 2);
	CHECK_EQ(info.uart[0].type, BOARD_UART_PL011);
	CHECK_EQ(info.uart[0].base_pa, 0xfe201000);
	CHECK_EQ(info.uart[0].intid, 153);
	CHECK_EQ(info.uart[0].clock_hz, 48000000);
	CHECK_EQ(info.uart[1].type, BOARD_UART_MINI);
	CHECK_EQ(info.uart[1].base_pa, 0xfe215040);
	CHECK_EQ(info.uart[1].intid, 125);
	/* Asked for by the boot arguments. */
	CHECK_EQ(info.console_uart, 1);
	CHECK_EQ(info.gic.type, BOARD_GIC_V2);
	CHECK_EQ(info.gic.dist.base_pa, 0xff841000);
	CHECK_EQ(info.gic.cpu.base_pa, 0xff842000);
	CHECK_EQ(info.cpu_method, BOARD_CPU_SPIN_TABLE);
	CHECK(!info.has_psci);
	CHECK_EQ(info.n_cpus, 4);
	for (unsigned int i = 0; i < 4; i++) {
		CHECK_EQ(info.cpu[i].mpidr, i);
		CHECK_EQ(info.cpu[i].release_pa, 0xd8 + 8 * i);
		CHECK_EQ(info.cpu[i].pmu_spi, 48 + i);
	}
	CHECK_EQ(info.pmu_ppi_intid, 23);
	CHECK_EQ(info.watchdog_type, BOARD_WATCHDOG_BCM);
	CHECK_EQ(info.watchdog.base_pa, 0xfe100000);
	CHECK_EQ(info.gpio_type, BOARD_GPIO_BCM2711);
	CHECK_EQ(info.gpio.base_pa, 0xfe200000);
	CHECK_EQ(info.mailbox.base_pa, 0xfe00b880);
	CHECK_EQ(info.initrd.base_pa, 0x8000000);
	for (unsigned int i = 0; i < info.n_reserved; i++) {
		const struct board_reserved *r = &info.reserved[i];

		has_slots |= r->type == BOARD_RESERVED_SPIN_TABLE && r->range.base_pa == 0 &&
			     r->range.size_bytes == 4096;
		has_memreserve |= r->type == BOARD_RESERVED_FIRMWARE && r->range.base_pa == 0;
		has_initrd |= r->type == BOARD_RESERVED_INITRD &&
			      r->range.size_bytes == info.initrd.size_bytes;
	}
	CHECK(has_slots);
	CHECK(has_memreserve);
	CHECK(has_initrd);
	memory_free();
}

TEST(wrong_machine)
{
	struct board_boot boot = boot_on_rpi4();

	/* The tree is sound, but its RAM is elsewhere. */
	CHECK(load_tree("virt", true));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(info.name, "rpi4");
	CHECK(!info.from_tree);
	CHECK(strstr(note.text, "does not hold this image"));
	CHECK_EQ(info.uart[info.console_uart].base_pa, 0xfe201000);

	boot = boot_on_virt();
	CHECK(load_tree("rpi4", true));
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(info.name, "qemu-virt");
	CHECK(!info.from_tree);
	memory_free();
}

TEST(no_tree)
{
	struct board_boot boot = boot_on_rpi4();
	struct board_info untouched;

	memory_free();
	/* What QEMU passes for a raspi4b without -dtb: an ATAGS list. */
	boot.fdt_pa = 0x100;
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(info.name, "rpi4");
	CHECK(!info.from_tree);
	CHECK(note.text[0]);
	CHECK_EQ(info.n_cpus, 4);
	CHECK_EQ(info.cpu[3].release_pa, 0xf0);

	boot = boot_on_virt();
	boot.fdt_pa = 0;
	boot.entry_el = 2;
	boot.id_aa64pfr0 = 1 << 24;
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_STR(info.name, "qemu-virt");
	CHECK_EQ(info.gic.type, BOARD_GIC_V3);
	CHECK_EQ(info.cpu_method, BOARD_CPU_PSCI_SMC);
	boot.id_aa64pfr0 = 0;
	boot.entry_el = 1;
	CHECK_EQ(board_discover(&boot, &info, &note), 0);
	CHECK_EQ(info.gic.type, BOARD_GIC_V2);
	CHECK_EQ(info.cpu_method, BOARD_CPU_PSCI_HVC);

	/* A board that is known but not supported: the message has somewhere to go. */
	boot = boot_on_rpi4();
	boot.fdt_pa = 0x100;
	boot.midr = MIDR_A53;
	memset(&untouched, 0x5a, sizeof(untouched));
	info = untouched;
	CHECK_EQ(board_discover(&boot, &info, &note), -ENODEV);
	CHECK_MEM(&info, &untouched, sizeof(info));
	CHECK_EQ(note.uart.base_pa, 0x3f201000);
	CHECK(strstr(note.text, "not supported"));

	/* Nothing at all is known. */
	boot.midr = MIDR_MAX;
	CHECK_EQ(board_discover(&boot, &info, &note), -ENODEV);
	CHECK_EQ(note.uart.type, BOARD_UART_NONE);
	CHECK(strstr(note.text, "unknown"));
	CHECK(!board_guess_uart(&boot, &note.uart));
}

/* Addresses in x0 that no tree can have. */
TEST(wild_pointer)
{
	static const uint64_t wild[] = { 1, FDT_PA + 4, UINT64_MAX, UINT64_MAX - 7, 0x12345678 };
	struct board_boot boot = boot_on_virt();

	CHECK(load_tree("virt", true));
	for (size_t i = 0; i < ARRAY_SIZE(wild); i++) {
		boot.fdt_pa = wild[i];
		CHECK_EQ(board_discover(&boot, &info, &note), 0);
		CHECK(!info.from_tree);
	}
	memory_free();
}

TEST(truncated)
{
	struct board_boot boot = boot_on_virt();
	uint8_t *copy;
	size_t bytes;

	CHECK(load_tree("virt", true));
	bytes = memory.bytes;
	copy = malloc(bytes);
	memcpy(copy, memory.data, bytes);
	for (size_t n = 8; n < bytes; n += 8) {
		memcpy(memory_make(n), copy, n);
		if (board_discover(&boot, &info, &note) || info.from_tree)
			break;
		/* A header that agrees with the cut. */
		if (n >= 40) {
			put_be32(memory.data + 4, (uint32_t)n);
			if (board_discover(&boot, &info, &note) || info.from_tree)
				break;
		}
		if (n + 8 >= bytes)
			n = bytes;
	}
	free(copy);
	CHECK(!info.from_tree);
	CHECK_STR(info.name, "qemu-virt");
	memory_free();
}

static uint64_t random_state;

static uint32_t get_random(uint32_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % below;
}

/* Where the values of properties lie, in bytes from the start of the tree. */
static struct {
	uint32_t at, bytes;
} values[8192];
static uint32_t n_values;

static void find_values(const uint8_t *data, uint32_t bytes)
{
	uint32_t at = get_be32(data + 8), len;

	n_values = 0;
	while (at + 12 <= bytes && n_values < ARRAY_SIZE(values)) {
		switch (get_be32(data + at)) {
		case 1: /* FDT_BEGIN_NODE, name */
			at = ROUND_UP(at + 4 + (uint32_t)strlen((const char *)data + at + 4) + 1,
				      4u);
			break;
		case 3: /* FDT_PROP, length, name offset, value */
			len = get_be32(data + at + 4);
			if (len) {
				values[n_values].at = at + 12;
				values[n_values++].bytes = len;
			}
			at = ROUND_UP(at + 12 + len, 4u);
			break;
		case 9: /* FDT_END */
			return;
		default:
			at += 4;
		}
	}
}

static void mutate_cell(uint8_t *data, uint32_t at)
{
	static const uint32_t numbers[] = {
		0, 1, 2, 3, 4, 8, 9, 0x7fffffff, 0x80000000, 0xffffffff
	};

	if (get_random(2))
		put_be32(data + at, numbers[get_random(ARRAY_SIZE(numbers))]);
	else
		put_be32(data + at, get_be32(data + at) + get_random(9) - 4);
}

/* Damage inside one property's value: the tree stays well formed, what it says does not. */
static void mutate_value(uint8_t *data)
{
	uint32_t i = get_random(n_values), at = values[i].at, bytes = values[i].bytes, to;

	switch (get_random(4)) {
	case 0:
		data[at + get_random(bytes)] ^= (uint8_t)(1 << get_random(8));
		break;
	case 1:
		/* The length, shorter: what follows reads as FDT_NOPs. */
		to = get_random(bytes);
		put_be32(data + at - 8, to);
		for (to = ROUND_UP(to, 4u); to < ROUND_UP(bytes, 4u); to += 4)
			put_be32(data + at + to, 4);
		break;
	case 2:
		/* Another property's name, so that the value means something else. */
		put_be32(data + at - 4, get_be32(data + values[get_random(n_values)].at - 4));
		break;
	default:
		if (bytes >= 4)
			mutate_cell(data, at + get_random(bytes / 4) * 4);
	}
}

/* Damage anywhere, header and tags too. */
static void mutate_any(uint8_t *data, uint32_t bytes)
{
	uint32_t at, n;

	switch (get_random(3)) {
	case 0:
		data[get_random(bytes)] ^= (uint8_t)(1 << get_random(8));
		break;
	case 1:
		mutate_cell(data, get_random(bytes / 4) * 4);
		break;
	case 2:
		n = get_random(64) + 1;
		at = get_random(bytes - n);
		memmove(data + at, data + get_random(bytes - n), n);
		break;
	}
}

/* Whatever comes out must be safe to use. */
static bool is_sane(const struct board_info *in)
{
	if (!in->n_ram || in->n_ram > BOARD_MAX_RAM || in->n_reserved > BOARD_MAX_RESERVED ||
	    !in->n_uarts || in->n_uarts > BOARD_MAX_UARTS || in->console_uart >= in->n_uarts ||
	    !in->n_cpus || in->n_cpus > BOARD_MAX_CPUS || in->gic.type == BOARD_GIC_NONE ||
	    in->gic.n_redists > BOARD_MAX_REDISTS || in->rng_seed_bytes > BOARD_SEED_BYTES)
		return false;
	for (unsigned int i = 0; i < in->n_ram; i++) {
		const struct board_range *r = &in->ram[i];

		if (!r->size_bytes || r->base_pa + r->size_bytes < r->base_pa)
			return false;
		if (i && in->ram[i - 1].base_pa + in->ram[i - 1].size_bytes >= r->base_pa)
			return false;
	}
	for (unsigned int i = 0; i < in->n_uarts; i++)
		if (in->uart[i].intid >= 1020 || in->uart[i].type == BOARD_UART_NONE)
			return false;
	return memchr(in->bootargs, 0, sizeof(in->bootargs)) &&
	       memchr(in->model, 0, sizeof(in->model));
}

/* Emulated code is slow, and has no sanitizer to report to. */
#ifdef __aarch64__
#define FUZZ_DIVISOR 20
#else
#define FUZZ_DIVISOR 1
#endif

static void fuzz(const char *name, struct board_boot boot, unsigned int rounds)
{
	unsigned int accepted = 0;
	uint8_t *copy;

	CHECK(load_tree(name, true));
	copy = malloc(memory.bytes);
	memcpy(copy, memory.data, memory.bytes);
	rounds /= FUZZ_DIVISOR;
	find_values(copy, (uint32_t)memory.bytes);
	random_state = memory.bytes;
	for (unsigned int i = 0; i < rounds; i++) {
		memcpy(memory.data, copy, memory.bytes);
		if (i % 4 == 0)
			mutate_any(memory.data, (uint32_t)memory.bytes);
		else
			for (uint32_t n = get_random(12) + 1; n; n--)
				mutate_value(memory.data);
		if (board_discover(&boot, &info, &note)) {
			if (!note.text[0])
				TEST_FAIL("round %u: refused without a word", i);
			continue;
		}
		accepted += info.from_tree;
		if (!is_sane(&info))
			TEST_FAIL("round %u: insane result", i);
		if (!info.from_tree && !note.text[0])
			TEST_FAIL("round %u: fell back silently", i);
	}
	free(copy);
	memory_free();
	/* If nearly all were refused at the door, the readers were not tried. */
	CHECK(accepted > rounds / 4);
	CHECK(accepted < rounds);
}

TEST(fuzz_virt)
{
	fuzz("virt", boot_on_virt(), 6000);
}

TEST(fuzz_virt_gicv3)
{
	fuzz("virt-gicv3", boot_on_virt(), 3000);
}

TEST(fuzz_rpi4)
{
	fuzz("rpi4", boot_on_rpi4(), 3000);
}

TEST(boot_args)
{
	struct board_info args = { .bootargs = "a=1 bb  a=22 flag x=abcdefgh= c= last" };
	char out[8] = "keep";

	CHECK_EQ(board_get_arg(&args, "a", out, sizeof(out)), 2);
	CHECK_STR(out, "22");
	CHECK_EQ(board_get_arg(&args, "flag", out, sizeof(out)), 0);
	CHECK_STR(out, "");
	CHECK_EQ(board_get_arg(&args, "c", out, sizeof(out)), 0);
	CHECK_EQ(board_get_arg(&args, "last", out, sizeof(out)), 0);
	CHECK_EQ(board_get_arg(&args, "b", out, sizeof(out)), -ENOENT);
	CHECK_EQ(board_get_arg(&args, "fla", out, sizeof(out)), -ENOENT);
	strcpy(out, "keep");
	CHECK_EQ(board_get_arg(&args, "x", out, sizeof(out)), -ERANGE);
	CHECK_STR(out, "keep");
}
