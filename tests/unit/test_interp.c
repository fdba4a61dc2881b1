/* SPDX-License-Identifier: BSD-2-Clause */
#include "test.h"

#include "bpf/ctx.h"
#include "bpf/interp.h"
#include "bpf/isa.h"
#include "include/hal.h"
#include "support_asm.h"
#include "support_vectors.h"

/* ---- the vectors, in both modes ---------------------------------------------------------------
 */

struct outcome {
	int ran, failed;
	bool row_seen[ISA_ID_NR];
};

static const char *const mode_name[] = {
	[PROG_MODE_CHECKED] = "checked", [PROG_MODE_FAST] = "fast"
};

static void note_rows(const struct vector *v, struct outcome *o)
{
	for (uint32_t i = 0; i < v->insn_cnt; i++) {
		const char *why;
		const struct isa_row *row = isa_find(&v->insns[i], i + 1 < v->insn_cnt, &why);

		if (!row)
			continue;
		o->row_seen[row->id] = true;
		i += row->flags & ISA_F_WIDE ? 1 : 0;
	}
}

static void complain(const struct vector *v, enum prog_mode mode, struct outcome *o,
		     const char *what, uint64_t got, uint64_t want)
{
	printf("# %s (%s): %s %#" PRIx64 ", not %#" PRIx64 "\n", v->name, mode_name[mode], what,
	       got, want);
	o->failed++;
}

static void check_outcome(const struct vector *v, enum prog_mode mode, struct outcome *o, int err,
			  const struct run_ctx *rc, uint64_t ret, const uint8_t *mem)
{
	o->ran++;
	if (err && rc->end.why != v->why)
		return complain(v, mode, o, "ends by", rc->end.why, v->why);
	if (!err && v->why)
		return complain(v, mode, o, "does not end by", 0, v->why);
	if (!err && ret != v->ret)
		return complain(v, mode, o, "R0 is", ret, v->ret);
	for (uint32_t i = 0; i < v->mem_after_len; i++) {
		if (mem[i] != v->mem_after[i])
			return complain(v, mode, o, "memory is", mem[i], v->mem_after[i]);
	}
}

static void run_vector(const struct vector *v, enum prog_mode mode, struct outcome *o)
{
	enum bpf_prog_type type = v->is_packet ? BPF_PROG_TYPE_SCHED_CLS : BPF_PROG_TYPE_UNSPEC;
	struct bpf_prog *prog = test_prog_new(type, v->insns, v->insn_cnt, mode == PROG_MODE_FAST);
	/* Memory of the exact size, so that the sanitizer watches its ends. */
	uint8_t *mem = malloc(v->mem_len ? v->mem_len : 1);
	struct run_ctx rc = { .insns_max = 1000000 };
	struct ctx_skb skb = { .pkt = { mem, mem + v->mem_len, mem, mem, mem + v->mem_len },
			       .len = v->mem_len };
	void *r1 = mem, *r2 = (void *)(uintptr_t)v->mem_len;
	uint64_t ret = 0;
	int err;

	memcpy(mem, v->mem, v->mem_len);
	if (!prog) {
		complain(v, mode, o, "is refused", 0, 0);
		free(mem);
		return;
	}
	if (v->is_packet) {
		r1 = ctx_run_begin(&rc, type, &skb);
		r2 = NULL;
	} else if (v->mem_len) {
		rc.regions[rc.regions_nr++] =
			(struct run_region){ (uintptr_t)mem, v->mem_len, RUN_REGION_MEM, 1 };
	} else {
		r1 = NULL;
	}
	err = test_prog_run(prog, mode, r1, r2, &rc, &ret);
	check_outcome(v, mode, o, err, &rc, ret, mem);
	test_prog_free(prog);
	free(mem);
}

static void run_both(const struct vector *v, void *arg)
{
	struct outcome *o = arg;

	note_rows(v, o);
	run_vector(v, PROG_MODE_CHECKED, o);
	/* What ends an unchecked run is not seen there, but for calls too deep. */
	if (!v->why || v->why == RUN_END_STACK || v->why == RUN_END_LOOPS ||
	    v->why == RUN_END_BAD_INSN)
		run_vector(v, PROG_MODE_FAST, o);
}

TEST(conformance_vectors)
{
	struct outcome o = { 0 };

	CHECK(vectors_each(run_both, &o) > 0);
	printf("# %d runs\n", o.ran);
	CHECK_EQ(o.failed, 0);
	CHECK(o.ran > 500);
}

/* Rows without a vector: those that no program without maps or BTF can hold. */
static bool needs_objects(uint32_t id)
{
	return id == ISA_LD_MAP_FD || id == ISA_LD_MAP_VALUE || id == ISA_LD_MAP_IDX ||
	       id == ISA_LD_MAP_IDX_VALUE || id == ISA_LD_BTF_ID || id == ISA_CALL_KFUNC;
}

static void note_only(const struct vector *v, void *arg)
{
	note_rows(v, arg);
}

TEST(every_instruction_has_a_vector)
{
	struct outcome o = { 0 };
	int missing = 0;

	CHECK(vectors_each(note_only, &o) > 0);
	for (uint32_t id = 0; id < ISA_ID_NR; id++) {
		if (o.row_seen[id] || needs_objects(id))
			continue;
		printf("# no vector for %s\n", isa_row_get(id)->name);
		missing++;
	}
	CHECK_EQ(missing, 0);
}
