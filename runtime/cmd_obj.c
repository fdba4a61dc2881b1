/* SPDX-License-Identifier: BSD-2-Clause */
/* Commands that any kind of object has: pins, ids, handles by id; BTF; the statistics switch. */
#include "runtime/cmd.h"

#include "bpf/log.h"
#include "runtime/load.h"

/* ---- pins ------------------------------------------------------------------------------------ */

static int path_fd_check(const union bpf_attr *attr)
{
	if (!(attr->file_flags & BPF_F_PATH_FD) && attr->path_fd)
		return -EINVAL;
	return 0;
}

int64_t cmd_obj_pin(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	const struct rt_handle *h;
	const char *path;
	int err;

	if (attr->file_flags & ~(uint32_t)BPF_F_PATH_FD || path_fd_check(attr))
		return -EINVAL;
	/* Linux tries the kinds in turn, so a closed fd is -EINVAL here; BTF cannot be pinned. */
	h = rt_handle_find(rt, attr->bpf_fd, &err);
	if (!h || (h->kind != RT_MAP && h->kind != RT_PROG && h->kind != RT_LINK))
		return -EINVAL;
	err = cmd_path(call, attr->pathname, &path);
	if (err)
		return err;
	return pin_add(rt, path, (enum rt_kind)h->kind, h->obj);
}

int64_t cmd_obj_get(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	enum rt_kind kind;
	struct pin *pin;
	const char *path;
	uint8_t perms;
	int err;

	if (attr->bpf_fd ||
	    attr->file_flags & ~(uint32_t)(BPF_F_RDONLY | BPF_F_WRONLY | BPF_F_PATH_FD) ||
	    path_fd_check(attr))
		return -EINVAL;
	err = rt_perms_of_flags(attr->file_flags, &perms);
	if (err)
		return err;
	err = cmd_path(call, attr->pathname, &path);
	if (!err)
		err = pin_find(rt, path, &pin);
	if (err)
		return err;
	if (pin->mode == PIN_DIR)
		return -EACCES;
	kind = pin_kind(pin);
	if (kind == RT_LINK && perms != RT_PERM_ALL)
		return -EINVAL;
	rt_obj_ref(kind, pin->obj);
	return rt_handle_return(rt, call, kind, pin->obj, perms);
}

/* ---- ids ------------------------------------------------------------------------------------- */

static enum rt_kind kind_of_cmd(uint32_t cmd)
{
	switch (cmd) {
	case BPF_MAP_GET_NEXT_ID:
	case BPF_MAP_GET_FD_BY_ID:
		return RT_MAP;
	case BPF_PROG_GET_NEXT_ID:
	case BPF_PROG_GET_FD_BY_ID:
		return RT_PROG;
	case BPF_BTF_GET_NEXT_ID:
	case BPF_BTF_GET_FD_BY_ID:
		return RT_BTF;
	default:
		return RT_LINK;
	}
}

int64_t cmd_next_id(struct rt *rt, struct bpf_call *call)
{
	union bpf_attr *attr = &call->attr.bpf;
	uint32_t next;
	int err;

	if (attr->start_id >= RT_ID_MAX)
		return -EINVAL;
	err = rt_next_id(rt, kind_of_cmd(call->cmd), attr->start_id, &next);
	if (!err)
		attr->next_id = next;
	return err;
}

int64_t cmd_fd_by_id(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	enum rt_kind kind = kind_of_cmd(call->cmd);
	uint8_t perms;
	void *obj;

	/* Only maps take open_flags; for the others the byte check has refused them. */
	if (attr->open_flags & ~(uint32_t)(BPF_F_RDONLY | BPF_F_WRONLY) ||
	    rt_perms_of_flags(attr->open_flags, &perms))
		return -EINVAL;
	obj = rt_by_id(rt, kind, attr->start_id);
	if (!obj)
		return -ENOENT;
	rt_obj_ref(kind, obj);
	return rt_handle_return(rt, call, kind, obj, perms);
}

/* ---- BTF ------------------------------------------------------------------------------------- */

#define BTF_SIZE_MAX (16u << 20)

int64_t cmd_btf_load(struct rt *rt, struct bpf_call *call)
{
	union bpf_attr *attr = &call->attr.bpf;
	struct load_log log;
	struct bpf_btf *btf = NULL;
	const void *data;
	int err, log_err;

	if (attr->btf_flags & ~(uint32_t)BPF_F_TOKEN_FD)
		return -EINVAL;
	if (attr->btf_flags & BPF_F_TOKEN_FD)
		return cmd_token_error(rt, (uint32_t)attr->btf_token_fd);
	if (attr->btf_size > BTF_SIZE_MAX)
		return -E2BIG;
	err = load_log_begin(&log, attr->btf_log_level, attr->btf_log_buf, attr->btf_log_size);
	if (err)
		return err;
	data = call_in(call, attr->btf, attr->btf_size);
	err = data ? btf_load(data, attr->btf_size, &log.log, &btf) : -EFAULT;
	log_err = load_log_end(&log, call, attr->btf_log_buf, &attr->btf_log_true_size);
	if (log_err)
		err = log_err;
	if (!err)
		err = rt_id_reserve(rt, RT_BTF);
	if (err) {
		if (btf)
			btf_free(btf);
		return err;
	}
	rt_id_publish(rt, RT_BTF, btf);
	return rt_handle_return(rt, call, RT_BTF, btf, RT_PERM_ALL);
}

/* ---- the rest -------------------------------------------------------------------------------- */

int64_t cmd_enable_stats(struct rt *rt, struct bpf_call *call)
{
	if (call->attr.bpf.enable_stats.type != BPF_STATS_RUN_TIME)
		return -EINVAL;
	rt_obj_ref(RT_STATS, rt);
	return rt_handle_return(rt, call, RT_STATS, rt, RT_PERM_ALL);
}

int64_t cmd_prog_bind_map(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	struct bpf_prog *prog;
	struct bpf_map **maps, **old, *map;
	void *obj;
	int err;

	if (attr->prog_bind_map.flags)
		return -EINVAL;
	err = rt_handle_get(rt, attr->prog_bind_map.prog_fd, RT_PROG, &obj);
	if (err)
		return err;
	prog = obj;
	err = rt_handle_get(rt, attr->prog_bind_map.map_fd, RT_MAP, &obj);
	if (err)
		return err;
	map = obj;
	for (uint32_t i = 0; i < prog->map_cnt; i++) {
		if (prog->maps[i] == map)
			return 0;
	}
	maps = hal_alloc((prog->map_cnt + 1) * sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	old = prog->maps;
	if (prog->map_cnt)
		__builtin_memcpy(maps, old, prog->map_cnt * sizeof(*maps));
	maps[prog->map_cnt] = map;
	bpf_map_ref(map);
	/* Other CPUs may be running it and read the pair in the other order. */
	__atomic_store_n(&prog->maps, maps, __ATOMIC_RELEASE);
	__atomic_store_n(&prog->map_cnt, prog->map_cnt + 1, __ATOMIC_RELEASE);
	hal_quiesce_wait();
	hal_free(old);
	return 0;
}
