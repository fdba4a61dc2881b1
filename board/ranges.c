/* SPDX-License-Identifier: BSD-2-Clause */
#include "board/ranges.h"

#include "include/err.h"

static uint64_t end_of(const struct board_range *r)
{
	return r->base_pa + r->size_bytes;
}

/* Join what touches; ram[] is sorted. */
static void join_ram(struct board_info *info)
{
	unsigned int kept = 0;

	for (unsigned int i = 1; i < info->n_ram; i++) {
		struct board_range *last = &info->ram[kept], *next = &info->ram[i];

		if (next->base_pa <= end_of(last))
			last->size_bytes = MAX(end_of(last), end_of(next)) - last->base_pa;
		else
			info->ram[++kept] = *next;
	}
	info->n_ram = kept + 1;
}

void ranges_add_ram(struct board_info *info, struct board_range range)
{
	struct board_range swap;
	unsigned int i;

	if (!range.size_bytes)
		return;
	/* Insert in order: from the first greater one on, each moves one place up. */
	for (i = 0; i < info->n_ram; i++) {
		if (range.base_pa < info->ram[i].base_pa) {
			swap = info->ram[i];
			info->ram[i] = range;
			range = swap;
		}
	}
	if (i < BOARD_MAX_RAM) {
		info->ram[i] = range;
		info->n_ram++;
	} else if (range.base_pa <= end_of(&info->ram[i - 1])) {
		struct board_range *last = &info->ram[i - 1];

		last->size_bytes = MAX(end_of(last), end_of(&range)) - last->base_pa;
	}
	join_ram(info);
}

int ranges_add_reserved(struct board_info *info, const struct board_reserved *reserved)
{
	if (!reserved->range.size_bytes)
		return 0;
	for (unsigned int i = 0; i < info->n_reserved; i++) {
		const struct board_reserved *r = &info->reserved[i];

		if (r->range.base_pa == reserved->range.base_pa &&
		    r->range.size_bytes == reserved->range.size_bytes &&
		    r->type == reserved->type && r->no_map == reserved->no_map)
			return 0;
	}
	if (info->n_reserved == BOARD_MAX_RESERVED)
		return -ENOSPC;
	info->reserved[info->n_reserved++] = *reserved;
	return 0;
}

static bool is_inside(const struct board_range *r, const struct board_range *outer)
{
	return r->base_pa >= outer->base_pa && end_of(r) <= end_of(outer);
}

void ranges_drop_firmware(struct board_info *info, struct board_range range)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < info->n_reserved; i++)
		if (info->reserved[i].type != BOARD_RESERVED_FIRMWARE || info->reserved[i].no_map ||
		    !is_inside(&info->reserved[i].range, &range))
			info->reserved[kept++] = info->reserved[i];
	info->n_reserved = kept;
}

bool ranges_is_ram(const struct board_info *info, uint64_t pa, uint64_t size_bytes)
{
	for (unsigned int i = 0; i < info->n_ram; i++) {
		const struct board_range *r = &info->ram[i];

		if (pa >= r->base_pa && pa - r->base_pa < r->size_bytes &&
		    size_bytes <= r->size_bytes - (pa - r->base_pa))
			return true;
	}
	return false;
}
