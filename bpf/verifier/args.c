/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments of helpers: each by its kind in the helper's row. */
#include <string.h>

#include "bpf/ctx.h"
#include "bpf/verifier/call.h"

#define SIZE_LIMIT (1u << 29)

static const char *arg_expected(enum helper_arg arg)
{
	static const char *const name[] = {
		[ARG_CONST_MAP_PTR] = "map_ptr",
		[ARG_PTR_TO_MAP_KEY] = "fp",
		[ARG_PTR_TO_MAP_VALUE] = "fp",
		[ARG_PTR_TO_UNINIT_MAP_VALUE] = "fp",
		[ARG_PTR_TO_MEM] = "fp",
		[ARG_PTR_TO_MEM_OR_NULL] = "fp",
		[ARG_PTR_TO_UNINIT_MEM] = "fp",
		[ARG_PTR_TO_MEM_RW] = "fp",
		[ARG_CONST_SIZE] = "scalar",
		[ARG_CONST_SIZE_OR_ZERO] = "scalar",
		[ARG_CONST_ALLOC_SIZE] = "scalar",
		[ARG_PTR_TO_CTX] = "ctx",
		[ARG_PTR_TO_CTX_OR_NULL] = "ctx",
		[ARG_PTR_TO_RINGBUF_MEM] = "ringbuf_mem",
		[ARG_PTR_TO_SPIN_LOCK] = "map_value",
		[ARG_PTR_TO_TIMER] = "map_value",
		[ARG_PTR_TO_FUNC] = "func",
		[ARG_PTR_TO_STACK_OR_NULL] = "fp",
		[ARG_PTR_TO_CONST_STR] = "map_value",
		[ARG_PTR_TO_LONG] = "fp",
		[ARG_PTR_TO_INT] = "fp",
		[ARG_PTR_TO_DYNPTR] = "fp",
		[ARG_PTR_TO_UNINIT_DYNPTR] = "fp",
		[ARG_PTR_TO_DYNPTR_RELEASE] = "fp",
	};

	return arg < ARRAY_SIZE(name) && name[arg] ? name[arg] : "?";
}

static bool arg_is_mem(enum helper_arg a)
{
	switch (a) {
	case ARG_PTR_TO_MAP_KEY:
	case ARG_PTR_TO_MAP_VALUE:
	case ARG_PTR_TO_UNINIT_MAP_VALUE:
	case ARG_PTR_TO_MEM:
	case ARG_PTR_TO_MEM_OR_NULL:
	case ARG_PTR_TO_UNINIT_MEM:
	case ARG_PTR_TO_MEM_RW:
	case ARG_PTR_TO_LONG:
	case ARG_PTR_TO_INT:
		return true;
	default:
		return false;
	}
}

static bool arg_may_be_null(enum helper_arg a)
{
	return a == ARG_PTR_TO_MEM_OR_NULL || a == ARG_PTR_TO_CTX_OR_NULL ||
	       a == ARG_PTR_TO_STACK_OR_NULL;
}

static bool type_fits(enum helper_arg a, const struct vreg *r)
{
	if (r->flags & VF_MAYBE_NULL)
		return false;
	if (arg_is_mem(a))
		return r->type == VT_STACK || vreg_is_pkt(r) || r->type == VT_MAP_KEY ||
		       r->type == VT_MAP_VALUE || r->type == VT_MEM;
	switch (a) {
	case ARG_CONST_MAP_PTR:
		return r->type == VT_MAP;
	case ARG_CONST_SIZE:
	case ARG_CONST_SIZE_OR_ZERO:
	case ARG_CONST_ALLOC_SIZE:
		return r->type == VT_SCALAR;
	case ARG_PTR_TO_CTX:
	case ARG_PTR_TO_CTX_OR_NULL:
		return r->type == VT_CTX;
	case ARG_PTR_TO_RINGBUF_MEM:
		return r->type == VT_MEM && (r->flags & VF_RINGBUF);
	case ARG_PTR_TO_SPIN_LOCK:
	case ARG_PTR_TO_TIMER:
	case ARG_PTR_TO_CONST_STR:
		return r->type == VT_MAP_VALUE;
	case ARG_PTR_TO_FUNC:
		return r->type == VT_FUNC;
	case ARG_PTR_TO_STACK_OR_NULL:
	case ARG_PTR_TO_DYNPTR:
	case ARG_PTR_TO_UNINIT_DYNPTR:
	case ARG_PTR_TO_DYNPTR_RELEASE:
		return r->type == VT_STACK;
	default:
		return true;
	}
}

/* ---- memory arguments ---- */

