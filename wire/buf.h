/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Building and reading messages: a growing output buffer, a bounded input, and the three encodings
 * that messages are made of. Errors stick, so that a message is built or read in a row of calls
 * and judged once at the end.
 *
 *   number   7 bits a byte, low ones first, bit 7 set on all but the last; at most 10 bytes
 *   bytes    as they are
 *   sparse   n bytes (n is known beforehand) with runs of zeros left out; a row of tokens:
 *              00..7f  t+1 bytes follow, copied
 *              80..bf  10zzzlll: z+1 zeros, then l+1 bytes that follow
 *              c0..fe  t-bf zeros (1..63)
 *              ff      number m follows: m+64 zeros
 *            A row that makes more or fewer than n bytes is bad. Worst case n + n/128 + 1 bytes.
 */
#pragma once

#include "include/base.h"
#include "include/err.h"

/* Memory from hal_alloc. Zero it to start. */
struct wire_buf {
	uint8_t *data;
	size_t len, cap;
	int err; /* 0, or -ENOMEM: something is missing from data */
};

void wire_buf_free(struct wire_buf *b);
/* Append n bytes and return where they are (uninitialised), or NULL with b->err set. */
uint8_t *wire_buf_grow(struct wire_buf *b, size_t n);
/* The code of num; its length. For messages that must not need memory. */
#define WIRE_NUM_MAX 10
size_t wire_num_code(uint8_t code[WIRE_NUM_MAX], uint64_t num);
static inline size_t wire_snum_code(uint8_t code[WIRE_NUM_MAX], int64_t num)
{
	return wire_num_code(code, (uint64_t)num << 1 ^ (uint64_t)(num >> 63));
}
void wire_put_bytes(struct wire_buf *b, const void *data, size_t n);
void wire_put_num(struct wire_buf *b, uint64_t num);
/* Signed numbers: sign in bit 0, so that small negative ones stay short. */
void wire_put_snum(struct wire_buf *b, int64_t num);
void wire_put_sparse(struct wire_buf *b, const void *data, size_t n);

/* What is left of a message. */
struct wire_in {
	const uint8_t *p, *end;
	int err; /* 0, or -EBADMSG: a read asked for more than there was, or met a bad code */
};

static inline struct wire_in wire_in(const void *msg, size_t len)
{
	return (struct wire_in){ .p = msg, .end = (const uint8_t *)msg + len };
}
/* n bytes, or NULL with in->err set. */
const uint8_t *wire_get_bytes(struct wire_in *in, size_t n);
/* After an error: 0. */
uint64_t wire_get_num(struct wire_in *in);
int64_t wire_get_snum(struct wire_in *in);
/* A number that may not pass max: else 0 with in->err set. */
uint32_t wire_get_u32(struct wire_in *in, uint32_t max);
/* n bytes into dst; after an error dst holds anything. */
void wire_get_sparse(struct wire_in *in, void *dst, size_t n);
