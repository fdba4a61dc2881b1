/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaching programs. What a client asks is checked as in Linux; a request that is in order is
 * answered by -EOPNOTSUPP, since the board has no attachment points. Clients that probe for a
 * feature learn from the same errnos what they would learn from a kernel without it.
 */
#include "runtime/cmd.h"

#define MPROG_FLAGS (BPF_F_REPLACE | BPF_F_BEFORE | BPF_F_AFTER | BPF_F_ID | BPF_F_LINK)
#define BASE_FLAGS  (BPF_F_ALLOW_OVERRIDE | BPF_F_ALLOW_MULTI | BPF_F_REPLACE | BPF_F_PREORDER)

struct attach_row {
	uint8_t prog_type; /* of programs that attach so; 0: no such attach type */
	uint8_t query;	   /* BPF_PROG_QUERY knows it */
};

static const struct attach_row attach_rows[__MAX_BPF_ATTACH_TYPE] = {
	[BPF_CGROUP_INET_INGRESS] = { BPF_PROG_TYPE_CGROUP_SKB, 1 },
	[BPF_CGROUP_INET_EGRESS] = { BPF_PROG_TYPE_CGROUP_SKB, 1 },
	[BPF_CGROUP_INET_SOCK_CREATE] = { BPF_PROG_TYPE_CGROUP_SOCK, 1 },
	[BPF_CGROUP_INET_SOCK_RELEASE] = { BPF_PROG_TYPE_CGROUP_SOCK, 1 },
	[BPF_CGROUP_INET4_POST_BIND] = { BPF_PROG_TYPE_CGROUP_SOCK, 1 },
	[BPF_CGROUP_INET6_POST_BIND] = { BPF_PROG_TYPE_CGROUP_SOCK, 1 },
	[BPF_CGROUP_INET4_BIND] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_INET6_BIND] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_INET4_CONNECT] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_INET6_CONNECT] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_UNIX_CONNECT] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_INET4_GETPEERNAME] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_INET6_GETPEERNAME] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_UNIX_GETPEERNAME] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_INET4_GETSOCKNAME] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_INET6_GETSOCKNAME] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_UNIX_GETSOCKNAME] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_UDP4_SENDMSG] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_UDP6_SENDMSG] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_UNIX_SENDMSG] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_UDP4_RECVMSG] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_UDP6_RECVMSG] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_UNIX_RECVMSG] = { BPF_PROG_TYPE_CGROUP_SOCK_ADDR, 1 },
	[BPF_CGROUP_SOCK_OPS] = { BPF_PROG_TYPE_SOCK_OPS, 1 },
	[BPF_CGROUP_DEVICE] = { BPF_PROG_TYPE_CGROUP_DEVICE, 1 },
	[BPF_SK_MSG_VERDICT] = { BPF_PROG_TYPE_SK_MSG, 1 },
	[BPF_SK_SKB_STREAM_PARSER] = { BPF_PROG_TYPE_SK_SKB, 1 },
	[BPF_SK_SKB_STREAM_VERDICT] = { BPF_PROG_TYPE_SK_SKB, 1 },
	[BPF_SK_SKB_VERDICT] = { BPF_PROG_TYPE_SK_SKB, 1 },
	[BPF_LIRC_MODE2] = { BPF_PROG_TYPE_LIRC_MODE2, 1 },
	[BPF_FLOW_DISSECTOR] = { BPF_PROG_TYPE_FLOW_DISSECTOR, 1 },
	[BPF_CGROUP_SYSCTL] = { BPF_PROG_TYPE_CGROUP_SYSCTL, 1 },
	[BPF_CGROUP_GETSOCKOPT] = { BPF_PROG_TYPE_CGROUP_SOCKOPT, 1 },
	[BPF_CGROUP_SETSOCKOPT] = { BPF_PROG_TYPE_CGROUP_SOCKOPT, 1 },
	[BPF_TRACE_ITER] = { BPF_PROG_TYPE_TRACING, 0 },
	[BPF_TRACE_RAW_TP] = { BPF_PROG_TYPE_TRACING, 0 },
	[BPF_TRACE_FENTRY] = { BPF_PROG_TYPE_TRACING, 0 },
	[BPF_TRACE_FEXIT] = { BPF_PROG_TYPE_TRACING, 0 },
	[BPF_MODIFY_RETURN] = { BPF_PROG_TYPE_TRACING, 0 },
	[BPF_LSM_MAC] = { BPF_PROG_TYPE_LSM, 0 },
	[BPF_LSM_CGROUP] = { BPF_PROG_TYPE_LSM, 1 },
	[BPF_SK_LOOKUP] = { BPF_PROG_TYPE_SK_LOOKUP, 1 },
	[BPF_XDP] = { BPF_PROG_TYPE_XDP, 0 },
	[BPF_TCX_INGRESS] = { BPF_PROG_TYPE_SCHED_CLS, 1 },
	[BPF_TCX_EGRESS] = { BPF_PROG_TYPE_SCHED_CLS, 1 },
	[BPF_NETKIT_PRIMARY] = { BPF_PROG_TYPE_SCHED_CLS, 1 },
	[BPF_NETKIT_PEER] = { BPF_PROG_TYPE_SCHED_CLS, 1 },
};

static const struct attach_row *attach_row(uint32_t attach_type)
{
	if (attach_type >= ARRAY_SIZE(attach_rows) || !attach_rows[attach_type].prog_type)
		return NULL;
	return &attach_rows[attach_type];
}

