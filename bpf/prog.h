/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loaded program. States only move forward: made from the client's instructions (load), checked
 * (isa_check, verifier), translated (xlate), decoded for the interpreter, compiled (JIT), given an
 * id. After that everything but the statistics and the reference count is constant.
 */
#pragma once

#include "include/base.h"
#include "include/hal.h"
#include "include/uapi_new.h"
#include "bpf/insn_aux.h"
#include "bpf/run_ctx.h"

struct bpf_btf;
struct interp_code;
struct jit_image;

#define BPF_STACK_MAX	   512
#define BPF_FRAMES_MAX	   8
#define BPF_TAIL_CALLS_MAX 33
#define BPF_SUBPROGS_MAX   256
#define BPF_PROG_MAPS_MAX  64
#define BPF_PROG_INSNS_MAX 1000000
#define BPF_LOOPS_MAX	   (8u << 20)

/* How a program runs; chosen at load, changed only between runs (JIT added or withdrawn). */
enum prog_mode {
	PROG_MODE_CHECKED, /* interpreter that bounds every access: not verified, or asked for */
	PROG_MODE_FAST,	   /* interpreter without checks: verified programs only */
	PROG_MODE_JIT,
};

/* Statistics of one CPU; allocated per CPU. Kept while BPF_ENABLE_STATS is on. */
struct prog_stats {
	uint64_t runs, run_ns, misses;
	uint64_t insns_retired, cycles; /* by the PMU, 0 where it cannot count */
	uint64_t aborts;
};

struct bpf_prog {
	uint32_t refs; /* atomic; handles, pins, links, prog arrays */
	uint32_t id;
	enum bpf_prog_type type;
	enum bpf_attach_type expected_attach_type;
	enum prog_mode mode;
	uint32_t flags; /* BPF_F_* of the load */
	char name[BPF_OBJ_NAME_LEN];
	uint8_t tag[BPF_TAG_SIZE];
	uint8_t gpl;
	uint8_t verified;
	uint8_t cb_access; /* uses skb->cb */
	uint8_t has_tail_call, has_subprog_calls;
	uint8_t ctx_converted;	 /* context accesses in insns are internal ones (xlate_finish) */
	uint32_t max_ctx_offset; /* end of the last context byte that it may touch */
	uint64_t load_time_ns;	 /* since boot */
	uint32_t created_by_uid;

	struct bpf_insn *orig; /* as loaded, map handles replaced by indices into maps; for tags */
	uint32_t orig_cnt;

	struct bpf_insn *insns;	  /* xlated: what runs and what dump xlated shows (via prog_dump) */
	struct bpf_insn_aux *aux; /* one per insns element */
	uint32_t insn_cnt;
	struct bpf_subprog *subprogs; /* by start */
	uint32_t subprog_cnt;
	uint32_t verified_insns; /* processed by the verifier */

	struct bpf_map **maps; /* used maps, each a reference */
	uint32_t map_cnt;

	struct bpf_btf *btf; /* reference or NULL */
	struct bpf_func_info *func_info;
	uint32_t func_info_cnt;
	struct bpf_line_info *line_info; /* insn_off in insns indices */
	uint32_t line_info_cnt;

	struct interp_code *interp; /* pre-decoded form */
	struct jit_image *jit;	    /* or NULL */
	const char *jit_refused;    /* why there is no JIT image, or NULL; static text */
	/* Entry of the JIT image: R1 in, R0 out. */
	uint64_t (*entry)(void *r1, struct run_ctx *rc);

	void *stats; /* hal_percpu base of struct prog_stats, or NULL */

	void *rt; /* runtime: knobs and statistics switch of a run; NULL in tests without one */
	/* Runtime's: called in thread context a grace period after the last reference went. */
	void (*reap_fn)(struct hal_deferred *d);
	struct hal_deferred reap;
};

/* Reference counts; the caller of bpf_prog_ref holds one. Context: any. */
static inline void bpf_prog_ref(struct bpf_prog *prog)
{
	__atomic_fetch_add(&prog->refs, 1, __ATOMIC_RELAXED);
}
static inline void bpf_prog_put(struct bpf_prog *prog)
{
	if (!__atomic_sub_fetch(&prog->refs, 1, __ATOMIC_ACQ_REL))
		hal_quiesce_defer(&prog->reap, prog->reap_fn);
}

/*
 * In instructions of an xlated program a map operand is its kernel address: ldimm64 with src_reg
 * BPF_PSEUDO_MAP_FD keeps src_reg and its 64-bit immediate is the struct bpf_map *; with
 * BPF_PSEUDO_MAP_VALUE the immediate is the value's address. Dumps turn them back into ids.
 * A call of a bpf function (src_reg BPF_PSEUDO_CALL) keeps imm = relative target as in RFC 9669; a
 * helper call keeps imm = helper id. BPF_PSEUDO_FUNC ldimm64: imm stays the relative target.
 */

/*
 * Free everything but the struct itself, its JIT image and the objects that it refers to: the
 * runtime has released those before. Thread.
 */
void bpf_prog_free_parts(struct bpf_prog *prog);
