/* SPDX-License-Identifier: BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wire/frame.h"
#include "host/qemu.h"
#include "host/qemu_args.h"

static void nap_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* ---- state ---- */

static int read_int(const char *dir, const char *name, int *value)
{
	char path[256];
	FILE *f;
	int n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f)
		return -errno;
	n = fscanf(f, "%d", value);
	fclose(f);
	return n == 1 ? 0 : -EIO;
}

static int write_int(const char *dir, const char *name, int value)
{
	char path[256], tmp[256];
	FILE *f;

	/* Readers see all of it or nothing. */
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(tmp, sizeof(tmp), "%s/%s.new", dir, name);
	f = fopen(tmp, "w");
	if (!f)
		return -errno;
	fprintf(f, "%d\n", value);
	if (fclose(f) || rename(tmp, path))
		return -errno;
	return 0;
}

/* A process number may have been given out again. */
static bool is_our_qemu(pid_t pid, const char *dir)
{
	char path[64], cmd[8192], want[sizeof(((struct qemu_board *)0)->dir) + 16];
	ssize_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, cmd, sizeof(cmd) - 1);
	close(fd);
	snprintf(want, sizeof(want), "%s/serial.sock", dir);
	return n > 0 && memmem(cmd, (size_t)n, want, strlen(want));
}

void qemu_refresh(struct qemu_board *b)
{
	int pid;

	b->status = -1;
	b->pid = 0;
	if (!read_int(b->dir, "exit", &b->status))
		return;
	if (!read_int(b->dir, "pid", &pid) && is_our_qemu(pid, b->dir))
		b->pid = pid;
}

static int board_of(const char *state, const char *name, struct qemu_board *b)
{
	*b = (struct qemu_board){ .status = -1 };
	/* The paths of its sockets must fit into socket addresses. */
	if (snprintf(b->dir, sizeof(b->dir), "%s/board-%s", state, name) >= 90 ||
	    snprintf(b->name, sizeof(b->name), "%s", name) >= (int)sizeof(b->name))
		return -ENAMETOOLONG;
	snprintf(b->target, sizeof(b->target), "unix:%.100s/serial.sock", b->dir);
	return 0;
}

int qemu_list(struct qemu_board **boards, unsigned int *nr, struct host_err *err)
{
	struct qemu_board *list = NULL;
	unsigned int n = 0;
	struct dirent *e;
	char state[128];
	int rc = state_dir(state, sizeof(state), err);
	DIR *d = rc ? NULL : opendir(state);

	if (rc)
		return rc;
	while (d && (e = readdir(d))) {
		struct qemu_board b, *more;

		if (strncmp(e->d_name, "board-", 6) || board_of(state, e->d_name + 6, &b))
			continue;
		more = realloc(list, (n + 1) * sizeof(*list));
		if (!more)
			break;
		list = more;
		qemu_refresh(&b);
		list[n++] = b;
	}
	if (d)
		closedir(d);
	*boards = list;
	*nr = n;
	return 0;
}

int qemu_only_target(char *target, size_t room, struct host_err *err)
{
	struct qemu_board *list;
	unsigned int nr, up = 0;
	char names[128] = "";
	int rc = qemu_list(&list, &nr, err);

	if (rc)
		return rc;
	for (unsigned int i = 0; i < nr; i++) {
		if (!list[i].pid)
			continue;
		if (!up++)
			snprintf(target, room, "%s", list[i].target);
		if (strlen(names) + strlen(list[i].name) + 2 < sizeof(names))
			strcat(strcat(names, " "), list[i].name);
	}
	free(list);
	if (!up)
		return host_fail(
			err, -ENOENT,
			"no board is given and none is up: use --target or BAREBPF_TARGET, "
			"or start an emulated one with `barebpf up`");
	if (up > 1)
		return host_fail(err, -EEXIST, "%u boards are up (%s ): say which with --target",
				 up, names);
	return 0;
}

int qemu_find(const char *target, struct qemu_board *board)
{
	struct host_err err;
	struct qemu_board *list;
	unsigned int nr;
	int rc = qemu_list(&list, &nr, &err);

	if (rc)
		return rc;
	rc = -ENOENT;
	for (unsigned int i = 0; i < nr && rc; i++) {
		if (strcmp(list[i].target, target) && strcmp(list[i].name, target))
			continue;
		*board = list[i];
		rc = 0;
	}
	free(list);
	return rc;
}

