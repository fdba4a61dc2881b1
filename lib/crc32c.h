/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CRC-32C (Castagnoli), as iSCSI has it: RFC 3720 section 12.1; polynomial 0x1EDC6F41, reflected,
 * initial value and final xor all ones. The check value of "123456789" is 0xE3069283.
 */
#pragma once

#include "include/base.h"

/*
 * Continue crc over len bytes. The first call passes 0; the result is the checksum of everything so
 * far, so a text may be given in pieces of any length. Context: any.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);
