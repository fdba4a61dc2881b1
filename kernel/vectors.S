/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exception entry and return. Every exception saves a whole struct trap_frame and calls
 * trap_handle(frame); there is no user mode, so a frame always lies on the stack of the code that
 * was interrupted, unless that has overflowed.
 *
 * TPIDR_EL0 and TPIDRRO_EL0, which nothing else uses, hold x0 and x1 until there is a frame.
 */
#include "kernel/trap.h"
#include "mm/layout.h"

	.macro	vector kind
	.balign	128
	msr	tpidr_el0, x0
	msr	tpidrro_el0, x1
	mov	x0, #\kind
	b	trap_entry
	.endm

	.section .vectors.text, "ax"
	.balign	2048
	.global vectors
vectors:
	.irp	kind, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vector	\kind
	.endr

/* x0 kind, x1 free */
trap_entry:
	sub	sp, sp, #TRAP_FRAME_BYTES
	mov	x1, sp
	eor	x1, x1, #STACK_BASE
	tst	x1, #(~BLOCK_MASK | 0xf)	/* among the stacks, and aligned? */
	b.ne	trap_bad_stack
	tbz	x1, #STACK_BIT, trap_bad_stack	/* not in a guard? */
	add	x1, sp, #TRAP_FRAME_BYTES
	stp	x0, xzr, [sp, #TRAP_KIND]
	str	x1, [sp, #TRAP_SP]

trap_save:
	mrs	x0, tpidr_el0
	mrs	x1, tpidrro_el0
	stp	x0, x1, [sp, #TRAP_X(0)]
	stp	x2, x3, [sp, #TRAP_X(2)]
	stp	x4, x5, [sp, #TRAP_X(4)]
	stp	x6, x7, [sp, #TRAP_X(6)]
	stp	x8, x9, [sp, #TRAP_X(8)]
	stp	x10, x11, [sp, #TRAP_X(10)]
	stp	x12, x13, [sp, #TRAP_X(12)]
	stp	x14, x15, [sp, #TRAP_X(14)]
	stp	x16, x17, [sp, #TRAP_X(16)]
	stp	x18, x19, [sp, #TRAP_X(18)]
	stp	x20, x21, [sp, #TRAP_X(20)]
	stp	x22, x23, [sp, #TRAP_X(22)]
	stp	x24, x25, [sp, #TRAP_X(24)]
	stp	x26, x27, [sp, #TRAP_X(26)]
	stp	x28, x29, [sp, #TRAP_X(28)]
	str	x30, [sp, #TRAP_X(30)]
	mrs	x1, elr_el1
	mrs	x2, spsr_el1
	stp	x1, x2, [sp, #TRAP_PC]
	mrs	x3, esr_el1
	mrs	x4, far_el1
	stp	x3, x4, [sp, #TRAP_ESR]
	stp	x29, x1, [sp, #TRAP_RECORD]
	add	x29, sp, #TRAP_RECORD
	mov	x0, sp
	bl	trap_handle
	mov	x0, sp

/* Resume from the frame at x0, wherever it is. Interrupts are masked. */
	.global trap_resume
trap_resume:
	ldr	x1, [x0, #TRAP_SP]
	mov	sp, x1
	ldp	x1, x2, [x0, #TRAP_PC]
	msr	elr_el1, x1
	msr	spsr_el1, x2
	ldp	x2, x3, [x0, #TRAP_X(2)]
	ldp	x4, x5, [x0, #TRAP_X(4)]
	ldp	x6, x7, [x0, #TRAP_X(6)]
	ldp	x8, x9, [x0, #TRAP_X(8)]
	ldp	x10, x11, [x0, #TRAP_X(10)]
	ldp	x12, x13, [x0, #TRAP_X(12)]
	ldp	x14, x15, [x0, #TRAP_X(14)]
	ldp	x16, x17, [x0, #TRAP_X(16)]
	ldp	x18, x19, [x0, #TRAP_X(18)]
	ldp	x20, x21, [x0, #TRAP_X(20)]
	ldp	x22, x23, [x0, #TRAP_X(22)]
	ldp	x24, x25, [x0, #TRAP_X(24)]
	ldp	x26, x27, [x0, #TRAP_X(26)]
	ldp	x28, x29, [x0, #TRAP_X(28)]
	ldr	x30, [x0, #TRAP_X(30)]
	ldp	x0, x1, [x0, #TRAP_X(0)]
	eret

/*
 * SP has left its stack. Go on at the top of this CPU's emergency stack, unless that is where SP
 * came from: then the report of an overflow has overflowed and nothing can be said any more.
 */
trap_bad_stack:
	mrs	x1, tpidr_el1
	ubfx	x1, x1, #26, #3			/* CPU: per-CPU areas are 2^26 apart */
	lsl	x1, x1, #17			/* two slots of 2^16 */
	orr	x1, x1, #STACK_BASE
	add	x1, x1, #STACK_CPU_BYTES	/* top of the emergency stack */
	sub	x1, sp, x1
	cmn	x1, #(STACK_SLOT)		/* SP within the slot below the top? */
	b.hs	trap_park
	sub	x1, sp, x1			/* the top again */
	sub	x1, x1, #TRAP_FRAME_BYTES
	str	x0, [x1, #TRAP_KIND]
	add	x0, sp, #TRAP_FRAME_BYTES
	str	x0, [x1, #TRAP_SP]
	mov	x0, #1
	str	x0, [x1, #(TRAP_KIND + 8)]
	mov	sp, x1
	b	trap_save

trap_park:
	wfi
	b	trap_park

	.if	PERCPU_STRIDE != 1 << 26
	.error	"trap_bad_stack takes the CPU from bits 28:26 of its area's address"
	.endif
	.if	PERCPU_BASE & (MAX_CPUS * PERCPU_STRIDE - 1)
	.error	"per-CPU areas are not aligned to their total size"
	.endif

/*
 * size_t trap_copy_from(void *dst, const void *src, size_t n): plain loop of words, then bytes.
 * The loads are in the fix-up table, which sends them to the return with x2 = bytes left.
 */
	.macro	fixup from, to
	.pushsection .extable, "a"
	.balign	8
	.quad	\from, \to
	.popsection
	.endm

	.text
	.global trap_copy_from
	.type	trap_copy_from, %function
trap_copy_from:
	cmp	x2, #8
	b.lo	2f
1:	ldr	x3, [x1]
	str	x3, [x0], #8
	add	x1, x1, #8
	sub	x2, x2, #8
	cmp	x2, #8
	b.hs	1b
2:	cbz	x2, 4f
3:	ldrb	w3, [x1]
	strb	w3, [x0], #1
	add	x1, x1, #1
	sub	x2, x2, #1
	cbnz	x2, 3b
4:	mov	x0, x2
	ret
	fixup	1b, 3b				/* a word may end in a bad page: go on by bytes */
	fixup	3b, 4b
	.size	trap_copy_from, . - trap_copy_from

	.global trap_try_store32
	.type	trap_try_store32, %function
trap_try_store32:
1:	str	w1, [x0]
	mov	w0, wzr
	ret
2:	mov	w0, #-14			/* -EFAULT */
	ret
	fixup	1b, 2b
	.size	trap_try_store32, . - trap_try_store32

	.global trap_try_load32
	.type	trap_try_load32, %function
trap_try_load32:
1:	ldr	w2, [x0]
	str	w2, [x1]
	mov	w0, wzr
	ret
2:	mov	w0, #-14
	ret
	fixup	1b, 2b
	.size	trap_try_load32, . - trap_try_load32
