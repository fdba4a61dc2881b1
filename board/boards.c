/* SPDX-License-Identifier: BSD-2-Clause */
#include "board/boards.h"

#include "board/fdt.h"
#include "board/ranges.h"
#include "board/tree.h"
#include "include/err.h"
#include "lib/fmt.h"

#define PART_A53 0xd03
#define PART_A72 0xd08

#define FDT_HEADER_BYTES 40

/*
 * A board that we know. Without a usable tree, a machine is taken for the first row whose core and
 * load addresses fit; with one, for the first row whose `compatible` its root has.
 */
struct board_row {
	const char *name;
	const char *compatible;
	uint32_t part;	    /* MIDR_EL1.PartNum, 0: any */
	uint64_t load_from; /* RAM that the image may have been loaded to */
	uint64_t load_to;
	struct board_uart uart; /* for messages when nothing else is known */
	/* NULL: known well enough to say that it is not supported. */
	void (*setup)(const struct board_boot *boot, struct board_info *info);
};

static const struct board_row rows[] = {
	{
		.name = "qemu-virt",
		.compatible = "linux,dummy-virt",
		.load_from = 0x40000000,
		.load_to = UINT64_MAX,
		.uart = { .type = BOARD_UART_PL011, .base_pa = 0x09000000, .size_bytes = 0x1000 },
		.setup = board_setup_qemu_virt,
	},
	{
		.name = "rpi4",
		.compatible = "brcm,bcm2711",
		.part = PART_A72,
		.load_from = 0,
		.load_to = 0x3c000000,
		.uart = { .type = BOARD_UART_PL011, .base_pa = 0xfe201000, .size_bytes = 0x200 },
		.setup = board_setup_rpi4,
	},
	{
		.name = "rpi3",
		.compatible = "brcm,bcm2837",
		.part = PART_A53,
		.load_from = 0,
		.load_to = 0x3c000000,
		.uart = { .type = BOARD_UART_PL011, .base_pa = 0x3f201000, .size_bytes = 0x200 },
	},
};

static const struct board_row *guess_row(const struct board_boot *boot)
{
	uint32_t part = boot->midr >> 4 & 0xfff;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct board_row *row = &rows[i];

		if ((!row->part || row->part == part) && boot->image_pa >= row->load_from &&
		    boot->image_pa < row->load_to)
			return row;
	}
	return NULL;
}

bool board_guess_uart(const struct board_boot *boot, struct board_uart *out)
{
	const struct board_row *row = guess_row(boot);

	if (!row)
		return false;
	*out = row->uart;
	return true;
}

/* The tree at boot->fdt_pa, readable and sound, or NULL with the reason. */
static const void *open_tree(const struct board_boot *boot, const char **problem)
{
	const void *fdt;
	size_t bytes;

	*problem = "no device tree there";
	if (!boot->fdt_pa || boot->fdt_pa % 8 || boot->fdt_pa + TREE_MAX_BYTES < boot->fdt_pa)
		return NULL;
	fdt = boot->map(boot->fdt_pa, FDT_HEADER_BYTES);
	if (!fdt)
		return NULL;
	bytes = tree_get_size(fdt);
	if (!bytes)
		return NULL;
	*problem = "device tree too large";
	if (bytes > TREE_MAX_BYTES)
		return NULL;
	*problem = "device tree extends beyond readable memory";
	fdt = boot->map(boot->fdt_pa, MAX(bytes, (size_t)FDT_HEADER_BYTES));
	if (!fdt)
		return NULL;
	*problem = tree_check(fdt, bytes);
	return *problem ? NULL : fdt;
}

static const struct board_row *match_row(const void *fdt)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (fdt_is_compatible(fdt, rows[i].compatible))
			return &rows[i];
	return NULL;
}

/* The compiled-in values of a row. */
static void set_compiled_in(const struct board_boot *boot, const struct board_row *row,
			    struct board_info *info)
{
	uint64_t mpidr = boot->mpidr & BOARD_MPIDR_MASK;
	struct board_cpu swap;

	*info = (struct board_info){
		.n_cpus = 1, .timer_virt_intid = 27, .timer_phys_intid = 30, .cpu[0].mpidr = mpidr
	};
	row->setup(boot, info);
	for (unsigned int i = 1; i < info->n_cpus; i++) {
		if (info->cpu[i].mpidr == mpidr) {
			swap = info->cpu[0];
			info->cpu[0] = info->cpu[i];
			info->cpu[i] = swap;
		}
	}
}

static void set_name(struct board_info *info, const char *name)
{
	fmt_snprintf(info->name, sizeof(info->name), "%s", name);
}

/* What the kernel cannot do without. */
static const char *find_missing(const struct board_info *info)
{
	if (!info->n_uarts)
		return "it has no serial port that we can drive";
	if (info->gic.type == BOARD_GIC_NONE)
		return "it has no GIC";
	return NULL;
}

static void reserve(struct board_info *info, struct board_range range,
		    enum board_reserved_type type)
{
	struct board_reserved reserved = { .range = range, .type = type };

	ranges_drop_firmware(info, range);
	/* The memory then belongs to nobody; who wants to read it must not find it overwritten. */
	if (ranges_add_reserved(info, &reserved)) {
		if (type == BOARD_RESERVED_INITRD)
			info->initrd.size_bytes = 0;
		else
			info->fdt.size_bytes = 0;
	}
}

/*
 * The board from a sound tree. NULL, or why not; *info then holds what was found (n_uarts may be
 * used).
 */
