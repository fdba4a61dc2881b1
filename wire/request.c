/* SPDX-License-Identifier: BSD-2-Clause */
/* Buffers and fds of a request: what is read from the caller's memory, see wire/request.h. */
#include "wire/request.h"

#include "wire/link.h"

#define REQUEST_MAX  (LINK_MSG_MAX - 65536u) /* bytes of buffers */
#define PATH_BYTES   4096		     /* Linux PATH_MAX */
#define SYMBOL_BYTES 512		     /* Linux KSYM_NAME_LEN */
#define NAMES_MAX    (1u << 20)		     /* Linux MAX_KPROBE_MULTI_CNT */

/* ---- fds ------------------------------------------------------------------------------------- */

static uint32_t handle_of(const struct request *r, int fd, bool *real)
{
	struct bpf_obj_info info;
	int err = r->io->fd_info(r->io->arg, fd, &info);

	*real = !err;
	return !err ? info.handle : err == -EBADF ? BPF_HANDLE_EBADF : BPF_HANDLE_EINVAL;
}

void request_translate_fd(struct request *r, int buf, uint32_t off, void *p)
{
	uint32_t handle;
	bool real;
	int fd;

	__builtin_memcpy(&fd, p, 4);
	handle = handle_of(r, fd, &real);
	__builtin_memcpy(p, &handle, 4);
	if (real && r->io->handle_ref)
		r->io->handle_ref(r->io->arg, buf, off, handle);
}

bool request_map_info(const struct request *r, int fd, struct bpf_obj_info *map)
{
	return !r->io->fd_info(r->io->arg, fd, map) && map->kind == 'm';
}

uint32_t request_map_type(const struct request *r, int fd)
{
	struct bpf_obj_info map;

	return request_map_info(r, fd, &map) ? map.type : BPF_MAP_TYPE_UNSPEC;
}

/* ---- buffers --------------------------------------------------------------------------------- */

int request_add_buf(struct request *r, int parent, uint32_t off, uint64_t user, uint64_t cap,
		    uint32_t in_len)
{
	struct marshal_call *mc = r->mc;
	uint32_t i = mc->buf_cnt;

	if (i >= BPF_CALL_BUFS_MAX)
		return -E2BIG;
	mc->buf_cnt++;
	r->at[i] = r->data.len - in_len;
	mc->bufs[i].user = user;
	mc->bufs[i].cap = (uint32_t)MIN(cap, (uint64_t)UINT32_MAX);
	mc->bufs[i].in_len = in_len;
	mc->bufs[i].parent = (int16_t)parent;
	mc->bufs[i].off = (uint16_t)off;
	return (int)i;
}

/* A pointer that the caller's memory does not cover: no room, so the board says -EFAULT. */
static int add_bad_buf(struct request *r, uint32_t off, uint64_t user, size_t forget)
{
	r->data.len -= forget;
	return request_add_buf(r, -1, off, user, 0, 0);
}

/* n bytes of the caller's memory to the end of r->data. 0, -EFAULT (nothing added), -errno. */
static int fetch(struct request *r, uint64_t user, uint64_t n)
{
	uint8_t *dst;

	if (n > REQUEST_MAX - MIN(r->data.len, (size_t)REQUEST_MAX))
		return -E2BIG;
	if (!n)
		return 0;
	dst = wire_buf_grow(&r->data, (size_t)n);
	if (!dst)
		return -ENOMEM;
	if (!r->io->peek(r->io->arg, dst, user, (size_t)n))
		return 0;
	r->data.len -= (size_t)n;
	return -EFAULT;
}

/* Index of a new buffer of in_len fetched bytes, or -errno. */
int request_take_bytes(struct request *r, uint32_t off, uint64_t user, uint64_t in_len,
		       uint64_t cap)
{
	int err = fetch(r, user, in_len);

	if (err == -EFAULT)
		return add_bad_buf(r, off, user, 0);
	return err ? err : request_add_buf(r, -1, off, user, cap, (uint32_t)in_len);
}

/*
 * A string of at most max bytes with its NUL to the end of r->data, read in steps that cross no
 * page. Its length with the NUL, or -EFAULT, -E2BIG, -ENOMEM (nothing added); max + 1: no NUL.
 */
static int fetch_string(struct request *r, uint64_t user, uint32_t max)
{
	uint32_t len = 0;

	while (len < max) {
		uint32_t n = MIN(max - len, (uint32_t)(64 - (user + len) % 64));
		int err = fetch(r, user + len, n);
		const uint8_t *piece, *nul;

		if (err) {
			r->data.len -= len;
			return err;
		}
		piece = r->data.data + r->data.len - n;
		nul = __builtin_memchr(piece, 0, n);
		if (nul) {
			n = (uint32_t)(nul - piece) + 1;
			r->data.len = (size_t)(nul - r->data.data) + 1;
			return (int)(len + n);
		}
		len += n;
	}
	return (int)max + 1;
}

int request_take_string(struct request *r, uint32_t off, uint64_t user, uint32_t max)
{
	int len = fetch_string(r, user, max);

	if (len == -EFAULT)
		return add_bad_buf(r, off, user, 0);
	if (len < 0)
		return len;
	if (len > (int)max) {
		len = (int)max;
		r->data.data[r->data.len - 1] = 0;
	}
	return request_add_buf(r, -1, off, user, (uint32_t)len, (uint32_t)len);
}

int request_take_path(struct request *r, uint32_t off, uint64_t user)
{
	bool by_fd = r->attr.bpf.file_flags & BPF_F_PATH_FD;
	int len = fetch_string(r, user, PATH_BYTES), err;
	char *path;

	if (len == -EFAULT)
		return add_bad_buf(r, off, user, 0);
	if (len < 0)
		return len;
	if (len > PATH_BYTES)
		return -ENAMETOOLONG;
	if (!wire_buf_grow(&r->data, (size_t)(PATH_BYTES - len)))
		return -ENOMEM;
	path = (char *)r->data.data + r->data.len - PATH_BYTES;
	if (r->io->abs_path && path[0] && path[0] != '/') {
		err = r->io->abs_path(r->io->arg, by_fd ? r->attr.bpf.path_fd : MARSHAL_CWD, path,
				      PATH_BYTES);
		if (err)
			return err;
		path[PATH_BYTES - 1] = 0;
		len = (int)__builtin_strlen(path) + 1;
	}
	if (by_fd && path[0] == '/') {
		r->mc->sent.bpf.file_flags &= ~(uint32_t)BPF_F_PATH_FD;
		r->mc->sent.bpf.path_fd = 0;
	}
	r->data.len -= (size_t)(PATH_BYTES - len);
	return request_add_buf(r, -1, off, user, (uint32_t)len, (uint32_t)len);
}

int request_take_names(struct request *r, uint32_t off, uint64_t user, uint64_t n)
{
	size_t start = r->data.len;
	uint64_t i, name;
	int len;

	if (n > NAMES_MAX)
		return -E2BIG;
	for (i = 0; i < n; i++) {
		if (r->io->peek(r->io->arg, &name, user + i * 8, 8))
			len = -EFAULT;
		else
			len = fetch_string(r, name, SYMBOL_BYTES);
		if (len == -EFAULT)
			return add_bad_buf(r, off, user, r->data.len - start);
		if (len < 0)
			return len;
		if (len > SYMBOL_BYTES)
			return -E2BIG;
	}
	return request_add_buf(r, -1, off, user, r->data.len - start,
			       (uint32_t)(r->data.len - start));
}
