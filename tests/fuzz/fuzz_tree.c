/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * board_discover() on any bytes for a device tree: nothing is read outside them, a refusal has a
 * reason, and what is accepted is safe to use. The kept inputs are trees of our own making.
 */
#include <stdlib.h>
#include <string.h>

#include "board/board.h"
#include "include/base.h"

#define FDT_PA 0x48000000u

static uint8_t *tree;
static size_t tree_bytes;

static const void *map(uint64_t pa, uint64_t size_bytes)
{
	if (pa != FDT_PA || size_bytes > tree_bytes)
		return NULL;
	return tree;
}

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void check_ranges(const struct board_info *info)
{
	uint64_t end = 0;

	require(info->n_ram > 0 && info->n_ram <= BOARD_MAX_RAM);
	for (unsigned int i = 0; i < info->n_ram; i++) {
		const struct board_range *r = &info->ram[i];

		require(r->size_bytes && r->base_pa + r->size_bytes > r->base_pa);
		require(i == 0 || r->base_pa > end);
		end = r->base_pa + r->size_bytes;
	}
	require(info->n_reserved <= BOARD_MAX_RESERVED);
	for (unsigned int i = 0; i < info->n_reserved; i++) {
		const struct board_range *r = &info->reserved[i].range;

		require(r->size_bytes && r->base_pa + r->size_bytes >= r->base_pa);
	}
}

static void check_devices(const struct board_info *info)
{
	require(info->n_uarts > 0 && info->n_uarts <= BOARD_MAX_UARTS);
	require(info->console_uart < info->n_uarts);
	for (unsigned int i = 0; i < info->n_uarts; i++)
		require(info->uart[i].type != BOARD_UART_NONE && info->uart[i].intid < 1020);
	require(info->gic.type != BOARD_GIC_NONE && info->gic.n_redists <= BOARD_MAX_REDISTS);
	require(info->gic.type != BOARD_GIC_V3 || info->gic.n_redists > 0);
	require(info->n_cpus > 0 && info->n_cpus <= BOARD_MAX_CPUS);
	for (unsigned int i = 0; i < info->n_cpus; i++)
		require(info->cpu[i].pmu_spi < 1020 && !(info->cpu[i].mpidr & ~BOARD_MPIDR_MASK));
	require(info->timer_virt_intid >= 16 && info->timer_virt_intid < 1020);
	require(info->rng_seed_bytes <= BOARD_SEED_BYTES);
	require(memchr(info->bootargs, 0, sizeof(info->bootargs)) != NULL);
	require(memchr(info->model, 0, sizeof(info->model)) != NULL);
}

static void discover(uint64_t image_pa, uint64_t midr)
{
	struct board_boot boot = { .fdt_pa = FDT_PA,
				   .image_pa = image_pa,
				   .midr = midr,
				   .mpidr = 0x80000000,
				   .entry_el = 2,
				   .map = map };
	struct board_info info;
	struct board_note note;

	if (board_discover(&boot, &info, &note)) {
		require(note.text[0]);
		return;
	}
	require(info.from_tree || note.text[0]);
	require(memchr(note.text, 0, sizeof(note.text)) != NULL);
	check_ranges(&info);
	check_devices(&info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of exactly this size: one byte too far is seen. */
	tree = aligned_alloc(8, ROUND_UP(size + 1, 8));
	tree_bytes = size;
	memcpy(tree, data, size);
	discover(0x40200000, 0x410fd083);
	discover(0x200000, 0x410fd083);
	discover(0x200000, 0x410fd034);
	free(tree);
	return 0;
}
