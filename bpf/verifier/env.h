/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one verification works on, and the functions that its parts offer each other.
 *
 *   verify.c    entry, main loop, results
 *   cfg.c       functions, jumps, reachability, prune points, stack depth
 *   state.c     states: copy, grow, free
 *   prune.c     pending and visited states
 *   equal.c     when one state covers another
 *   live.c      what is read later
 *   precise.c   which scalars matter exactly
 *   alu.c       arithmetic on registers
 *   branch.c    comparisons
 *   stack.c     stack slots
 *   mem.c       all other memory
 *   atomic.c    atomics, ordered accesses, packet loads
 *   call.c      helper calls
 *   args.c      their arguments
 *   callback.c  functions, callbacks, exits
 *   dynptr.c    dynptrs
 *   refs.c      references and locks
 *   func.c      signatures from BTF, info records
 *   log.c       messages, state text
 */
#pragma once

#include "bpf/helper.h"
#include "bpf/log.h"
#include "bpf/verifier/state.h"
#include "bpf/verify.h"

#define VERIFY_INSNS_MAX   1000000u
#define VERIFY_PENDING_MAX 8192u

enum verify_reason {
#define REASON(id, err, remedy) VR_##id,
#include "bpf/verifier/reasons.def"
#undef REASON
	VR_NR,
};

/* A branch to be explored later. */
struct vpending {
	struct vstate st;
	uint32_t insn_idx, prev_idx;
	uint64_t log_mark;
	struct vpending *next;
};

/* A checkpoint kept for pruning, in the list of its instruction. */
struct vvisited {
	struct vstate st;
	struct vvisited *next;
	uint32_t hits, misses;
	uint8_t dropped; /* out of the list, kept until branches is 0 */
};

#define VIDMAP_MAX 512
struct vidpair {
	uint32_t old, cur;
};

struct vinsn { /* facts of cfg.c */
	uint8_t prune_point : 1, jump_point : 1, force_checkpoint : 1, calls_callback : 1;
	uint8_t key_seen : 1;
	uint8_t taken : 1, fall : 1; /* sides of a conditional jump that some path goes */
};

struct verifier_env {
	struct bpf_prog *prog;
	struct bpf_log *log;
	struct verify_verdict *verdict;
	const struct prog_type *type;
	struct bpf_insn_aux *aux;
	struct bpf_subprog *subprog;
	uint32_t subprog_cnt;
	struct vinsn *insn;
	struct vstate *cur;
	uint32_t insn_idx, prev_idx;
	struct vpending *pending;
	uint32_t pending_cnt;
	struct vvisited **visited; /* per instruction */
	struct vvisited *dropped;
	uint32_t jumps, prev_jumps, prev_insns; /* checkpoint heuristic */
	uint32_t next_id;
	bool strict_align, any_align, test_freq, test_regs;
	bool seen_direct_write;
	bool hist_noted; /* the current instruction has an entry: the last of cur->hist */
	/* global functions */
	bool *global, *global_called, *global_done;
	bool *changes_pkt; /* per function: it, or one that it calls, may move packet data */
	/* numbers */
	uint64_t mem_bytes, mem_peak;
	uint32_t states_now;
	uint32_t cpus;
	const struct bpf_line_info *last_line; /* printed last */
	/* equal.c: pairs of ids that correspond between two states */
	struct vidpair *idmap;
	uint32_t idmap_cnt, idmap_tmp;
};

/* ---- memory, accounted ---- */
void *v_alloc(struct verifier_env *env, size_t bytes) __must_check;
void *v_realloc(struct verifier_env *env, void *p, size_t old_bytes, size_t bytes) __must_check;
void v_free(struct verifier_env *env, void *p, size_t bytes);

/* ---- messages (log.c) ---- */

/*
 * Refuse: write the message (Linux's words where it has any), the C line, the remedy of the row;
 * record reason and place; the row's errno is the result. Every refusal goes through here.
 */
int v_reject(struct verifier_env *env, enum verify_reason why, const char *fmt, ...)
	__printf_like(3, 4);
void v_log(struct verifier_env *env, const char *fmt, ...) __printf_like(2, 3);
void v_log_insn(struct verifier_env *env, uint32_t idx);
void v_log_state(struct verifier_env *env, const struct vstate *st, bool all);
void v_log_reg(struct verifier_env *env, const struct vreg *r);
const char *v_type_name(const struct vreg *r);
void v_log_source_line(struct verifier_env *env, uint32_t idx);

/* ---- cfg.c ---- */
int v_find_subprogs(struct verifier_env *env) __must_check;
int v_check_cfg(struct verifier_env *env) __must_check;
/* Index in env->subprog of the function that starts at insn, or -1. */
int v_subprog_at(const struct verifier_env *env, uint32_t insn);
int v_subprog_of(const struct verifier_env *env, uint32_t insn);
int v_check_stack_depth(struct verifier_env *env) __must_check;
/* Fill env->changes_pkt. */
void v_find_packet_changes(struct verifier_env *env);

/* ---- states to explore and to compare (prune.c) ---- */
/* Remember the current state with another next instruction; NULL: refused or no memory (*err). */
/* Loops through callbacks: cur may come back to hdr (see prune.c). */
void v_loop_update(struct vstate *cur, struct vstate *hdr);
struct vstate *v_push_branch(struct verifier_env *env, uint32_t insn_idx, uint32_t prev_idx,
			     int *err);
/* 1: the current state is covered by an explored one; 0: go on; or -errno. */
int v_is_visited(struct verifier_env *env, uint32_t insn_idx) __must_check;
void v_branch_done(struct verifier_env *env, struct vstate *st);
void v_free_states(struct verifier_env *env);