int v_helper_mem(struct verifier_env *env, struct vcall *c, uint32_t reg, uint32_t size,
		 enum vaccess t, bool zero_ok, bool raw)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];

	switch (r->type) {
	case VT_STACK:
		return v_stack_range(env, reg, 0, size, zero_ok, t, raw);
	case VT_PACKET:
	case VT_PACKET_META:
		if (!(c->h->flags & HELPER_PKT_READ) || !env->type->pkt_access ||
		    ((t & VACC_WRITE) && env->type->pkt_access < 2))
			return v_reject(env, VR_PKT_ACCESS,
					"helper access to the packet is not allowed");
		return v_check_packet(env, reg, 0, size, zero_ok);
	case VT_MAP_KEY:
		if (t & VACC_WRITE)
			return v_reject(env, VR_RDONLY, "R%u cannot write into %s", reg,
					v_type_name(r));
		return v_check_region(env, reg, r, 0, size, r->map->key_size, zero_ok);
	case VT_MAP_VALUE:
		return v_check_map_value(env, reg, 0, size, zero_ok, t);
	case VT_MEM:
		if ((t & VACC_WRITE) && (r->flags & VF_RDONLY))
			return v_reject(env, VR_RDONLY, "R%u cannot write into %s", reg,
					v_type_name(r));
		return v_check_region(env, reg, r, 0, size, r->mem_size, zero_ok);
	default:
		if (zero_ok && !size && vreg_is_const(r) && !r->v.t.value)
			return 0;
		return v_reject(env, VR_ARG_TYPE, "R%u type=%s expected=fp", reg, v_type_name(r));
	}
}

static enum vaccess mem_direction(enum helper_arg a)
{
	switch (a) {
	case ARG_PTR_TO_UNINIT_MEM:
	case ARG_PTR_TO_UNINIT_MAP_VALUE:
	case ARG_PTR_TO_LONG:
	case ARG_PTR_TO_INT:
		return VACC_WRITE;
	case ARG_PTR_TO_MEM_RW:
		return VACC_READ | VACC_WRITE;
	default:
		return VACC_READ;
	}
}

/* The size argument in reg; the memory is in the register before it. */
static int check_size(struct verifier_env *env, struct vcall *c, uint32_t reg, bool zero_ok)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];
	enum helper_arg mem = (enum helper_arg)c->h->arg[reg - 2];
	bool raw = mem == ARG_PTR_TO_UNINIT_MEM && scalar_is_const(&r->v);
	int err;

	if (r->v.smin < 0)
		return v_reject(env, VR_ARG_SIZE,
				"R%u min value is negative, either use unsigned or 'var &= const'",
				reg);
	if (!r->v.umin && !zero_ok)
		return v_reject(env, VR_ARG_SIZE, "R%u invalid zero-sized read: u64=[%llu,%llu]",
				reg, (unsigned long long)r->v.umin, (unsigned long long)r->v.umax);
	if (r->v.umax >= SIZE_LIMIT)
		return v_reject(env, VR_ARG_SIZE,
				"R%u unbounded memory access, use 'var &= const' or 'if (var < "
				"const)'",
				reg);
	err = v_helper_mem(env, c, reg - 1, (uint32_t)r->v.umax, mem_direction(mem), zero_ok, raw);
	return err ? err : v_mark_precise(env, reg);
}

/* ---- one argument ---- */

static int check_map_ptr(struct verifier_env *env, struct vcall *c, const struct vreg *r)
{
	struct bpf_insn_aux *aux = &env->aux[env->insn_idx];

	c->map = r->map;
	c->map_id = r->id;
	if (!(aux->flags & AUX_MAP_SINGLE)) {
		aux->flags |= AUX_MAP_SINGLE;
		aux->map = c->map;
	} else if (aux->map != c->map || r->map->inner_meta) {
		aux->map = NULL; /* several maps reach this call */
	}
	return 0;
}

/* Bytes of a key on the stack, where all are known. */
static bool constant_key(const struct verifier_env *env, const struct vreg *r, uint32_t size,
			 uint64_t *key)
{
	const struct vframe *f;
	int32_t off = r->off + (int32_t)r->v.t.value;
	const struct vslot *s;
	uint32_t first;

	if (r->type != VT_STACK || !scalar_is_const(&r->v) || !size || size > 8)
		return false;
	f = env->cur->frame[r->frameno];
	first = (uint32_t)(-off - 1) / SLOT_BYTES;
	if (first >= f->slot_cnt || (uint32_t)(-off - (int32_t)size) / SLOT_BYTES != first)
		return false;
	s = &f->slot[first];
	for (uint32_t i = 0; i < size; i++)
		if (s->type[((uint32_t)(-off - 1) - i) % SLOT_BYTES] != SLOT_ZERO)
			break;
		else if (i + 1 == size) {
			*key = 0;
			return true;
		}
	if (!vslot_is_spilled_reg(s) || off % SLOT_BYTES || !vreg_is_const(&s->reg))
		return false;
	for (uint32_t i = 0; i < size; i++)
		if (s->type[SLOT_BYTES - 1 - i] != SLOT_SPILL)
			return false;
	*key = size == 8 ? s->reg.v.t.value : s->reg.v.t.value & ((1ull << (size * 8)) - 1);
	return true;
}