static const char *read_with_tree(const struct board_boot *boot, const void *fdt,
				  struct board_info *info, const struct board_row **row)
{
	const char *problem = fdt_read_board(fdt, boot->image_pa, boot->mpidr, info);

	if (problem) {
		info->n_uarts = 0;
		return problem;
	}
	*row = match_row(fdt);
	if (*row && !(*row)->setup)
		return "this board is not supported";
	if (*row)
		(*row)->setup(boot, info);
	set_name(info, *row ? (*row)->name : "generic");
	info->fdt =
		(struct board_range){ .base_pa = boot->fdt_pa, .size_bytes = tree_get_size(fdt) };
	return find_missing(info);
}

static bool is_named(const struct board_uart *uart, const char *name, size_t len)
{
	const char *type = uart->type == BOARD_UART_PL011 ? "pl011" : "mini";

	for (size_t i = 0; i < len; i++)
		if (!type[i] || type[i] != name[i])
			return false;
	return !type[len];
}

/* `uart=pl011|mini` chooses the console among the ports, `baud=N` its rate. */
static void apply_args(struct board_info *info, struct board_note *note)
{
	char value[16];
	int len = board_get_arg(info, "uart", value, sizeof(value));
	uint32_t baud = 0;
	unsigned int i;

	if (len >= 0) {
		for (i = 0; i < info->n_uarts; i++)
			if (is_named(&info->uart[i], value, (size_t)len))
				break;
		if (i < info->n_uarts)
			info->console_uart = i;
		else
			fmt_snprintf(note->text, sizeof(note->text),
				     "boot argument uart=%s: no such port (pl011, mini)", value);
	}
	len = board_get_arg(info, "baud", value, sizeof(value));
	for (int at = 0; at < len && baud < 100000000; at++) {
		if (value[at] < '0' || value[at] > '9') {
			fmt_snprintf(note->text, sizeof(note->text),
				     "boot argument baud=%s: not a number", value);
			return;
		}
		baud = baud * 10 + (uint32_t)(value[at] - '0');
	}
	if (baud)
		info->uart[info->console_uart].baud = baud;
}

static void finish(struct board_info *info, struct board_note *note)
{
	if (info->initrd.size_bytes) {
		if (ranges_is_ram(info, info->initrd.base_pa, info->initrd.size_bytes)) {
			reserve(info, info->initrd, BOARD_RESERVED_INITRD);
		} else {
			fmt_snprintf(note->text, sizeof(note->text),
				     "initrd at %#lx, %lu bytes, is not in RAM: ignored",
				     info->initrd.base_pa, info->initrd.size_bytes);
			info->initrd.size_bytes = 0;
		}
	}
	if (info->fdt.size_bytes)
		reserve(info, info->fdt, BOARD_RESERVED_FDT);
	apply_args(info, note);
	note->uart = info->uart[info->console_uart];
}

int board_discover(const struct board_boot *boot, struct board_info *out, struct board_note *note)
{
	const struct board_row *row = NULL;
	const char *problem;
	const void *fdt = open_tree(boot, &problem);
	struct board_info info;

	*note = (struct board_note){ 0 };
	board_guess_uart(boot, &note->uart);
	if (fdt) {
		problem = read_with_tree(boot, fdt, &info, &row);
		if (!problem) {
			finish(&info, note);
			*out = info;
			return 0;
		}
		if (info.n_uarts)
			note->uart = info.uart[0];
		/* A tree that fits this machine is believed about what the machine lacks. */
		if (info.n_ram && ranges_is_ram(&info, boot->image_pa, 1)) {
			fmt_snprintf(note->text, sizeof(note->text), "cannot run on %s: %s",
				     info.model[0] ? info.model : "this board", problem);
			return -ENODEV;
		}
	}
	row = guess_row(boot);
	if (!row || !row->setup) {
		fmt_snprintf(note->text, sizeof(note->text),
			     "device tree at %#lx: %s; %s without one (MIDR %#lx, loaded at %#lx)",
			     boot->fdt_pa, problem,
			     row ? "this board is not supported" : "the board is unknown",
			     boot->midr, boot->image_pa);
		return -ENODEV;
	}
	set_compiled_in(boot, row, &info);
	set_name(&info, row->name);
	fmt_snprintf(note->text, sizeof(note->text),
		     "device tree at %#lx: %s; using the compiled-in board %s", boot->fdt_pa,
		     problem, row->name);
	note->uart = info.uart[info.console_uart];
	*out = info;
	return 0;
}

static size_t word_length(const char *p)
{
	size_t n = 0;

	while (p[n] && p[n] != ' ')
		n++;
	return n;
}

/* Value of the word at p if its key is this one, else NULL. */
static const char *match_word(const char *p, size_t len, const char *key)
{
	size_t n = 0;

	while (n < len && key[n] && p[n] == key[n])
		n++;
	if (key[n] || (n < len && p[n] != '='))
		return NULL;
	return n < len ? p + n + 1 : p + n;
}

int board_get_arg(const struct board_info *info, const char *key, char *out, size_t size_bytes)
{
	const char *p = info->bootargs, *found = NULL, *value;
	size_t found_len = 0, len;

	for (; *p; p += len) {
		while (*p == ' ')
			p++;
		len = word_length(p);
		value = match_word(p, len, key);
		if (value) {
			found = value;
			found_len = (size_t)(p + len - value);
		}
	}
	if (!found)
		return -ENOENT;
	if (found_len >= size_bytes)
		return -ERANGE;
	__builtin_memcpy(out, found, found_len);
	out[found_len] = '\0';
	return (int)found_len;
}
