/* SPDX-License-Identifier: BSD-2-Clause */
/* Device trees that are cut short or damaged: board_discover() never faults and never guesses. */
#include "board_memory.h"

static struct board_info info;
static struct board_note note;

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
