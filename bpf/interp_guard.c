/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/interp_guard.h"

#include <string.h>

#include "bpf/ctx.h"
#include "bpf/dynptr.h"
#include "bpf/interp_int.h"
#include "bpf/map.h"
#include "include/err.h"
#include "include/hal.h"

/* Longest memory argument, as in Linux (BPF_MAX_VAR_SIZ). */
#define MEM_ARG_MAX (1u << 29)
/* Longest constant string argument. */
#define STR_ARG_MAX 4096

static void end_access(struct run_ctx *rc, uint64_t addr, uint64_t size, bool write, uint32_t at)
	__attribute__((noreturn));

static void end_access(struct run_ctx *rc, uint64_t addr, uint64_t size, bool write, uint32_t at)
{
	rc->end = (struct run_end){ .why = RUN_END_BAD_ACCESS,
				    .insn = at,
				    .addr = addr,
				    .size = (uint32_t)MIN(size, (uint64_t)UINT32_MAX),
				    .write = write,
				    .prog = rc->prog };
	hal_run_abort(rc);
}

static bool inside(uint64_t addr, uint64_t size, uint64_t base, uint64_t bytes)
{
	return addr >= base && addr - base <= bytes && size <= bytes - (addr - base);
}

static bool region_allows(const struct run_ctx *rc, const struct run_region *r, uint64_t addr,
			  uint64_t size, bool write)
{
	const struct ctx_pkt *pkt = rc->ctx;

	if (write && !r->writable)
		return false;
	switch (r->kind) {
	case RUN_REGION_PKT:
		return inside(addr, size, (uintptr_t)pkt->data_meta,
			      (uint64_t)(pkt->data_end - pkt->data_meta));
	case RUN_REGION_CTX:
		return false;
	default:
		return inside(addr, size, r->base, r->size);
	}
}

static bool map_allows(struct bpf_map *map, uint64_t addr, uint64_t size, bool write)
{
	uint32_t forbidden = write ? BPF_F_RDONLY_PROG : BPF_F_WRONLY_PROG;

	return !(map->map_flags & forbidden) && map->ops->owns_value &&
	       map->ops->owns_value(map, (uintptr_t)addr, (size_t)size);
}

