/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prog arrays, for tail calls. Their programs refer to them and they to their programs: the circle
 * is broken when the last handle and pin is gone, since then nobody can fill slots any more.
 */
#include "bpf/prog.h"
#include "maps/array.h"
#include "maps/fd_array.h"
#include "maps/map_int.h"

int bpf_prog_array_check(struct bpf_map *map, const struct bpf_prog *prog)
{
	uint32_t flags = prog->flags & BPF_F_XDP_HAS_FRAGS;

	if (map->owner_type == BPF_PROG_TYPE_UNSPEC) {
		map->owner_flags = flags;
		map->owner_jited = prog->mode == PROG_MODE_JIT;
		map->owner_type = prog->type;
		return 0;
	}
	return map->owner_type == (uint32_t)prog->type && map->owner_flags == flags ? 0 : -EINVAL;
}

const struct bpf_map_ops prog_array_map_ops = {
	.alloc_check = fd_array_alloc_check,
	.alloc = fd_array_alloc,
	.free = fd_array_free,
	.release_uref = fd_array_clear,
	.lookup = fd_array_lookup,
	.delete = fd_array_delete,
	.get_next_key = array_get_next_key,
	.sys_lookup = fd_array_sys_lookup,
	.sys_update = fd_array_sys_update,
	.gen_lookup = fd_array_gen_lookup,
	.mem_usage = fd_array_mem_usage,
};
