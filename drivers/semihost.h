/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Semihosting, as far as it ends an emulator with an exit status (Semihosting for AArch32 and
 * AArch64, SYS_EXIT with a parameter block). Without a debugger or emulator that listens, the call
 * is an undefined instruction: make it only where the user has asked for it.
 */
#pragma once

#include "include/base.h"

/* End the emulation with this status. Returns if nobody listens and the exception was skipped. */
void semihost_exit(uint32_t status);
