/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/crc32c.h"
#include "host/common/client.h"
#include "host/target.h"

int host_fail(struct host_err *err, int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return rc;
}

/* ---- targets ---- */

static const struct {
	unsigned int baud;
	speed_t speed;
} speeds[] = {
	{ 9600, B9600 },       { 19200, B19200 },     { 38400, B38400 },     { 57600, B57600 },
	{ 115200, B115200 },   { 230400, B230400 },   { 460800, B460800 },   { 500000, B500000 },
	{ 921600, B921600 },   { 1000000, B1000000 }, { 1500000, B1500000 }, { 2000000, B2000000 },
	{ 3000000, B3000000 }, { 4000000, B4000000 },
};

speed_t target_speed(unsigned int baud)
{
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++)
		if (speeds[i].baud == baud)
			return speeds[i].speed;
	return B0;
}

static int parse_baud(struct target *t, char *path, struct host_err *err)
{
	char *comma = strrchr(path, ',');
	char *end;

	t->baud = 115200;
	if (!comma)
		return 0;
	t->baud = (unsigned int)strtoul(comma + 1, &end, 10);
	if (*end || target_speed(t->baud) == B0)
		return host_fail(
			err, -EINVAL,
			"target '%s': '%s' is not a baud rate (115200, 921600, 3000000, ...)", path,
			comma + 1);
	*comma = 0;
	return 0;
}