/* ---- live.c ---- */
void v_mark_reg_read(struct verifier_env *env, uint32_t frame, uint32_t reg);
void v_mark_slot_read(struct verifier_env *env, uint32_t frame, uint32_t slot);
static inline void v_mark_reg_written(struct vframe *f, uint32_t reg)
{
	f->reg_written = (uint16_t)(f->reg_written | (1u << reg));
}

/* ---- precise.c ---- */
/* Note this instruction in the history of st: how it was reached, and more by the two below. */
int v_history_note(struct verifier_env *env, struct vstate *st) __must_check;
int v_history_stack(struct verifier_env *env, struct vstate *st, uint32_t frameno,
		    uint32_t slot) __must_check;
int v_history_linked(struct verifier_env *env, struct vstate *st, const struct vlinked *linked,
		     uint32_t cnt) __must_check;
/* The scalar in reg of the current frame matters exactly: mark it, and what it came from. */
int v_mark_precise(struct verifier_env *env, uint32_t reg) __must_check;
/* All of a set: bit n of regs[frame] and slots[frame]. */
struct vprecise_set {
	uint32_t frame; /* innermost */
	uint16_t regs[BPF_FRAMES_MAX];
	uint64_t slots[BPF_FRAMES_MAX];
};
int v_mark_precise_set(struct verifier_env *env, struct vprecise_set *set) __must_check;

/* ---- registers (alu.c) ---- */
int v_check_reg_read(struct verifier_env *env, uint32_t reg) __must_check;
int v_check_reg_write(struct verifier_env *env, uint32_t reg) __must_check;
int v_check_alu(struct verifier_env *env, const struct bpf_insn *insn) __must_check;
int v_check_ldimm64(struct verifier_env *env, const struct bpf_insn *insn) __must_check;
/* Give a scalar an id for linking if it has none. */
void v_link_scalar(struct verifier_env *env, struct vreg *r);

/* ---- branch.c ---- */
/* *next: the next instruction. */
int v_check_cond_jump(struct verifier_env *env, const struct bpf_insn *insn,
		      uint32_t *next) __must_check;

/* ---- memory ---- */
enum vaccess { VACC_READ = 1, VACC_WRITE = 2 };
/*
 * A load or store of size bytes at reg + off; value: register stored (-1: constant or unknown) or
 * loaded into. ldsx: sign-extending load. Records aux.
 */
int v_check_mem(struct verifier_env *env, uint32_t insn_idx, uint32_t reg, int32_t off,
		uint32_t size, enum vaccess t, int value, bool ldsx) __must_check;
int v_check_load(struct verifier_env *env, const struct bpf_insn *insn) __must_check;
int v_check_store(struct verifier_env *env, const struct bpf_insn *insn) __must_check;
int v_check_atomic(struct verifier_env *env, const struct bpf_insn *insn) __must_check;
int v_check_ld_abs(struct verifier_env *env, const struct bpf_insn *insn) __must_check;
/* [reg+off, +size) of a region of mem_size bytes. Messages speak of the region's kind. */
int v_check_region(struct verifier_env *env, uint32_t reg, const struct vreg *r, int32_t off,
		   uint32_t size, uint32_t mem_size, bool zero_ok) __must_check;
int v_check_map_value(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size,
		      bool zero_ok, enum vaccess t) __must_check;
/* r points to the context itself. */
int v_check_ctx_pointer(struct verifier_env *env, uint32_t reg, const struct vreg *r) __must_check;
int v_check_packet(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size,
		   bool zero_ok) __must_check;

/* stack.c */
int v_stack_store(struct verifier_env *env, struct vframe *f, uint32_t frameno, uint32_t ptr_reg,
		  int32_t off, uint32_t size, int value) __must_check;
int v_stack_load(struct verifier_env *env, uint32_t frameno, uint32_t ptr_reg, int32_t off,
		 uint32_t size, int value) __must_check;
/* A helper reads (and with write: writes) size bytes. */
int v_stack_range(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size, bool zero_ok,
		  enum vaccess t, bool raw) __must_check;
int v_stack_bounds(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size,
		   enum vaccess t, bool helper) __must_check;

/* ---- calls ---- */
int v_check_helper_call(struct verifier_env *env, const struct bpf_insn *insn) __must_check;
int v_check_func_call(struct verifier_env *env, const struct bpf_insn *insn,
		      uint32_t *next) __must_check;
/* exit: *done is set where the path ends, else *next is where the caller goes on. */
int v_check_exit(struct verifier_env *env, uint32_t *next, bool *done) __must_check;
void v_clobber_caller_saved(struct verifier_env *env, uint32_t call_insn);
/* Packet pointers die (a helper moved the packet). */
void v_forget_packet(struct verifier_env *env);

/* refs.c */
int v_ref_acquire(struct verifier_env *env, uint32_t insn, uint32_t *id) __must_check;
int v_ref_release(struct verifier_env *env, uint32_t id) __must_check;
int v_check_refs_at_exit(struct verifier_env *env) __must_check;
int v_check_lock(struct verifier_env *env, uint32_t reg, bool take) __must_check;

/* func.c */
int v_check_info(struct verifier_env *env) __must_check;
/* Set up the arguments of global function `subprog` in the current state from BTF. */
int v_prepare_global_args(struct verifier_env *env, uint32_t subprog) __must_check;
int v_check_global_call_args(struct verifier_env *env, uint32_t subprog) __must_check;
