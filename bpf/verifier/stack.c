/* SPDX-License-Identifier: BSD-2-Clause */
/* The stack: bounds, spills and fills, bytes, what helpers read and write. */
#include <string.h>

#include "bpf/verifier/env.h"

/* ---- where ---- */

/* First and last offset that reg + off may have, last exclusive of size; bounds checked. */
static int stack_extent(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size,
			const char *what, int32_t *lo, int32_t *hi)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];
	int64_t min, max;
	bool fixed = scalar_is_const(&r->v);

	off += r->off;
	if (!fixed && (r->v.smax >= (1 << 29) || r->v.smin <= -(1 << 29)))
		return v_reject(env, VR_STACK_VAR_OFF,
				"invalid unbounded variable-offset%s stack R%u", what, reg);
	min = r->v.smin + off;
	max = r->v.smax + off + (int64_t)size;
	if (min < -BPF_STACK_MAX || max > 0 || size > BPF_STACK_MAX) {
		if (fixed)
			return v_reject(env, VR_STACK_RANGE, "invalid%s stack R%u off=%lld size=%u",
					what, reg, (long long)min, size);
		return v_reject(env, VR_STACK_RANGE,
				"invalid variable-offset%s stack R%u off=%d size=%u (%lld .. %lld)",
				what, reg, off, size, (long long)r->v.smin, (long long)r->v.smax);
	}
	*lo = (int32_t)min;
	*hi = (int32_t)(r->v.smax + off);
	return 0;
}

/* Note how much stack the frame's function uses. */
static int use_stack(struct verifier_env *env, struct vframe *f, int32_t lo)
{
	struct bpf_subprog *sp = &env->subprog[f->subprog];
	uint32_t bytes = ROUND_UP((uint32_t)-lo, (uint32_t)SLOT_BYTES);

	if (bytes > sp->stack_bytes)
		sp->stack_bytes = (uint16_t)bytes;
	if (vframe_grow(env, f, bytes / SLOT_BYTES))
		return v_reject(env, VR_NO_MEMORY, "out of memory");
	return 0;
}

static uint32_t slot_of(int32_t off)
{
	return (uint32_t)(-off - 1) / SLOT_BYTES;
}

static uint8_t *byte_type(struct vframe *f, int32_t off)
{
	return &f->slot[slot_of(off)].type[(uint32_t)(-off - 1) % SLOT_BYTES];
}

/* Uninitialised bytes may be read; they read as zero, the function's prologue sees to it. */
static void needs_clear(struct verifier_env *env, const struct vframe *f, int32_t off)
{
	env->subprog[f->subprog].slots_clear |= BIT(slot_of(off));
	env->aux[env->insn_idx].flags |= AUX_ZERO_SLOT;
}

static void slot_escapes(struct verifier_env *env, const struct vframe *f, int32_t lo, int32_t hi)
{
	for (uint32_t s = slot_of(hi - 1); s <= slot_of(lo); s++)
		env->subprog[f->subprog].slots_escape |= BIT(s);
}

/* ---- writing ---- */

/* No longer a spilled register: what is left of it are bytes. */
static void scrub(struct vslot *s)
{
	for (unsigned int i = 0; i < SLOT_BYTES; i++)
		if (s->type[i] == SLOT_SPILL)
			s->type[i] = SLOT_MISC;
	vreg_set_none(&s->reg);
}

static uint32_t reg_width(const struct vreg *r)
{
	return 64u - (r->v.umax ? (uint32_t)__builtin_clzll(r->v.umax) : 64u);
}

/* Dynptrs are written by their helpers only. */
static int check_no_dynptr(struct verifier_env *env, struct vframe *f, int32_t lo, int32_t hi)
{
	for (int32_t i = lo; i < hi; i++)
		if (*byte_type(f, i) == SLOT_DYNPTR)
			return v_reject(env, VR_DYNPTR, "cannot overwrite dynptr");
	return 0;
}

static void spill(struct vframe *f, uint32_t slot, const struct vreg *r, uint32_t size)
{
	struct vslot *s = &f->slot[slot];
	int i;

	scrub(s);
	s->reg = *r;
	if (size == SLOT_BYTES)
		f->slot_written |= BIT(slot);
	for (i = SLOT_BYTES; i > (int)(SLOT_BYTES - size); i--)
		s->type[i - 1] = SLOT_SPILL;
}

static int store_bytes(struct verifier_env *env, struct vframe *f, int32_t off, uint32_t size,
		       const struct vreg *r, int value, bool zero_imm)
{
	struct vslot *s = &f->slot[slot_of(off)];
	uint8_t type = SLOT_MISC;
	int err;

	if (vslot_is_spilled_reg(s))
		scrub(s);
	if (size == SLOT_BYTES)
		f->slot_written |= BIT(slot_of(off));
	if ((r && vreg_is_const(r) && r->v.t.value == 0) || zero_imm) {
		type = SLOT_ZERO; /* zero only as long as the register is exactly that */
		err = value >= 0 ? v_mark_precise(env, (uint32_t)value) : 0;
		if (err)
			return err;
	}
	for (uint32_t i = 0; i < size; i++)
		*byte_type(f, off + (int32_t)i) = type;
	return 0;
}

