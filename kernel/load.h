/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The console's `load`: receive a bundle by YMODEM into memory, then replay it. Nothing is replayed
 * unless all of it has arrived. Thread context, CPU 0.
 */
#pragma once

#include "include/base.h"

/* Begin. 0 or -EBUSY. */
int load_begin(uint64_t now_ns);
bool load_is_active(void);
/* Bytes from the line; returns how many were used. */
size_t load_rx(const uint8_t *bytes, size_t n, uint64_t now_ns);
/* Time has passed; returns when to call again at the latest. */
uint64_t load_poll(uint64_t now_ns);