/* Index of an array: if it is the same constant on all paths, the lookup needs no code. */
static int note_key(struct verifier_env *env, struct vcall *c, const struct vreg *r)
{
	struct bpf_insn_aux *aux = &env->aux[env->insn_idx];
	struct vinsn *vi = &env->insn[env->insn_idx];
	struct vprecise_set set = { .frame = env->cur->curframe };
	uint64_t key = 0;
	bool known;

	if (!(c->map->type_row->features & MAP_FEAT_KEYS_ONLY_U32))
		return 0;
	known = constant_key(env, r, c->map->key_size, &key);
	if (known && !vi->key_seen) {
		aux->flags |= AUX_CONST_KEY;
		aux->const_key = key;
	} else if (!known || aux->const_key != key) {
		aux->flags = (uint16_t)(aux->flags & ~AUX_CONST_KEY);
	}
	vi->key_seen = 1;
	if (!known || !(aux->flags & AUX_CONST_KEY))
		return 0;
	set.slots[r->frameno] = BIT((uint32_t)(-(r->off + (int32_t)r->v.t.value) - 1) / SLOT_BYTES);
	return v_mark_precise_set(env, &set);
}

static int check_map_mem(struct verifier_env *env, struct vcall *c, uint32_t reg, enum helper_arg a)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];
	bool key = a == ARG_PTR_TO_MAP_KEY;
	uint32_t size;

	if (!c->map)
		return v_reject(env, VR_MAP_PTR, "invalid map_ptr to access map->%s",
				key ? "key" : "value");
	size = key ? c->map->key_size : c->map->value_size;
	if (key && note_key(env, c, r))
		return env->verdict->err;
	return v_helper_mem(env, c, reg, size, mem_direction(a), false,
			    a == ARG_PTR_TO_UNINIT_MAP_VALUE);
}

static int check_const_str(struct verifier_env *env, uint32_t reg)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];
	struct bpf_map *map = r->map;
	uintptr_t base;
	int64_t off;

	if (!(map->map_flags & BPF_F_RDONLY_PROG) || !map->frozen)
		return v_reject(env, VR_ARG_CONST, "R%u does not point to a readonly map", reg);
	if (!scalar_is_const(&r->v))
		return v_reject(env, VR_ARG_CONST, "R%u is not a constant address", reg);
	if (!map->ops->direct_value || map->ops->direct_value(map, 0, &base))
		return v_reject(env, VR_ARG_CONST,
				"no direct value access support for this map type");
	off = r->off + (int64_t)r->v.t.value;
	if (off < 0 || off >= map->value_size ||
	    !memchr((const void *)(base + (uintptr_t)off), 0, map->value_size - (size_t)off))
		return v_reject(env, VR_ARG_CONST, "string is not zero-terminated");
	return 0;
}

static int check_timer(struct verifier_env *env, struct vcall *c, uint32_t reg)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];
	struct bpf_map *map = r->map;

	if (!scalar_is_const(&r->v))
		return v_reject(env, VR_ARG_CONST,
				"R%u doesn't have constant offset. bpf_timer has to be at the "
				"constant offset",
				reg);
	if (!map->btf)
		return v_reject(env, VR_BAD_MAP_USE,
				"map '%s' has to have BTF in order to use bpf_timer", map->name);
	if (!map->has_timer)
		return v_reject(env, VR_BAD_MAP_USE, "map '%s' has no valid bpf_timer", map->name);
	if (map->timer_off != r->off + (int64_t)r->v.t.value)
		return v_reject(env, VR_BAD_MAP_USE,
				"off %lld doesn't point to 'struct bpf_timer' that is at %d",
				(long long)(r->off + (int64_t)r->v.t.value), map->timer_off);
	if (c->map && c->map != map)
		return v_reject(env, VR_BAD_MAP_USE, "timer pointer and map do not match");
	c->timer_map = map;
	return 0;
}

