/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host/broker.h"

/* Without clients and objects the broker leaves, so that the line is free for others. */
#define IDLE_NS (20ull * 1000000000)

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void broker_log(struct broker *b, const char *fmt, ...)
{
	char text[512];
	struct timespec t;
	va_list ap;
	int n;

	(void)b;
	clock_gettime(CLOCK_REALTIME, &t);
	n = snprintf(text, sizeof(text), "%lld.%03ld ", (long long)t.tv_sec, t.tv_nsec / 1000000);
	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	dprintf(2, "%s\n", text);
}

/* ---- sources and buffers ---- */

int source_add(int ep, struct source *s, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = s };

	if (epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev))
		return -errno;
	s->fd = fd;
	s->events = events;
	return 0;
}

void source_want(int ep, struct source *s, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = s };

	if (s->events != events && !epoll_ctl(ep, EPOLL_CTL_MOD, s->fd, &ev))
		s->events = events;
}

void source_close(int ep, struct source *s)
{
	if (s->fd < 0)
		return;
	epoll_ctl(ep, EPOLL_CTL_DEL, s->fd, NULL);
	close(s->fd);
	s->fd = -1;
}

int outbuf_put(struct outbuf *o, const void *data, size_t n)
{
	if (o->at && o->at == o->len)
		o->at = o->len = 0;
	if (o->cap - o->len < n) {
		size_t left = outbuf_left(o), cap = (left + n) * 2;
		uint8_t *d = malloc(cap);

		if (!d)
			return -ENOMEM;
		if (left)
			memcpy(d, o->data + o->at, left);
		free(o->data);
		*o = (struct outbuf){ .data = d, .len = left, .cap = cap };
	}
	if (n)
		memcpy(o->data + o->len, data, n);
	o->len += n;
	return 0;
}

int outbuf_flush(struct outbuf *o, int fd, bool is_socket)
{
	while (outbuf_left(o)) {
		const uint8_t *p = o->data + o->at;
		ssize_t n = is_socket ? send(fd, p, outbuf_left(o), MSG_NOSIGNAL | MSG_DONTWAIT)
				      : write(fd, p, outbuf_left(o));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		o->at += (size_t)n;
	}
	return 0;
}

void outbuf_free(struct outbuf *o)
{
	free(o->data);
	*o = (struct outbuf){ 0 };
}

/* ---- life ---- */

static int lock_and_listen(struct broker *b, struct host_err *err)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	uint8_t token[IPC_TOKEN_LEN];
	int fd, lock = open(b->paths.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (lock < 0)
		return host_fail(err, -errno, "%s: %s", b->paths.lock, strerror(errno));
	if (flock(lock, LOCK_EX | LOCK_NB))
		return -EALREADY;
	if (getrandom(token, sizeof(token), 0) != sizeof(token))
		return host_fail(err, -EIO, "no random numbers: %s", strerror(errno));
	fd = open(b->paths.token, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, token, sizeof(token)) != sizeof(token))
		return host_fail(err, -EIO, "%s: %s", b->paths.token, strerror(errno));
	close(fd);
	memcpy(b->token, token, sizeof(token));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	strcpy(sa.sun_path, b->paths.socket);
	unlink(sa.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa)) || chmod(sa.sun_path, 0666) ||
	    listen(fd, 64))
		return host_fail(err, -EIO, "%s: %s", sa.sun_path, strerror(errno));
	b->listen.ready = client_accept;
	if (source_add(b->ep, &b->listen, fd, EPOLLIN))
		return host_fail(err, -ENOMEM, "epoll: %s", strerror(errno));
	return 0; /* the lock stays open, and locked, until the process ends */
}

static void hups_ready(struct broker *b, struct source *s, uint32_t events)
{
	(void)s, (void)events;
	objects_reap(b);
}

static int broker_init(struct broker *b, const struct target *t, struct host_err *err)
{
	struct rlimit lim;
	int rc;

	*b = (struct broker){ .target = *t, .state = LINE_CLOSED, .next_serial = 1 };
	b->line.fd = b->listen.fd = -1;
	list_init(&b->inflight);
	list_init(&b->arrived);
	list_init(&b->clients);
	list_init(&b->stalled);
	list_init(&b->shadows);
	for (int i = 0; i < OBJECT_BUCKETS; i++) {
		list_init(&b->by_serial[i]);
		list_init(&b->by_handle[i]);
	}
	if (getrandom(&b->hello.epoch, sizeof(b->hello.epoch), 0) != sizeof(b->hello.epoch))
		return host_fail(err, -EIO, "no random numbers: %s", strerror(errno));
	b->hello.epoch |= 1;
	snprintf(b->hello.target, sizeof(b->hello.target), "%s", t->name);
	if (!getrlimit(RLIMIT_NOFILE, &lim)) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
	b->ep = epoll_create1(EPOLL_CLOEXEC);
	b->hup_ep = epoll_create1(EPOLL_CLOEXEC);
	b->hups.ready = hups_ready;
	if (b->ep < 0 || b->hup_ep < 0 || source_add(b->ep, &b->hups, b->hup_ep, EPOLLIN))
		return host_fail(err, -errno, "epoll: %s", strerror(errno));
	rc = broker_paths(t, &b->paths, err);
	return rc ? rc : lock_and_listen(b, err);
}

