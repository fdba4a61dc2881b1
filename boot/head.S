/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First instructions of the boot core: arm64 Image header, move to a 2 MB boundary, early tables,
 * MMU on, kernel.
 *
 * Everything up to the jump in mmu_enable runs at a physical address that the linker does not know.
 * ADR and ADRP are relative, so they give physical addresses there; absolute words from literal
 * pools give link addresses. Before the move text and data are not at the distances they are linked
 * at (the file has no gap between them), so only ADR within this section is used until then.
 * All memory is Device memory: aligned accesses only, no exclusives.
 */
#include "boot/boot.h"
#include "mm/layout.h"

	.section .head.text, "ax"

/* Header: Linux Documentation, "Booting AArch64 Linux", section "Call the kernel image". */
	.global _start
_start:
	b	boot_entry
	.long	0
	.quad	0			/* text_offset: from a 2 MB boundary */
	.quad	IMAGE_SPAN_BYTES	/* image_size: what we write to, BSS and more */
	.quad	0xa			/* little endian, 4 KB pages, anywhere in memory */
	.quad	0, 0, 0
	.ascii	"ARM\x64"
	.long	0

/*
 * x19 load address   x20 device tree   x21 entry EL   x22 frame A   x23 D-cache line bytes
 */
boot_entry:
	msr	daifset, #0xf		/* some loaders leave SError open */
	mov	x20, x0
	adr	x19, _start
	mrs	x21, CurrentEL
	lsr	x21, x21, #2
	bl	el1_enter

	/* Frame A: the next 2 MB boundary, but past a device tree that would be written over. Its
	 * size is not read here (x0 may be anything): 2 MB is the most a tree may have. */
	mov	x0, #BLOCK_BYTES
	sub	x1, x0, #1
	add	x22, x19, x1
	bic	x22, x22, x1
	add	x2, x20, x0		/* end of tree */
	cmp	x2, x22
	b.ls	1f			/* ends before frame A */
	add	x3, x22, x0, lsl #1	/* end of the data frame */
	cmp	x20, x3
	b.hs	1f			/* starts behind it */
	add	x22, x2, x1
	bic	x22, x22, x1
1:
	mrs	x23, ctr_el0
	ubfx	x23, x23, #16, #4	/* DminLine, log2 of words */
	mov	x0, #4
	lsl	x23, x0, x23

	/* Lines of both frames that some earlier stage left dirty must not be written back later
	 * over what we store with the caches off. */
	ldr	x1, =__image_boot_bytes
	add	x1, x22, x1
	mov	x0, x22
1:	dc	civac, x0
	add	x0, x0, x23
	dc	civac, x0
	add	x0, x0, x23
	dc	civac, x0
	add	x0, x0, x23
	dc	civac, x0
	add	x0, x0, x23
	cmp	x0, x1
	b.lo	1b
	dsb	sy

	/* rodata and data first: the target is past the loaded file, no overlap. Sizes are
	 * multiples of 32, see linker.ld. */
	ldr	x0, =__image_data_offset
	add	x0, x19, x0
	add	x1, x22, #BLOCK_BYTES
	ldr	x2, =__image_data_bytes
	add	x2, x0, x2
1:	ldp	x3, x4, [x0], #16
	ldp	x5, x6, [x0], #16
	stp	x3, x4, [x1], #16
	stp	x5, x6, [x1], #16
	cmp	x0, x2
	b.lo	1b

	/* Text, from its end: the target may overlap the source from above, and begins at least
	 * a page above it, so that this code (in the first page) is not overwritten. */
	cmp	x22, x19
	b.eq	2f
	ldr	x2, =__image_data_offset
	add	x0, x19, x2
	add	x1, x22, x2
