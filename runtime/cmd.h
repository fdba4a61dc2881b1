/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command functions, one a row of the table in bpf_syscall.c. Each gets a call whose attr has
 * passed the check that every command shares (zeros behind its last field), and returns what bpf(2)
 * returns. A refused call has changed nothing.
 */
#pragma once

#include "runtime/rt_int.h"

typedef int64_t (*cmd_fn)(struct rt *rt, struct bpf_call *call);

/* cmd_map.c */
int64_t cmd_map_create(struct rt *rt, struct bpf_call *call);
int64_t cmd_map_lookup(struct rt *rt, struct bpf_call *call);
int64_t cmd_map_update(struct rt *rt, struct bpf_call *call);
int64_t cmd_map_delete(struct rt *rt, struct bpf_call *call);
int64_t cmd_map_next_key(struct rt *rt, struct bpf_call *call);
int64_t cmd_map_lookup_delete(struct rt *rt, struct bpf_call *call);
int64_t cmd_map_batch(struct rt *rt, struct bpf_call *call);
int64_t cmd_map_freeze(struct rt *rt, struct bpf_call *call);

/* cmd_obj.c */
int64_t cmd_obj_pin(struct rt *rt, struct bpf_call *call);
int64_t cmd_obj_get(struct rt *rt, struct bpf_call *call);
int64_t cmd_next_id(struct rt *rt, struct bpf_call *call);
int64_t cmd_fd_by_id(struct rt *rt, struct bpf_call *call);
int64_t cmd_btf_load(struct rt *rt, struct bpf_call *call);
int64_t cmd_enable_stats(struct rt *rt, struct bpf_call *call);
int64_t cmd_prog_bind_map(struct rt *rt, struct bpf_call *call);

/* info.c, fdinfo.c */
int64_t cmd_obj_info(struct rt *rt, struct bpf_call *call);
int64_t cmd_fdinfo(struct rt *rt, struct bpf_call *call);

/* load.c, test_run.c */
int64_t cmd_prog_load(struct rt *rt, struct bpf_call *call);
int64_t cmd_test_run(struct rt *rt, struct bpf_call *call);

/* cmd_attach.c */
int64_t cmd_raw_tp_open(struct rt *rt, struct bpf_call *call);
int64_t cmd_prog_attach(struct rt *rt, struct bpf_call *call);
int64_t cmd_prog_detach(struct rt *rt, struct bpf_call *call);
int64_t cmd_prog_query(struct rt *rt, struct bpf_call *call);
int64_t cmd_link_create(struct rt *rt, struct bpf_call *call);
int64_t cmd_link_update(struct rt *rt, struct bpf_call *call);
int64_t cmd_link_detach(struct rt *rt, struct bpf_call *call);
int64_t cmd_iter_create(struct rt *rt, struct bpf_call *call);
int64_t cmd_token_create(struct rt *rt, struct bpf_call *call);

/* knobs.c */
int64_t cmd_knob_get(struct rt *rt, struct bpf_call *call);
int64_t cmd_knob_set(struct rt *rt, struct bpf_call *call);
int64_t cmd_knob_next(struct rt *rt, struct bpf_call *call);

/* cmd_board.c, cmd_mem.c, raw_run.c */
int64_t cmd_board_info(struct rt *rt, struct bpf_call *call);
int64_t cmd_log_read(struct rt *rt, struct bpf_call *call);
int64_t cmd_pmu_read(struct rt *rt, struct bpf_call *call);
int64_t cmd_reset(struct rt *rt, struct bpf_call *call);
int64_t cmd_close(struct rt *rt, struct bpf_call *call);
int64_t cmd_path_stat(struct rt *rt, struct bpf_call *call);
int64_t cmd_path_mkdir(struct rt *rt, struct bpf_call *call);
int64_t cmd_path_unlink(struct rt *rt, struct bpf_call *call);
int64_t cmd_path_list(struct rt *rt, struct bpf_call *call);
int64_t cmd_mem_read(struct rt *rt, struct bpf_call *call);
int64_t cmd_mem_write(struct rt *rt, struct bpf_call *call);
int64_t cmd_raw_run(struct rt *rt, struct bpf_call *call);
int64_t cmd_selftest(struct rt *rt, struct bpf_call *call);
int64_t cmd_mem_stat(struct rt *rt, struct bpf_call *call);
int64_t cmd_load_stat(struct rt *rt, struct bpf_call *call);
int64_t cmd_syms(struct rt *rt, struct bpf_call *call);

/* ---- shared by command functions ------------------------------------------------------------- */

/* A field that names a token while BPF_F_TOKEN_FD is set: boards make none. -EBADF, -EINVAL. */
int cmd_token_error(const struct rt *rt, uint32_t handle);
/* A string, with getname(9)'s errors: *out and 0, -EFAULT, -ENAMETOOLONG. */
int cmd_path(const struct bpf_call *call, uint64_t p, const char **out) __must_check;
/*
 * A structure that the client may know in a longer or shorter form (bpf_check_uarg_tail_zero):
 * copies min(size, user_len) bytes to dst, which the caller zeroed. 0, -EFAULT, -E2BIG (bytes that
 * we do not know are not zero, or user_len is silly).
 */
int cmd_copy_struct(const struct bpf_call *call, uint64_t p, uint32_t user_len, void *dst,
		    uint32_t size) __must_check;
/*
 * Room for len bytes of result at the client's p, which will go back to it: 0, -EFAULT, -ENOMEM.
 */
int cmd_out(struct bpf_call *call, uint64_t p, uint64_t len, void *out) __must_check;
/* len bytes to the client's buffer at p: 0, -EFAULT, -ENOMEM. */
int cmd_put(struct bpf_call *call, uint64_t p, const void *src, uint64_t len) __must_check;
/* bpf_obj_name_cpy: 0 or -EINVAL; dst is filled up with zeros. */
int cmd_obj_name(char dst[BPF_OBJ_NAME_LEN], const char src[BPF_OBJ_NAME_LEN]) __must_check;
