/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * The memory map: every virtual address the kernel uses, and the descriptor bits that the
 * boot code and mm/ build tables from. Usable from C and from assembly; no other header.
 *
 * 4 KB granule, T0SZ = T1SZ = 25: two halves of 39 bits each, tables of levels 1 to 3
 * (level 1 entry 1 GB, level 2 entry 2 MB, level 3 entry 4 KB).
 *
 *  lower half, TTBR0
 *   00000000_00000000  +----------------------------------------------------------------+
 *                      | nothing is mapped: an empty tree. A second tree (poke) is      |
 *   0000007f_ffffffff  | switched in under its own ASID while code is written.          |
 *                      +----------------------------------------------------------------+
 *  upper half, TTBR1
 *   ffffff80_00000000  +----------------------------------------------------------------+
 *    DIRECT_BASE       | direct map: VA = DIRECT_BASE + PA, PA < 508 GB                 |
 *                      | RW, never executable, 2 MB blocks, none split. No entry where  |
 *                      | there is no RAM, and none for a frame that holds code.         |
 *   ffffffff_00000000  +---- the top 4 GB: MOVN + MOVK or ADRP + ADD make any address --+
 *                      | never mapped (2 MB)                                            |
 *   ffffffff_00200000  +----------------------------------------------------------------+
 *    MAPMEM_BASE       | map memory: RW NX, 2 MB blocks where the size is worth it,     |
 *                      | else 4 KB pages; a page left free behind each area             |
 *   ffffffff_a0000000  +----------------------------------------------------------------+
 *    PERCPU_BASE       | per-CPU memory: MAX_CPUS areas, PERCPU_STRIDE apart, RW NX     |
 *                      | 4 KB pages at equal offsets; TPIDR_EL1 = start of own area     |
 *   ffffffff_c0000000  +----------------------------------------------------------------+
 *    STACK_BASE        | stacks: slots of 64 KB, the upper half of each is the stack    |
 *                      | (RW NX 4 KB pages), the lower half is its guard                |
 *   ffffffff_d0000000  +----------------------------------------------------------------+
 *    DEVICE_BASE       | devices: nGnRE, RW NX, 4 KB pages                              |
 *   ffffffff_d8000000  +----------------------------------------------------------------+
 *    JIT_FAR_BASE      | far window for compiled programs                               |
 *   ffffffff_f0000000  +----------------------------------------------------------------+
 *                      | never mapped (2 MB)                                            |
 *   ffffffff_f0200000  +--------------------------------------------------------+-------+
 *    JIT_NEAR_BASE     | near window for compiled programs: 63 blocks of 2 MB   | these |
 *   ffffffff_f8000000  +--------------------------------------------------------+ 128 MB|
 *    TEXT_BASE         | kernel text, one RX block; behind the text BRK words,  | reach |
 *                      | which is pack 0 for compiled programs                  | one   |
 *                      |                                                        | BL    |
 *   ffffffff_f8200000  +--------------------------------------------------------+-------+
 *    DATA_BASE         | rodata RO NX, then data and bss RW NX, 4 KB pages              |
 *   ffffffff_f8400000  +----------------------------------------------------------------+
 *                      | never mapped, so that small negative numbers are no addresses  |
 *   ffffffff_ffffffff  +----------------------------------------------------------------+
 *
 *  Physical side. The image may be loaded at any 4 KB boundary. Boot code moves it before the
 *  MMU is on, so that frame A (2 MB aligned) holds the text and the frame after it holds rodata,
 *  data and bss at the distances they have in VA. What is left of the second frame is the first
 *  memory of the page allocator.
 *
 *     A                A + 2 MB                                              A + 4 MB
 *     | text | BRK ... | rodata | data | bss | early tables, stack | free pages ... |
 *
 * W^X is by physical page: frame A has no entry in the direct map, and no page is executable in
 * one mapping and writable in another.
 */

#ifdef __ASSEMBLER__
#define LAYOUT_UL(x) x
#else
#define LAYOUT_UL(x) x##UL
#endif

#define PAGE_SHIFT	12
#define PAGE_BYTES	(LAYOUT_UL(1) << PAGE_SHIFT)
#define PAGE_MASK	(PAGE_BYTES - 1)
#define BLOCK_SHIFT	21
#define BLOCK_BYTES	(LAYOUT_UL(1) << BLOCK_SHIFT)
#define BLOCK_MASK	(BLOCK_BYTES - 1)
#define GIGA_SHIFT	30
#define GIGA_BYTES	(LAYOUT_UL(1) << GIGA_SHIFT)
#define PAGES_PER_BLOCK (LAYOUT_UL(1) << (BLOCK_SHIFT - PAGE_SHIFT))

