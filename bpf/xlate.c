/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/xlate.h"

#include <string.h>

#include "bpf/ctx.h"
#include "bpf/isa.h"
#include "bpf/map.h"
#include "include/err.h"
#include "include/hal.h"

static bool is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

/* Instructions with a place in the program as operand: jumps, calls of bpf functions, callbacks. */
static bool has_target(const struct bpf_insn *insn)
{
	uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	if (is_wide(insn))
		return insn->src_reg == BPF_PSEUDO_FUNC;
	if (class != BPF_JMP && class != BPF_JMP32)
		return false;
	if (op == BPF_CALL)
		return insn->src_reg == BPF_PSEUDO_CALL;
	return op != BPF_EXIT;
}

static bool target_is_imm(const struct bpf_insn *insn)
{
	return is_wide(insn) || BPF_OP(insn->code) == BPF_CALL ||
	       insn->code == (BPF_JMP32 | BPF_JA);
}

/* ---- moving instructions --------------------------------------------------------------------- */

/*
 * A new arrangement: old instruction i comes to place[i], place[cnt] is the new end. What goes has
 * the place of what follows it.
 */
struct layout {
	const uint32_t *place;
	uint32_t new_cnt;
	uint32_t gone_at, gone_len; /* these are replaced (splice) */
};

/* Where a branch to old instruction i ends: at the first of what was put before it. */
static uint32_t landing(const struct layout *l, uint32_t i)
{
	return i == l->gone_at && l->place[i] > i ? i : l->place[i];
}

static bool goes(const struct layout *l, uint32_t i)
{
	return l->place[i] == l->place[i + 1] || i - l->gone_at < l->gone_len;
}

/* The operand of instruction i in the new arrangement; -EINVAL: does not fit. */
static int new_distance(const struct bpf_prog *prog, const struct layout *l, uint32_t i,
			int32_t *distance)
{
	const struct bpf_insn *insn = &prog->insns[i];
	int64_t target = isa_target(insn, i), d;

	if (target < 0 || target > prog->insn_cnt)
		return -EINVAL;
	d = (int64_t)landing(l, (uint32_t)target) - l->place[i] - 1;
	if (!target_is_imm(insn) && (d < INT16_MIN || d > INT16_MAX))
		return -EINVAL;
	*distance = (int32_t)d;
	return 0;
}

static int distances_check(const struct bpf_prog *prog, const struct layout *l)
{
	for (uint32_t i = 0; i < prog->insn_cnt; i++) {
		int32_t distance;

		if (has_target(&prog->insns[i]) && !goes(l, i) &&
		    new_distance(prog, l, i, &distance))
			return -EINVAL;
		if (is_wide(&prog->insns[i]))
			i++;
	}
	return 0;
}

static void insns_move(const struct bpf_prog *prog, const struct layout *l, struct bpf_insn *insns,
		       struct bpf_insn_aux *aux)
{
	for (uint32_t i = 0; i < prog->insn_cnt; i++) {
		uint32_t slots = is_wide(&prog->insns[i]) ? 2 : 1, at = l->place[i];
		int32_t distance;

		if (!goes(l, i)) {
			memcpy(&insns[at], &prog->insns[i], slots * sizeof(*insns));
			memcpy(&aux[at], &prog->aux[i], slots * sizeof(*aux));
			if (has_target(&insns[at]) && !new_distance(prog, l, i, &distance)) {
				if (target_is_imm(&insns[at]))
					insns[at].imm = distance;
				else
					insns[at].off = (int16_t)distance;
			}
		}
		i += slots - 1;
	}
}

/* Functions that lost all their instructions go, with their type records. */
static void subprogs_move(struct bpf_prog *prog, const struct layout *l)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < prog->subprog_cnt; i++) {
		struct bpf_subprog *sub = &prog->subprogs[i];
		uint32_t start = landing(l, sub->start), end = landing(l, sub->end);

		if (start == end)
			continue;
		if (i < prog->func_info_cnt) {
			prog->func_info[kept] = prog->func_info[i];
			prog->func_info[kept].insn_off = start;
		}
		prog->subprogs[kept] = *sub;
		prog->subprogs[kept].start = start;
		prog->subprogs[kept++].end = end;
	}
	prog->subprog_cnt = kept;
	if (prog->func_info_cnt > kept)
		prog->func_info_cnt = kept;
}

/* Of several records that come to one instruction the last one is about it. */
static void lines_move(struct bpf_prog *prog, const struct layout *l)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < prog->line_info_cnt; i++) {
		struct bpf_line_info line = prog->line_info[i];

		if (line.insn_off >= prog->insn_cnt)
			continue;
		line.insn_off = landing(l, line.insn_off);
		if (line.insn_off >= l->new_cnt)
			continue;
		if (kept && prog->line_info[kept - 1].insn_off == line.insn_off)
			kept--;
		prog->line_info[kept++] = line;
	}
	prog->line_info_cnt = kept;
}

