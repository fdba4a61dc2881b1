/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dispatcher. What a command's attr holds (fields, pointers, the last byte that may be set) is
 * its row of wire/bpf_cmds.def; here is which function does it and what happens around it.
 */
#include "runtime/cmd.h"

#include "wire/cmds.h"

enum cmd_flags {
	/* A failing call still sends data back (partial batches, clamped output, logs). */
	DATA_ON_ERROR = 1,
	/* Memory may be waiting for a grace period: wait for it, then try once more. */
	RETRY_NOMEM = 2,
};

struct cmd_entry {
	cmd_fn fn;
	uint32_t flags;
};

static const struct cmd_entry bpf_entries[] = {
	[BPF_MAP_CREATE] = { cmd_map_create, RETRY_NOMEM },
	[BPF_MAP_LOOKUP_ELEM] = { cmd_map_lookup, 0 },
	[BPF_MAP_UPDATE_ELEM] = { cmd_map_update, 0 },
	[BPF_MAP_DELETE_ELEM] = { cmd_map_delete, 0 },
	[BPF_MAP_GET_NEXT_KEY] = { cmd_map_next_key, 0 },
	[BPF_PROG_LOAD] = { cmd_prog_load, DATA_ON_ERROR | RETRY_NOMEM },
	[BPF_OBJ_PIN] = { cmd_obj_pin, 0 },
	[BPF_OBJ_GET] = { cmd_obj_get, 0 },
	[BPF_PROG_ATTACH] = { cmd_prog_attach, 0 },
	[BPF_PROG_DETACH] = { cmd_prog_detach, 0 },
	[BPF_PROG_TEST_RUN] = { cmd_test_run, DATA_ON_ERROR },
	[BPF_PROG_GET_NEXT_ID] = { cmd_next_id, 0 },
	[BPF_MAP_GET_NEXT_ID] = { cmd_next_id, 0 },
	[BPF_PROG_GET_FD_BY_ID] = { cmd_fd_by_id, 0 },
	[BPF_MAP_GET_FD_BY_ID] = { cmd_fd_by_id, 0 },
	[BPF_OBJ_GET_INFO_BY_FD] = { cmd_obj_info, DATA_ON_ERROR },
	[BPF_PROG_QUERY] = { cmd_prog_query, 0 },
	[BPF_RAW_TRACEPOINT_OPEN] = { cmd_raw_tp_open, 0 },
	[BPF_BTF_LOAD] = { cmd_btf_load, DATA_ON_ERROR | RETRY_NOMEM },
	[BPF_BTF_GET_FD_BY_ID] = { cmd_fd_by_id, 0 },
	[BPF_MAP_LOOKUP_AND_DELETE_ELEM] = { cmd_map_lookup_delete, 0 },
	[BPF_MAP_FREEZE] = { cmd_map_freeze, 0 },
	[BPF_BTF_GET_NEXT_ID] = { cmd_next_id, 0 },
	[BPF_MAP_LOOKUP_BATCH] = { cmd_map_batch, DATA_ON_ERROR },
	[BPF_MAP_LOOKUP_AND_DELETE_BATCH] = { cmd_map_batch, DATA_ON_ERROR },
	[BPF_MAP_UPDATE_BATCH] = { cmd_map_batch, 0 },
	[BPF_MAP_DELETE_BATCH] = { cmd_map_batch, 0 },
	[BPF_LINK_CREATE] = { cmd_link_create, 0 },
	[BPF_LINK_UPDATE] = { cmd_link_update, 0 },
	[BPF_LINK_GET_FD_BY_ID] = { cmd_fd_by_id, 0 },
	[BPF_LINK_GET_NEXT_ID] = { cmd_next_id, 0 },
	[BPF_ENABLE_STATS] = { cmd_enable_stats, 0 },
	[BPF_ITER_CREATE] = { cmd_iter_create, 0 },
	[BPF_LINK_DETACH] = { cmd_link_detach, 0 },
	[BPF_PROG_BIND_MAP] = { cmd_prog_bind_map, 0 },
	[BPF_TOKEN_CREATE] = { cmd_token_create, 0 },
};

#define BOARD_ENTRY(cmd) [(cmd) - BOARD_CMD_BASE]
static const struct cmd_entry board_entries[] = {
	BOARD_ENTRY(BOARD_INFO) = { cmd_board_info, 0 },
	BOARD_ENTRY(BOARD_KNOB_GET) = { cmd_knob_get, 0 },
	BOARD_ENTRY(BOARD_KNOB_SET) = { cmd_knob_set, 0 },
	BOARD_ENTRY(BOARD_KNOB_NEXT) = { cmd_knob_next, 0 },
	BOARD_ENTRY(BOARD_LOG_READ) = { cmd_log_read, 0 },
	BOARD_ENTRY(BOARD_PMU_READ) = { cmd_pmu_read, 0 },
	BOARD_ENTRY(BOARD_RESET) = { cmd_reset, 0 },
	BOARD_ENTRY(BOARD_CLOSE) = { cmd_close, 0 },
	BOARD_ENTRY(BOARD_PATH_STAT) = { cmd_path_stat, 0 },
	BOARD_ENTRY(BOARD_PATH_MKDIR) = { cmd_path_mkdir, 0 },
	BOARD_ENTRY(BOARD_PATH_UNLINK) = { cmd_path_unlink, 0 },
	BOARD_ENTRY(BOARD_PATH_LIST) = { cmd_path_list, 0 },
	BOARD_ENTRY(BOARD_MEM_READ) = { cmd_mem_read, 0 },
	BOARD_ENTRY(BOARD_MEM_WRITE) = { cmd_mem_write, 0 },
	BOARD_ENTRY(BOARD_RAW_RUN) = { cmd_raw_run, RETRY_NOMEM },
	BOARD_ENTRY(BOARD_SELFTEST) = { cmd_selftest, 0 },
	BOARD_ENTRY(BOARD_MEM_STAT) = { cmd_mem_stat, 0 },
	BOARD_ENTRY(BOARD_LOAD_STAT) = { cmd_load_stat, 0 },
	BOARD_ENTRY(BOARD_SYMS) = { cmd_syms, 0 },
	BOARD_ENTRY(BOARD_FDINFO) = { cmd_fdinfo, 0 },
};