#define MAX_CPUS 8

#define DIRECT_BASE  LAYOUT_UL(0xffffff8000000000)
#define DIRECT_BYTES LAYOUT_UL(0x0000007f00000000)
#define DIRECT_END   (DIRECT_BASE + DIRECT_BYTES)

/* Every address from here up is made by two instructions. */
#define TOP_BASE LAYOUT_UL(0xffffffff00000000)

#define MAPMEM_BASE LAYOUT_UL(0xffffffff00200000)
#define MAPMEM_END  LAYOUT_UL(0xffffffffa0000000)

#define PERCPU_BASE   LAYOUT_UL(0xffffffffa0000000)
#define PERCPU_STRIDE LAYOUT_UL(0x04000000)
#define PERCPU_END    (PERCPU_BASE + PERCPU_STRIDE * MAX_CPUS)
/* Start of each area, mapped before anything else can be allocated: struct cpu, and from this
 * offset on the heap's caches. */
#define PERCPU_BOOT_BYTES  LAYOUT_UL(0x1000)
#define PERCPU_HEAP_OFFSET LAYOUT_UL(0x200)

/*
 * A stack slot is 64 KB and 64 KB aligned. With bit STACK_BIT of SP set, SP is inside the stack;
 * with the bit clear it has run into the guard (exception entry tests just that bit, after it has
 * made room for its frame). Each CPU has STACKS_PER_CPU slots in a row.
 */
#define STACK_BASE	LAYOUT_UL(0xffffffffc0000000)
#define STACK_BIT	15
#define STACK_BYTES	(LAYOUT_UL(1) << STACK_BIT)
#define STACK_SLOT	(STACK_BYTES * 2)
#define STACKS_PER_CPU	2
#define STACK_MAIN	0 /* slot of the thread and interrupt stack */
#define STACK_EMERGENCY 1 /* slot used when the main stack has overflowed */
#define STACK_EMERGENCY_BYTES                                                                      \
	LAYOUT_UL(0x2000) /* mapped part of the emergency slot, at its top                         \
			   */
#define STACK_CPU_BYTES	     (STACK_SLOT * STACKS_PER_CPU)
#define STACK_TOP(cpu, slot) (STACK_BASE + STACK_CPU_BYTES * (cpu) + STACK_SLOT * ((slot) + 1))
#define STACK_END	     LAYOUT_UL(0xffffffffd0000000)

#define DEVICE_BASE LAYOUT_UL(0xffffffffd0000000)
#define DEVICE_END  LAYOUT_UL(0xffffffffd8000000)

#define JIT_FAR_BASE LAYOUT_UL(0xffffffffd8000000)
#define JIT_FAR_END  LAYOUT_UL(0xfffffffff0000000)

#define JIT_NEAR_BASE LAYOUT_UL(0xfffffffff0200000)
#define JIT_NEAR_END  LAYOUT_UL(0xfffffffff8000000)

#define TEXT_BASE LAYOUT_UL(0xfffffffff8000000)
#define TEXT_END  (TEXT_BASE + BLOCK_BYTES)
#define DATA_BASE LAYOUT_UL(0xfffffffff8200000)
#define DATA_END  (DATA_BASE + BLOCK_BYTES)

/* Memory behind the load address that a boot loader must leave to us (Image header image_size):
 * up to 2 MB to reach the boundary, the text frame, the data frame. */
#define IMAGE_SPAN_BYTES (3 * BLOCK_BYTES)

/* The word that fills executable memory without code: BRK #BRK_FILL_IMM. */
#define BRK_FILL_IMM  0xdead
#define BRK_FILL_INSN (0xd4200000 | (BRK_FILL_IMM << 5))

/*
 * Translation table descriptors, 4 KB granule (Arm ARM, "VMSAv8-64 translation table format
 * descriptors").
 */
