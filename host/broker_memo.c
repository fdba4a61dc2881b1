/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libbpf asks the kernel what it can do by loading tiny objects and closing them again: 19 of the
 * 32 calls of a small `bpftool prog load`. The answer depends on the bytes of the request alone, so
 * it is asked for once per boot of the board. Later the stored answer is given, with an object that
 * is made on the board only when something else is done with it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "include/err.h"
#include "lib/crc32c.h"
#include "host/broker.h"

#define MEMO_MAX	(1u << 15)
#define PROBE_INSNS_MAX 8
#define PROBE_BTF_MAX	160

static bool libbpf_name(const char *name)
{
	return !strncmp(name, "libbpf_", 7);
}

bool memo_wants(const struct bpf_call *call)
{
	const union bpf_attr *a = &call->attr.bpf;

	switch (call->cmd) {
	case BPF_PROG_LOAD:
		return a->insn_cnt <= PROBE_INSNS_MAX && !a->prog_btf_fd &&
		       (!a->prog_name[0] || libbpf_name(a->prog_name));
	case BPF_BTF_LOAD:
		return a->btf_size <= PROBE_BTF_MAX;
	case BPF_MAP_CREATE:
		return libbpf_name(a->map_name);
	case BPF_PROG_BIND_MAP:
		return true; /* if both are probes: the key then names no real object */
	}
	return false;
}

static struct memo_entry **bucket(struct broker *b, uint32_t hash)
{
	return &b->memo[hash & (b->memo_buckets - 1)];
}

struct memo_entry *memo_find(struct broker *b, const uint8_t *key, size_t len)
{
	uint32_t hash = crc32c(0, key, len);
	struct memo_entry *e = b->memo ? *bucket(b, hash) : NULL;

	for (; e; e = e->next)
		if (e->hash == hash && e->key_len == len && !memcmp(e->key, key, len))
			return e;
	return NULL;
}

/* Errors that say something about the request, not about the moment. */
static bool is_verdict(int64_t ret)
{
	switch (-ret) {
	case EINVAL:
	case EPERM:
	case EACCES:
	case E2BIG:
	case EOPNOTSUPP:
	case ENOTSUPP:
	case EBADF:
		return true;
	}
	return ret >= 0;
}

void memo_add(struct broker *b, const uint8_t *key, size_t key_len, const uint8_t *reply,
	      size_t reply_len, int64_t ret, const struct bpf_obj_info *obj)
{
	struct memo_entry *e;

	if (!is_verdict(ret) || b->memo_nr >= MEMO_MAX || memo_find(b, key, key_len))
		return;
	if (!b->memo) {
		b->memo_buckets = MEMO_MAX / 8;
		b->memo = calloc(b->memo_buckets, sizeof(struct memo_entry *));
		if (!b->memo)
			return;
	}
	e = malloc(sizeof(*e) + key_len + reply_len);
	if (!e)
		return;
	*e = (struct memo_entry){ .hash = crc32c(0, key, key_len),
				  .index = ++b->memo_nr,
				  .key = (uint8_t *)(e + 1),
				  .key_len = key_len,
				  .reply_len = reply_len,
				  .obj = *obj };
	e->reply = e->key + key_len;
	memcpy(e->key, key, key_len);
	memcpy(e->reply, reply, reply_len);
	e->obj.handle = e->obj.id = 0;
	e->next = *bucket(b, e->hash);
	*bucket(b, e->hash) = e;
}

void memo_flush(struct broker *b)
{
	for (uint32_t i = 0; b->memo && i < b->memo_buckets; i++) {
		while (b->memo[i]) {
			struct memo_entry *e = b->memo[i];

			b->memo[i] = e->next;
			free(e);
		}
	}
	b->memo_nr = 0;
}