static int store_fixed(struct verifier_env *env, struct vframe *f, uint32_t frameno, int32_t off,
		       uint32_t size, int value)
{
	const struct bpf_insn *insn = &env->prog->insns[env->insn_idx];
	struct vreg *r = value >= 0 ? &cur_regs(env->cur)[value] : NULL, imm;
	bool st = !r && BPF_CLASS(insn->code) == BPF_ST && BPF_MODE(insn->code) == BPF_MEM;
	uint32_t slot = slot_of(off);
	bool fits;

	if (st) {
		vreg_set_const(&imm, (uint64_t)(int64_t)insn->imm);
		if (size < 8)
			imm.v = scalar_zext(&imm.v, size * 8);
	}
	if (r && vreg_is_ptr(r)) {
		if (size != SLOT_BYTES)
			return v_reject(env, VR_STACK_SPILL, "invalid size of register spill");
		if (frameno != env->cur->curframe && r->type == VT_STACK)
			return v_reject(env, VR_STACK_SPILL,
					"cannot spill pointers to stack into stack frame of the "
					"caller");
		spill(f, slot, r, size);
	} else if (r && !(off % SLOT_BYTES)) {
		fits = reg_width(r) <= size * 8;
		if (fits)
			v_link_scalar(env, r);
		spill(f, slot, r, size);
		if (!fits)
			f->slot[slot].reg.id = 0;
	} else if (st && !(off % SLOT_BYTES)) {
		spill(f, slot, &imm, size);
	} else {
		return store_bytes(env, f, off, size, r, value, st && insn->imm == 0);
	}
	return v_history_stack(env, env->cur, frameno, slot);
}

static int store_variable(struct verifier_env *env, struct vframe *f, int32_t lo, int32_t hi,
			  uint32_t size, int value)
{
	const struct bpf_insn *insn = &env->prog->insns[env->insn_idx];
	const struct vreg *r = value >= 0 ? &cur_regs(env->cur)[value] : NULL;
	bool zero = r ? vreg_is_const(r) && r->v.t.value == 0
		      : BPF_CLASS(insn->code) == BPF_ST && insn->imm == 0;
	bool zero_used = false;

	for (int32_t i = lo; i < hi + (int32_t)size; i++) {
		struct vslot *s = &f->slot[slot_of(i)];
		uint8_t *type = byte_type(f, i);

		if (zero && *type == SLOT_SPILL && vreg_is_const(&s->reg) &&
		    s->reg.v.t.value == 0) {
			zero_used = true;
			continue;
		}
		if (*type == SLOT_SPILL)
			scrub(s);
		if (zero && *type == SLOT_ZERO) {
			zero_used = true;
			continue;
		}
		if (*type == SLOT_INVALID)
			needs_clear(env, f, i); /* may stay unwritten, may be read later */
		*type = SLOT_MISC;
	}
	return zero_used && value >= 0 ? v_mark_precise(env, (uint32_t)value) : 0;
}

int v_stack_store(struct verifier_env *env, struct vframe *f, uint32_t frameno, uint32_t ptr_reg,
		  int32_t off, uint32_t size, int value)
{
	int32_t lo, hi;
	int err = stack_extent(env, ptr_reg, off, size, " write to", &lo, &hi);

	if (!err)
		err = use_stack(env, f, lo);
	if (!err)
		err = check_no_dynptr(env, f, lo, hi + (int32_t)size);
	if (err)
		return err;
	if (lo == hi)
		return store_fixed(env, f, frameno, lo, size, value);
	slot_escapes(env, f, lo, hi + (int32_t)size);
	return store_variable(env, f, lo, hi, size, value);
}

/* ---- reading ---- */

static int check_bytes(struct verifier_env *env, struct vframe *f, int32_t off, uint32_t size,
		       uint32_t *spilled, uint32_t *zeros)
{
	*spilled = *zeros = 0;
	for (uint32_t i = 0; i < size; i++) {
		switch (*byte_type(f, off + (int32_t)i)) {
		case SLOT_SPILL:
			(*spilled)++;
			break;
		case SLOT_ZERO:
			(*zeros)++;
			break;
		case SLOT_INVALID:
			needs_clear(env, f, off + (int32_t)i);
			break;
		case SLOT_DYNPTR:
			return v_reject(env, VR_STACK_UNINIT,
					"invalid read from stack off %d+%u size %u", off, i, size);
		}
	}
	return 0;
}

