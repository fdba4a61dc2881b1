/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Translation tables of the upper half: map, unmap, change.
 *
 * W^X holds by physical page. Executable mappings exist of code frames only (mm/phys.h: out of the
 * direct map), writable ones of everything but code frames; both rules are checked here, at every
 * change, against the frame records and not against what the caller says.
 *
 * Addresses of the direct map are refused except by the functions made for it. All changes are
 * seen by all CPUs when a function returns. Context: any, but a table may have to be allocated.
 */
#pragma once

#include "include/base.h"
#include "mm/layout.h"

enum xlat_kind {
	XLAT_RX,     /* code frames only */
	XLAT_RO,     /* RAM */
	XLAT_RW,     /* RAM that is not code */
	XLAT_DEVICE, /* not RAM; nGnRE */
	XLAT_KINDS,
};

/*
 * Map [pa, pa + bytes) at va, all multiples of 4 KB, bytes > 0. Where va and pa are both multiples
 * of 2 MB and that much is left, blocks are used. Returns 0; -EINVAL for addresses out of place;
 * -EPERM if the kind does not suit the memory (rules above); -EEXIST if anything is mapped there
 * already; -ENOMEM for a table. Nothing is mapped on error.
 */
int xlat_map(uint64_t va, uint64_t pa, uint64_t bytes, enum xlat_kind kind) __must_check;

/* The same for several stretches of physical memory of equal size (4 KB or 2 MB each), one after
 * another in va. */
int xlat_map_pieces(uint64_t va, const uint64_t *pa, unsigned int n_pieces, uint64_t piece_bytes,
		    enum xlat_kind kind) __must_check;

/*
 * Take away what is mapped in [va, va + bytes); gaps are allowed, a block that is only partly
 * inside is not: -EINVAL, nothing changes. Tables that become empty go back to the page allocator.
 */
int xlat_unmap(uint64_t va, uint64_t bytes);

/*
 * Change the kind of all that is mapped in [va, va + bytes); every page must be mapped and no block
 * may be only partly inside (-EINVAL). -EPERM as xlat_map. Between XLAT_RX, _RO and _RW only.
 */
int xlat_protect(uint64_t va, uint64_t bytes, enum xlat_kind kind) __must_check;

/* One mapping as found in the tables. */
struct xlat_entry {
	uint64_t va; /* start of the page or block that holds the address asked for */
	uint64_t pa;
	uint64_t bytes; /* 4 KB, 2 MB or 1 GB */
	uint64_t attrs; /* descriptor without address and type */
};
/* Returns 0 or -ENOENT. No lock: the answer may be old. Context: any, panic too. */
int xlat_lookup(uint64_t va, struct xlat_entry *out);

/* Is there a normal-memory mapping of every page of [va, va + bytes)? Both halves. Context: any. */
bool xlat_is_normal(uint64_t va, uint64_t bytes);

/*
 * Direct map. xlat_direct_add covers [pa, pa + bytes) with 2 MB blocks (multiples of 2 MB; what is
 * there already is kept). Boot only: RAM is taken at the caller's word. 0, -EINVAL, -ENOMEM.
 */
int xlat_direct_add(uint64_t pa, uint64_t bytes) __must_check;

/*
 * Make a whole frame of the caller's (phys_alloc_frames) a code frame: out of the direct map. And
 * back, for which no mapping of it may be left. Returns 0 or -EINVAL (not such a frame).
 */
int xlat_code_frame_take(uint64_t frame_pa) __must_check;
int xlat_code_frame_give(uint64_t frame_pa) __must_check;

/*
 * Before RAM is known: look at memory at an arbitrary physical address, read only, through a window
 * that ends with xlat_peek_end. Returns its address, or NULL if it does not fit (16 MB in all) or
 * cannot be read. Boot core only.
 */
const void *xlat_peek(uint64_t pa, uint64_t bytes);
void xlat_peek_end(void);

/* Map a device's registers, any address and size; asking twice gives the same address. NULL without
 * memory or when the range is RAM. Never unmapped. Context: thread. */
void *xlat_device_map(uint64_t pa, uint64_t bytes);

/* Table pages as seen by the page allocator's accounting; counters of maintenance. */
struct xlat_stats {
	uint64_t tlbi;	 /* TLB invalidate instructions issued, this kernel's whole life */
	uint64_t tables; /* table pages beyond those of the boot code */
};
void xlat_get_stats(struct xlat_stats *out);

/* Adopt the tables of the boot code. Boot core, first of all in mm/. */
void xlat_init(uint64_t root_pa);
/* Physical address of the upper half's level 1 table. */
uint64_t xlat_root_pa(void);