/* Everything checked: swap in the new arrays. */
static void layout_commit(struct bpf_prog *prog, const struct layout *l, struct bpf_insn *insns,
			  struct bpf_insn_aux *aux)
{
	insns_move(prog, l, insns, aux);
	subprogs_move(prog, l);
	lines_move(prog, l);
	hal_free(prog->insns);
	hal_free(prog->aux);
	prog->insns = insns;
	prog->aux = aux;
	prog->insn_cnt = l->new_cnt;
}

static int layout_apply(struct bpf_prog *prog, const struct layout *l,
			const struct bpf_insn *new_insns, uint32_t new_at, uint32_t new_len)
{
	struct bpf_insn *insns;
	struct bpf_insn_aux *aux;
	uint32_t orig_idx;

	if (!l->new_cnt || distances_check(prog, l))
		return -EINVAL;
	insns = hal_alloc(l->new_cnt * sizeof(*insns));
	aux = hal_alloc(l->new_cnt * sizeof(*aux));
	if (!insns || !aux) {
		hal_free(insns);
		hal_free(aux);
		return -ENOMEM;
	}
	orig_idx = new_len ? prog->aux[new_at].orig_idx : 0;
	layout_commit(prog, l, insns, aux);
	if (new_len)
		memcpy(insns + new_at, new_insns, new_len * sizeof(*insns));
	for (uint32_t i = 0; i < new_len; i++)
		aux[new_at + i] =
			(struct bpf_insn_aux){ .orig_idx = orig_idx, .flags = AUX_REACHED };
	return 0;
}

int xlate_splice(struct bpf_prog *prog, uint32_t at, uint32_t len, const struct bpf_insn *insns,
		 uint32_t cnt)
{
	struct layout l = { .gone_at = at, .gone_len = len };
	uint32_t *place;
	int err;

	if (at > prog->insn_cnt || len > prog->insn_cnt - at || at == prog->insn_cnt)
		return -EINVAL;
	if (cnt > BPF_PROG_INSNS_MAX || prog->insn_cnt - len + cnt > BPF_PROG_INSNS_MAX)
		return -EINVAL;
	place = hal_alloc((prog->insn_cnt + 1) * sizeof(*place));
	if (!place)
		return -ENOMEM;
	for (uint32_t i = 0; i <= prog->insn_cnt; i++)
		place[i] = i < at + len ? MIN(i, at) : i - len + cnt;
	l.place = place;
	l.new_cnt = prog->insn_cnt - len + cnt;
	err = layout_apply(prog, &l, insns, at, cnt);
	hal_free(place);
	return err;
}

/* ---- map operands ---------------------------------------------------------------------------- */

static void set_imm64(struct bpf_insn *insn, uint64_t value)
{
	insn[0].imm = (int32_t)value;
	insn[1].imm = (int32_t)(value >> 32);
}

static int resolve_one(struct bpf_prog *prog, struct bpf_insn *insn, const char **why)
{
	uint32_t index = (uint32_t)insn[0].imm;
	struct bpf_map *map;
	uintptr_t addr;
	int err;

	if (index >= prog->map_cnt) {
		*why = "fd is not pointing to valid bpf_map";
		return -EBADF;
	}
	map = prog->maps[index];
	if (insn->src_reg == BPF_PSEUDO_MAP_FD) {
		set_imm64(insn, (uintptr_t)map);
		return 0;
	}
	if (!map->ops->direct_value) {
		*why = "no direct value access support for this map type";
		return -EINVAL;
	}
	err = map->ops->direct_value(map, (uint32_t)insn[1].imm, &addr);
	if (err) {
		*why = "invalid access to map value pointer";
		return err;
	}
	set_imm64(insn, addr);
	return 0;
}

int xlate_resolve_maps(struct bpf_prog *prog, const char **why)
{
	for (uint32_t i = 0; i < prog->insn_cnt; i++) {
		struct bpf_insn *insn = &prog->insns[i];
		int err = 0;

		if (!is_wide(insn))
			continue;
		if (i + 1 == prog->insn_cnt) {
			*why = "invalid bpf_ld_imm64 insn";
			return -EINVAL;
		}
		if (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE)
			err = resolve_one(prog, insn, why);
		if (err)
			return err;
		i++;
	}
	return 0;
}

struct bpf_map *xlate_value_map(const struct bpf_prog *prog, uintptr_t addr, uint32_t *off)
{
	for (uint32_t i = 0; i < prog->map_cnt; i++) {
		struct bpf_map *map = prog->maps[i];
		uintptr_t base;

		if (!map->ops->direct_value || map->ops->direct_value(map, 0, &base))
			continue;
		if (addr >= base && addr - base < map->value_size) {
			*off = (uint32_t)(addr - base);
			return map;
		}
	}
	return NULL;
}

