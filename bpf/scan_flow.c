/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reachability, and where the context pointer is: a forward analysis over instructions that keeps
 * of each register and each 8-byte stack slot whether it holds the unchanged context pointer on
 * every path so far. A spilled pointer is taken to stay in its slot unless a store through R10 goes
 * over it, which holds for what compilers make; unverified code that runs unchecked is trusted
 * anyway.
 */
#include "bpf/scan.h"

#include "bpf/isa.h"
#include "include/err.h"
#include "include/hal.h"

struct holds {
	uint64_t slots; /* bit n: stack slot n below the top */
	uint16_t regs;
	uint8_t seen;
};

struct flow {
	struct bpf_prog *prog;
	struct holds *at; /* before each instruction */
	uint32_t *work;	  /* instructions to look at again */
	uint8_t *queued;
	uint32_t work_nr;
};

static void flow_to(struct flow *f, int64_t to, const struct holds *h)
{
	struct holds *at = &f->at[to];
	struct holds met = { at->slots & h->slots, at->regs & h->regs, 1 };

	if (!at->seen)
		met = (struct holds){ h->slots, h->regs, 1 };
	else if (met.slots == at->slots && met.regs == at->regs)
		return;
	*at = met;
	if (!f->queued[to]) {
		f->queued[to] = 1;
		f->work[f->work_nr++] = (uint32_t)to;
	}
}

static bool slot_of(const struct bpf_insn *insn, uint8_t base, uint32_t *slot)
{
	if (base != BPF_REG_10 || insn->off >= 0 || insn->off < -BPF_STACK_MAX)
		return false;
	*slot = (uint32_t)(-insn->off - 1) / 8;
	return true;
}

/* A store, its base register judged before. */
static void step_store(const struct bpf_insn *insn, const struct isa_row *row, struct holds *h)
{
	uint32_t slot;

	if (!slot_of(insn, insn->dst_reg, &slot))
		return;
	h->slots &= ~BIT(slot);
	if (row->id == ISA_STX_DW && insn->off % 8 == 0 && h->regs >> insn->src_reg & 1)
		h->slots |= BIT(slot);
}

static void step_define(const struct bpf_insn *insn, const struct isa_row *row, struct holds *h)
{
	bool is_ctx = false;
	uint32_t slot;

	if (row->id == ISA_MOV64_X)
		is_ctx = h->regs >> insn->src_reg & 1;
	else if (row->id == ISA_LDX_DW && slot_of(insn, insn->src_reg, &slot))
		is_ctx = insn->off % 8 == 0 && h->slots >> slot & 1;
	h->regs = (uint16_t)(h->regs & ~(1u << insn->dst_reg));
	h->regs = (uint16_t)(h->regs | (unsigned int)is_ctx << insn->dst_reg);
}

/* The effect of one instruction on what is known. */
static void step(const struct bpf_insn *insn, const struct isa_row *row, struct holds *h)
{
	if (row->flags & ISA_F_STORE)
		step_store(insn, row, h);
	if (row->flags & ISA_F_WRITES_DST)
		step_define(insn, row, h);
	if (row->flags & ISA_F_FETCH)
		h->regs = (uint16_t)(h->regs & ~(1u << insn->src_reg) & ~1u);
	if (row->flags & ISA_F_CALL || row->group == GROUP_PACKET)
		h->regs &= (uint16_t)~0x3fu; /* R0 .. R5 */
}

static void flow_calls(struct flow *f, uint32_t i, const struct isa_row *row, const struct holds *h)
{
	struct holds entry = { 0 };

	if (row->id == ISA_CALL_LOCAL)
		entry.regs = h->regs & 0x3e; /* R1 .. R5 */
	if (row->id == ISA_CALL_LOCAL || row->id == ISA_LD_FUNC)
		flow_to(f, isa_target(&f->prog->insns[i], i), &entry);
}

static void flow_one(struct flow *f, uint32_t i)
{
	const struct bpf_insn *insn = &f->prog->insns[i];
	const char *why;
	const struct isa_row *row = isa_find(insn, true, &why);
	struct holds h = f->at[i];

	flow_calls(f, i, row, &h);
	step(insn, row, &h);
	if (row->flags & ISA_F_JUMP)
		flow_to(f, isa_target(insn, i), &h);
	if (row->flags & ISA_F_EXIT || (row->flags & ISA_F_JUMP && !(row->flags & ISA_F_COND)))
		return;
	flow_to(f, i + (row->flags & ISA_F_WIDE ? 2 : 1), &h);
}

/* Loads and stores through the context. */
static void mark_access(struct bpf_insn_aux *aux, const struct bpf_insn *insn,
			const struct isa_row *row, const struct holds *h)
{
	bool load = row->flags & ISA_F_WRITES_DST;
	uint8_t base = load ? insn->src_reg : insn->dst_reg;

	if (!(row->flags & (ISA_F_LOAD | ISA_F_STORE)) || row->group == GROUP_PACKET)
		return;
	if (!(h->regs >> base & 1) || insn->off < 0)
		return;
	aux->ptr = AUX_PTR_CTX;
	aux->ctx_off = (uint32_t)insn->off;
	aux->size = (uint8_t)isa_access_size(insn);
}

static void mark_all(struct flow *f)
{
	struct bpf_prog *prog = f->prog;

	for (uint32_t i = 0; i < prog->insn_cnt; i++) {
		const char *why;
		const struct isa_row *row = isa_find(&prog->insns[i], true, &why);

		if (f->at[i].seen) {
			prog->aux[i].flags |= AUX_REACHED;
			mark_access(&prog->aux[i], &prog->insns[i], row, &f->at[i]);
		}
		if (row->flags & ISA_F_WIDE) {
			i++;
			prog->aux[i].flags |= prog->aux[i - 1].flags & AUX_REACHED;
		}
	}
}

int scan_flow(struct bpf_prog *prog)
{
	struct flow f = { .prog = prog };
	struct holds entry = { .regs = 1u << BPF_REG_1 };
	int err = -ENOMEM;

	f.at = hal_alloc(prog->insn_cnt * sizeof(*f.at));
	f.work = hal_alloc(prog->insn_cnt * sizeof(*f.work));
	f.queued = hal_alloc(prog->insn_cnt);
	if (f.at && f.work && f.queued) {
		flow_to(&f, 0, &entry);
		while (f.work_nr) {
			uint32_t i = f.work[--f.work_nr];

			f.queued[i] = 0;
			flow_one(&f, i);
		}
		mark_all(&f);
		err = 0;
	}
	hal_free(f.at);
	hal_free(f.work);
	hal_free(f.queued);
	return err;
}
