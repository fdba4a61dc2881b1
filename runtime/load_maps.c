/* SPDX-License-Identifier: BSD-2-Clause */
/* Which maps a program uses: handles in its instructions, resolved; its tag. */
#include "runtime/load.h"

#include "lib/sha1.h"
#include "runtime/rt_int.h"

static bool is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

void load_tag(const struct bpf_insn *insns, uint32_t cnt, uint8_t tag[BPF_TAG_SIZE])
{
	uint8_t digest[SHA1_BYTES];
	bool map_operand = false; /* the instruction before was the first half of one */
	struct sha1 s;

	sha1_init(&s);
	for (uint32_t i = 0; i < cnt; i++) {
		struct bpf_insn insn = insns[i];

		if (!map_operand && is_wide(&insn) &&
		    (insn.src_reg == BPF_PSEUDO_MAP_FD || insn.src_reg == BPF_PSEUDO_MAP_VALUE)) {
			map_operand = true;
			insn.imm = 0;
		} else {
			if (map_operand && !insn.code && !insn.dst_reg && !insn.src_reg &&
			    !insn.off)
				insn.imm = 0;
			map_operand = false;
		}
		sha1_update(&s, &insn, sizeof(insn));
	}
	sha1_final(&s, digest);
	__builtin_memcpy(tag, digest, BPF_TAG_SIZE);
}

static bool is_tracing(enum bpf_prog_type type)
{
	switch (type) {
	case BPF_PROG_TYPE_TRACEPOINT:
	case BPF_PROG_TYPE_PERF_EVENT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT:
	case BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE:
		return true;
	default:
		return false;
	}
}

/* May a program of this type use the map at all? The verifier judges single calls. */
static int check_map_prog(struct load *l, const struct bpf_map *map)
{
	enum bpf_prog_type type = l->prog->type;
	struct bpf_log *log = &l->log.log;

	if (map->has_lock && type == BPF_PROG_TYPE_SOCKET_FILTER) {
		bpf_log_printf(log, "socket filter progs cannot use bpf_spin_lock yet\n");
		return -EINVAL;
	}
	if (map->has_lock && is_tracing(type)) {
		bpf_log_printf(log, "tracing progs cannot use bpf_spin_lock yet\n");
		return -EINVAL;
	}
	if (map->has_timer && is_tracing(type)) {
		bpf_log_printf(log, "tracing progs cannot use bpf_timer yet\n");
		return -EINVAL;
	}
	return 0;
}

/* Index of the map behind a handle in prog->maps, taken up there if it is new. */
static int use_map(struct load *l, uint32_t handle, uint32_t *index)
{
	struct bpf_prog *prog = l->prog;
	struct bpf_map *map;
	void *obj;
	int err = rt_handle_get(l->rt, handle, RT_MAP, &obj);

	if (err) {
		bpf_log_printf(&l->log.log, "fd %d is not pointing to valid bpf_map\n",
			       (int)handle);
		return err;
	}
	map = obj;
	for (uint32_t i = 0; i < prog->map_cnt; i++) {
		if (prog->maps[i] == map) {
			*index = i;
			return 0;
		}
	}
	err = check_map_prog(l, map);
	if (err)
		return err;
	if (prog->map_cnt == BPF_PROG_MAPS_MAX) {
		bpf_log_printf(&l->log.log,
			       "The total number of maps per program has reached the limit of %u\n",
			       BPF_PROG_MAPS_MAX);
		return -E2BIG;
	}
	if (!prog->maps) {
		prog->maps = hal_alloc(BPF_PROG_MAPS_MAX * sizeof(*prog->maps));
		if (!prog->maps)
			return -ENOMEM;
	}
	bpf_map_ref(map);
	prog->maps[prog->map_cnt] = map;
	*index = prog->map_cnt++;
	return 0;
}

/* The handle that an ldimm64 names: itself, or an index into the client's fd_array. */
static int operand_handle(struct load *l, const struct bpf_insn *insn, uint32_t *handle)
{
	const uint32_t *fd;

	if (insn->src_reg == BPF_PSEUDO_MAP_FD || insn->src_reg == BPF_PSEUDO_MAP_VALUE) {
		*handle = (uint32_t)insn->imm;
		return 0;
	}
	if (!l->attr->fd_array) {
		bpf_log_printf(&l->log.log, "fd_idx without fd_array is invalid\n");
		return -EPROTO;
	}
	if (insn->imm < 0)
		return -EFAULT;
	fd = call_in(l->call, l->attr->fd_array + (uint64_t)insn->imm * sizeof(*fd), sizeof(*fd));
	if (!fd)
		return -EFAULT;
	__builtin_memcpy(handle, fd, sizeof(*handle));
	return 0;
}

static int resolve_operand(struct load *l, struct bpf_insn *insn)
{
	bool value =
		insn->src_reg == BPF_PSEUDO_MAP_VALUE || insn->src_reg == BPF_PSEUDO_MAP_IDX_VALUE;
	uint32_t handle, index;
	int err;

	if (!value && insn[1].imm) {
		bpf_log_printf(&l->log.log, "unrecognized bpf_ld_imm64 insn\n");
		return -EINVAL;
	}
	err = operand_handle(l, insn, &handle);
	if (!err)
		err = use_map(l, handle, &index);
	if (err)
		return err;
	insn->src_reg = value ? BPF_PSEUDO_MAP_VALUE : BPF_PSEUDO_MAP_FD;
	insn->imm = (int32_t)index;
	return 0;
}

int load_maps(struct load *l)
{
	struct bpf_prog *prog = l->prog;

	for (uint32_t i = 0; i < prog->orig_cnt; i++) {
		struct bpf_insn *insn = &prog->orig[i];
		int err = 0;

		if (!is_wide(insn))
			continue;
		switch (insn->src_reg) {
		case BPF_PSEUDO_MAP_FD:
		case BPF_PSEUDO_MAP_VALUE:
		case BPF_PSEUDO_MAP_IDX:
		case BPF_PSEUDO_MAP_IDX_VALUE:
			err = resolve_operand(l, insn);
			break;
		case BPF_PSEUDO_BTF_ID:
			bpf_log_printf(&l->log.log, "this board has no BTF of its own, so there "
						    "are no ksyms to refer to\n");
			err = -EINVAL;
			break;
		default:
			break;
		}
		if (err)
			return err;
		i++;
	}
	return 0;
}
