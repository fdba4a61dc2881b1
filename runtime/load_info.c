/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Function and line records of a program. Clients may know them longer or shorter than we do: what
 * we do not know must be zero, what they do not know reads as zero.
 */
#include "runtime/load.h"

#include "lib/bitmap.h"
#include "runtime/cmd.h"

#define REC_BYTES_MAX	   252
#define FUNC_REC_BYTES_MIN 8
#define LINE_REC_BYTES_MIN sizeof(struct bpf_line_info)

/* Record i of an array of the client's, into dst of dst_bytes. */
static int copy_record(struct load *l, uint64_t user, uint32_t i, uint32_t rec_bytes, void *dst,
		       uint32_t dst_bytes, const char *what)
{
	int err =
		cmd_copy_struct(l->call, user + (uint64_t)i * rec_bytes, rec_bytes, dst, dst_bytes);

	if (err == -E2BIG)
		bpf_log_printf(&l->log.log, "nonzero tailing record in %s", what);
	return err;
}

static int check_func(struct load *l, uint32_t i, const struct bpf_func_info *rec)
{
	struct bpf_log *log = &l->log.log;
	const struct btf_type *type;

	if (!i && rec->insn_off) {
		bpf_log_printf(log, "nonzero insn_off %u for the first func info record",
			       rec->insn_off);
		return -EINVAL;
	}
	if (i && rec->insn_off <= rec[-1].insn_off) {
		bpf_log_printf(log,
			       "same or smaller insn offset (%u) than previous func info record "
			       "(%u)",
			       rec->insn_off, rec[-1].insn_off);
		return -EINVAL;
	}
	type = btf_type_get(l->prog->btf, rec->type_id);
	if (!type || BTF_INFO_KIND(type->info) != BTF_KIND_FUNC) {
		bpf_log_printf(log, "invalid type id %d in func info", (int)rec->type_id);
		return -EINVAL;
	}
	return 0;
}

static int load_funcs(struct load *l)
{
	const union bpf_attr *attr = l->attr;
	struct bpf_prog *prog = l->prog;
	uint32_t cnt = attr->func_info_cnt, rec_bytes = attr->func_info_rec_size;

	if (!cnt)
		return 0;
	if (rec_bytes < FUNC_REC_BYTES_MIN || rec_bytes > REC_BYTES_MAX || rec_bytes % 4) {
		bpf_log_printf(&l->log.log, "invalid func info rec size %u\n", rec_bytes);
		return -EINVAL;
	}
	/* Each must have an instruction of its own: no need to ask memory for more. */
	if (cnt > prog->orig_cnt) {
		bpf_log_printf(&l->log.log, "number of funcs in func_info doesn't match number of "
					    "subprogs\n");
		return -EINVAL;
	}
	prog->func_info = hal_alloc((size_t)cnt * sizeof(*prog->func_info));
	if (!prog->func_info)
		return -ENOMEM;
	prog->func_info_cnt = cnt;
	for (uint32_t i = 0; i < cnt; i++) {
		struct bpf_func_info *rec = &prog->func_info[i];
		int err = copy_record(l, attr->func_info, i, rec_bytes, rec, sizeof(*rec),
				      "func info");

		if (!err)
			err = check_func(l, i, rec);
		if (err)
			return err;
	}
	return 0;
}

/* Bit n: a function of the program starts at instruction n. NULL and *err on failure. */
static uint64_t *find_subprogs(struct load *l, uint32_t *nr, int *err)
{
	const struct bpf_prog *prog = l->prog;
	uint64_t *starts = hal_alloc(BITMAP_WORDS(prog->orig_cnt) * sizeof(*starts));

	*err = -ENOMEM;
	if (!starts)
		return NULL;
	bitmap_set(starts, 0);
	for (uint32_t i = 0; i < prog->orig_cnt; i++) {
		const struct bpf_insn *insn = &prog->orig[i];
		bool wide = insn->code == (BPF_LD | BPF_IMM | BPF_DW);
		int64_t target = (int64_t)i + insn->imm + 1;
		bool names = wide ? insn->src_reg == BPF_PSEUDO_FUNC
				  : insn->code == (BPF_JMP | BPF_CALL) &&
					     insn->src_reg == BPF_PSEUDO_CALL;

		i += wide;
		if (!names)
			continue;
		if (target < 0 || target >= prog->orig_cnt) {
			bpf_log_printf(&l->log.log, "call to invalid destination\n");
			hal_free(starts);
			*err = -EINVAL;
			return NULL;
		}
		bitmap_set(starts, (size_t)target);
	}
	*nr = (uint32_t)bitmap_count(starts, prog->orig_cnt);
	*err = 0;
	return starts;
}

