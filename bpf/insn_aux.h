/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known about each instruction: written by the verifier (and by xlate, which splices),
 * read by xlate, the interpreter's pre-decoder, the JIT and dumps. One element per instruction of
 * the array it belongs to; an ldimm64's facts are at its first slot. Everything may be "unknown"
 * (all zero), which is always correct and only slower.
 */
#pragma once

#include "include/base.h"

struct bpf_map;

/* What the base register of a load, store or atomic points to on every path that reaches it. */
enum aux_ptr {
	AUX_PTR_UNKNOWN = 0, /* or different things on different paths */
	AUX_PTR_CTX,
	AUX_PTR_STACK, /* R10-derived; stack_off gives the place if it is constant */
	AUX_PTR_MAP_VALUE,
	AUX_PTR_PACKET,
	AUX_PTR_MEM, /* other memory known to be valid (records, helper results) */
};

enum aux_flags {
	AUX_REACHED = 1 << 0, /* some path executes it; else it may be removed */
	AUX_CONST_KEY =
		1 << 1, /* call with a map key: all bytes known; const_key holds it (<= 8) */
	AUX_MAP_SINGLE = 1 << 2,  /* call: map is the only map that reaches it */
	AUX_JUMP_ALWAYS = 1 << 3, /* conditional jump decided: always taken */
	AUX_JUMP_NEVER = 1 << 4,
	AUX_ZEXT_DST = 1 << 5,	  /* 32-bit definition whose upper half is read later */
	AUX_ZERO_SLOT = 1 << 6,	  /* load may read uninitialised stack: the prologue clears it */
	AUX_CALLBACK = 1 << 7,	  /* first instruction of a callback function */
	AUX_STACK_CONST = 1 << 8, /* stack_off is exact */
	AUX_NOT_NULL = 1 << 9,	  /* lookup call: result proven non-NULL (constant array index) */
	AUX_ALIGNED = 1 << 10,	  /* access proven naturally aligned */
	AUX_PRUNE_POINT = 1 << 11,
};

struct bpf_insn_aux {
	uint32_t orig_idx; /* index in the program as loaded: line info, messages, fault reports */
	uint16_t flags;
	uint8_t ptr;	     /* enum aux_ptr */
	uint8_t size;	     /* bytes accessed by a load/store through ptr */
	int32_t stack_off;   /* AUX_PTR_STACK: offset from the frame's top, negative */
	uint32_t ctx_off;    /* AUX_PTR_CTX: offset in the UAPI structure (reg offset + insn.off) */
	struct bpf_map *map; /* map operand of ldimm64, lookup/update/tail call; NULL unknown */
	uint64_t const_key;  /* AUX_CONST_KEY: first min(key_size, 8) bytes, little endian */
	uint64_t umin,
		umax; /* range of the value stored / shift count / loop count; umax 0: unknown */
};

/* Per function (subprogram) facts. */
struct bpf_subprog {
	uint32_t start;	      /* first instruction */
	uint32_t end;	      /* one past the last */
	uint16_t stack_bytes; /* used, rounded up to 8; <= 512 */
	uint16_t linfo_idx;
	uint8_t has_tail_call;
	uint8_t has_ld_abs;
	uint8_t is_callback;
	uint8_t is_leaf;       /* calls nothing */
	uint64_t slots_clear;  /* bit n: 8-byte slot n below the frame's top must be cleared */
	uint64_t slots_escape; /* bit n: slot's address is taken (passed, stored, indexed) */
};
