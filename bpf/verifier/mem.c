/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads, stores and atomics: what each kind of pointer allows. */
#include <string.h>

#include "bpf/ctx.h"
#include "bpf/isa.h"
#include "bpf/verifier/env.h"

/* ---- bounds ---- */

static int outside(struct verifier_env *env, uint32_t reg, const struct vreg *r, int64_t off,
		   uint32_t size, uint32_t mem_size)
{
	switch (r->type) {
	case VT_MAP_KEY:
		return v_reject(env, VR_MEM_RANGE,
				"invalid access to map key, key_size=%u off=%lld size=%u", mem_size,
				(long long)off, size);
	case VT_MAP_VALUE:
		return v_reject(env, VR_MAP_VALUE_RANGE,
				"invalid access to map value, value_size=%u off=%lld size=%u",
				mem_size, (long long)off, size);
	case VT_PACKET:
	case VT_PACKET_META:
		return v_reject(
			env, VR_PKT_RANGE,
			"invalid access to packet, off=%lld size=%u, R%u(id=%u,off=%d,r=%u); "
			"R%u offset is outside of the packet",
			(long long)off, size, reg, r->id, r->off, r->range, reg);
	default:
		return v_reject(env, VR_MEM_RANGE,
				"invalid access to memory, mem_size=%u off=%lld size=%u", mem_size,
				(long long)off, size);
	}
}

static bool fits(int64_t off, uint32_t size, uint32_t mem_size, bool zero_ok)
{
	return off >= 0 && (size || zero_ok) && (uint64_t)off + size <= mem_size;
}

int v_check_region(struct verifier_env *env, uint32_t reg, const struct vreg *r, int32_t off,
		   uint32_t size, uint32_t mem_size, bool zero_ok)
{
	int64_t min = r->v.smin;

	off += r->off;
	if (min < 0 && (min == INT64_MIN || off + min != (int32_t)(off + min) || min + off < 0))
		return v_reject(env, VR_MIN_NEGATIVE,
				"R%u min value is negative, either use unsigned index or do a if "
				"(index >=0) check.",
				reg);
	if (!fits(min + off, size, mem_size, zero_ok)) {
		if (!scalar_is_const(&r->v))
			v_log(env, "R%u min value is outside of the allowed memory range", reg);
		return outside(env, reg, r, min + off, size, mem_size);
	}
	if (r->v.umax >= (1u << 29))
		return v_reject(env, VR_UNBOUNDED,
				"R%u unbounded memory access, make sure to bounds check any such "
				"access",
				reg);
	if (!fits((int64_t)r->v.umax + off, size, mem_size, zero_ok)) {
		v_log(env, "R%u max value is outside of the allowed memory range", reg);
		return outside(env, reg, r, (int64_t)r->v.umax + off, size, mem_size);
	}
	return 0;
}

/* Does the access touch bytes [at, at+len) of the value? */
static bool touches(const struct vreg *r, int32_t off, uint32_t size, int32_t at, uint32_t len)
{
	int64_t lo = r->v.smin + r->off + off, hi = (int64_t)r->v.umax + r->off + off + size;

	return at >= 0 && lo < at + (int64_t)len && hi > at;
}

int v_check_map_value(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size,
		      bool zero_ok, enum vaccess t)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];
	const struct bpf_map *map = r->map;
	int err;

	if ((t & VACC_WRITE) && (map->map_flags & BPF_F_RDONLY_PROG))
		return v_reject(env, VR_RDONLY,
				"write into map forbidden, value_size=%u off=%lld size=%u",
				map->value_size, (long long)(r->off + off + r->v.smin), size);
	if ((t & VACC_READ) && (map->map_flags & BPF_F_WRONLY_PROG))
		return v_reject(env, VR_WRONLY,
				"read from map forbidden, value_size=%u off=%lld size=%u",
				map->value_size, (long long)(r->off + off + r->v.smin), size);
	err = v_check_region(env, reg, r, off, size, map->value_size, zero_ok);
	if (err)
		return err;
	if (map->has_lock && touches(r, off, size, map->lock_off, 4))
		return v_reject(env, VR_SPIN_FIELD,
				"bpf_spin_lock cannot be accessed directly by load/store");
	if (map->has_timer && touches(r, off, size, map->timer_off, 16))
		return v_reject(env, VR_SPIN_FIELD,
				"bpf_timer cannot be accessed directly by load/store");
	return 0;
}