static int match_funcs(struct load *l, const uint64_t *starts, uint32_t nr)
{
	const struct bpf_prog *prog = l->prog;
	size_t at = 0;

	if (!prog->func_info_cnt)
		return 0;
	if (prog->func_info_cnt != nr) {
		bpf_log_printf(&l->log.log, "number of funcs in func_info doesn't match number of "
					    "subprogs\n");
		return -EINVAL;
	}
	for (uint32_t i = 0; i < nr; i++, at++) {
		at = bitmap_find_set(starts, prog->orig_cnt, at);
		if (prog->func_info[i].insn_off != at) {
			bpf_log_printf(&l->log.log, "func_info BTF section doesn't match subprog "
						    "layout in BPF program\n");
			return -EINVAL;
		}
	}
	return 0;
}

static int check_line(struct load *l, uint32_t i, const struct bpf_line_info *rec)
{
	const struct bpf_prog *prog = l->prog;
	uint32_t prev = i ? rec[-1].insn_off : 0;
	struct bpf_log *log = &l->log.log;

	if ((i && rec->insn_off <= prev) || rec->insn_off >= prog->orig_cnt) {
		bpf_log_printf(log,
			       "Invalid line_info[%u].insn_off:%u (prev_offset:%u prog->len:%u)\n",
			       i, rec->insn_off, prev, prog->orig_cnt);
		return -EINVAL;
	}
	if (!prog->orig[rec->insn_off].code) {
		bpf_log_printf(log, "Invalid insn code at line_info[%u].insn_off\n", i);
		return -EINVAL;
	}
	if (!btf_name(prog->btf, rec->line_off) || !btf_name(prog->btf, rec->file_name_off)) {
		bpf_log_printf(log, "Invalid line_info[%u].line_off or .file_name_off\n", i);
		return -EINVAL;
	}
	return 0;
}

/* Every function needs a record at its first instruction; *func counts those that had one. */
static int match_line(struct load *l, const uint64_t *starts, uint32_t insn_off, uint32_t *func,
		      size_t *next)
{
	size_t cnt = l->prog->orig_cnt;

	if (*next < cnt && insn_off > *next) {
		bpf_log_printf(&l->log.log, "missing bpf_line_info for func#%u\n", *func);
		return -EINVAL;
	}
	if (*next < cnt && insn_off == *next) {
		(*func)++;
		*next = bitmap_find_set(starts, cnt, *next + 1);
	}
	return 0;
}

static int load_lines(struct load *l, const uint64_t *starts, uint32_t nr_funcs)
{
	const union bpf_attr *attr = l->attr;
	struct bpf_prog *prog = l->prog;
	uint32_t cnt = attr->line_info_cnt, rec_bytes = attr->line_info_rec_size, func = 0;
	size_t next = 0;

	if (!cnt)
		return 0;
	if (rec_bytes < LINE_REC_BYTES_MIN || rec_bytes > REC_BYTES_MAX || rec_bytes % 4 ||
	    cnt > prog->orig_cnt)
		return -EINVAL;
	prog->line_info = hal_alloc((size_t)cnt * sizeof(*prog->line_info));
	if (!prog->line_info)
		return -ENOMEM;
	prog->line_info_cnt = cnt;
	for (uint32_t i = 0; i < cnt; i++) {
		struct bpf_line_info *rec = &prog->line_info[i];
		int err = copy_record(l, attr->line_info, i, rec_bytes, rec, sizeof(*rec),
				      "line_info");

		if (!err)
			err = check_line(l, i, rec);
		if (!err)
			err = match_line(l, starts, rec->insn_off, &func, &next);
		if (err)
			return err;
	}
	if (func != nr_funcs) {
		bpf_log_printf(&l->log.log,
			       "missing bpf_line_info for %u funcs starting from func#%u\n",
			       nr_funcs - func, func);
		return -EINVAL;
	}
	return 0;
}

int load_info(struct load *l)
{
	uint64_t *starts;
	uint32_t nr_funcs;
	void *btf;
	int err;

	if (!l->attr->func_info_cnt && !l->attr->line_info_cnt)
		return 0;
	err = rt_handle_get(l->rt, l->attr->prog_btf_fd, RT_BTF, &btf);
	if (err)
		return err;
	rt_obj_ref(RT_BTF, btf);
	l->prog->btf = btf;
	err = load_funcs(l);
	if (err)
		return err;
	starts = find_subprogs(l, &nr_funcs, &err);
	if (err)
		return err;
	err = match_funcs(l, starts, nr_funcs);
	if (!err)
		err = load_lines(l, starts, nr_funcs);
	hal_free(starts);
	return err;
}
