/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf(2) of this process: its memory and its descriptors to a message, the reply back into them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/err.h"
#include "host/common/client_int.h"

static int io_peek(void *arg, void *dst, uint64_t addr, size_t n)
{
	(void)arg;
	return client_peek(dst, addr, n);
}

static int io_poke(void *arg, uint64_t addr, const void *src, size_t n)
{
	(void)arg;
	return client_poke(addr, src, n);
}

/* Relative to the folder behind dir_fd, or to the current one. */
static int io_abs_path(void *arg, int dir_fd, char *path, size_t room)
{
	char dir[512], rel[512], self[32];
	ssize_t n;

	(void)arg;
	if (path[0] == '/')
		return 0;
	if (dir_fd == AT_FDCWD) {
		if (!getcwd(dir, sizeof(dir)))
			return -errno;
	} else {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", dir_fd);
		n = readlink(self, dir, sizeof(dir) - 1);
		if (n < 0)
			return -EBADF;
		dir[n] = 0;
	}
	if (strlen(path) >= sizeof(rel))
		return -ENAMETOOLONG;
	strcpy(rel, path);
	return snprintf(path, room, "%s/%s", dir, rel) < (int)room ? 0 : -ENAMETOOLONG;
}

/* One attempt to marshal and call, with what it learns of the fds in it. */
struct attempt {
	struct ipc_hello hello;
	bool lost;    /* an fd of an earlier epoch is in the request */
	bool virtual; /* a lazy object is */
	uint8_t kind; /* of the last object named */
	/* For backends: where handles stand in the message. */
	struct client_ref *refs;
	uint32_t refs_nr, refs_room;
	bool refs_lost;
};

static int io_fd_info(void *arg, int fd, struct bpf_obj_info *info)
{
	struct attempt *at = arg;
	struct placeholder p;
	int rc = placeholder_read(fd, &p);

	if (rc)
		return rc;
	if (p.epoch != at->hello.epoch) {
		at->lost = true;
		return -EINVAL;
	}
	if (handle_is_virtual(p.obj.handle))
		at->virtual = true;
	at->kind = p.obj.kind;
	*info = p.obj;
	return 0;
}

static void io_handle_ref(void *arg, int buf, uint32_t off, uint32_t handle)
{
	struct attempt *at = arg;

	if (at->refs_nr == at->refs_room) {
		uint32_t room = at->refs_room ? at->refs_room * 2 : 16;
		struct client_ref *more = realloc(at->refs, room * sizeof(*more));

		if (!more) {
			at->refs_lost = true;
			return;
		}
		at->refs = more;
		at->refs_room = room;
	}
	at->refs[at->refs_nr++] = (struct client_ref){ buf, off, handle };
}

static uint64_t call_timeout_ms(uint32_t cmd, uint64_t uattr, uint32_t size)
{
	const uint64_t usual_ms = 30000, run_ms = 10;
	const char *env = getenv("BAREBPF_TIMEOUT");
	uint32_t repeat = 0;
	size_t off = 0;

	if (env && atoi(env) > 0)
		return (uint64_t)atoi(env) * 1000;
	if (cmd == BPF_PROG_TEST_RUN)
		off = offsetof(union bpf_attr, test.repeat);
	else if (cmd == BOARD_RAW_RUN)
		off = offsetof(struct board_attr_raw, repeat);
	if (off && size >= off + sizeof(repeat) &&
	    client_peek(&repeat, uattr + off, sizeof(repeat)))
		repeat = 0;
	return usual_ms + repeat * run_ms;
}

/* bpftool adds the host's boot time to load_time: make it the host's boot clock. */
static void rebase_load_time(const struct attempt *at, const struct marshal_call *mc)
{
	const size_t off = offsetof(struct bpf_prog_info, load_time);
	uint32_t len = 0;
	uint64_t info = 0, t;

	if (client_peek(&len, mc->uattr + offsetof(union bpf_attr, info.info_len), sizeof(len)) ||
	    client_peek(&info, mc->uattr + offsetof(union bpf_attr, info.info), sizeof(info)))
		return;
	if (len < off + sizeof(t) || client_peek(&t, info + off, sizeof(t)) || !t)
		return;
	t += (uint64_t)at->hello.clock_offset_ns;
	if (client_poke(info + off, &t, sizeof(t)))
		return;
}