void xlate_dump(const struct bpf_prog *prog, struct bpf_insn *out)
{
	memcpy(out, prog->insns, prog->insn_cnt * sizeof(*out));
	for (uint32_t i = 0; i + 1 < prog->insn_cnt; i++) {
		const struct bpf_map *map;
		uint64_t value;
		uint32_t off = 0;

		if (!is_wide(&out[i]))
			continue;
		value = isa_imm64(&out[i]);
		if (out[i].src_reg == BPF_PSEUDO_MAP_FD) {
			map = (const struct bpf_map *)(uintptr_t)value;
			set_imm64(&out[i], map->id);
		} else if (out[i].src_reg == BPF_PSEUDO_MAP_VALUE) {
			map = xlate_value_map(prog, (uintptr_t)value, &off);
			set_imm64(&out[i], (map ? map->id : 0) | (uint64_t)off << 32);
		}
		i++;
	}
}

/* ---- finishing ------------------------------------------------------------------------------- */

/* A context access in the UAPI's terms becomes one in the internal structure's. */
static int convert_access(struct bpf_insn *insn, const struct bpf_insn_aux *aux, enum ctx_kind kind)
{
	const struct ctx_field *f = ctx_field_find(kind, aux->ctx_off, isa_access_size(insn));
	int32_t off;

	if (!f || f->kind == CTX_FORBIDDEN)
		return -EINVAL;
	off = insn->off + f->in_off - f->off;
	if (off < INT16_MIN || off > INT16_MAX)
		return -EINVAL;
	insn->off = (int16_t)off;
	if (f->kind != CTX_SCALAR && f->in_size == 8)
		insn->code = (uint8_t)((insn->code & ~BPF_SIZE(0xff)) | BPF_DW);
	return 0;
}

static int convert_ctx(struct bpf_prog *prog)
{
	const struct prog_type *type = prog_type_get(prog->type);
	struct bpf_insn *insns;
	int err = 0;

	if (!type || !ctx_internal_size(type->ctx) || prog->ctx_converted)
		return 0;
	insns = hal_alloc(prog->insn_cnt * sizeof(*insns));
	if (!insns)
		return -ENOMEM;
	memcpy(insns, prog->insns, prog->insn_cnt * sizeof(*insns));
	for (uint32_t i = 0; !err && i < prog->insn_cnt; i++) {
		uint8_t class = BPF_CLASS(insns[i].code);

		if (is_wide(&insns[i])) {
			i++;
			continue;
		}
		if (prog->aux[i].ptr == AUX_PTR_CTX && prog->aux[i].flags & AUX_REACHED &&
		    (class == BPF_LDX || class == BPF_ST || class == BPF_STX))
			err = convert_access(&insns[i], &prog->aux[i], type->ctx);
	}
	if (err) {
		hal_free(insns);
		return err;
	}
	hal_free(prog->insns);
	prog->insns = insns;
	prog->ctx_converted = 1;
	return 0;
}

/* Jumps that are always taken become plain ones, those that never are become steps of 0. */
static void decide_jumps(struct bpf_prog *prog)
{
	for (uint32_t i = 0; i < prog->insn_cnt; i++) {
		uint16_t flags = prog->aux[i].flags;
		int16_t off = flags & AUX_JUMP_ALWAYS ? prog->insns[i].off : 0;

		if (is_wide(&prog->insns[i]))
			i++;
		else if (flags & (AUX_JUMP_ALWAYS | AUX_JUMP_NEVER))
			prog->insns[i] = (struct bpf_insn){ .code = BPF_JMP | BPF_JA, .off = off };
	}
}

static bool is_step_of_0(const struct bpf_insn *insn)
{
	return (insn->code == (BPF_JMP | BPF_JA) && !insn->off) ||
	       (insn->code == (BPF_JMP32 | BPF_JA) && !insn->imm);
}

/* Places after removal of what no path reaches and of steps of 0. */
static uint32_t places_fill(const struct bpf_prog *prog, uint32_t *place)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < prog->insn_cnt; i++) {
		uint32_t slots = is_wide(&prog->insns[i]) ? 2 : 1;
		bool stays = prog->aux[i].flags & AUX_REACHED && !is_step_of_0(&prog->insns[i]);

		for (uint32_t s = 0; s < slots; s++, at += stays)
			place[i + s] = at;
		i += slots - 1;
	}
	place[prog->insn_cnt] = at;
	return at;
}

/* What is left after that many rounds only costs time. */
#define ROUNDS_MAX 8

static int remove_dead(struct bpf_prog *prog)
{
	uint32_t *place = hal_alloc((prog->insn_cnt + 1) * sizeof(*place));
	int err = 0;

	if (!place)
		return -ENOMEM;
	/* A jump over what goes becomes a step of 0, which goes in the next round. */
	for (int round = 0; !err && round < ROUNDS_MAX; round++) {
		struct layout l = { .place = place, .gone_at = ~0u };

		l.new_cnt = places_fill(prog, place);
		if (l.new_cnt == prog->insn_cnt)
			break;
		err = layout_apply(prog, &l, NULL, 0, 0);
	}
	hal_free(place);
	return err;
}

int xlate_finish(struct bpf_prog *prog)
{
	int err = convert_ctx(prog);

	if (err)
		return err;
	decide_jumps(prog);
	return remove_dead(prog);
}
