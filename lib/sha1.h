/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * SHA-1, FIPS 180-4. Program tags are its first 8 bytes, as in Linux; it is a name there, not a
 * protection.
 */
#pragma once

#include "include/base.h"

#define SHA1_BYTES	 20
#define SHA1_BLOCK_BYTES 64

struct sha1 {
	uint32_t h[5];
	uint64_t len_bytes; /* taken so far */
	uint8_t block[SHA1_BLOCK_BYTES];
};

/* init, any number of updates, final. Context: any. */
void sha1_init(struct sha1 *s);
void sha1_update(struct sha1 *s, const void *data, size_t len);
/* s must be initialised again before its next use. */
void sha1_final(struct sha1 *s, uint8_t digest[SHA1_BYTES]);
