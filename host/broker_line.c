/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "include/hal.h"
#include "host/broker.h"

#define NS_PER_S   1000000000ull
#define CONNECT_NS (8 * NS_PER_S)

/* ---- out of the link ----
 *
 * The link calls back from inside link_rx. What it says is only noted there and dealt with after it
 * has returned, so that a reply may lead to new requests or to the end of the link.
 */

struct arrived {
	struct list link;
	enum link_chan chan;
	size_t len;
	uint8_t msg[];
};

static void link_tx(void *arg, const uint8_t *bytes, size_t n)
{
	struct broker *b = arg;

	/* The link repeats what is lost; shortage of memory is no different from noise. */
	if (outbuf_put(&b->line_out, bytes, n))
		broker_log(b, "no memory for %zu bytes to the line", n);
}

static void link_text(void *arg, const uint8_t *bytes, size_t n)
{
	clients_console(arg, bytes, n);
}

static void link_peer(void *arg, uint64_t id)
{
	struct broker *b = arg;

	(void)id;
	b->peer_is_new = true;
}

static void link_down(void *arg)
{
	struct broker *b = arg;

	b->peer_is_gone = true;
}

/* A reply that there was no memory for: nothing that follows would fit its request. */
static void link_lost(void *arg, enum link_chan chan, int err)
{
	struct broker *b = arg;

	broker_log(b, "a message was lost: %s", strerror(-err));
	if (chan == LINK_CHAN_REP)
		b->peer_is_gone = true;
}

static void link_msg(void *arg, enum link_chan chan, const uint8_t *msg, size_t len)
{
	struct broker *b = arg;
	struct arrived *a = malloc(sizeof(*a) + len);

	if (!a) {
		link_lost(b, chan, -ENOMEM);
		return;
	}
	a->chan = chan;
	a->len = len;
	memcpy(a->msg, msg, len);
	list_add_tail(&b->arrived, &a->link);
}

static void arrived_drop(struct broker *b)
{
	struct arrived *a;

	while ((a = list_first(&b->arrived, struct arrived, link))) {
		list_del(&a->link);
		free(a);
	}
}

static void reply_arrived(struct broker *b, const struct arrived *a)
{
	struct board_call *c = list_first(&b->inflight, struct board_call, link);

	if (!c) {
		broker_log(b, "the board sent a reply to no request (%zu bytes)", a->len);
		return;
	}
	list_del(&c->link);
	b->heard_ns = now_ns();
	c->done(b, c->arg, 0, a->msg, a->len);
	free(c);
}

static void arrived_handle(struct broker *b)
{
	struct arrived *a;

	while ((a = list_first(&b->arrived, struct arrived, link))) {
		list_del(&a->link);
		if (a->chan == LINK_CHAN_REP)
			reply_arrived(b, a);
		else if (a->chan == LINK_CHAN_EVENT)
			board_event(b, a->msg, a->len);
		free(a);
	}
}

/* ---- getting acquainted ---- */

static void __printf_like(2, 3) set_why(struct broker *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(b->lost_why, sizeof(b->lost_why), fmt, ap);
	va_end(ap);
}

struct hello_request {
	struct own_call own;
	struct board_info_reply info;
};

static void info_arrived(struct broker *b, void *arg, int status, const uint8_t *rep, size_t len)
{
	struct hello_request *h = arg;
	struct timespec t;

	if (status) {
		free(h);
		return;
	}
	if (own_reply(&h->own, rep, len) || !h->info.cpus) {
		set_why(b,
			"%s: the board's answer to BOARD_INFO is not understood; image and host "
			"tool may be of different versions",
			b->target.name);
		clients_resume(b, -EPROTO);
	} else {
		clock_gettime(CLOCK_BOOTTIME, &t);
		b->hello.info = h->info;
		b->hello.clock_offset_ns = (int64_t)t.tv_sec * (int64_t)NS_PER_S + t.tv_nsec -
					   (int64_t)h->info.ktime_ns;
		b->state = LINE_UP;
		b->trace_followed = false;
		if (clients_want_trace(b))
			board_follow_trace(b, true);
		clients_resume(b, 0);
	}
	free(h);
}

static void ask_info(struct broker *b)
{
	struct hello_request *h = calloc(1, sizeof(*h));
	int rc = -ENOMEM;

	if (h) {
		h->own.attr.board.info.info = (uintptr_t)&h->info;
		h->own.attr.board.info.info_len = sizeof(h->info);
		rc = own_submit(b, BOARD_INFO, &h->own, sizeof(h->own.attr.board.info),
				info_arrived, h);
	}
	if (rc) {
		free(h);
		board_lost(b, "cannot ask the board: %s", strerror(-rc));
	}
}

static void peer_handle(struct broker *b)
{
	if (b->peer_is_gone) {
		b->peer_is_gone = false;
		board_lost(b, "the board on %s has restarted: its objects are gone",
			   b->target.name);
		b->trace_pos = 0;
	}
	if (b->peer_is_new) {
		b->peer_is_new = false;
		ask_info(b);
	}
}

/* ---- open, close, lose ---- */

static int open_unix(struct broker *b)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	strcpy(sa.sun_path, b->target.path);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static int open_tty(struct broker *b)
{
	int fd = open(b->target.path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct termios t;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, TIOCEXCL) || tcgetattr(fd, &t)) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	cfmakeraw(&t);
	t.c_cflag &= ~(tcflag_t)(CSTOPB | CRTSCTS | PARENB);
	t.c_cflag |= CLOCAL | CREAD;
	cfsetspeed(&t, target_speed(b->target.baud));
	if (tcsetattr(fd, TCSANOW, &t)) {
		int rc = -errno;

		close(fd);
		return rc;
	}
	tcflush(fd, TCIOFLUSH);
	return fd;
}

