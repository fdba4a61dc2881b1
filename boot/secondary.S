/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A core released by PSCI or from a spin table: out of EL2, find the own number, MMU on, kernel.
 * Memory is Device memory until then: no exclusives, aligned accesses.
 */
#include "boot/boot.h"
#include "mm/layout.h"

	.text
	.global secondary_entry
	.type	secondary_entry, %function
secondary_entry:
	msr	daifset, #0xf
	bl	el1_enter

	mrs	x0, mpidr_el1
	and	x1, x0, #0xffffff		/* Aff2..Aff0 */
	and	x0, x0, #0xff00000000		/* Aff3 */
	orr	x0, x0, x1
	adrp	x1, boot_cpu_mpidr
	add	x1, x1, :lo12:boot_cpu_mpidr
	mov	x19, #1				/* CPU 0 is not started this way */
1:	ldr	x2, [x1, x19, lsl #3]
	cmp	x0, x2
	b.eq	2f
	add	x19, x19, #1
	cmp	x19, #MAX_CPUS
	b.lo	1b
3:	wfi					/* not one of ours */
	b	3b

2:	ldr	x30, =secondary_high
	b	mmu_enable

secondary_high:
	ldr	x0, =STACK_TOP(0, STACK_MAIN)
	mov	x1, #STACK_CPU_BYTES
	madd	x0, x19, x1, x0
	mov	sp, x0
	ldr	x0, =PERCPU_BASE
	mov	x1, #PERCPU_STRIDE
	madd	x0, x19, x1, x0
	msr	tpidr_el1, x0
	adrp	x0, vectors
	add	x0, x0, :lo12:vectors
	msr	vbar_el1, x0
	isb
	mov	x0, x19
	mov	x29, xzr
	mov	x30, xzr
	bl	smp_secondary_main
1:	wfi
	b	1b
	.size	secondary_entry, . - secondary_entry
