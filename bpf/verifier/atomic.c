/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic operations, ordered loads and stores, and the legacy packet loads. */
#include "bpf/ctx.h"
#include "bpf/isa.h"
#include "bpf/verifier/env.h"

static int check_atomic_target(struct verifier_env *env, uint32_t reg)
{
	const struct vreg *r = &cur_regs(env->cur)[reg];

	if (r->type == VT_CTX || vreg_is_pkt(r))
		return v_reject(env, VR_ATOMIC, "BPF_ATOMIC stores into R%u %s is not allowed", reg,
				v_type_name(r));
	return 0;
}

static int check_atomic_rmw(struct verifier_env *env, const struct bpf_insn *insn)
{
	uint32_t size = isa_access_size(insn);
	int load = insn->imm == BPF_CMPXCHG ? BPF_REG_0
		   : insn->imm & BPF_FETCH  ? insn->src_reg
					    : -1;
	int err = v_check_reg_read(env, insn->src_reg);

	if (!err)
		err = v_check_reg_read(env, insn->dst_reg);
	if (!err && insn->imm == BPF_CMPXCHG)
		err = v_check_reg_read(env, BPF_REG_0);
	if (!err)
		err = check_atomic_target(env, insn->dst_reg);
	if (!err)
		err = v_check_mem(env, env->insn_idx, insn->dst_reg, insn->off, size, VACC_READ, -1,
				  false);
	if (!err)
		err = v_check_mem(env, env->insn_idx, insn->dst_reg, insn->off, size, VACC_WRITE,
				  -1, false);
	if (err || load < 0)
		return err;
	err = v_check_reg_write(env, (uint32_t)load);
	if (err)
		return err;
	vreg_set_unknown(&cur_regs(env->cur)[load]);
	if (size < 8)
		cur_regs(env->cur)[load].v = scalar_urange(0, (1ull << (size * 8)) - 1);
	return 0;
}

int v_check_atomic(struct verifier_env *env, const struct bpf_insn *insn)
{
	int err;

	if (insn->imm == BPF_LOAD_ACQ) {
		err = v_check_reg_read(env, insn->src_reg);
		if (!err)
			err = check_atomic_target(env, insn->src_reg);
		if (!err)
			err = v_check_reg_write(env, insn->dst_reg);
		if (err)
			return err;
		return v_check_mem(env, env->insn_idx, insn->src_reg, insn->off,
				   isa_access_size(insn), VACC_READ, insn->dst_reg, false);
	}
	if (insn->imm == BPF_STORE_REL) {
		err = v_check_reg_read(env, insn->src_reg);
		if (!err)
			err = v_check_reg_read(env, insn->dst_reg);
		if (!err)
			err = check_atomic_target(env, insn->dst_reg);
		if (err)
			return err;
		return v_check_mem(env, env->insn_idx, insn->dst_reg, insn->off,
				   isa_access_size(insn), VACC_WRITE, insn->src_reg, false);
	}
	return check_atomic_rmw(env, insn);
}

int v_check_ld_abs(struct verifier_env *env, const struct bpf_insn *insn)
{
	struct vreg *regs = cur_regs(env->cur);
	int err;

	if (env->type->ctx != CTX_SKB)
		return v_reject(env, VR_LD_ABS,
				"BPF_LD_[ABS|IND] instructions not allowed for this program type");
	err = v_check_reg_read(env, BPF_REG_6);
	if (err)
		return err;
	if (env->cur->ref_cnt)
		return v_reject(env, VR_LEAKED_REF,
				"BPF_LD_[ABS|IND] cannot be mixed with socket references");
	if (env->cur->lock_map)
		return v_reject(env, VR_HELD_LOCK,
				"BPF_LD_[ABS|IND] cannot be used inside bpf_spin_lock-ed region");
	if (regs[BPF_REG_6].type != VT_CTX)
		return v_reject(env, VR_LD_ABS,
				"at the time of BPF_LD_ABS|IND R6 != pointer to skb");
	err = BPF_MODE(insn->code) == BPF_IND ? v_check_reg_read(env, insn->src_reg) : 0;
	if (!err)
		err = v_check_ctx_pointer(env, BPF_REG_6, &regs[BPF_REG_6]);
	if (err)
		return err;
	v_clobber_caller_saved(env, env->insn_idx);
	vreg_set_unknown(&regs[BPF_REG_0]);
	v_mark_reg_written(cur_frame(env->cur), BPF_REG_0);
	return 0;
}