int v_check_packet(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size, bool zero_ok)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];

	/* What is proven (range) was compared after the variable part was added. */
	if (r->v.smin < 0)
		return v_reject(env, VR_MIN_NEGATIVE,
				"R%u min value is negative, either use unsigned index or do a if "
				"(index >=0) check.",
				reg);
	if (!fits((int64_t)r->off + off, size, r->range, zero_ok))
		return outside(env, reg, r, (int64_t)r->off + off, size, r->range);
	return 0;
}

/* ---- alignment ---- */

static int check_alignment(struct verifier_env *env, const struct vreg *r, int32_t off,
			   uint32_t size)
{
	const struct bpf_insn *insn = &env->prog->insns[env->insn_idx];
	/* atomics are aligned on every machine */
	bool atomic = BPF_CLASS(insn->code) == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC;
	bool strict = env->strict_align || atomic;
	const char *what = "";
	int64_t sum = (int64_t)r->off + off;
	struct tnum t;

	switch (r->type) {
	case VT_PACKET:
	case VT_PACKET_META:
		what = "packet ";
		sum += 2; /* the link header leaves IP headers aligned: data is 2 mod 4 */
		break;
	case VT_MAP_VALUE:
	case VT_MAP_KEY:
		what = "value ";
		break;
	case VT_CTX:
		what = "context ";
		strict = true;
		break;
	case VT_STACK:
		what = "stack ";
		strict = true;
		break;
	}
	t = tnum_add(r->v.t, tnum_const((ux)sum));
	if (tnum_is_aligned(t, size))
		return 0;
	if (!strict || size == 1)
		return 0;
	return v_reject(env, VR_MISALIGNED, "misaligned %saccess off %llx/%llx+%d+%d size %u", what,
			(unsigned long long)r->v.t.value, (unsigned long long)r->v.t.mask, r->off,
			off, size);
}

/* ---- context ---- */

/* Contexts that are bytes: within bounds, aligned to the size. */
static bool ctx_bytes_ok(enum ctx_kind kind, int32_t off, uint32_t size, bool write)
{
	if (off < 0 || off % (int32_t)size)
		return false;
	switch (kind) {
	case CTX_TRACEPOINT: /* the first 8 bytes are the kernel's */
		return !write && off >= 8 && off + (int32_t)size <= 2048;
	case CTX_RAW_TP:
	case CTX_RAW_TP_W:
		return !write && off + (int32_t)size <= 12 * 8;
	case CTX_SYSCALL:
		return off + (int32_t)size <= UINT16_MAX;
	default:
		return false;
	}
}

int v_check_ctx_pointer(struct verifier_env *env, uint32_t reg, const struct vreg *r)
{
	if (r->off < 0)
		return v_reject(env, VR_CTX_PTR_MODIFIED,
				"negative offset ctx ptr R%u off=%d disallowed", reg, r->off);
	if (r->off > 0)
		return v_reject(env, VR_CTX_PTR_MODIFIED,
				"dereference of modified ctx ptr R%u off=%d disallowed", reg,
				r->off);
	if (!scalar_is_const(&r->v) || r->v.t.value)
		return v_reject(env, VR_CTX_PTR_MODIFIED,
				"variable ctx access var_off=%llx/%llx disallowed",
				(unsigned long long)r->v.t.value, (unsigned long long)r->v.t.mask);
	return 0;
}

static int check_ctx(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size,
		     enum vaccess t, int value, bool ldsx)
{
	struct vreg *regs = cur_regs(env->cur), *dst;
	const struct ctx_field *field = NULL;
	bool write = t & VACC_WRITE, ok;
	int err = v_check_ctx_pointer(env, reg, &regs[reg]);

