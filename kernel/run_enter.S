/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * int run_call(uint64_t *saved_sp, uint64_t (*fn)(void *), void *arg, uint64_t *ret)
 *
 * Call fn(arg), store its result to *ret and return 0; or, when run_abort_return is entered with
 * SP = *saved_sp, return -EFAULT with *ret untouched. General registers only: neither programs nor
 * their helpers have vector registers in use.
 *
 *   SP + 0    x29, x30
 *      + 16   x19 ... x28
 *      + 96   ret
 */
	.text
	.global run_call, run_abort_return, run_abort_jump
	.type	run_call, %function
run_call:
	stp	x29, x30, [sp, #-112]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	stp	x21, x22, [sp, #32]
	stp	x23, x24, [sp, #48]
	stp	x25, x26, [sp, #64]
	stp	x27, x28, [sp, #80]
	str	x3, [sp, #96]
	mov	x9, sp
	str	x9, [x0]
	mov	x0, x2
	blr	x1
	ldr	x3, [sp, #96]
	str	x0, [x3]
	mov	w0, wzr
1:	ldp	x19, x20, [sp, #16]
	ldp	x21, x22, [sp, #32]
	ldp	x23, x24, [sp, #48]
	ldp	x25, x26, [sp, #64]
	ldp	x27, x28, [sp, #80]
	ldp	x29, x30, [sp], #112
	ret
	.size	run_call, . - run_call

	.type	run_abort_jump, %function
run_abort_jump:
	msr	daifset, #0xf
	mov	sp, x0
	.type	run_abort_return, %function
run_abort_return:
	mov	w0, #-14			/* -EFAULT */
	b	1b
	.size	run_abort_return, . - run_abort_return
