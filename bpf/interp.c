/* SPDX-License-Identifier: BSD-2-Clause */
/* Decoding, entries into the two modes, and what both of them call. */
#include "bpf/interp.h"

#include <linux/filter.h>
#include <linux/if_ether.h>

#include "bpf/ctx.h"
#include "bpf/interp_int.h"
#include "bpf/map.h"
#include "include/err.h"
#include "include/hal.h"

/* ---- decoding -------------------------------------------------------------------------------- */

static uint64_t word_hi_lo(uint32_t hi, uint32_t lo)
{
	return (uint64_t)hi << 32 | lo;
}

/* Layout MEM: lo, a byte at 32, off on top. */
static uint64_t word_mem(uint32_t lo, uint32_t mid, int16_t off)
{
	return word_hi_lo((uint32_t)(uint16_t)off << 16 | mid, lo);
}

static uint64_t word_jk(const struct bpf_insn *insn)
{
	return word_hi_lo((uint32_t)insn->imm, (uint32_t)(uint16_t)insn->off << 16 | insn->dst_reg);
}

uint64_t interp_pack(const struct isa_row *row, const struct bpf_insn *insn)
{
	if (row->flags & ISA_F_JUMP && !(row->flags & ISA_F_COND))
		return word_hi_lo((uint32_t)(row->flags & ISA_F_TARGET_IMM ? insn->imm : insn->off),
				  0);
	if (row->flags & ISA_F_WIDE)
		return insn->dst_reg;
	switch (row->form) {
	case FORM_DST_OFF_IMM:
		return word_jk(insn);
	case FORM_DST_SRC_OFF:
		if (row->flags & ISA_F_LOAD && row->flags & ISA_F_WRITES_DST)
			return word_mem(insn->src_reg, insn->dst_reg, insn->off);
		return word_mem(insn->dst_reg, insn->src_reg, insn->off);
	case FORM_DST_SRC:
		return word_hi_lo(insn->src_reg, insn->dst_reg);
	case FORM_SRC_IMM:
		return word_hi_lo((uint32_t)insn->imm, insn->src_reg);
	default:
		return word_hi_lo((uint32_t)insn->imm, insn->dst_reg);
	}
}