/* tc and netkit: several programs in an order that the client chooses. */
static bool is_mprog(const struct attach_row *row)
{
	return row->prog_type == BPF_PROG_TYPE_SCHED_CLS;
}

static int prog_get(struct rt *rt, uint32_t handle, struct bpf_prog **prog)
{
	void *obj;
	int err = rt_handle_get(rt, handle, RT_PROG, &obj);

	if (!err)
		*prog = obj;
	return err;
}

/* May a program be attached so? Linux: bpf_prog_attach_check_attach_type. */
static int check_attach_type(const struct bpf_prog *prog, uint32_t attach_type)
{
	const struct attach_row *row = attach_row(attach_type);

	switch (prog->type) {
	case BPF_PROG_TYPE_PERF_EVENT:
	case BPF_PROG_TYPE_TRACEPOINT:
		return attach_type == BPF_PERF_EVENT ? 0 : -EINVAL;
	default:
		return row && row->prog_type == prog->type ? 0 : -EINVAL;
	}
}

int64_t cmd_raw_tp_open(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	struct bpf_prog *prog;
	int err = prog_get(rt, attr->raw_tracepoint.prog_fd, &prog);

	if (err)
		return err;
	if (prog->type != BPF_PROG_TYPE_RAW_TRACEPOINT &&
	    prog->type != BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE)
		return -EINVAL;
	if (!call_str(call, attr->raw_tracepoint.name, 128))
		return -EFAULT;
	return -EOPNOTSUPP;
}

static int attach_flags_check(const struct attach_row *row, const union bpf_attr *attr)
{
	if (is_mprog(row))
		return attr->attach_flags & ~(uint32_t)MPROG_FLAGS ? -EINVAL : 0;
	if (attr->attach_flags & ~(uint32_t)BASE_FLAGS || attr->relative_fd ||
	    attr->expected_revision)
		return -EINVAL;
	return 0;
}

int64_t cmd_prog_attach(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	const struct attach_row *row = attach_row(attr->attach_type);
	struct bpf_prog *prog;
	int err;

	if (!row)
		return -EINVAL;
	err = attach_flags_check(row, attr);
	if (!err)
		err = prog_get(rt, attr->attach_bpf_fd, &prog);
	if (err)
		return err;
	/* XDP goes by link, or by netlink on Linux. */
	if (prog->type != row->prog_type || prog->type == BPF_PROG_TYPE_XDP)
		return -EINVAL;
	return -EOPNOTSUPP;
}

int64_t cmd_prog_detach(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	const struct attach_row *row = attach_row(attr->attach_type);
	struct bpf_prog *prog;
	int err;

	if (!row)
		return -EINVAL;
	if (!is_mprog(row)) {
		if (attr->attach_flags || attr->relative_fd || attr->expected_revision)
			return -EINVAL;
		return row->query ? -EOPNOTSUPP : -EINVAL;
	}
	if (attr->attach_flags & ~(uint32_t)MPROG_FLAGS)
		return -EINVAL;
	if (attr->attach_bpf_fd) {
		err = prog_get(rt, attr->attach_bpf_fd, &prog);
		if (err)
			return err;
		if (prog->type != row->prog_type)
			return -EINVAL;
	}
	return -EOPNOTSUPP;
}

int64_t cmd_prog_query(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	const struct attach_row *row = attach_row(attr->query.attach_type);

	(void)rt;
	if (attr->query.query_flags & ~(uint32_t)BPF_F_QUERY_EFFECTIVE || !row || !row->query)
		return -EINVAL;
	return -EOPNOTSUPP;
}

int64_t cmd_link_create(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;
	struct bpf_prog *prog;
	int err;

	if (attr->link_create.attach_type == BPF_STRUCT_OPS) {
		void *map;

		err = rt_handle_get(rt, attr->link_create.map_fd, RT_MAP, &map);
		/* No map of the board is a struct_ops map. */
		return err ? err : -EINVAL;
	}
	err = prog_get(rt, attr->link_create.prog_fd, &prog);
	if (!err)
		err = check_attach_type(prog, attr->link_create.attach_type);
	return err ? err : -EOPNOTSUPP;
}

/* Links come from attachment points only: whatever the client names is none. */
static int64_t no_link(struct rt *rt, uint32_t handle)
{
	void *link;
	int err = rt_handle_get(rt, handle, RT_LINK, &link);

	return err ? err : -EOPNOTSUPP;
}

int64_t cmd_link_update(struct rt *rt, struct bpf_call *call)
{
	const union bpf_attr *attr = &call->attr.bpf;

	if (attr->link_update.flags & ~(uint32_t)BPF_F_REPLACE)
		return -EINVAL;
	return no_link(rt, attr->link_update.link_fd);
}

int64_t cmd_link_detach(struct rt *rt, struct bpf_call *call)
{
	return no_link(rt, call->attr.bpf.link_detach.link_fd);
}

int64_t cmd_iter_create(struct rt *rt, struct bpf_call *call)
{
	if (call->attr.bpf.iter_create.flags)
		return -EINVAL;
	return no_link(rt, call->attr.bpf.iter_create.link_fd);
}

int64_t cmd_token_create(struct rt *rt, struct bpf_call *call)
{
	int err;

	if (call->attr.bpf.token_create.flags)
		return -EINVAL;
	/* As Linux answers where there is no user namespace to delegate to. */
	if (!rt_handle_find(rt, call->attr.bpf.token_create.bpffs_fd, &err) && err == -EBADF)
		return -EBADF;
	return -EOPNOTSUPP;
}