static int check_release(struct verifier_env *env, struct vcall *c, uint32_t reg)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];

	if (r->off || !scalar_is_const(&r->v) || r->v.t.value)
		return v_reject(env, VR_BAD_RELEASE,
				"R%u must have zero offset when passed to release func or trusted "
				"arg to kfunc",
				reg);
	if (!r->ref_id)
		return v_reject(env, VR_BAD_RELEASE,
				"R%u must be referenced when passed to "
				"release function",
				reg);
	c->release_id = r->ref_id;
	return 0;
}

static int check_alloc_size(struct verifier_env *env, struct vcall *c, uint32_t reg)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];

	if (!scalar_is_const(&r->v))
		return v_reject(env, VR_ARG_CONST,
				"R%u unbounded size, use 'var &= const' or 'if (var < const)'",
				reg);
	if (r->v.t.value > UINT32_MAX)
		return v_reject(env, VR_ARG_SIZE, "R%u size does not fit", reg);
	c->mem_size = (uint32_t)r->v.t.value;
	return v_mark_precise(env, reg);
}

static int check_ctx_arg(struct verifier_env *env, uint32_t reg)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];

	if (r->off || !scalar_is_const(&r->v) || r->v.t.value)
		return v_reject(env, VR_CTX_PTR_MODIFIED, "%s ctx ptr R%u off=%d disallowed",
				r->off < 0 ? "negative offset" : "dereference of modified", reg,
				r->off);
	return 0;
}

static int check_arg_kind(struct verifier_env *env, struct vcall *c, uint32_t reg,
			  enum helper_arg a)
{
	struct vreg *r = &cur_regs(env->cur)[reg];

	switch (a) {
	case ARG_CONST_MAP_PTR:
		return check_map_ptr(env, c, r);
	case ARG_PTR_TO_MAP_KEY:
	case ARG_PTR_TO_MAP_VALUE:
	case ARG_PTR_TO_UNINIT_MAP_VALUE:
		return check_map_mem(env, c, reg, a);
	case ARG_CONST_SIZE:
		return check_size(env, c, reg, false);
	case ARG_CONST_SIZE_OR_ZERO:
		return check_size(env, c, reg, true);
	case ARG_CONST_ALLOC_SIZE:
		return check_alloc_size(env, c, reg);
	case ARG_PTR_TO_CTX:
	case ARG_PTR_TO_CTX_OR_NULL:
		return check_ctx_arg(env, reg);
	case ARG_PTR_TO_RINGBUF_MEM:
		return check_release(env, c, reg);
	case ARG_PTR_TO_SPIN_LOCK:
		return v_check_lock(env, reg, (c->h->flags & HELPER_LOCK) != 0);
	case ARG_PTR_TO_TIMER:
		return check_timer(env, c, reg);
	case ARG_PTR_TO_FUNC:
		c->callback = r->subprog;
		return 0;
	case ARG_PTR_TO_CONST_STR:
		return check_const_str(env, reg);
	case ARG_PTR_TO_LONG:
	case ARG_PTR_TO_INT:
		return v_helper_mem(env, c, reg, a == ARG_PTR_TO_LONG ? 8 : 4, VACC_WRITE, false,
				    true);
	case ARG_PTR_TO_DYNPTR:
	case ARG_PTR_TO_UNINIT_DYNPTR:
	case ARG_PTR_TO_DYNPTR_RELEASE:
		return v_check_dynptr_arg(env, c, reg, a);
	default:
		return 0;
	}
}

int v_check_arg(struct verifier_env *env, struct vcall *c, uint32_t n)
{
	enum helper_arg a = (enum helper_arg)c->h->arg[n];
	uint32_t reg = n + 1;
	const struct vreg *r = &cur_regs(env->cur)[reg];
	int err;

	if (a == ARG_NONE)
		return 0;
	err = v_check_reg_read(env, reg);
	if (err || a == ARG_ANYTHING)
		return err;
	if (vreg_is_const(r) && !r->v.t.value && arg_may_be_null(a))
		return 0;
	/* A zero-sized block may be NULL; its size decides, in the next argument. */
	if (arg_is_mem(a) && vreg_is_const(r) && !r->v.t.value && n < 4 &&
	    c->h->arg[n + 1] == ARG_CONST_SIZE_OR_ZERO && a != ARG_PTR_TO_MEM &&
	    a != ARG_PTR_TO_UNINIT_MEM)
		return 0;
	if (!type_fits(a, r))
		return v_reject(env, VR_ARG_TYPE, "R%u type=%s expected=%s", reg, v_type_name(r),
				arg_expected(a));
	if (vreg_is_pkt(r) && !(c->h->flags & HELPER_PKT_READ))
		return v_reject(env, VR_PKT_ACCESS, "helper access to the packet is not allowed");
	return check_arg_kind(env, c, reg, a);
}
