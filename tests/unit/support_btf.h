/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests: BTF made by hand, type after type, and loading it. */
#pragma once

#include <linux/btf.h>

#include "bpf/btf.h"

/* A builder of BTF: types as words, names as they come. */
struct btf_maker {
	uint32_t words[1024];
	uint32_t nr;
	char names[2048];
	uint32_t names_len;
};

#define BTF_MAKE_INFO(kind, kflag, vlen) ((uint32_t)(kflag) << 31 | (uint32_t)(kind) << 24 | (vlen))

void btf_make_begin(struct btf_maker *b);
uint32_t btf_make_name(struct btf_maker *b, const char *text);
void btf_make_word(struct btf_maker *b, uint32_t w);
void btf_make_type(struct btf_maker *b, const char *text, uint32_t info, uint32_t size_or_type);
void btf_make_type_int(struct btf_maker *b, const char *text, uint32_t bytes);
void btf_make_member(struct btf_maker *b, const char *text, uint32_t of, uint32_t off);
uint32_t btf_make_finish(const struct btf_maker *b, uint8_t *out);
int btf_load_bytes(const uint8_t *bytes, uint32_t size, struct bpf_btf **btf);
int btf_load_made(const struct btf_maker *b, struct bpf_btf **btf);

/* What the last load logged. */
extern char btf_log_text[4096];
