/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "host/common/ipc.h"

static void take_fd(struct msghdr *m, int *fd)
{
	struct cmsghdr *c;
	int got;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
		    c->cmsg_len < CMSG_LEN(sizeof(got)))
			continue;
		memcpy(&got, CMSG_DATA(c), sizeof(got));
		if (fd && *fd < 0)
			*fd = got;
		else
			close(got);
	}
}

int ipc_read_all(int sock, void *data, size_t n, int *fd)
{
	uint8_t *at = data;

	while (n) {
		union {
			struct cmsghdr align;
			char room[CMSG_SPACE(sizeof(int))];
		} control;
		struct iovec v = { at, n };
		struct msghdr m = { .msg_iov = &v,
				    .msg_iovlen = 1,
				    .msg_control = &control,
				    .msg_controllen = sizeof(control) };
		ssize_t r = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		if (!r)
			return -EPIPE;
		take_fd(&m, fd);
		at += r;
		n -= (size_t)r;
	}
	return 0;
}

int ipc_write_all(int sock, const void *data, size_t n)
{
	const uint8_t *at = data;

	while (n) {
		ssize_t r = send(sock, at, n, MSG_NOSIGNAL);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -errno;
		at += r;
		n -= (size_t)r;
	}
	return 0;
}

int ipc_open(const struct ipc_peer *peer, const struct ipc_req *req)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct ipc_req head = *req;
	int s, rc;

	if (strlen(peer->path) >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	strcpy(sa.sun_path, peer->path);
	s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return -errno;
	while (connect(s, (struct sockaddr *)&sa, sizeof(sa))) {
		if (errno == EINTR)
			continue;
		rc = -errno;
		close(s);
		return rc;
	}
	head.magic = IPC_MAGIC;
	if (peer->token)
		memcpy(head.token, peer->token, IPC_TOKEN_LEN);
	rc = ipc_write_all(s, &head, sizeof(head));
	if (rc) {
		close(s);
		return rc;
	}
	return s;
}

static int read_payload(int sock, size_t n, struct wire_buf *rep)
{
	uint8_t *to = wire_buf_grow(rep, n);

	return to ? ipc_read_all(sock, to, n, NULL) : -ENOMEM;
}

int ipc_call(const struct ipc_peer *peer, const struct ipc_req *req, const void *payload,
	     struct ipc_rep *head, struct wire_buf *rep, int *fd,
	     void (*progress)(uint32_t sent_bytes))
{
	struct ipc_rep got;
	int rc, s, passed = -1;

	s = ipc_open(peer, req);
	if (s < 0)
		return s;
	/* The broker may refuse before it has read all: then its reply says why, not EPIPE. */
	rc = ipc_write_all(s, payload, req->len);
	if (rc && rc != -EPIPE && rc != -ECONNRESET)
		goto out;
	for (;;) {
		rc = ipc_read_all(s, &got, sizeof(got), &passed);
		if (rc || !(got.flags & IPC_REP_PROGRESS))
			break;
		if (progress)
			progress(got.arg);
	}
	if (!rc && got.len)
		rc = read_payload(s, got.len, rep);
out:
	close(s);
	if (!rc)
		*head = got;
	if (fd)
		*fd = rc ? -1 : passed;
	if (passed >= 0 && (rc || !fd))
		close(passed);
	return rc;
}