	if (err)
		return err;
	ok = ctx_bytes_ok(env->type->ctx, off, size, write);
	if (!ok && off >= 0) {
		field = ctx_field_check(env->type->ctx, env->prog->type, (uint32_t)off, size,
					write);
		ok = field != NULL;
	}
	if (!ok || (field && field->kind != CTX_SCALAR && ldsx))
		return v_reject(env, VR_CTX_ACCESS, "invalid bpf_context access off=%d size=%u",
				off, size);
	env->aux[env->insn_idx].ctx_off = (uint32_t)off;
	if (write || value < 0)
		return 0;
	dst = &regs[value];
	vreg_set_unknown(dst);
	if (!field || field->kind == CTX_SCALAR)
		return 0;
	dst->type = field->kind == CTX_PKT_DATA	  ? VT_PACKET
		    : field->kind == CTX_PKT_META ? VT_PACKET_META
						  : VT_PACKET_END;
	dst->v = scalar_const(0);
	return 0;
}

/* ---- the rest ---- */

/* Constant contents of a frozen read-only map. */
static bool read_constant(const struct vreg *r, int32_t off, uint32_t size, uint64_t *out)
{
	const struct bpf_map *map = r->map;
	uintptr_t addr;
	uint64_t v = 0;

	if (!(map->map_flags & BPF_F_RDONLY_PROG) || !map->frozen || !map->ops->direct_value ||
	    !scalar_is_const(&r->v) || READ_ONCE(map->writers))
		return false;
	off += r->off + (int32_t)r->v.t.value;
	if (map->ops->direct_value((struct bpf_map *)map, 0, &addr))
		return false;
	memcpy(&v, (const void *)(addr + (uintptr_t)off), size);
	*out = v;
	return true;
}

static int check_value_access(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size,
			      enum vaccess t, int value)
{
	struct vreg *regs = cur_regs(env->cur);
	struct vreg r = regs[reg];
	uint64_t v;
	int err = v_check_map_value(env, reg, off, size, false, t);

	if (err || !(t & VACC_READ) || value < 0)
		return err;
	if (read_constant(&r, off, size, &v))
		vreg_set_const(&regs[value], v);
	else
		vreg_set_unknown(&regs[value]);
	return 0;
}

static int check_pkt_access(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size,
			    enum vaccess t, int value)
{
	int err;

	if ((t & VACC_WRITE) && env->type->pkt_access < 2)
		return v_reject(env, VR_PKT_ACCESS, "cannot write into packet");
	err = v_check_packet(env, reg, off, size, false);
	if (!err && (t & VACC_READ) && value >= 0)
		vreg_set_unknown(&cur_regs(env->cur)[value]);
	return err;
}

static int check_block(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size,
		       enum vaccess t, int value)
{
	struct vreg *regs = cur_regs(env->cur), *r = &regs[reg];
	uint32_t bytes = r->type == VT_MAP_KEY ? r->map->key_size : r->mem_size;
	int err;

	if ((t & VACC_WRITE) && r->type == VT_MAP_KEY)
		return v_reject(env, VR_RDONLY, "write to change key R%u not allowed", reg);
	if ((t & VACC_WRITE) && (r->flags & VF_RDONLY))
		return v_reject(env, VR_RDONLY, "R%u cannot write into %s", reg, v_type_name(r));
	err = v_check_region(env, reg, r, off, size, bytes, false);
	if (!err && (t & VACC_READ) && value >= 0)
		vreg_set_unknown(&regs[value]);
	return err;
}

static enum aux_ptr aux_ptr_of(const struct vreg *r)
{
	switch (r->type) {
	case VT_CTX:
		return AUX_PTR_CTX;
	case VT_STACK:
		return AUX_PTR_STACK;
	case VT_MAP_VALUE:
		return AUX_PTR_MAP_VALUE;
	case VT_PACKET:
	case VT_PACKET_META:
		return AUX_PTR_PACKET;
	default:
		return AUX_PTR_MEM;
	}
}

