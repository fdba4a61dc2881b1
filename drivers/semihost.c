/* SPDX-License-Identifier: BSD-2-Clause */
#include "drivers/semihost.h"

#define SYS_EXIT		0x18u
#define ADP_STOPPED_APPLICATION 0x20026u

void semihost_exit(uint32_t status)
{
	uint64_t block[2] = { ADP_STOPPED_APPLICATION, status };
	register uint64_t x0 __asm__("x0") = SYS_EXIT;
	register uint64_t x1 __asm__("x1") = (uint64_t)(uintptr_t)block;

	__asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
}
