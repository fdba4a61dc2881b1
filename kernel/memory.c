/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/memory.h"

#include "board/board.h"
#include "boot/boot.h"
#include "boot/early_mmu.h"
#include "kernel/log.h"
#include "kernel/panic.h"
#include "mm/phys.h"
#include "mm/xlat.h"

/* Each range that may not be mapped can cut one range of RAM in two. */
#define RANGES_MAX (BOARD_MAX_RAM + BOARD_MAX_RESERVED)

void memory_init_early(void)
{
	uint64_t frame_pa = boot_info.text_pa + BLOCK_BYTES;
	uint64_t image_end_pa = frame_pa + ((uint64_t)__image_end - DATA_BASE);
	uint64_t used[PHYS_PURPOSES] = {
		[PHYS_STACK] = (STACK_BYTES + STACK_EMERGENCY_BYTES) / PAGE_BYTES,
		[PHYS_PERCPU] = PERCPU_BOOT_BYTES / PAGE_BYTES,
		/* With the page that was the first stack. */
		[PHYS_IMAGE] = (image_end_pa - frame_pa) / PAGE_BYTES + 1,
	};

	used[PHYS_TABLE] = (boot_info.pool_pa - frame_pa) / PAGE_BYTES - used[PHYS_STACK] -
			   used[PHYS_PERCPU] - used[PHYS_IMAGE];
	xlat_init(boot_info.root_pa);
	phys_boot_init(frame_pa, boot_info.pool_pa, used);
	phys_free_pages(image_end_pa, 1, PHYS_IMAGE);
}

/* Take [base, end) out of ranges; returns the new number of ranges. */
static unsigned int ranges_subtract(struct phys_range *ranges, unsigned int n, uint64_t base,
				    uint64_t end)
{
	for (unsigned int i = 0; i < n; i++) {
		uint64_t r_base = ranges[i].base_pa, r_end = r_base + ranges[i].size_bytes;

		if (end <= r_base || r_end <= base)
			continue;
		ranges[i].size_bytes = base > r_base ? base - r_base : 0;
		if (end < r_end && n < RANGES_MAX) {
			for (unsigned int k = n++; k > i + 1; k--)
				ranges[k] = ranges[k - 1];
			ranges[i + 1] = (struct phys_range){ end, r_end - end };
		}
	}
	return n;
}

/* RAM in whole 2 MB frames, without what may not be mapped. */
static unsigned int ranges_usable(const struct board_info *board, struct phys_range *ranges)
{
	unsigned int n = board->n_ram, kept = 0;

	for (unsigned int i = 0; i < n; i++)
		ranges[i] = (struct phys_range){ board->ram[i].base_pa, board->ram[i].size_bytes };
	for (unsigned int i = 0; i < board->n_reserved; i++) {
		const struct board_range *r = &board->reserved[i].range;

		if (board->reserved[i].no_map)
			n = ranges_subtract(ranges, n, ROUND_DOWN(r->base_pa, BLOCK_BYTES),
					    ROUND_UP(r->base_pa + r->size_bytes, BLOCK_BYTES));
	}
	for (unsigned int i = 0; i < n; i++) {
		uint64_t base = ROUND_UP(ranges[i].base_pa, BLOCK_BYTES);
		uint64_t end = ROUND_DOWN(ranges[i].base_pa + ranges[i].size_bytes, BLOCK_BYTES);

		end = MIN(end, DIRECT_BYTES);
		if (base < end)
			ranges[kept++] = (struct phys_range){ base, end - base };
	}
	return kept;
}

/* Direct map of all of it, around the text frame. */
static int direct_map(const struct phys_range *ranges, unsigned int n)
{
	uint64_t text_pa = boot_info.text_pa, text_end = text_pa + BLOCK_BYTES;
	int ret = 0;

	for (unsigned int i = 0; i < n && !ret; i++) {
		uint64_t base = ranges[i].base_pa, end = base + ranges[i].size_bytes;

		if (text_pa >= base && text_pa < end) {
			if (text_pa > base)
				ret = xlat_direct_add(base, text_pa - base);
			if (!ret && text_end < end)
				ret = xlat_direct_add(text_end, end - text_end);
		} else {
			ret = xlat_direct_add(base, end - base);
		}
	}
	return ret;
}

void memory_init(const struct board_info *board)
{
	struct phys_range ranges[RANGES_MAX], reserved[BOARD_MAX_RESERVED];
	unsigned int n = ranges_usable(board, ranges);
	struct phys_stats stats;
	int ret;

	for (unsigned int i = 0; i < board->n_reserved; i++)
		reserved[i] = (struct phys_range){ board->reserved[i].range.base_pa,
						   board->reserved[i].range.size_bytes };
	ret = direct_map(ranges, n);
	if (!ret)
		ret = phys_init(ranges, n, reserved, board->n_reserved, boot_info.text_pa);
	if (ret)
		panic("RAM cannot be used: error %d", ret);
	for (unsigned int i = 0; i < board->n_reserved; i++)
		if (board->reserved[i].type == BOARD_RESERVED_FDT && board->n_reserved)
			phys_release_reserved(board->reserved[i].range.base_pa,
					      board->reserved[i].range.size_bytes);
	phys_get_stats(&stats);
	log_info("memory: %llu MB, of which %llu KB in use",
		 (unsigned long long)(stats.total_pages / 256),
		 (unsigned long long)((stats.total_pages - stats.free_pages) * 4));
}

void memory_get_text_spare(uint64_t *va, uint64_t *pa, uint64_t *bytes)
{
	*va = (uint64_t)__text_end;
	*pa = boot_info.text_pa + (*va - TEXT_BASE);
	*bytes = TEXT_END - *va;
}