/* What this instruction's pointer is on all paths. */
static int note_aux(struct verifier_env *env, const struct vreg *r, int32_t off, uint32_t size)
{
	struct bpf_insn_aux *aux = &env->aux[env->insn_idx];
	enum aux_ptr ptr = aux_ptr_of(r);
	bool fixed =
		r->type == VT_STACK && scalar_is_const(&r->v) && r->frameno == env->cur->curframe;
	int32_t stack_off = fixed ? r->off + off + (int32_t)r->v.t.value : 0;

	if (!aux->size) { /* first path */
		aux->ptr = (uint8_t)ptr;
		aux->size = (uint8_t)size;
		aux->stack_off = stack_off;
		if (fixed)
			aux->flags |= AUX_STACK_CONST;
		return 0;
	}
	if ((aux->ptr == AUX_PTR_CTX) != (ptr == AUX_PTR_CTX))
		return v_reject(env, VR_SAME_INSN_PTRS,
				"same insn cannot be used with different pointers");
	if (aux->ptr != ptr)
		aux->ptr = AUX_PTR_UNKNOWN;
	if (!fixed || aux->stack_off != stack_off)
		aux->flags = (uint16_t)(aux->flags & ~AUX_STACK_CONST);
	return 0;
}

static int check_by_type(struct verifier_env *env, uint32_t reg, int32_t off, uint32_t size,
			 enum vaccess t, int value, bool ldsx)
{
	struct vreg *r = &cur_regs(env->cur)[reg];

	if (r->flags & VF_MAYBE_NULL)
		return v_reject(env, VR_MAYBE_NULL, "R%u invalid mem access '%s'", reg,
				v_type_name(r));
	switch (r->type) {
	case VT_CTX:
		return check_ctx(env, reg, off, size, t, value, ldsx);
	case VT_STACK:
		if (t & VACC_READ)
			return v_stack_load(env, r->frameno, reg, off, size, value);
		return v_stack_store(env, env->cur->frame[r->frameno], r->frameno, reg, off, size,
				     value);
	case VT_MAP_VALUE:
		return check_value_access(env, reg, off, size, t, value);
	case VT_PACKET:
	case VT_PACKET_META:
		return check_pkt_access(env, reg, off, size, t, value);
	case VT_MAP_KEY:
	case VT_MEM:
		return check_block(env, reg, off, size, t, value);
	default:
		if (r->type == VT_SCALAR && r->lost_at)
			v_log(env, "R%u stopped being a pointer at insn %u", reg, r->lost_at - 1);
		return v_reject(env, VR_NOT_POINTER, "R%u invalid mem access '%s'", reg,
				v_type_name(r));
	}
}

int v_check_mem(struct verifier_env *env, uint32_t insn_idx, uint32_t reg, int32_t off,
		uint32_t size, enum vaccess t, int value, bool ldsx)
{
	struct vreg *regs = cur_regs(env->cur);
	struct vreg base = regs[reg]; /* the load may overwrite it */
	int err = check_alignment(env, &base, off, size);

	(void)insn_idx;
	if (!err)
		err = check_by_type(env, reg, off, size, t, value, ldsx);
	if (!err)
		err = note_aux(env, &base, off, size);
	if (err || !(t & VACC_READ) || value < 0)
		return err;
	if (size < 8 && regs[value].type == VT_SCALAR) {
		struct vreg *d = &regs[value];
		struct scalar v =
			ldsx ? scalar_sext(&d->v, size * 8) : scalar_zext(&d->v, size * 8);

		if (memcmp(&v, &d->v, sizeof(v)))
			d->id = 0;
		d->v = v;
	}
	return 0;
}

/* ---- instructions ---- */

int v_check_load(struct verifier_env *env, const struct bpf_insn *insn)
{
	int err = v_check_reg_read(env, insn->src_reg);

	if (!err)
		err = v_check_reg_write(env, insn->dst_reg);
	if (err)
		return err;
	return v_check_mem(env, env->insn_idx, insn->src_reg, insn->off, isa_access_size(insn),
			   VACC_READ, insn->dst_reg, BPF_MODE(insn->code) == BPF_MEMSX);
}

int v_check_store(struct verifier_env *env, const struct bpf_insn *insn)
{
	bool reg = BPF_CLASS(insn->code) == BPF_STX;
	int err = reg ? v_check_reg_read(env, insn->src_reg) : 0;

	if (!err)
		err = v_check_reg_read(env, insn->dst_reg);
	if (err)
		return err;
	return v_check_mem(env, env->insn_idx, insn->dst_reg, insn->off, isa_access_size(insn),
			   VACC_WRITE, reg ? insn->src_reg : -1, false);
}
