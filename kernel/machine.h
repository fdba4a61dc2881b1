/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine as a whole: what board_discover() found, boot arguments, and its end.
 */
#pragma once

#include "include/base.h"

struct board_info;

/* Filled once by machine_init; constant afterwards. */
const struct board_info *machine_get_info(void);

/*
 * Find out what this machine is; set up memory. Does not return if there is none. Boot core, first
 * of all.
 */
void machine_init(void);

/*
 * Value of key=value in the boot arguments ("" for a bare key): its length, -ENOENT, or -ERANGE if
 * it does not fit size with a NUL.
 */
int bootarg_get(const char *key, char *out, size_t size);
bool bootarg_is_set(const char *key);
/* Unsigned number, 0x for hexadecimal; dflt when absent or not a number. */
uint64_t bootarg_get_u64(const char *key, uint64_t dflt);

/*
 * The three ends of a session. status goes to QEMU when boot arguments hold `semihosting`, and
 * nowhere else. Interrupts are masked, other CPUs are the caller's affair. Context: any.
 *
 *   machine_off    power off; halts where the machine has no way to do that
 *   machine_reset  start over
 *   machine_halt   stop in place (with semihosting: leave the emulator)
 */
bool machine_has_semihosting(void);
void machine_off(uint32_t status) __attribute__((noreturn));
void machine_reset(void) __attribute__((noreturn));
void machine_halt(uint32_t status) __attribute__((noreturn));