/* Part of a spilled number, or bytes of several kinds. */
static int fill_part(struct verifier_env *env, struct vframe *f, uint32_t frameno, int32_t off,
		     uint32_t size, uint32_t spill_size, struct vreg *dst)
{
	struct vslot *s = &f->slot[slot_of(off)];
	uint32_t spilled, zeros;
	int err;

	if (size <= spill_size && !(off % SLOT_BYTES)) {
		if (size == 4 && spill_size == 4 && reg_width(&s->reg) <= 32)
			v_link_scalar(env, &s->reg);
		*dst = s->reg;
		if (reg_width(&s->reg) > size * 8)
			dst->id = 0;
		return v_history_stack(env, env->cur, frameno, slot_of(off));
	}
	err = check_bytes(env, f, off, size, &spilled, &zeros);
	if (err)
		return err;
	if (spilled == size && vreg_is_const(&s->reg) && s->reg.v.t.value == 0) {
		vreg_set_const(dst, 0);
		return v_history_stack(env, env->cur, frameno, slot_of(off));
	}
	if (zeros == size)
		vreg_set_const(dst, 0);
	else
		vreg_set_unknown(dst);
	return 0;
}

static int load_fixed(struct verifier_env *env, uint32_t frameno, int32_t off, uint32_t size,
		      int value)
{
	struct vframe *f = env->cur->frame[frameno];
	uint32_t slot = slot_of(off), spill_size = 1, spilled, zeros;
	struct vslot *s = &f->slot[slot];
	struct vreg *dst = value >= 0 ? &cur_regs(env->cur)[value] : NULL;
	int err;

	v_mark_slot_read(env, frameno, slot);
	if (!vslot_is_spilled_reg(s)) {
		err = check_bytes(env, f, off, size, &spilled, &zeros);
		if (err || !dst)
			return err;
		if (zeros == size)
			vreg_set_const(dst, 0);
		else
			vreg_set_unknown(dst);
		return 0;
	}
	while (spill_size < SLOT_BYTES && s->type[SLOT_BYTES - 1 - spill_size] == SLOT_SPILL)
		spill_size++;
	if (size == SLOT_BYTES && spill_size == SLOT_BYTES) {
		if (!dst)
			return 0;
		v_link_scalar(env, &s->reg);
		*dst = s->reg;
		return v_history_stack(env, env->cur, frameno, slot);
	}
	if (s->reg.type != VT_SCALAR)
		return v_reject(env, VR_STACK_SPILL, "invalid size of register fill");
	return dst ? fill_part(env, f, frameno, off, size, spill_size, dst) : 0;
}

int v_stack_load(struct verifier_env *env, uint32_t frameno, uint32_t ptr_reg, int32_t off,
		 uint32_t size, int value)
{
	struct vframe *f = env->cur->frame[frameno];
	uint32_t zeros = 0;
	int32_t lo, hi;
	int err = stack_extent(env, ptr_reg, off, size, " read from", &lo, &hi);

	if (!err)
		err = use_stack(env, f, lo);
	if (err)
		return err;
	if (lo == hi)
		return load_fixed(env, frameno, lo, size, value);
	slot_escapes(env, f, lo, hi + (int32_t)size);
	err = v_stack_range(env, ptr_reg, off, size, false, VACC_READ, false);
	if (err || value < 0)
		return err;
	for (int32_t i = lo; i < hi + (int32_t)size; i++)
		if (*byte_type(f, i) == SLOT_ZERO)
			zeros++;
	if (zeros == (uint32_t)(hi - lo) + size)
		vreg_set_const(&cur_regs(env->cur)[value], 0);
	else
		vreg_set_unknown(&cur_regs(env->cur)[value]);
	return 0;
}

/* ---- helpers' memory ---- */

static void range_byte(struct verifier_env *env, struct vframe *f, int32_t off, bool clobber)
{
	uint8_t *type = byte_type(f, off);

	if (*type == SLOT_INVALID)
		needs_clear(env, f, off);
	if (!clobber)
		return;
	if (*type == SLOT_SPILL)
		scrub(&f->slot[slot_of(off)]);
	*type = SLOT_MISC;
}

int v_stack_range(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size, bool zero_ok,
		  enum vaccess t, bool raw)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];
	uint32_t frameno = r->frameno;
	struct vframe *f = env->cur->frame[frameno];
	int32_t lo, hi;
	int err;

	if (!size && !zero_ok)
		return v_reject(env, VR_ARG_SIZE, "R%u invalid zero-sized read", reg);
	err = stack_extent(env, reg, off, size, " indirect access to", &lo, &hi);
	if (err || !size)
		return err;
	err = use_stack(env, f, lo);
	if (err)
		return err;
	slot_escapes(env, f, lo, hi + (int32_t)size);
	err = check_no_dynptr(env, f, lo, hi + (int32_t)size);
	if (err)
		return err;
	for (int32_t i = lo; i < hi + (int32_t)size; i++) {
		if (raw && lo == hi) { /* the helper writes all of it and reads nothing */
			if (*byte_type(f, i) == SLOT_SPILL)
				scrub(&f->slot[slot_of(i)]);
			*byte_type(f, i) = SLOT_MISC;
			continue;
		}
		range_byte(env, f, i, (t & VACC_WRITE) != 0);
		v_mark_slot_read(env, frameno, slot_of(i));
	}
	return 0;
}
