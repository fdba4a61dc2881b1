/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "include/err.h"
#include "host/common/client_int.h"

static struct {
	char path[108];
	uint8_t token[IPC_TOKEN_LEN];
	bool has_token, active, told, hello_valid;
	struct ipc_hello hello;
	char error[IPC_TEXT_MAX];
	void (*progress)(uint64_t sent_bytes);
	uint64_t sent_before; /* bytes of the requests before the current one */
	const struct client_backend *backend;
} client;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- set-up ---- */

static void fork_prepare(void)
{
	pthread_mutex_lock(&lock);
}

static void fork_done(void)
{
	pthread_mutex_unlock(&lock);
}

int client_open(const char *path, const uint8_t *token)
{
	if (strlen(path) >= sizeof(client.path))
		return -ENAMETOOLONG;
	strcpy(client.path, path);
	client.has_token = token != NULL;
	if (token)
		memcpy(client.token, token, IPC_TOKEN_LEN);
	if (!client.active)
		pthread_atfork(fork_prepare, fork_done, fork_done);
	client.active = true;
	client.hello_valid = false;
	return 0;
}

static bool parse_token(const char *hex, uint8_t *token)
{
	for (int i = 0; i < IPC_TOKEN_LEN; i++) {
		unsigned int byte;

		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return false;
		token[i] = (uint8_t)byte;
	}
	return true;
}

int client_open_env(void)
{
	const char *path = getenv(ENV_BROKER), *hex = getenv(ENV_TOKEN);
	uint8_t token[IPC_TOKEN_LEN];
	bool has = hex && strlen(hex) == 2 * IPC_TOKEN_LEN && parse_token(hex, token);

	if (!path || !path[0])
		return -ENOENT;
	return client_open(path, has ? token : NULL);
}

bool client_is_active(void)
{
	return client.active || client.backend;
}

void client_set_progress(void (*fn)(uint64_t sent_bytes))
{
	client.progress = fn;
	client.sent_before = 0;
}

static void interim(uint32_t sent_bytes)
{
	client.progress(client.sent_before + sent_bytes);
}

void client_set_backend(const struct client_backend *backend)
{
	client.backend = backend;
}

const struct client_backend *client_backend(void)
{
	return client.backend;
}

bool client_wants_progress(void)
{
	return client.progress;
}

const char *client_error(void)
{
	return client.error;
}

/* ---- requests ---- */

/* The reason once on stderr: the client itself only gets an errno. */
void client_explain(const char *text, size_t len)
{
	bool tell;

	pthread_mutex_lock(&lock);
	snprintf(client.error, sizeof(client.error), "%.*s", (int)len, text);
	tell = !client.told && !getenv(ENV_QUIET);
	client.told = true;
	pthread_mutex_unlock(&lock);
	if (tell)
		dprintf(2, "barebpf: %.*s\n", (int)len, text);
}

int client_request(const struct ipc_req *req, const void *payload, struct ipc_rep *head,
		   struct wire_buf *rep, int *fd)
{
	static const char gone[] = "the broker of this board has ended; run `barebpf exec` again";
	struct ipc_peer peer = { client.path, client.has_token ? client.token : NULL };
	int rc = ipc_call(&peer, req, payload, head, rep, fd, client.progress ? interim : NULL);

	if (rc) {
		client_explain(gone, sizeof(gone) - 1);
		return rc == -ENOMEM ? rc : -EIO;
	}
	if (client.progress && req->op == IPC_CALL) {
		client.sent_before += req->len;
		client.progress(client.sent_before);
	}
	if (head->status && !(head->flags & IPC_REP_EPOCH) && rep->len)
		client_explain((const char *)rep->data, rep->len);
	return 0;
}