/* Records taken from a ring buffer; their length is in the header before them. */
static bool held_allows(const struct run_ctx *rc, uint64_t addr, uint64_t size)
{
	for (uint32_t i = 0; i < rc->held_nr; i++) {
		const uint8_t *record = rc->held[i].ptr;
		uint32_t len;

		if (rc->held[i].kind != RUN_HELD_RINGBUF)
			continue;
		memcpy(&len, record - BPF_RINGBUF_HDR_SZ, sizeof(len));
		len &= ~(uint32_t)(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
		if (inside(addr, size, (uintptr_t)record, len))
			return true;
	}
	return false;
}

static struct bpf_map *map_at(const struct run_ctx *rc, uint32_t i)
{
	uint32_t own = rc->prog->map_cnt;

	if (i < own)
		return rc->prog->maps[i];
	return i - own < MIN(rc->seen_nr, (uint8_t)RUN_SEEN_MAX) ? rc->seen[i - own] : NULL;
}

bool guard_allows(struct run_ctx *rc, uint64_t addr, uint64_t size, bool write)
{
	struct bpf_map *map;

	for (uint32_t i = 0; i < rc->regions_nr; i++) {
		if (region_allows(rc, &rc->regions[i], addr, size, write))
			return true;
	}
	for (uint32_t i = 0; (map = map_at(rc, i)) != NULL; i++) {
		if (map_allows(map, addr, size, write))
			return true;
	}
	return held_allows(rc, addr, size);
}

/*
 * An access that begins in the context: 1 done, 0 not the context, -EACCES. After conversion by
 * xlate the offsets are the internal structure's, which the verifier has judged before.
 */
static int ctx_access(struct run_ctx *rc, uint64_t addr, uint32_t size, uint64_t *value, bool write)
{
	const struct prog_type *type = prog_type_get(rc->prog->type);
	enum ctx_kind kind = type ? type->ctx : CTX_NONE;
	uint64_t off = addr - (uintptr_t)rc->ctx;
	int err;

	if (!ctx_internal_size(kind))
		return 0;
	if (rc->prog->ctx_converted) {
		if (!inside(addr, size, (uintptr_t)rc->ctx, ctx_internal_size(kind)))
			return 0;
		memcpy(write ? (void *)(uintptr_t)addr : value,
		       write ? value : (void *)(uintptr_t)addr, size);
		return 1;
	}
	if (off >= ctx_uapi_size(kind))
		return 0;
	err = write ? ctx_store(kind, rc->prog->type, rc->ctx, (uint32_t)off, size, *value)
		    : ctx_load(kind, rc->prog->type, rc->ctx, (uint32_t)off, size, value);
	return err ? err : 1;
}

uint64_t guard_load(struct run_ctx *rc, uint64_t addr, uint32_t size, uint32_t at)
{
	uint64_t value = 0;
	int in_ctx = ctx_access(rc, addr, size, &value, false);

	if (in_ctx > 0)
		return value;
	if (in_ctx < 0 || !guard_allows(rc, addr, size, false))
		end_access(rc, addr, size, false, at);
	memcpy(&value, (void *)(uintptr_t)addr, size);
	return value;
}

void guard_store(struct run_ctx *rc, uint64_t addr, uint32_t size, uint64_t value, uint32_t at)
{
	int in_ctx = ctx_access(rc, addr, size, &value, true);

	if (in_ctx > 0)
		return;
	if (in_ctx < 0 || !guard_allows(rc, addr, size, true))
		end_access(rc, addr, size, true, at);
	memcpy((void *)(uintptr_t)addr, &value, size);
}

void *guard_atomic(struct run_ctx *rc, uint64_t addr, uint32_t size, uint32_t at)
{
	if (addr % size || !guard_allows(rc, addr, size, true))
		end_access(rc, addr, size, true, at);
	return (void *)(uintptr_t)addr;
}

/* ---- helper calls ---------------------------------------------------------------------------- */

static bool map_is_known(const struct run_ctx *rc, const struct bpf_map *wanted)
{
	struct bpf_map *map;

	for (uint32_t i = 0; (map = map_at(rc, i)) != NULL; i++) {
		if (map == wanted)
			return true;
	}
	return false;
}

static bool is_ctx(const struct run_ctx *rc, uint64_t value)
{
	return value == (uintptr_t)rc->ctx ||
	       (rc->regions_nr && value == rc->regions[0].base && rc->regions[0].base);
}

static bool is_held_record(const struct run_ctx *rc, uint64_t value)
{
	for (uint32_t i = 0; i < rc->held_nr; i++) {
		if (rc->held[i].kind == RUN_HELD_RINGBUF && (uintptr_t)rc->held[i].ptr == value)
			return true;
	}
	return false;
}

static bool is_func(const struct run_ctx *rc, uint64_t value)
{
	const struct interp_code *code = rc->prog->interp;

	for (uint32_t i = 0; i < code->func_cnt; i++) {
		if (interp_func_value(&code->funcs[i]) == value)
			return true;
	}
	return false;
}

static bool string_ends(struct run_ctx *rc, uint64_t addr)
{
	for (uint64_t i = 0; i < STR_ARG_MAX; i++) {
		if (!guard_allows(rc, addr + i, 1, false))
			return false;
		if (!*(const char *)(uintptr_t)(addr + i))
			return true;
	}
	return false;
}

/* The memory behind a dynptr is as good as memory that the program names itself. */
static bool dynptr_ok(struct run_ctx *rc, uint64_t addr, bool release)
{
	const struct bpf_dynptr_kern *d = (void *)(uintptr_t)addr;

	if (addr % 8 || !guard_allows(rc, addr, sizeof(*d), true))
		return false;
	if (!d->data)
		return true;
	if (release)
		return dynptr_type(d) == DYNPTR_RINGBUF && is_held_record(rc, (uintptr_t)d->data);
	return guard_allows(rc, (uintptr_t)d->data + d->offset, dynptr_size(d),
			    !dynptr_is_rdonly(d));
}

static bool memory_ok(struct run_ctx *rc, uint64_t addr, uint64_t size, uint8_t size_arg,
		      bool may_be_null, bool write)
{
	if (size > MEM_ARG_MAX || (!size && size_arg == ARG_CONST_SIZE))
		return false;
	if (!size)
		return true;
	return !(may_be_null && !addr) && guard_allows(rc, addr, size, write);
}

/* Is it a value's lock or timer, which nothing but its helpers may touch? */
static bool is_field(const struct run_ctx *rc, uint64_t value,
		     bool (*owns)(struct bpf_map *map, uintptr_t addr))
{
	struct bpf_map *map;

	for (uint32_t i = 0; (map = map_at(rc, i)) != NULL; i++) {
		if (owns(map, (uintptr_t)value))
			return true;
	}
	return false;
}

static bool arg_ok(struct run_ctx *rc, const struct bpf_helper *helper, uint32_t i,
		   const uint64_t *regs, const struct bpf_map *map)
{
	uint64_t value = regs[i + 1], next = i < 4 ? regs[i + 2] : 0;
	uint8_t size_arg = i < 4 ? helper->arg[i + 1] : ARG_NONE;

	switch ((enum helper_arg)helper->arg[i]) {
	case ARG_CONST_MAP_PTR:
		return map_is_known(rc, map) && (!helper->maps || helper->maps >> map->type & 1);
	case ARG_PTR_TO_MAP_KEY:
		return map && guard_allows(rc, value, map->key_size, false);
	case ARG_PTR_TO_MAP_VALUE:
		return map && guard_allows(rc, value, map->value_size, false);
	case ARG_PTR_TO_UNINIT_MAP_VALUE:
		return map && guard_allows(rc, value, map->value_size, true);
	case ARG_PTR_TO_MEM:
		return memory_ok(rc, value, next, size_arg, false, false);
	case ARG_PTR_TO_MEM_OR_NULL:
		return memory_ok(rc, value, next, size_arg, true, false);
	case ARG_PTR_TO_UNINIT_MEM:
	case ARG_PTR_TO_MEM_RW:
		return memory_ok(rc, value, next, size_arg, false, true);
	case ARG_PTR_TO_CTX:
		return is_ctx(rc, value);
	case ARG_PTR_TO_CTX_OR_NULL:
		return !value || is_ctx(rc, value);
	case ARG_PTR_TO_RINGBUF_MEM:
		return is_held_record(rc, value);
	case ARG_PTR_TO_SPIN_LOCK:
		return is_field(rc, value, bpf_map_owns_lock);
	case ARG_PTR_TO_TIMER:
		return is_field(rc, value, bpf_map_owns_timer);
	case ARG_PTR_TO_FUNC:
		return is_func(rc, value);
	case ARG_PTR_TO_STACK_OR_NULL:
		return !value || guard_allows(rc, value, 1, true);
	case ARG_PTR_TO_CONST_STR:
		return string_ends(rc, value);
	case ARG_PTR_TO_LONG:
		return value % 8 == 0 && guard_allows(rc, value, 8, true);
	case ARG_PTR_TO_INT:
		return value % 4 == 0 && guard_allows(rc, value, 4, true);
	case ARG_PTR_TO_DYNPTR:
		return dynptr_ok(rc, value, false);
	case ARG_PTR_TO_UNINIT_DYNPTR:
		return value % 8 == 0 &&
		       guard_allows(rc, value, sizeof(struct bpf_dynptr_kern), true);
	case ARG_PTR_TO_DYNPTR_RELEASE:
		return dynptr_ok(rc, value, true);
	case ARG_CONST_SIZE:
	case ARG_CONST_SIZE_OR_ZERO:
	case ARG_CONST_ALLOC_SIZE:
	case ARG_ANYTHING:
	case ARG_NONE:
		return true;
	}
	return false;
}

static void end_call(struct run_ctx *rc, uint64_t value, uint32_t at) __attribute__((noreturn));

static void end_call(struct run_ctx *rc, uint64_t value, uint32_t at)
{
	rc->end = (struct run_end){
		.why = RUN_END_BAD_CALL, .insn = at, .addr = value, .prog = rc->prog
	};
	hal_run_abort(rc);
}

void guard_call(struct run_ctx *rc, const struct bpf_helper *helper, const uint64_t *regs,
		uint32_t at)
{
	const struct bpf_map *map = NULL;

	for (uint32_t i = 0; i < 5; i++) {
		if (helper->arg[i] == ARG_CONST_MAP_PTR)
			map = (const struct bpf_map *)(uintptr_t)regs[i + 1];
		if (!arg_ok(rc, helper, i, regs, map))
			end_call(rc, regs[i + 1], at);
	}
}

void guard_called(struct run_ctx *rc, const struct bpf_helper *helper, uint64_t map, uint64_t ret)
{
	const struct bpf_map *outer = (const struct bpf_map *)(uintptr_t)map;

	if (helper->ret != RET_PTR_TO_MAP_VALUE_OR_NULL || !ret ||
	    !(outer->type_row->features & MAP_FEAT_INNER) ||
	    map_is_known(rc, (const struct bpf_map *)(uintptr_t)ret))
		return;
	rc->seen[rc->seen_nr % RUN_SEEN_MAX] = (struct bpf_map *)(uintptr_t)ret;
	/* Counts on past the room, so that the oldest goes first. */
	rc->seen_nr =
		(uint8_t)(rc->seen_nr + 1 < 2 * RUN_SEEN_MAX ? rc->seen_nr + 1 : RUN_SEEN_MAX);
}

void guard_tail_call(struct run_ctx *rc, const uint64_t *regs, uint32_t at)
{
	const struct bpf_map *map = (const struct bpf_map *)(uintptr_t)regs[2];

	if (!is_ctx(rc, regs[1]) || !map_is_known(rc, map) || map->type != BPF_MAP_TYPE_PROG_ARRAY)
		end_call(rc, regs[2], at);
}

void interp_region_push(struct run_ctx *rc, uintptr_t base, size_t size, bool writable)
{
	if (!rc->checked)
		return;
	if (rc->regions_nr == RUN_REGIONS_MAX)
		interp_end(rc, RUN_END_STACK, ~0u);
	rc->regions[rc->regions_nr++] = (struct run_region){
		.base = base, .size = size, .kind = RUN_REGION_MEM, .writable = writable
	};
}

void interp_region_pop(struct run_ctx *rc)
{
	if (rc->checked)
		rc->regions_nr--;
}
