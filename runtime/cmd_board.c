/* SPDX-License-Identifier: BSD-2-Clause */
/* Board commands that pass between the client and the machine (struct rt_platform). */
#include "runtime/cmd.h"

#include "runtime/load.h"

/* Text of one reply at most; clients ask again for more. */
#define TEXT_BYTES_MAX (64u << 10)
#define CLOSE_MAX      4096u

#define BOARD_ABI 1

/* A terminated string inside a fixed field. */
static bool is_terminated(const char *text, size_t room)
{
	return __builtin_memchr(text, 0, room);
}

int64_t cmd_board_info(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_info *attr = &call->attr.board.info;
	struct board_info_reply info;
	int err;

	if (!rt->platform->info)
		return -EOPNOTSUPP;
	__builtin_memset(&info, 0, sizeof(info));
	rt->platform->info(rt->platform->arg, &info);
	info.abi = BOARD_ABI;
	info.cpus = hal_cpu_count();
	info.ktime_ns = hal_ktime_ns();
	info.features |= load_features();
	err = cmd_put(call, attr->info, &info, MIN(attr->info_len, (uint32_t)sizeof(info)));
	if (!err)
		attr->info_len = sizeof(info);
	return err;
}

int64_t cmd_log_read(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_log *attr = &call->attr.board.log;
	uint32_t len = MIN(attr->len, TEXT_BYTES_MAX);
	uint64_t pos = attr->pos, lost = 0;
	char *buf;
	int err;

	if (!rt->platform->log_read)
		return -EOPNOTSUPP;
	if (attr->which > 1)
		return -EINVAL;
	err = cmd_out(call, attr->buf, len, &buf);
	if (err)
		return err;
	len = rt->platform->log_read(rt->platform->arg, attr->which, buf, len, &pos, &lost);
	call_trim(call, attr->buf, len);
	attr->len = len;
	attr->pos = pos;
	attr->lost = lost;
	return 0;
}

int64_t cmd_pmu_read(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_pmu *attr = &call->attr.board.pmu;

	if (!rt->platform->pmu_read)
		return -EOPNOTSUPP;
	if (attr->nr > ARRAY_SIZE(attr->events) || attr->flags & ~1u)
		return -EINVAL;
	if (attr->cpu >= hal_cpu_count())
		return -ENXIO;
	return rt->platform->pmu_read(rt->platform->arg, attr);
}

int64_t cmd_reset(struct rt *rt, struct bpf_call *call)
{
	const struct board_attr_reset *attr = &call->attr.board.reset;

	if (!rt->platform->reset)
		return -EOPNOTSUPP;
	if (attr->how > 2)
		return -EINVAL;
	return rt->platform->reset(rt->platform->arg, attr->how, attr->status);
}

int64_t cmd_close(struct rt *rt, struct bpf_call *call)
{
	const struct board_attr_close *attr = &call->attr.board.close;
	const uint8_t *handles;
	int err = 0;

	if (attr->nr > CLOSE_MAX)
		return -E2BIG;
	handles = call_in(call, attr->handles, (uint64_t)attr->nr * sizeof(uint32_t));
	if (!handles)
		return -EFAULT;
	/* All that can be closed are closed; a bad one among them is reported. */
	for (uint32_t i = 0; i < attr->nr; i++) {
		uint32_t handle;

		__builtin_memcpy(&handle, handles + i * sizeof(handle), sizeof(handle));
		if (rt_handle_close(rt, handle))
			err = -EBADF;
	}
	return err;
}

/* ---- the pin name space ---------------------------------------------------------------------- */

int64_t cmd_path_stat(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_path *attr = &call->attr.board.path;
	struct pin *pin;
	const char *path;
	int err = cmd_path(call, attr->path, &path);

	if (!err)
		err = pin_find(rt, path, &pin);
	if (!err)
		attr->mode = pin->mode;
	return err;
}

int64_t cmd_path_mkdir(struct rt *rt, struct bpf_call *call)
{
	const char *path;
	int err = cmd_path(call, call->attr.board.path.path, &path);

	return err ? err : pin_mkdir(rt, path);
}

int64_t cmd_path_unlink(struct rt *rt, struct bpf_call *call)
{
	const struct board_attr_path *attr = &call->attr.board.path;
	const char *path;
	int err = cmd_path(call, attr->path, &path);

	return err ? err : pin_unlink(rt, path, attr->mode);
}

int64_t cmd_path_list(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_path *attr = &call->attr.board.path;
	uint32_t need, room = attr->list_len;
	const char *path;
	char *buf;
	int err = cmd_path(call, attr->path, &path);

	if (!err)
		err = pin_list(rt, path, NULL, 0, &need);
	if (err)
		return err;
	room = MIN(room, need);
	err = cmd_out(call, attr->list, room, &buf);
	if (err)
		return err;
	attr->mode = PIN_DIR;
	attr->list_len = need;
	return pin_list(rt, path, buf, room, &need);
}

/* ---- tests, accounts, symbols ---------------------------------------------------------------- */

int64_t cmd_selftest(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_selftest *attr = &call->attr.board.selftest;
	uint32_t len = MIN(attr->log_len, TEXT_BYTES_MAX), failed = 0;
	char *log;
	int err;

	if (!rt->platform->selftest)
		return -EOPNOTSUPP;
	if (!is_terminated(attr->name, sizeof(attr->name)) || !len)
		return -EINVAL;
	err = cmd_out(call, attr->log, len, &log);
	if (err)
		return err;
	err = rt->platform->selftest(rt->platform->arg, attr->name, log, len, &failed);
	if (err)
		return err;
	attr->log_len = (uint32_t)__builtin_strlen(log);
	call_trim(call, attr->log, attr->log_len);
	attr->failed = failed;
	return 0;
}

int64_t cmd_mem_stat(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_memstat *attr = &call->attr.board.memstat;
	struct board_mem_purpose rows[BOARD_MEM_PURPOSES];
	uint64_t total = 0, free_bytes = 0;
	uint32_t nr;
	int err;

	if (!rt->platform->mem_stat)
		return -EOPNOTSUPP;
	__builtin_memset(rows, 0, sizeof(rows));
	nr = rt->platform->mem_stat(rt->platform->arg, rows, ARRAY_SIZE(rows), &total, &free_bytes);
	nr = MIN(nr, attr->nr);
	err = cmd_put(call, attr->rows, rows, nr * sizeof(rows[0]));
	if (err)
		return err;
	attr->nr = nr;
	attr->total_bytes = total;
	attr->free_bytes = free_bytes;
	return 0;
}

int64_t cmd_load_stat(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_loadstat *attr = &call->attr.board.loadstat;
	struct board_load_stat stat;
	int err;

	if (!rt->platform->load_stat)
		return -EOPNOTSUPP;
	__builtin_memset(&stat, 0, sizeof(stat));
	rt->platform->load_stat(rt->platform->arg, &stat);
	err = cmd_put(call, attr->stat, &stat, MIN(attr->stat_len, (uint32_t)sizeof(stat)));
	if (!err)
		attr->stat_len = sizeof(stat);
	return err;
}

int64_t cmd_syms(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_syms *attr = &call->attr.board.syms;
	uint32_t len = MIN(attr->len, TEXT_BYTES_MAX);
	char *buf;
	int err;

	if (!rt->platform->syms)
		return -EOPNOTSUPP;
	err = cmd_out(call, attr->buf, len, &buf);
	if (err)
		return err;
	len = rt->platform->syms(rt->platform->arg, &attr->first, buf, len);
	call_trim(call, attr->buf, len);
	attr->len = len;
	return 0;
}
