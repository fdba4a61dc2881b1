/* SPDX-License-Identifier: BSD-2-Clause */
/* BPF_PROG_LOAD in pieces, and what others need of it. Thread context throughout. */
#pragma once

#include "include/base.h"
#include "bpf/log.h"
#include "bpf/prog.h"
#include "wire/bpf_call.h"

struct rt;

/* ---- the client's log buffer (load_log.c) ---------------------------------------------------- */

struct load_log {
	struct bpf_log log;
	uint32_t room; /* of the client */
};

/* Linux's checks of level, buffer and size: 0 or -EINVAL. */
int load_log_begin(struct load_log *l, uint32_t level, uint64_t user, uint32_t size) __must_check;
/*
 * Send the text, free the memory; *true_size as in Linux (0 at level 0). 0, -ENOSPC where the text
 * was longer than the client's room, -EFAULT, -ENOMEM.
 */
int load_log_end(struct load_log *l, struct bpf_call *call, uint64_t user,
		 uint32_t *true_size) __must_check;

/* ---- a load under way (load.c) --------------------------------------------------------------- */

struct load {
	struct rt *rt;
	struct bpf_call *call;
	const union bpf_attr *attr;
	struct load_log log;
	struct bpf_prog *prog; /* grows piece by piece; load_prog_free at any stage */
};

/* BTF, function and line records (load_info.c). 0 or -errno with a line in the log. */
int load_info(struct load *l) __must_check;

/* Map handles in instructions become indices into prog->maps (load_maps.c). 0 or -errno. */
int load_maps(struct load *l) __must_check;
/*
 * The name of a program by its instructions: SHA-1 with map operands taken as zero, cut to 8 bytes.
 */
void load_tag(const struct bpf_insn *insns, uint32_t cnt, uint8_t tag[BPF_TAG_SIZE]);

/* Decide how prog runs and bring it into that form: xlate, interpreter. 0 or -errno. */
int load_finish(struct rt *rt, struct bpf_prog *prog) __must_check;

/* BOARD_FEAT_* bits that the way of loading decides. */
uint64_t load_features(void);

/* Free a program that nothing refers to: its parts, its references, the structure. */
void load_prog_free(struct rt *rt, struct bpf_prog *prog);
/* Bytes that a program holds, its instructions in every form and its records included. */
uint64_t load_prog_bytes(const struct bpf_prog *prog);