static const struct cmd_entry *entry_get(uint32_t cmd)
{
	const struct cmd_entry *e = NULL;

	if (cmd < ARRAY_SIZE(bpf_entries))
		e = &bpf_entries[cmd];
	else if (cmd >= BOARD_CMD_BASE && cmd - BOARD_CMD_BASE < ARRAY_SIZE(board_entries))
		e = &board_entries[cmd - BOARD_CMD_BASE];
	return e && e->fn ? e : NULL;
}

static bool is_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i])
			return false;
	}
	return true;
}

static void forget_output(struct bpf_call *call)
{
	for (uint32_t i = 0; i < call->buf_cnt; i++)
		call->bufs[i].out_len = 0;
}

static int64_t dispatch(struct rt *rt, struct bpf_call *call)
{
	const struct cmd_entry *e = entry_get(call->cmd);
	const struct cmd_row *row = cmd_row(call->cmd);
	size_t known =
		call->cmd < BOARD_CMD_BASE ? sizeof(call->attr.bpf) : sizeof(call->attr.board);
	union bpf_call_attr attr;
	int64_t ret;

	if (call->attr_size > sizeof(call->attr) ||
	    !is_zero(call->attr.bytes + known, sizeof(call->attr) - known))
		return -E2BIG;
	if (!e || !row)
		return -EINVAL;
	if (!is_zero(call->attr.bytes + row->attr_end, known - row->attr_end))
		return -EINVAL;
	if (!(e->flags & RETRY_NOMEM))
		return e->fn(rt, call);

	attr = call->attr;
	ret = e->fn(rt, call);
	if (ret == -ENOMEM) {
		hal_quiesce_flush(true);
		forget_output(call);
		call->attr = attr;
		ret = e->fn(rt, call);
	}
	return ret;
}

int64_t bpf_syscall(struct rt *rt, struct bpf_call *call)
{
	hal_quiesce_flush(false);
	__builtin_memset(&call->obj, 0, sizeof(call->obj));
	call->ret = dispatch(rt, call);
	if (call->ret < 0) {
		const struct cmd_entry *e = entry_get(call->cmd);

		if (!e || !(e->flags & DATA_ON_ERROR))
			forget_output(call);
	}
	return call->ret;
}

/* ---- shared by command functions ------------------------------------------------------------- */

int cmd_token_error(const struct rt *rt, uint32_t handle)
{
	int err;

	return rt_handle_find(rt, handle, &err) ? -EINVAL : err;
}

int cmd_path(const struct bpf_call *call, uint64_t p, const char **out)
{
	const char *path = call_str(call, p, PIN_PATH_MAX);

	if (!path)
		return call_in(call, p, PIN_PATH_MAX) ? -ENAMETOOLONG : -EFAULT;
	*out = path;
	return 0;
}

#define STRUCT_LEN_MAX 4096 /* Linux: a page is silly */

int cmd_copy_struct(const struct bpf_call *call, uint64_t p, uint32_t user_len, void *dst,
		    uint32_t size)
{
	const uint8_t *src;

	if (user_len > STRUCT_LEN_MAX)
		return -E2BIG;
	src = call_in(call, p, user_len);
	if (!src)
		return -EFAULT;
	if (user_len > size && !is_zero(src + size, user_len - size))
		return -E2BIG;
	__builtin_memcpy(dst, src, MIN(user_len, size));
	return 0;
}

int cmd_out(struct bpf_call *call, uint64_t p, uint64_t len, void *out)
{
	void *dst = call_out(call, p, len);

	if (!dst)
		return call_may_write(call, p, len) ? -ENOMEM : -EFAULT;
	__builtin_memcpy(out, &dst, sizeof(dst));
	return 0;
}

int cmd_put(struct bpf_call *call, uint64_t p, const void *src, uint64_t len)
{
	void *dst;
	int err;

	if (!len)
		return 0;
	err = cmd_out(call, p, len, &dst);
	if (!err)
		__builtin_memcpy(dst, src, len);
	return err;
}

static bool is_name_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '.';
}

int cmd_obj_name(char dst[BPF_OBJ_NAME_LEN], const char src[BPF_OBJ_NAME_LEN])
{
	uint32_t len = 0;

	while (len < BPF_OBJ_NAME_LEN && src[len]) {
		if (!is_name_char(src[len++]))
			return -EINVAL;
	}
	if (len == BPF_OBJ_NAME_LEN)
		return -EINVAL;
	__builtin_memset(dst, 0, BPF_OBJ_NAME_LEN);
	__builtin_memcpy(dst, src, len);
	return 0;
}