#define PTE_VALID     LAYOUT_UL(0x1)
#define PTE_TABLE     LAYOUT_UL(0x3) /* level 1 and 2: next table */
#define PTE_BLOCK     LAYOUT_UL(0x1) /* level 1 and 2 */
#define PTE_PAGE      LAYOUT_UL(0x3) /* level 3 */
#define PTE_TYPE      LAYOUT_UL(0x3)
#define PTE_ATTR(i)   (LAYOUT_UL(i) << 2)
#define PTE_ATTR_MASK (LAYOUT_UL(7) << 2)
#define PTE_EL0	      (LAYOUT_UL(1) << 6)
#define PTE_RO	      (LAYOUT_UL(1) << 7)
#define PTE_SH_INNER  (LAYOUT_UL(3) << 8)
#define PTE_AF	      (LAYOUT_UL(1) << 10)
#define PTE_NG	      (LAYOUT_UL(1) << 11)
#define PTE_CONTIG    (LAYOUT_UL(1) << 52)
#define PTE_PXN	      (LAYOUT_UL(1) << 53)
#define PTE_UXN	      (LAYOUT_UL(1) << 54)
#define PTE_ADDR      LAYOUT_UL(0x0000fffffffff000)

/* MAIR_EL1 and the indices into it. */
#define MAIR_NORMAL 0 /* write-back, read and write allocate */
#define MAIR_DEVICE 1 /* nGnRE */
#define MAIR_VALUE  LAYOUT_UL(0x00000000000004ff)

#define PTE_NORMAL (PTE_ATTR(MAIR_NORMAL) | PTE_SH_INNER | PTE_AF)
#define PTE_DEVICE (PTE_ATTR(MAIR_DEVICE) | PTE_AF)

/* The only four kinds of mapping there are. */
#define PTE_KERNEL_RX (PTE_NORMAL | PTE_RO | PTE_UXN)
#define PTE_KERNEL_RO (PTE_NORMAL | PTE_RO | PTE_UXN | PTE_PXN)
#define PTE_KERNEL_RW (PTE_NORMAL | PTE_UXN | PTE_PXN)
#define PTE_DEVICE_RW (PTE_DEVICE | PTE_UXN | PTE_PXN)

/*
 * TCR_EL1 without IPS: T0SZ = T1SZ = 25, 4 KB granules, walks inner shareable and write-back
 * cacheable, ASID of 8 bits from TTBR0.
 */
#define TCR_T0SZ      LAYOUT_UL(25)
#define TCR_T1SZ      (LAYOUT_UL(25) << 16)
#define TCR_WALK0     ((LAYOUT_UL(1) << 8) | (LAYOUT_UL(1) << 10) | (LAYOUT_UL(3) << 12))
#define TCR_WALK1     ((LAYOUT_UL(1) << 24) | (LAYOUT_UL(1) << 26) | (LAYOUT_UL(3) << 28))
#define TCR_TG1_4K    (LAYOUT_UL(2) << 30)
#define TCR_VALUE     (TCR_T0SZ | TCR_T1SZ | TCR_WALK0 | TCR_WALK1 | TCR_TG1_4K)
#define TCR_IPS_SHIFT 32
#define TCR_IPS_MAX   5 /* 48 bits: more needs another descriptor format */

/* ASIDs of TTBR0 (bits 63:48): the empty tree and the poke tree. */
#define ASID_EMPTY LAYOUT_UL(0)
#define ASID_POKE  LAYOUT_UL(1)
#define ASID_SHIFT 48

/*
 * SCTLR_EL1. Off: only the bits that are RES1 or keep Armv8.0 behaviour (LSMAOE nTLSMD SPAN EIS
 * TSCXT EOS). On: MMU, caches, stack alignment check, writable implies execute-never.
 */
#define SCTLR_OFF LAYOUT_UL(0x30d00800)
#define SCTLR_M	  (LAYOUT_UL(1) << 0)
#define SCTLR_C	  (LAYOUT_UL(1) << 2)
#define SCTLR_SA  (LAYOUT_UL(1) << 3)
#define SCTLR_I	  (LAYOUT_UL(1) << 12)
#define SCTLR_WXN (LAYOUT_UL(1) << 19)
#define SCTLR_ON  (SCTLR_OFF | SCTLR_M | SCTLR_C | SCTLR_SA | SCTLR_I | SCTLR_WXN)

#ifndef __ASSEMBLER__
_Static_assert(PERCPU_END <= STACK_BASE, "per-CPU areas end below the stacks");
_Static_assert(STACK_BASE + STACK_CPU_BYTES * MAX_CPUS <= STACK_BASE + BLOCK_BYTES,
	       "all stacks share one level 3 table");
_Static_assert(TEXT_END - JIT_NEAR_BASE == 128 * 1024 * 1024,
	       "a BL reaches from anywhere to anywhere in near window and text");
_Static_assert(DATA_BASE == TEXT_END, "data frame follows the text frame");
#endif