int client_hello_get(struct ipc_hello *hello, bool again)
{
	struct ipc_req req = { .op = IPC_HELLO };
	struct wire_buf rep = { 0 };
	struct ipc_rep head;
	bool known;
	int rc;

	if (client.backend) {
		*hello = client.backend->hello;
		return 0;
	}
	pthread_mutex_lock(&lock);
	known = client.hello_valid && !again;
	if (known)
		*hello = client.hello;
	pthread_mutex_unlock(&lock);
	if (known)
		return 0;
	rc = client_request(&req, NULL, &head, &rep, NULL);
	if (!rc)
		rc = head.status;
	if (!rc && rep.len != sizeof(*hello))
		rc = -EIO;
	if (!rc) {
		pthread_mutex_lock(&lock);
		memcpy(&client.hello, rep.data, sizeof(*hello));
		client.hello_valid = true;
		*hello = client.hello;
		pthread_mutex_unlock(&lock);
	}
	wire_buf_free(&rep);
	return rc;
}

int client_hello(struct ipc_hello *hello)
{
	return client_is_active() ? client_hello_get(hello, false) : -ENOTCONN;
}

int client_placeholder(int fd, struct placeholder *p)
{
	struct ipc_hello hello;
	struct placeholder got;
	int rc = placeholder_read(fd, &got);

	if (rc)
		return rc;
	rc = client_hello(&hello);
	if (rc)
		return -EIO;
	if (got.epoch != hello.epoch)
		return -EIO;
	*p = got;
	return 0;
}

/* ---- own memory ---- */

int client_peek(void *dst, uint64_t addr, size_t n)
{
	struct iovec to = { dst, n }, from = { (void *)(uintptr_t)addr, n };

	if (!n)
		return 0;
	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n ? 0 : -EFAULT;
}

int client_poke(uint64_t addr, const void *src, size_t n)
{
	struct iovec from = { (void *)(uintptr_t)src, n }, to = { (void *)(uintptr_t)addr, n };

	if (!n)
		return 0;
	return process_vm_writev(getpid(), &from, 1, &to, 1, 0) == (ssize_t)n ? 0 : -EFAULT;
}

/* ---- mapped memory, streams, statistics ---- */

int client_mmap_fd(const struct placeholder *p)
{
	struct ipc_req req = { .op = IPC_MMAP, .arg = p->serial, .epoch = p->epoch };
	struct wire_buf rep = { 0 };
	struct ipc_rep head;
	int fd = -1, rc;

	if (client.backend)
		return client.backend->mmap_fd(client.backend->arg, p);
	rc = client_request(&req, NULL, &head, &rep, &fd);
	if (!rc)
		rc = head.status;
	if (!rc && fd < 0)
		rc = -EIO;
	if (rc && fd >= 0)
		close(fd);
	wire_buf_free(&rep);
	return rc ? rc : fd;
}

int client_sync(void)
{
	struct ipc_req req = { .op = IPC_SYNC };
	struct wire_buf rep = { 0 };
	struct ipc_rep head;
	int rc = client_request(&req, NULL, &head, &rep, NULL);

	wire_buf_free(&rep);
	return rc ? rc : head.status;
}

int client_stream(enum ipc_op op)
{
	struct ipc_peer peer = { client.path, client.has_token ? client.token : NULL };
	struct ipc_req req = { .op = (uint16_t)op };
	char text[IPC_TEXT_MAX];
	struct ipc_rep head;
	int sock, rc;

	sock = client.active ? ipc_open(&peer, &req) : -ENOTCONN;
	if (sock < 0)
		return sock;
	rc = ipc_read_all(sock, &head, sizeof(head), NULL);
	if (!rc && head.status) {
		head.len = MIN(head.len, (uint32_t)sizeof(text));
		if (!ipc_read_all(sock, text, head.len, NULL))
			client_explain(text, head.len);
		rc = head.status;
	}
	if (!rc)
		return sock;
	close(sock);
	return rc;
}

int client_stats(struct ipc_stats *stats)
{
	struct ipc_req req = { .op = IPC_STATS };
	struct wire_buf rep = { 0 };
	struct ipc_rep head;
	int rc = client_request(&req, NULL, &head, &rep, NULL);

	if (!rc)
		rc = head.status;
	if (!rc && rep.len != sizeof(*stats))
		rc = -EIO;
	if (!rc)
		memcpy(stats, rep.data, sizeof(*stats));
	wire_buf_free(&rep);
	return rc;
}