void qemu_forget(const struct qemu_board *b)
{
	struct dirent *e;
	DIR *d = opendir(b->dir);

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(b->dir);
}

/* ---- start ---- */

/* The keeper: QEMU's parent, so that someone learns its exit status. */
static void keep(struct qemu_board *b, char *const *argv, int ready)
{
	char path[256];
	int fd, status;
	pid_t pid;

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	pid = fork();
	if (!pid) {
		snprintf(path, sizeof(path), "%s/qemu.log", b->dir);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
		dup2(fd, 1);
		dup2(fd, 2);
		execvp(argv[0], argv);
		dprintf(2, "%s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || write_int(b->dir, "pid", pid))
		_exit(1);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(fd, 0);
	dup2(fd, 1);
	dup2(fd, 2);
	close(ready); /* the starter goes on */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	write_int(b->dir, "exit", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	_exit(0);
}

static int prepare_dir(const struct qemu_options *o, struct qemu_board *b, struct host_err *err)
{
	char state[128];
	int rc = state_dir(state, sizeof(state), err);

	if (!rc)
		rc = board_of(state, o->name ? o->name : o->board, b);
	if (rc)
		return rc == -ENAMETOOLONG ? host_fail(err, rc, "the board's name is too long")
					   : rc;
	qemu_refresh(b);
	if (b->pid)
		return host_fail(err, -EEXIST,
				 "board '%s' is up already (%s); `barebpf down` ends it, --name "
				 "starts another",
				 b->name, b->target);
	qemu_forget(b);
	if (mkdir(b->dir, 0700))
		return host_fail(err, -errno, "%s: %s", b->dir, strerror(errno));
	return 0;
}

static void note_command(const struct qemu_board *b, char *const *argv)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/command", b->dir);
	f = fopen(path, "w");
	if (!f)
		return;
	for (int i = 0; argv[i]; i++)
		fprintf(f, "%s%s", i ? " " : "", argv[i]);
	fputc('\n', f);
	fclose(f);
}

int qemu_start(const struct qemu_options *o, struct qemu_board *b, struct host_err *err)
{
	int ready[2], rc = prepare_dir(o, b, err);
	char **argv = NULL;
	pid_t pid;
	char c;

	if (rc)
		return rc;
	rc = qemu_args(o, b, &argv, err);
	if (rc) {
		qemu_forget(b);
		return rc;
	}
	note_command(b, argv);
	if (pipe2(ready, O_CLOEXEC))
		return host_fail(err, -errno, "pipe: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (!pid) {
		close(ready[0]);
		if (fork())
			_exit(0);
		keep(b, argv, ready[1]);
	}
	close(ready[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	while (read(ready[0], &c, 1) < 0 && errno == EINTR)
		;
	close(ready[0]);
	qemu_args_free(argv);
	return pid < 0 ? host_fail(err, -EAGAIN, "fork: %s", strerror(errno)) : 0;
}

/* ---- wait and end ---- */

int qemu_wait(struct qemu_board *b, unsigned int timeout_ms)
{
	for (unsigned int ms = 0; ms <= timeout_ms; ms += 10) {
		qemu_refresh(b);
		if (!b->pid && (b->status >= 0 || ms > 3000))
			return 0;
		nap_ms(10);
	}
	return -ETIMEDOUT;
}

static bool log_has_frame(const struct qemu_board *b)
{
	const uint8_t start[2] = { 0, FRAME_MARK };
	char path[256];
	uint8_t bytes[65536];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/console.log", b->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	return n > 0 && memmem(bytes, (size_t)n, start, sizeof(start));
}

int qemu_wait_frame(struct qemu_board *b, unsigned int timeout_ms)
{
	for (unsigned int ms = 0; ms <= timeout_ms; ms += 10) {
		if (log_has_frame(b))
			return 0;
		qemu_refresh(b);
		if (b->status >= 0)
			return -ESRCH;
		nap_ms(10);
	}
	return -ETIMEDOUT;
}

void qemu_kill(struct qemu_board *b)
{
	qemu_refresh(b);
	if (!b->pid)
		return;
	kill(b->pid, SIGTERM);
	if (!qemu_wait(b, 3000))
		return;
	kill(b->pid, SIGKILL);
	if (qemu_wait(b, 3000))
		fprintf(stderr, "barebpf: process %d does not end\n", b->pid);
}
