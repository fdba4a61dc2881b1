/* SPDX-License-Identifier: BSD-2-Clause */
/* A test machine's memory with a device tree in it, for the tests of board/. */
#pragma once

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

static inline void memory_free(void)
{
	if (memory.pages)
		munmap(memory.pages, memory.pages_bytes);
	memset(&memory, 0, sizeof(memory));
}

/* bytes is a multiple of 8, as the alignment of a tree asks. */
static inline uint8_t *memory_make(size_t bytes)
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

static inline const void *map_memory(uint64_t pa, uint64_t size_bytes)
{
	if (pa < FDT_PA || pa - FDT_PA > memory.bytes || size_bytes > memory.bytes - (pa - FDT_PA))
		return NULL;
	return memory.data + (pa - FDT_PA);
}

static inline uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void put_be32(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 24);
	p[1] = (uint8_t)(v >> 16);
	p[2] = (uint8_t)(v >> 8);
	p[3] = (uint8_t)v;
}

/* Load a tree; QEMU pads its own to 1 MiB: with packed, cut what no block uses. */
static inline bool load_tree(const char *name, bool packed)
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

static inline struct board_boot boot_on_virt(void)
{
	return (struct board_boot){ .fdt_pa = FDT_PA,
				    .image_pa = VIRT_IMAGE_PA,
				    .midr = MIDR_A72,
				    .mpidr = 0x80000000,
				    .entry_el = 1,
				    .map = map_memory };
}

static inline struct board_boot boot_on_rpi4(void)
{
	struct board_boot boot = boot_on_virt();

	boot.image_pa = RPI_IMAGE_PA;
	boot.entry_el = 2;
	return boot;
}

static struct board_info info;
static struct board_note note;