static bool in_use(const struct broker *b)
{
	return !list_is_empty(&b->clients) || b->objects_nr || b->closing_nr ||
	       !list_is_empty(&b->inflight);
}

/* Milliseconds until something is due, for epoll_wait. */
static int next_wait_ms(struct broker *b, uint64_t now)
{
	uint64_t t = line_next_timer(b);

	if (b->close_due_ns)
		t = MIN(t, b->close_due_ns);
	if (b->idle_since_ns)
		t = MIN(t, b->idle_since_ns + IDLE_NS);
	if (b->progress_due_ns)
		t = MIN(t, b->progress_due_ns);
	if (t == ~0ull)
		return -1;
	return t <= now ? 0 : (int)MIN((t - now) / 1000000 + 1, 60000ull);
}

static void run_timers(struct broker *b)
{
	uint64_t now = now_ns();

	if (b->close_due_ns && now >= b->close_due_ns)
		board_send_closes(b);
	if (b->progress_due_ns && now >= b->progress_due_ns)
		calls_report_progress(b, now);
	line_timers(b, now);
	if (in_use(b))
		b->idle_since_ns = 0;
	else if (!b->idle_since_ns)
		b->idle_since_ns = now;
	else if (now >= b->idle_since_ns + IDLE_NS)
		b->quit = true;
}

static void broker_loop(struct broker *b)
{
	while (!b->quit) {
		struct epoll_event ev;
		int n;

		run_timers(b);
		/* One at a time: a handler may free any other source. */
		n = epoll_wait(b->ep, &ev, 1, next_wait_ms(b, now_ns()));
		if (n == 1) {
			struct source *s = ev.data.ptr;

			s->ready(b, s, ev.events);
		}
	}
}

/* Give back what the board holds for us, if the line still works. */
static void say_goodbye(struct broker *b)
{
	uint64_t until = now_ns() + 1000000000ull;

	objects_drop_all(b);
	board_send_closes(b);
	while (b->state == LINE_UP && !list_is_empty(&b->inflight) && now_ns() < until) {
		struct epoll_event ev;

		line_timers(b, now_ns());
		if (b->state == LINE_UP && epoll_wait(b->ep, &ev, 1, 20) == 1) {
			struct source *s = ev.data.ptr;

			if (s == &b->line)
				s->ready(b, s, ev.events);
			else
				source_want(b->ep, s, 0);
		}
	}
}

/* Standard streams: nothing in, messages into the log. */
static void redirect_output(const struct broker *b)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int log = open(b->paths.log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	dup2(null, 0);
	dup2(null, 1);
	dup2(log >= 0 ? log : null, 2);
	close(null);
	close(log);
}

int broker_main(const struct target *t, bool foreground)
{
	static struct broker b;
	struct host_err err = { "" };
	int rc, ready[2] = { -1, -1 };

	signal(SIGPIPE, SIG_IGN);
	if (!foreground) {
		char c;

		if (pipe2(ready, O_CLOEXEC))
			return 1;
		switch (fork()) {
		case -1:
			return 1;
		case 0:
			setsid();
			close(ready[0]);
			break;
		default:
			close(ready[1]);
			return read(ready[0], &c, 1) == 1 ? c : 1;
		}
	}
	rc = broker_init(&b, t, &err);
	if (rc && rc != -EALREADY)
		dprintf(2, "barebpf: %s\n", err.text);
	if (!foreground) {
		char status = rc && rc != -EALREADY;

		if (!rc)
			redirect_output(&b);
		if (write(ready[1], &status, 1) != 1)
			return 1;
		close(ready[1]);
	}
	if (rc)
		return rc != -EALREADY;
	broker_loop(&b);
	say_goodbye(&b);
	line_close(&b);
	unlink(b.paths.socket);
	unlink(b.paths.token);
	return 0;
}
