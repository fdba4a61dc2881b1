/* SPDX-License-Identifier: BSD-2-Clause */
/* The YMODEM receiver against lrzsz's sz, over a socket pair. */
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "ymodem_receiver.h"

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void receive_from(int fd)
{
	uint64_t begin = clock_ns();
	uint8_t bytes[700];
	ssize_t n;

	receiver.fd = fd;
	ymodem_start(&y, &ops, begin);
	while (!ymodem_has_ended(&y) && clock_ns() - begin < 30000 * MS) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		if (poll(&p, 1, 50) > 0) {
			n = read(fd, bytes, sizeof(bytes));
			if (n <= 0)
				break;
			ymodem_rx(&y, bytes, (size_t)n, clock_ns());
		}
		ymodem_poll(&y, clock_ns());
	}
}

TEST(lrzsz)
{
	char path[] = "/tmp/ymodemXXXXXX";
	int fds[2], status, fd;
	pid_t pid;

	if (access("/usr/bin/sz", X_OK))
		SKIP("lrzsz is not installed");
	start();
	fd = mkstemp(path);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, file, FILE_MAX), FILE_MAX);
	close(fd);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], 0);
		dup2(fds[1], 1);
		close(fds[0]);
		if (!freopen("/dev/null", "w", stderr))
			_exit(126);
		execl("/usr/bin/sz", "sz", "--ymodem", "--quiet", path, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	receive_from(fds[0]);
	close(fds[0]);
	unlink(path);
	if (!ymodem_has_ended(&y))
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (y.state == YMODEM_FAILED)
		TEST_FAIL("%s", y.why);
	CHECK_EQ(y.state, YMODEM_DONE);
	CHECK_STR(receiver.name, path + 5);
	CHECK_EQ(receiver.got, FILE_MAX);
	CHECK_MEM(received, file, FILE_MAX);
	CHECK(WIFEXITED(status));
	CHECK_EQ(WEXITSTATUS(status), 0);
}
