/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs print (bpf_trace_printk): a ring of text lines that a client reads from any
 * position, as from Linux's trace_pipe. hal_trace (include/hal.h) is implemented here.
 */
#pragma once

#include "include/base.h"

/*
 * Text from position *pos on (bytes ever written, from 0) to buf; returns how many bytes, and
 * advances *pos. *lost: bytes between the wanted position and the first still kept. Context: any.
 */
uint32_t trace_read(char *buf, uint32_t len, uint64_t *pos, uint64_t *lost);
/* Position behind the last byte written. */
uint64_t trace_end(void);
