/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The abstract machine state: registers, stack frames, held references. What a state means, how
 * states are copied, compared and kept. docs/verifier.md explains the theory.
 */
#pragma once

#include "bpf/map.h"
#include "bpf/prog.h"
#include "bpf/verifier/scalar.h"

/* ---- registers ---- */

enum vreg_type {
	VT_NONE = 0, /* never written on this path, or lost */
	VT_SCALAR,   /* a number: v */
	VT_CTX,
	VT_MAP,	      /* the map itself (map) */
	VT_MAP_VALUE, /* inside a value of map */
	VT_MAP_KEY,   /* a key of map, in a for_each callback */
	VT_STACK,     /* frame fp of frameno */
	VT_PACKET,    /* data; bytes up to `range` beyond the base are proven */
	VT_PACKET_META,
	VT_PACKET_END,
	VT_MEM,	 /* mem_size valid bytes */
	VT_FUNC, /* a bpf function: subprog */
	VT_TYPE_NR,
};
enum vreg_flags {
	VF_MAYBE_NULL = 1, /* pointer or NULL; tells by comparison (id groups copies) */
	VF_RDONLY = 2,
	VF_RINGBUF = 4,	    /* VT_MEM from ringbuf_reserve: ref_id must be given back */
	VF_DYNPTR_DATA = 8, /* VT_MEM from dynptr_data: dies with the dynptr (ref_id) */
};

/* A pointer's address is base + off + v; v is the part that is not constant. */
struct vreg {
	struct scalar v;
	uint8_t type;	   /* enum vreg_type */
	uint8_t flags;	   /* enum vreg_flags */
	uint8_t precise;   /* scalar: exact value matters for safety on some continuation */
	uint8_t lost_type; /* enum vreg_type, see lost_at */
	int32_t off;
	/*
	 * Scalars with one id are equal up to link_off. Maybe-null pointers with one id become
	 * non-null together. Packet pointers with one id have the same v.
	 */
	uint32_t id;
	uint32_t ref_id;
	int32_t link_off;
	uint32_t lost_at; /* VT_NONE, VT_SCALAR: 1 + insn where it stopped being lost_type, or 0 */
	union {
		struct bpf_map *map;
		uint32_t mem_size;
		uint32_t range;
		uint32_t frameno;
		uint32_t subprog;
		uint64_t aux;
	};
};

/* ---- stack ---- */

enum slot_type {
	SLOT_INVALID = 0, /* never written */
	SLOT_SPILL,	  /* part of a spilled register */
	SLOT_MISC,	  /* written, unknown */
	SLOT_ZERO,
	SLOT_DYNPTR,
};
#define SLOT_BYTES	8
#define FRAME_SLOTS_MAX (BPF_STACK_MAX / SLOT_BYTES)

/* Slot n covers fp-8(n+1) .. fp-8n-1. type[i] is byte fp-8n-1-i: type[7] has the lowest address. */
struct vslot {
	struct vreg reg; /* of the bytes type[7] down to the first that is not SLOT_SPILL */
	uint8_t type[SLOT_BYTES];
};

#define VARG_REGS 0x3e /* R1-R5 */

struct vframe {
	struct vreg r[MAX_BPF_REG];
	uint32_t callsite; /* insn of the call; ~0 for the main function */
	uint32_t subprog;
	uint32_t callback_depth;
	uint8_t in_callback;	  /* a helper calls this function */
	uint8_t in_async;	  /* timer callback */
	uint8_t callback_ret_max; /* R0 of a callback must be in [0, this] */
	uint8_t pad;
	/* since the last checkpoint: which are written; on a checkpoint: which are read later */
	uint16_t reg_written, reg_read;
	/* of the caller, before the call, in the segment that the frame was made in */
	uint16_t caller_written;
	uint32_t instance; /* differs between frames, same in copies of one */
	uint64_t slot_written, slot_read;
	uint32_t slot_cnt; /* slots allocated */
	struct vslot *slot;
};

/* ---- whole states ---- */