static void line_ready(struct broker *b, struct source *s, uint32_t events)
{
	uint8_t bytes[16384];
	ssize_t n = read(s->fd, bytes, sizeof(bytes));

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		board_lost(b, "the line to %s was closed: the board is off or was unplugged",
			   b->target.name);
		line_close(b);
		return;
	}
	b->heard_ns = now_ns();
	link_rx(b->link, bytes, (size_t)n, b->heard_ns);
	b->link_due_ns = 0;
	peer_handle(b);
	arrived_handle(b);
}

static uint64_t random_u64(void)
{
	uint64_t r;

	while (getrandom(&r, sizeof(r), 0) != sizeof(r))
		;
	return r | 1;
}

int line_open(struct broker *b)
{
	const struct link_ops ops = { .tx = link_tx,
				      .text = link_text,
				      .msg = link_msg,
				      .lost = link_lost,
				      .peer_reset = link_peer,
				      .down = link_down,
				      .arg = b };
	int fd = b->target.kind == TARGET_UNIX ? open_unix(b) : open_tty(b);

	if (fd < 0) {
		set_why(b,
			"%s: %s; is the board there? "
			"`barebpf up` starts an emulated one",
			b->target.name, strerror(-fd));
		return fd;
	}
	b->link = link_new(LINK_HOST, random_u64(), &ops);
	if (!b->link || source_add(b->ep, &b->line, fd, EPOLLIN)) {
		link_free(b->link);
		b->link = NULL;
		close(fd);
		set_why(b, "out of memory");
		return -ENOMEM;
	}
	b->line.ready = line_ready;
	b->state = LINE_CONNECTING;
	b->peer_is_new = b->peer_is_gone = false;
	b->connect_until_ns = now_ns() + CONNECT_NS;
	if (b->target.kind == TARGET_TTY)
		link_set_rate(b->link, b->target.baud / 10);
	link_connect(b->link, now_ns());
	b->link_due_ns = 0;
	return 0;
}

void line_close(struct broker *b)
{
	if (b->state == LINE_CLOSED)
		return;
	b->state = LINE_CLOSED;
	arrived_drop(b);
	source_close(b->ep, &b->line);
	link_free(b->link);
	b->link = NULL;
	outbuf_free(&b->line_out);
	clients_resume(b, -EIO);
}

void board_lost(struct broker *b, const char *fmt, ...)
{
	struct board_call *c;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(b->lost_why, sizeof(b->lost_why), fmt, ap);
	va_end(ap);
	broker_log(b, "%s", b->lost_why);
	b->hello.epoch = random_u64();
	if (b->state == LINE_UP)
		b->state = LINE_CONNECTING;
	b->connect_until_ns = now_ns() + CONNECT_NS;
	arrived_drop(b);
	objects_lost(b);
	memo_flush(b);
	while ((c = list_first(&b->inflight, struct board_call, link))) {
		list_del(&c->link);
		c->done(b, c->arg, -EIO, NULL, 0);
		free(c);
	}
	clients_notice(b, b->lost_why);
}

void line_send_text(struct broker *b, const uint8_t *bytes, size_t n)
{
	if (b->state == LINE_CLOSED)
		return;
	if (outbuf_put(&b->line_out, bytes, n))
		broker_log(b, "no memory for %zu bytes to the line", n);
}

/* ---- time ---- */

static void line_flush(struct broker *b)
{
	int rc = outbuf_flush(&b->line_out, b->line.fd, b->target.kind == TARGET_UNIX);

	if (rc) {
		board_lost(b, "the line to %s broke: %s", b->target.name, strerror(-rc));
		line_close(b);
		return;
	}
	source_want(b->ep, &b->line, EPOLLIN | (outbuf_left(&b->line_out) ? EPOLLOUT : 0u));
}

static uint64_t silence_limit(const struct broker *b)
{
	const struct board_call *c = list_first(&b->inflight, struct board_call, link);

	return c ? b->heard_ns + c->quiet_ns : ~0ull;
}

static bool other_version(const struct broker *b)
{
	struct link_stats s;

	link_stats_get(b->link, &s);
	return s.peer_version && s.peer_version != LINK_VERSION;
}

void line_timers(struct broker *b, uint64_t now)
{
	if (b->state == LINE_CLOSED)
		return;
	if (now >= b->link_due_ns)
		b->link_due_ns = link_poll(b->link, now);
	if (b->state == LINE_CONNECTING && now >= b->connect_until_ns) {
		if (other_version(b))
			board_lost(b,
				   "the board on %s speaks another version of the protocol: "
				   "image and host tool do not belong together",
				   b->target.name);
		else
			board_lost(b,
				   "no board answers on %s; `barebpf console` shows what the line "
				   "says",
				   b->target.name);
		line_close(b);
	} else if (now >= silence_limit(b)) {
		board_lost(b,
			   "the board on %s has stopped answering; `barebpf reset` or a power "
			   "cycle brings it back",
			   b->target.name);
		line_close(b);
	} else {
		line_flush(b);
	}
}

uint64_t line_next_timer(const struct broker *b)
{
	uint64_t t = b->link_due_ns;

	if (b->state == LINE_CLOSED)
		return ~0ull;
	t = MIN(t, silence_limit(b));
	if (b->state == LINE_CONNECTING)
		t = MIN(t, b->connect_until_ns);
	return t;
}