static const struct interp_func *func_at(const struct interp_code *code, int64_t start)
{
	uint32_t lo = 0, hi = code->func_cnt;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (code->funcs[mid].start == start)
			return &code->funcs[mid];
		if (code->funcs[mid].start < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* One instruction; false: it refers to something that does not exist. */
static bool decode_one(struct interp_code *code, const struct bpf_insn *insns, uint32_t i,
		       const struct isa_row *row)
{
	const struct bpf_insn *insn = &insns[i];
	struct interp_op *op = &code->ops[i];
	const struct interp_func *func;
	const struct bpf_helper *helper;
	uint32_t id = row->id;

	op->word = interp_pack(row, insn);
	switch (row->id) {
	case ISA_CALL_HELPER:
		helper = bpf_helper_get((uint32_t)insn->imm);
		if (!helper)
			id = INTERP_BAD;
		else if (helper->id == BPF_FUNC_tail_call)
			id = INTERP_TAIL_CALL;
		else
			op->word = (uintptr_t)helper->fn;
		break;
	case ISA_CALL_LOCAL:
		func = func_at(code, isa_target(insn, i));
		if (!func)
			return false;
		op->word = (uintptr_t)func;
		break;
	case ISA_LD_FUNC:
		func = func_at(code, isa_target(insn, i));
		if (!func)
			return false;
		op[1].word = interp_func_value(func);
		break;
	case ISA_LD_IMM64:
	case ISA_LD_MAP_FD:
	case ISA_LD_MAP_VALUE:
		op[1].word = isa_imm64(insn);
		break;
	case ISA_CALL_KFUNC:
	case ISA_LD_BTF_ID:
	case ISA_LD_MAP_IDX:
	case ISA_LD_MAP_IDX_VALUE:
		id = INTERP_BAD;
		break;
	default:
		break;
	}
	code->ids[i] = (uint8_t)id;
	op->handler = interp_fast_handlers()[id];
	return true;
}

static int decode_all(struct interp_code *code, const struct bpf_insn *insns)
{
	for (uint32_t i = 0; i < code->cnt; i++) {
		const char *why;
		const struct isa_row *row = isa_find(insns + i, i + 1 < code->cnt, &why);

		if (!row || !decode_one(code, insns, i, row))
			return -EINVAL;
		if (row->flags & ISA_F_WIDE) {
			i++;
			code->ids[i] = INTERP_BAD;
			code->ops[i].handler = interp_fast_handlers()[INTERP_BAD];
		}
	}
	code->ids[code->cnt] = INTERP_BAD;
	code->ops[code->cnt].handler = interp_fast_handlers()[INTERP_BAD];
	return 0;
}

/* Branches stay inside and do not end in the second slot of a wide instruction. */
static int targets_check(const struct bpf_insn *insns, uint32_t cnt)
{
	for (uint32_t i = 0; i < cnt; i++) {
		const char *why;
		const struct isa_row *row = isa_find(insns + i, i + 1 < cnt, &why);
		int64_t target;

		if (!row)
			return -EINVAL;
		if (row->flags & ISA_F_WIDE)
			i++;
		if (!(row->flags & ISA_F_JUMP))
			continue;
		target = isa_target(insns + i, i);
		/* A second slot is all zeros, which is no opcode that a branch may reach. */
		if (target < 0 || target >= cnt || !insns[target].code)
			return -EINVAL;
	}
	return 0;
}

static void funcs_fill(struct interp_code *code, struct bpf_prog *prog)
{
	for (uint32_t i = 0; i < code->func_cnt; i++) {
		const struct bpf_subprog *sub = &prog->subprogs[i];
		struct interp_func *func = &code->funcs[i];
		uint16_t used = (uint16_t)MIN(sub->stack_bytes, BPF_STACK_MAX);

		func->entry = &code->ops[sub->start];
		func->prog = prog;
		func->start = sub->start;
		/* A tail call reuses the frame, for a function that may want all of it. */
		func->frame_bytes = prog->has_tail_call ? BPF_STACK_MAX : used;
		func->clear_bytes = !prog->verified || sub->slots_clear ? used : 0;
	}
}

int interp_prepare(struct bpf_prog *prog)
{
	size_t ops_bytes = ((size_t)prog->insn_cnt + 1) * sizeof(struct interp_op);
	size_t funcs_bytes = prog->subprog_cnt * sizeof(struct interp_func);
	struct interp_code *code;
	int err;

	if (!prog->insn_cnt || !prog->subprog_cnt || prog->subprogs[0].start)
		return -EINVAL;
	for (uint32_t i = 0; i < prog->subprog_cnt; i++) {
		if (prog->subprogs[i].start >= prog->insn_cnt)
			return -EINVAL;
	}
	err = targets_check(prog->insns, prog->insn_cnt);
	if (err)
		return err;
	code = hal_alloc(sizeof(*code) + ops_bytes + funcs_bytes + prog->insn_cnt + 1);
	if (!code)
		return -ENOMEM;
	code->cnt = prog->insn_cnt;
	code->func_cnt = prog->subprog_cnt;
	code->funcs = (void *)((uint8_t *)code->ops + ops_bytes);
	code->ids = (uint8_t *)code->funcs + funcs_bytes;
	funcs_fill(code, prog);
	err = decode_all(code, prog->insns);
	if (err) {
		hal_free(code);
		return err;
	}
	interp_fuse(code, prog->insns);
	interp_free(prog->interp);
	prog->interp = code;
	return 0;
}

void interp_free(struct interp_code *code)
{
	hal_free(code);
}

/* ---- running --------------------------------------------------------------------------------- */

void interp_end(struct run_ctx *rc, enum run_end_why why, uint32_t at)
{
	rc->end = (struct run_end){ .why = why, .insn = at, .prog = rc->prog };
	hal_run_abort(rc);
}

void interp_frame_enter(struct run_ctx *rc, uint32_t at)
{
	if (rc->depth >= BPF_FRAMES_MAX)
		interp_end(rc, RUN_END_STACK, at);
	rc->depth++;
}

uint64_t interp_run_fast(struct bpf_prog *prog, void *r1, void *r2, struct run_ctx *rc)
{
	uint64_t args[5] = { (uintptr_t)r1, (uintptr_t)r2 };
	uint64_t ret;

	rc->prog = prog;
	rc->checked = 0;
	interp_frame_enter(rc, ~0u);
	ret = interp_exec_fast(prog->interp->funcs, args, rc);
	rc->depth--;
	return ret;
}

uint64_t interp_run_checked(struct bpf_prog *prog, void *r1, void *r2, struct run_ctx *rc)
{
	uint64_t args[5] = { (uintptr_t)r1, (uintptr_t)r2 };
	uint64_t ret;

	rc->prog = prog;
	rc->checked = 1;
	rc->seen_nr = 0;
	interp_frame_enter(rc, ~0u);
	ret = interp_exec_checked(prog->interp->funcs, args, rc);
	rc->depth--;
	/* A lock or record was not given back. */
	if (rc->held_nr)
		interp_end(rc, RUN_END_BAD_CALL, ~0u);
	return ret;
}

static const struct interp_func *func_of_value(uint64_t value)
{
	return value & 1 ? (const struct interp_func *)(uintptr_t)(value & ~1ull) : NULL;
}

struct bpf_prog *bpf_function_prog(uint64_t value)
{
	const struct interp_func *func = func_of_value(value);

	return func ? func->prog : NULL;
}

/* How often the time budget is looked at, in calls by helpers; a power of two. */
#define CALLBACKS_PER_LOOK 64

/*
 * A verified program lasts long only in what helpers call for it again and again, whatever mode it
 * runs in.
 */
static void check_budget(struct run_ctx *rc)
{
	if (++rc->callbacks % CALLBACKS_PER_LOOK == 0 && rc->deadline_ns &&
	    hal_ktime_ns() > rc->deadline_ns)
		interp_end(rc, RUN_END_BUDGET, ~0u);
}

uint64_t bpf_call_function(uint64_t value, uint64_t r1, uint64_t r2, uint64_t r3, uint64_t r4,
			   uint64_t r5)
{
	const struct interp_func *func = func_of_value(value);
	uint64_t args[5] = { r1, r2, r3, r4, r5 };
	struct run_ctx *rc = hal_run_current();
	struct bpf_prog *caller = rc->prog;
	uint64_t ret;

	check_budget(rc);
	interp_frame_enter(rc, ~0u);
	if (!func) {
		ret = ((bpf_helper_fn)(uintptr_t)value)(r1, r2, r3, r4, r5);
	} else {
		rc->prog = func->prog;
		ret = rc->checked ? interp_exec_checked(func, args, rc)
				  : interp_exec_fast(func, args, rc);
	}
	rc->prog = caller;
	rc->depth--;
	return ret;
}

/* Where a packet load with a base (negative offset) or without one starts; NULL: nowhere. */
static const uint8_t *packet_place(const struct ctx_skb *skb, int32_t off)
{
	const uint8_t *mac = skb->pkt.data - skb->l2_bytes;

	if (off >= 0)
		return skb->pkt.data + off;
	if (off >= SKF_NET_OFF)
		return mac + ETH_HLEN + (off - SKF_NET_OFF);
	if (off >= SKF_LL_OFF)
		return mac + (off - SKF_LL_OFF);
	return NULL;
}

bool interp_packet_load(struct run_ctx *rc, uint64_t ctx, int32_t off, uint32_t size,
			uint64_t *value)
{
	const struct prog_type *type = prog_type_get(rc->prog->type);
	const struct ctx_skb *skb = rc->ctx;
	const uint8_t *place;
	uint64_t v = 0;

	if (!type || type->ctx != CTX_SKB || ctx != (uintptr_t)skb)
		interp_end(rc, RUN_END_BAD_INSN, ~0u);
	place = packet_place(skb, off);
	if (!place || place < skb->pkt.hard_start || place > skb->pkt.data_end ||
	    (size_t)(skb->pkt.data_end - place) < size)
		return false;
	for (uint32_t i = 0; i < size; i++)
		v = v << 8 | place[i];
	*value = v;
	return true;
}

const struct interp_func *interp_tail_call(struct run_ctx *rc, uint64_t map_value, uint64_t index)
{
	struct bpf_map *map = (struct bpf_map *)(uintptr_t)map_value;
	uint32_t key = (uint32_t)index;
	struct bpf_prog *prog;

	if (rc->tail_calls >= BPF_TAIL_CALLS_MAX)
		return NULL;
	prog = map->ops->lookup(map, &key);
	/* A program that may only run checked is no target for one that runs unchecked. */
	if (!prog || !prog->interp || (!rc->checked && prog->mode == PROG_MODE_CHECKED))
		return NULL;
	rc->tail_calls++;
	return prog->interp->funcs;
}
