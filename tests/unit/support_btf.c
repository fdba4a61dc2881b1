/* SPDX-License-Identifier: BSD-2-Clause */
#include "support_btf.h"

#include <stdlib.h>
#include <string.h>

#include "bpf/log.h"
#include "include/err.h"

void btf_make_begin(struct btf_maker *b)
{
	memset(b, 0, sizeof(*b));
	b->names_len = 1;
}

uint32_t btf_make_name(struct btf_maker *b, const char *text)
{
	uint32_t off = b->names_len;

	if (!*text)
		return 0;
	memcpy(b->names + off, text, strlen(text) + 1);
	b->names_len += (uint32_t)strlen(text) + 1;
	return off;
}

void btf_make_word(struct btf_maker *b, uint32_t w)
{
	b->words[b->nr++] = w;
}

void btf_make_type(struct btf_maker *b, const char *text, uint32_t info, uint32_t size_or_type)
{
	btf_make_word(b, btf_make_name(b, text));
	btf_make_word(b, info);
	btf_make_word(b, size_or_type);
}

void btf_make_type_int(struct btf_maker *b, const char *text, uint32_t bytes)
{
	btf_make_type(b, text, BTF_MAKE_INFO(BTF_KIND_INT, 0, 0), bytes);
	btf_make_word(b, BTF_INT_SIGNED << 24 | bytes * 8);
}

void btf_make_member(struct btf_maker *b, const char *text, uint32_t of, uint32_t off)
{
	btf_make_word(b, btf_make_name(b, text));
	btf_make_word(b, of);
	btf_make_word(b, off);
}

uint32_t btf_make_finish(const struct btf_maker *b, uint8_t *out)
{
	struct btf_header hdr = { .magic = BTF_MAGIC,
				  .version = BTF_VERSION,
				  .hdr_len = sizeof(hdr),
				  .type_len = b->nr * 4,
				  .str_off = b->nr * 4,
				  .str_len = b->names_len };

	memcpy(out, &hdr, sizeof(hdr));
	memcpy(out + sizeof(hdr), b->words, b->nr * 4);
	memcpy(out + sizeof(hdr) + b->nr * 4, b->names, b->names_len);
	return (uint32_t)sizeof(hdr) + b->nr * 4 + b->names_len;
}

char btf_log_text[4096];

int btf_load_bytes(const uint8_t *bytes, uint32_t size, struct bpf_btf **btf)
{
	/* Exact size, so that the sanitizer watches the end. */
	uint8_t *copy = malloc(size ? size : 1);
	struct bpf_log log;
	uint32_t true_size;
	int err;

	memcpy(copy, bytes, size);
	bpf_log_init(&log, BPF_LOG_LEVEL1, btf_log_text, sizeof(btf_log_text));
	err = btf_load(copy, size, &log, btf);
	if (bpf_log_finish(&log, &true_size))
		err = err ? err : -ENOSPC;
	free(copy);
	return err;
}

int btf_load_made(const struct btf_maker *b, struct bpf_btf **btf)
{
	static uint8_t bytes[8192];

	return btf_load_bytes(bytes, btf_make_finish(b, bytes), btf);
}
