/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random numbers: one ChaCha8 generator a CPU, keyed from the boot seed of the device tree, the
 * RNDR instruction and the jitter of the counter, as far as the machine has them. Outputs do not
 * betray the key, so a program that sees them learns nothing of the secrets of hash maps.
 * hal_random_u64 (include/hal.h) is implemented here.
 */
#pragma once

#include "include/base.h"

/* Key this CPU's generator. seed: bytes from the loader, may be empty. Each CPU for itself. */
void random_init_cpu(const void *seed, size_t bytes);