/* The kernel gives out the lowest free number; ours was taken while the connection was open. */
static int lowest_fd(int fd)
{
	int low = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (low < 0)
		return fd;
	if (low > fd) {
		close(low);
		return fd;
	}
	close(fd);
	return low;
}

static int exchange(const struct attempt *at, const struct marshal_call *mc,
		    const struct wire_buf *msg, struct ipc_rep *head, struct wire_buf *rep, int *fd)
{
	const struct client_backend *backend = client_backend();
	struct ipc_req req = { .op = IPC_CALL,
			       .len = (uint32_t)msg->len,
			       .arg = mc->cmd,
			       .epoch = at->hello.epoch,
			       .timeout_ms = call_timeout_ms(mc->cmd, mc->uattr, mc->attr_size) };

	if (backend) {
		*head = (struct ipc_rep){ 0 };
		if (at->refs_lost)
			return -ENOMEM;
		return backend->call(backend->arg, mc->cmd, msg, at->refs, at->refs_nr, rep, fd);
	}
	if (at->virtual)
		req.flags |= IPC_F_VIRTUAL;
	if (client_wants_progress())
		req.flags |= IPC_F_PROGRESS;
	return client_request(&req, msg->data, head, rep, fd);
}

static int attempt_bpf(struct attempt *at, uint32_t cmd, uint64_t uattr, uint32_t size, long *ret,
		       bool *again)
{
	struct marshal_io io = { .peek = io_peek,
				 .poke = io_poke,
				 .fd_info = io_fd_info,
				 .abs_path = io_abs_path,
				 .handle_ref = client_backend() ? io_handle_ref : NULL,
				 .arg = at,
				 .cpus = at->hello.info.cpus };
	struct wire_buf msg = { 0 }, rep = { 0 };
	struct ipc_rep head = { 0 };
	struct bpf_obj_info obj;
	struct marshal_call mc;
	int64_t result = 0;
	int fd = -1, rc;

	rc = marshal_request(&mc, cmd, uattr, size, &io, &msg);
	if (at->lost) {
		static const char gone[] = "the board has restarted or its line was lost: its "
					   "objects are gone";

		client_explain(gone, sizeof(gone) - 1);
		rc = -EIO;
	}
	if (!rc)
		rc = exchange(at, &mc, &msg, &head, &rep, &fd);
	if (!rc && head.flags & IPC_REP_EPOCH)
		*again = true;
	else if (!rc)
		rc = head.status;
	if (!rc && !*again) {
		rc = marshal_reply(&mc, rep.data, rep.len, &io, &result, &obj);
		if (rc == -EBADMSG)
			rc = -EIO;
	}
	wire_buf_free(&msg);
	wire_buf_free(&rep);
	free(at->refs);
	if (rc || *again || fd < 0) {
		if (fd >= 0)
			close(fd);
		*ret = rc ? rc : (long)result;
	} else {
		*ret = lowest_fd(fd);
	}
	if (!rc && !*again && cmd == BPF_OBJ_GET_INFO_BY_FD && !result && at->kind == 'p')
		rebase_load_time(at, &mc);
	return rc;
}

long client_bpf(uint32_t cmd, const void *attr, uint32_t size)
{
	bool again = false;
	long ret = -EIO;

	/* What a descriptor of this host's process is to the kernel: not a perf event of BPF. */
	if (cmd == BPF_TASK_FD_QUERY)
		return -ENOTSUPP;
	for (int round = 0; round < 4; round++) {
		struct attempt at = { 0 };
		int rc = client_hello_get(&at.hello, again);

		if (rc)
			return rc == -ENOMEM ? rc : -EIO;
		again = false;
		if (attempt_bpf(&at, cmd, (uintptr_t)attr, size, &ret, &again) || !again)
			return ret;
	}
	return -EIO;
}