1:	ldp	x3, x4, [x0, #-16]!
	ldp	x5, x6, [x0, #-16]!
	stp	x3, x4, [x1, #-16]!
	stp	x5, x6, [x1, #-16]!
	cmp	x0, x19
	b.hi	1b
2:
	/* The rest of the text frame traps. */
	ldr	x2, =__image_data_offset
	add	x0, x22, x2
	add	x1, x22, #BLOCK_BYTES
	ldr	w2, =BRK_FILL_INSN
	orr	x2, x2, x2, lsl #32
1:	stp	x2, x2, [x0]			/* text ends with a page */
	stp	x2, x2, [x0, #16]
	stp	x2, x2, [x0, #32]
	stp	x2, x2, [x0, #48]
	stp	x2, x2, [x0, #64]
	stp	x2, x2, [x0, #80]
	stp	x2, x2, [x0, #96]
	stp	x2, x2, [x0, #112]
	stp	x2, x2, [x0, #128]
	stp	x2, x2, [x0, #144]
	stp	x2, x2, [x0, #160]
	stp	x2, x2, [x0, #176]
	stp	x2, x2, [x0, #192]
	stp	x2, x2, [x0, #208]
	stp	x2, x2, [x0, #224]
	stp	x2, x2, [x0, #240]
	add	x0, x0, #256
	cmp	x0, x1
	b.lo	1b

	dsb	sy
	ic	iallu
	dsb	sy
	isb
	adr	x0, boot_moved
	sub	x0, x0, x19
	add	x0, x0, x22
	br	x0

	.ltorg

/* From here text and data are at their linked distances, in frame A and the frame after it. */
boot_moved:
	adrp	x0, __bss_start
	add	x0, x0, :lo12:__bss_start
	adrp	x1, __bss_end
	add	x1, x1, :lo12:__bss_end
1:	stp	xzr, xzr, [x0], #16
	stp	xzr, xzr, [x0], #16
	stp	xzr, xzr, [x0], #16
	stp	xzr, xzr, [x0], #16
	cmp	x0, x1
	b.lo	1b

	adrp	x0, boot_info
	add	x0, x0, :lo12:boot_info
	str	x22, [x0, #BOOT_TEXT_PA]
	str	x20, [x0, #BOOT_FDT_PA]
	str	x21, [x0, #BOOT_ENTRY_EL]
	str	x19, [x0, #BOOT_LOAD_PA]

	/* The C code that builds the tables needs a stack: the page behind bss for now. */
	adrp	x1, __image_end
	add	x1, x1, :lo12:__image_end
	add	sp, x1, #PAGE_BYTES
	mov	x29, xzr
	mov	x30, xzr
	bl	early_mmu_build

	/* Drop clean lines that were fetched ahead while we wrote past the caches. */
	ldr	x1, =__image_boot_bytes
	add	x1, x22, x1
	mov	x0, x22
1:	dc	ivac, x0
	add	x0, x0, x23
	dc	ivac, x0
	add	x0, x0, x23
	dc	ivac, x0
	add	x0, x0, x23
	dc	ivac, x0
	add	x0, x0, x23
	cmp	x0, x1
	b.lo	1b
	dsb	sy

	ldr	x30, =boot_high
	b	mmu_enable

/* Upper half, MMU and caches on. */
boot_high:
	ldr	x0, =STACK_TOP(0, STACK_MAIN)
	mov	sp, x0
	ldr	x0, =PERCPU_BASE
	msr	tpidr_el1, x0
	adrp	x0, vectors
	add	x0, x0, :lo12:vectors
	msr	vbar_el1, x0
	isb
	mov	x29, xzr
	mov	x30, xzr
	bl	kernel_main
1:	wfi
	b	1b

/* \to: not zero if the core has pointer authentication. */
	.macro	pauth_fields to, tmp
	mrs	\to, id_aa64isar1_el1
	mrs	\tmp, S3_0_C0_C6_2	/* ID_AA64ISAR2_EL1 */
	and	\to, \to, #0xff0	/* APA, API */
	and	\tmp, \tmp, #0xf000	/* APA3 */
	orr	\to, \to, \tmp
	.endm

/*
 * Leave whatever exception level this core started in for EL1 with the MMU off, interrupts masked.
 * Returns to x30. Uses x0 to x3. Also for secondary cores.
 */
	.global el1_enter
el1_enter:
	mrs	x0, CurrentEL
	cmp	x0, #(2 << 2)
	b.lo	el1_state
	b.eq	el2_leave

	/* EL3: non-secure, AArch64 below, HVC on, SMC off: nobody serves it. */
	mov	x0, #0x5b1	/* RW HCE SMD RES1 NS */
	mrs	x1, id_aa64mmfr0_el1
	ubfx	x1, x1, #56, #4		/* FEAT_FGT: EL2 may write its registers */
	cbz	x1, 1f
	orr	x0, x0, #(1 << 27)	/* FGTEn */
1:	pauth_fields x1, x2
	cbz	x1, 1f
	orr	x0, x0, #(3 << 16)	/* APK, API: no traps of pointer authentication */
1:	msr	scr_el3, x0
	msr	cptr_el3, xzr
	mrs	x0, id_aa64dfr0_el1
	ubfx	x0, x0, #8, #4
	cbz	x0, 1f
	msr	mdcr_el3, xzr		/* no traps of the PMU */
1:	mrs	x0, id_aa64pfr0_el1
	ubfx	x1, x0, #24, #4
	cbz	x1, 1f
	mrs	x1, S3_6_C12_C12_5	/* ICC_SRE_EL3 */
	orr	x1, x1, #0x1		/* SRE */
	orr	x1, x1, #0x8		/* Enable: allow it below */
	msr	S3_6_C12_C12_5, x1
	isb
1:	ubfx	x1, x0, #8, #4		/* is there an EL2? */
	mov	x2, #0x3c5		/* EL1h, DAIF masked */
	mov	x3, #0x3c9		/* EL2h */
	cmp	x1, #0
	csel	x2, x2, x3, eq
	msr	spsr_el3, x2
	adr	x1, el1_state
	adr	x3, el2_leave
	csel	x1, x1, x3, eq
	msr	elr_el3, x1
	eret

el2_leave:
	mov	x0, #(1 << 31)		/* HCR_EL2.RW; with E2H = 0 before CPTR and CNTHCTL */
	pauth_fields x1, x2
	cbz	x1, 1f
	orr	x0, x0, #(3 << 40)	/* API, APK: no traps of pointer authentication */
1:	msr	hcr_el2, x0
	isb
	mov	x0, #3
	msr	cnthctl_el2, x0		/* EL1 reads the physical counter and timer */
	msr	cntvoff_el2, xzr
	mov	x0, #0x33ff		/* RES1 bits only: no FP traps */
	msr	cptr_el2, x0
	msr	hstr_el2, xzr
	msr	vttbr_el2, xzr
	mrs	x0, midr_el1
	msr	vpidr_el2, x0
	mrs	x0, mpidr_el1
	msr	vmpidr_el2, x0

	mrs	x0, id_aa64dfr0_el1
	ubfx	x0, x0, #8, #4		/* PMUVer: 0 none, 15 not the architecture's */
	cbz	x0, 1f
	cmp	x0, #0xf
	b.eq	1f
	mrs	x0, pmcr_el0
	ubfx	x0, x0, #11, #5
	msr	mdcr_el2, x0		/* HPMN = N: every counter belongs to EL1; no traps */
1:
	mrs	x0, id_aa64pfr0_el1
	ubfx	x0, x0, #24, #4		/* GIC system registers */
	cbz	x0, 1f
	mrs	x0, S3_4_C12_C9_5	/* ICC_SRE_EL2 */
	orr	x0, x0, #0x1		/* SRE */
	orr	x0, x0, #0x8		/* Enable: allow it at EL1 */
	msr	S3_4_C12_C9_5, x0
	isb
	msr	S3_4_C12_C11_0, xzr	/* ICH_HCR_EL2 */
1:
	mrs	x0, id_aa64mmfr0_el1
	ubfx	x0, x0, #56, #4		/* FEAT_FGT: fine-grained traps are unknown at reset */
	cbz	x0, 1f
	msr	S3_4_C1_C1_4, xzr	/* HFGRTR_EL2 */
	msr	S3_4_C1_C1_5, xzr	/* HFGWTR_EL2 */
	msr	S3_4_C1_C1_6, xzr	/* HFGITR_EL2 */
	msr	S3_4_C3_C1_4, xzr	/* HDFGRTR_EL2 */
	msr	S3_4_C3_C1_5, xzr	/* HDFGWTR_EL2 */
1:
	adr	x0, el2_vectors
	msr	vbar_el2, x0
	mov	x0, #0x3c5		/* EL1h, DAIF masked */
	msr	spsr_el2, x0
	adr	x0, el1_state
	msr	elr_el2, x0
	ldr	x0, =SCTLR_OFF
	msr	sctlr_el1, x0
	eret

/* At EL1 in any case; x30 is the caller's. */
el1_state:
	ldr	x0, =SCTLR_OFF
	msr	sctlr_el1, x0
	mov	x0, #(3 << 20)
	msr	cpacr_el1, x0		/* libc and libfdt use vector registers */

	/* Count cycles and retired instructions from here on: kernel/pmu.c reads them. */
	mrs	x0, id_aa64dfr0_el1
	ubfx	x0, x0, #8, #4		/* PMUVer, as above */
	cbz	x0, 1f
	cmp	x0, #0xf
	b.eq	1f
	mov	x0, #0xffffffff
	msr	pmcntenclr_el0, x0
	msr	pmintenclr_el1, x0
	msr	pmovsclr_el0, x0
	msr	pmuserenr_el0, xzr
	msr	pmccfiltr_el0, xzr
	mov	x0, #0x46		/* PMCR_EL0: LC, reset all counters */
	msr	pmcr_el0, x0
	mrs	x1, pmcr_el0
	ubfx	x1, x1, #11, #5		/* N */
	mov	x0, #(1 << 31)
	cbz	x1, 2f
	mov	x1, #0x08		/* INST_RETIRED; without it the counter stays 0 */
	msr	pmevtyper0_el0, x1
	orr	x0, x0, #1
2:	msr	pmcntenset_el0, x0
	mov	x0, #0x41		/* LC, E */
	msr	pmcr_el0, x0
1:	isb
	ret

/*
 * Turn the MMU and the caches on and jump to x30, an address of the upper half. The lower half maps
 * this code meanwhile, and nothing afterwards. Expects boot_info filled. Uses x0 to x3.
 */
	.global mmu_enable
mmu_enable:
	adrp	x0, boot_info
	add	x0, x0, :lo12:boot_info
	ldr	x1, [x0, #BOOT_IDMAP_PA]
	msr	ttbr0_el1, x1
	ldr	x1, [x0, #BOOT_ROOT_PA]
	msr	ttbr1_el1, x1
	ldr	x1, [x0, #BOOT_TCR]
	msr	tcr_el1, x1
	ldr	x1, =MAIR_VALUE
	msr	mair_el1, x1
	ldr	x2, [x0, #BOOT_EMPTY_PA]
	ldr	x3, =SCTLR_ON
	isb
	tlbi	vmalle1
	ic	iallu
	dsb	nsh
	isb
	msr	sctlr_el1, x3
	isb
	adr	x1, 1f
	ldr	x0, =TEXT_BASE
	bfi	x0, x1, #0, #BLOCK_SHIFT
	br	x0
1:	msr	ttbr0_el1, x2
	isb
	tlbi	vmalle1
	dsb	nsh
	isb
	ret	x30

	.ltorg

/*
 * EL2 keeps only this: a hypervisor call nobody serves (PSCI over the wrong conduit) gets "not
 * supported" instead of a hang, anything else stops.
 */
	.balign	2048
el2_vectors:
	.rept	8
	.balign	128
	b	.
	.endr
	.balign	128
	mrs	x0, esr_el2		/* synchronous, from EL1 */
	lsr	x0, x0, #26
	cmp	x0, #0x16		/* HVC from AArch64 */
	b.ne	.
	mov	x0, #-1
	eret
	.rept	7
	.balign	128
	b	.
	.endr
	.balign	128