/* Absolute, so that every working folder leads to the same broker. */
static int absolute(const char *path, struct target *t, struct host_err *err)
{
	char cwd[256] = "";
	int n;

	if (path[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return host_fail(err, -errno, "current folder: %s", strerror(errno));
	n = snprintf(t->path, sizeof(t->path), "%s%s%s", cwd, cwd[0] ? "/" : "", path);
	if (n >= (int)sizeof(t->path))
		return host_fail(err, -ENAMETOOLONG, "target path '%s' is longer than %zu bytes",
				 path, sizeof(t->path) - 1);
	return 0;
}

int target_parse(const char *text, struct target *t, struct host_err *err)
{
	struct target got = { .kind = TARGET_UNIX };
	char path[TARGET_MAX];
	struct stat st;
	bool said = true;
	int rc;

	if (!strncmp(text, "tty:", 4))
		got.kind = TARGET_TTY;
	else if (strncmp(text, "unix:", 5))
		said = false;
	text += said ? strcspn(text, ":") + 1 : 0;
	if (strlen(text) >= sizeof(path) || !text[0])
		return host_fail(err, -EINVAL, "target '%s': expected unix:PATH or tty:PATH[,BAUD]",
				 text);
	strcpy(path, text);
	if (said ? got.kind == TARGET_TTY : stat(path, &st) != 0) {
		rc = parse_baud(&got, path, err);
		if (rc)
			return rc;
	}
	if (!said) {
		if (stat(path, &st))
			return host_fail(err, -ENOENT,
					 "target '%s': %s; give unix:PATH or tty:PATH[,BAUD], or "
					 "start an emulated board with `barebpf up`",
					 path, strerror(errno));
		if (!S_ISSOCK(st.st_mode) && !S_ISCHR(st.st_mode))
			return host_fail(err, -EINVAL,
					 "target '%s' is neither a socket nor a serial device",
					 path);
		got.kind = S_ISSOCK(st.st_mode) ? TARGET_UNIX : TARGET_TTY;
	}
	if (got.kind == TARGET_TTY && !got.baud)
		got.baud = 115200;
	rc = absolute(path, &got, err);
	if (rc)
		return rc;
	if (got.kind == TARGET_TTY)
		snprintf(got.name, sizeof(got.name), "tty:%s,%u", got.path, got.baud);
	else
		snprintf(got.name, sizeof(got.name), "unix:%s", got.path);
	*t = got;
	return 0;
}

/* ---- state ---- */

int state_dir(char *path, size_t room, struct host_err *err)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (xdg && xdg[0] == '/' && !stat(xdg, &st) && st.st_uid == geteuid())
		snprintf(path, room, "%s/barebpf", xdg);
	else
		snprintf(path, room, "/tmp/barebpf-%u", geteuid());
	/* Others may pass through to sockets whose names they know; the broker asks who they are.
	 */
	if (mkdir(path, 0711) && errno != EEXIST)
		return host_fail(err, -errno, "cannot make %s: %s", path, strerror(errno));
	if (lstat(path, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    st.st_mode & (S_IWGRP | S_IWOTH))
		return host_fail(err, -EPERM, "%s is not a folder that only you can write to",
				 path);
	return 0;
}

int broker_paths(const struct target *t, struct broker_paths *p, struct host_err *err)
{
	char dir[128];
	uint32_t name;
	int rc = state_dir(dir, sizeof(dir), err);

	if (rc)
		return rc;
	name = crc32c(0, t->name, strlen(t->name));
	if (snprintf(p->socket, sizeof(p->socket), "%s/broker-%08x.sock", dir, name) >=
	    (int)sizeof(p->socket))
		return host_fail(err, -ENAMETOOLONG, "%s is too long a path for sockets", dir);
	snprintf(p->token, sizeof(p->token), "%s/broker-%08x.token", dir, name);
	snprintf(p->lock, sizeof(p->lock), "%s/broker-%08x.lock", dir, name);
	snprintf(p->log, sizeof(p->log), "%s/broker-%08x.log", dir, name);
	return 0;
}

int broker_token_read(const struct broker_paths *p, uint8_t *token)
{
	int fd = open(p->token, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, token, IPC_TOKEN_LEN);
	close(fd);
	return n == IPC_TOKEN_LEN ? 0 : -EIO;
}

/* ---- starting and stopping the broker ---- */

static void nap_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* An accepted connection keeps the broker from leaving; it is held until this process ends. */
static bool broker_hold(const struct broker_paths *p)
{
	struct ipc_peer peer = { p->socket, NULL };
	struct ipc_req req = { .op = IPC_KEEP };
	struct ipc_rep rep;
	int s = ipc_open(&peer, &req);

	if (s < 0)
		return false;
	if (!ipc_read_all(s, &rep, sizeof(rep), NULL) && !rep.status)
		return true;
	close(s);
	return false;
}

static int broker_spawn(const struct target *t, struct host_err *err)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return host_fail(err, -errno, "cannot start the broker: %s", strerror(errno));
	if (!pid) {
		execl("/proc/self/exe", "barebpf", "--target", t->name, "broker", (char *)NULL);
		_exit(127);
	}
	/* It comes back when the socket is there, or when it has said on stderr why not. */
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return host_fail(err, -errno, "broker: %s", strerror(errno));
	if (status)
		return host_fail(err, -EIO, "the broker of %s did not start", t->name);
	return 0;
}

int broker_attach(const struct target *t, struct host_err *err)
{
	uint8_t token[IPC_TOKEN_LEN];
	struct broker_paths p;
	int rc = broker_paths(t, &p, err);

	for (int round = 0; !rc && round < 50 && !broker_hold(&p); round++) {
		rc = broker_spawn(t, err);
		if (!rc && round)
			nap_ms(20);
	}
	if (rc)
		return rc;
	rc = broker_token_read(&p, token);
	if (rc)
		return host_fail(err, rc, "%s: %s", p.token, strerror(-rc));
	return client_open(p.socket, token);
}

int broker_stop(const struct target *t, struct host_err *err)
{
	struct ipc_req req = { .op = IPC_QUIT };
	struct broker_paths p;
	struct ipc_peer peer;
	int fd, rc = broker_paths(t, &p, err);

	if (rc)
		return rc;
	peer = (struct ipc_peer){ p.socket, NULL };
	rc = ipc_open(&peer, &req);
	if (rc >= 0)
		close(rc);
	fd = open(p.lock, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	for (int i = 0; i < 250; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB)) {
			close(fd);
			return 0;
		}
		nap_ms(20);
	}
	close(fd);
	return host_fail(err, -EBUSY, "the broker of %s does not end", t->name);
}