struct vref {
	uint32_t id;
	uint32_t insn;	/* that acquired it */
	uint32_t frame; /* depth of the function that did */
};
#define VREFS_MAX 32

/* A register or a spilled one that had the same id as others when a branch narrowed them. */
struct vlinked {
	uint8_t frameno;
	uint8_t is_slot;
	uint8_t index; /* register or slot */
};
#define VLINKED_MAX 6

/*
 * What the way backwards needs to know of an instruction: where it was come from if not from the
 * one before, the stack slot it touched, the registers it narrowed together.
 */
struct vhist {
	uint32_t idx, prev_idx;
	uint8_t stack_access;
	uint8_t frameno, slot;
	uint8_t linked_cnt;
	struct vlinked linked[VLINKED_MAX];
};

struct vstate {
	struct vframe *frame[BPF_FRAMES_MAX];
	uint32_t curframe;
	struct vstate *parent; /* checkpoint before */
	uint32_t branches;     /* continuations of this checkpoint still to be explored */
	/* the instructions since the parent, and their history */
	uint32_t first_idx, last_idx;
	uint32_t insn_idx; /* checkpoint: where */
	struct vhist *hist;
	uint32_t hist_cnt, hist_cap;
	uint32_t ref_cnt;
	struct vref ref[VREFS_MAX];
	uint32_t lock_id; /* reg id of the held lock's map value, 0: none held */
	struct bpf_map *lock_map;
	uint32_t callback_unroll; /* nested callback iterations on this path */
	/* loops through callbacks: the outermost checkpoint that this state may reach again */
	struct vstate *loop_entry;
	uint8_t used_as_loop_entry;
	uint32_t dfs_depth;
};

static inline struct vframe *cur_frame(const struct vstate *st)
{
	return st->frame[st->curframe];
}
static inline struct vreg *cur_regs(const struct vstate *st)
{
	return st->frame[st->curframe]->r;
}

struct verifier_env;

/* Deep copy, everything but parent and branches. 0 or -ENOMEM (dst must be freed). */
int vstate_copy(struct verifier_env *env, struct vstate *dst,
		const struct vstate *src) __must_check;
void vstate_free_parts(struct verifier_env *env, struct vstate *st);
/* Room for slots 0 .. cnt-1. */
int vframe_grow(struct verifier_env *env, struct vframe *f, uint32_t cnt) __must_check;
struct vframe *vframe_new(struct verifier_env *env, uint32_t callsite,
			  uint32_t subprog) __must_check;
void vframe_free(struct verifier_env *env, struct vframe *f);

/* ---- registers ---- */

void vreg_set_none(struct vreg *r);
void vreg_set_unknown(struct vreg *r); /* unknown scalar */
void vreg_set_const(struct vreg *r, uint64_t v);
static inline bool vreg_is_ptr(const struct vreg *r)
{
	return r->type > VT_SCALAR;
}
static inline bool vreg_is_const(const struct vreg *r)
{
	return r->type == VT_SCALAR && scalar_is_const(&r->v);
}
static inline bool vreg_is_pkt(const struct vreg *r)
{
	return r->type == VT_PACKET || r->type == VT_PACKET_META;
}
static inline bool vslot_is_spilled_reg(const struct vslot *s)
{
	return s->type[SLOT_BYTES - 1] == SLOT_SPILL;
}
/* All eight bytes are one spilled 64-bit register. */
static inline bool vslot_is_full_spill(const struct vslot *s)
{
	return s->type[0] == SLOT_SPILL && vslot_is_spilled_reg(s);
}

/* ---- comparison (prune.c) ---- */

enum vcmp_how {
	VCMP_NOT_EXACT,	   /* old covers cur, as far as old was read later */
	VCMP_EXACT,	   /* the same: an infinite loop */
	VCMP_RANGE_WITHIN, /* as NOT_EXACT, but all ranges count: loops through callbacks */
};
bool vstate_covers(struct verifier_env *env, struct vstate *old, struct vstate *cur,
		   enum vcmp_how how);
