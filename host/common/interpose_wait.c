/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ring buffer's placeholder is readable while a byte from the broker lies in it. Waiting for
 * descriptors first takes back the bytes of rings that have been emptied, or the wait would return
 * at once for ever.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "host/common/interpose.h"

static bool lost(void)
{
	int rc = mappings_before_wait();

	if (!rc)
		return false;
	errno = -rc;
	return true;
}

INTERPOSE int epoll_wait(int ep, struct epoll_event *ev, int max, int timeout_ms)
{
	return lost() ? -1 : REAL(epoll_wait)(ep, ev, max, timeout_ms);
}

INTERPOSE int epoll_pwait(int ep, struct epoll_event *ev, int max, int timeout_ms,
			  const sigset_t *mask)
{
	return lost() ? -1 : REAL(epoll_pwait)(ep, ev, max, timeout_ms, mask);
}

INTERPOSE int epoll_pwait2(int ep, struct epoll_event *ev, int max, const struct timespec *timeout,
			   const sigset_t *mask)
{
	return lost() ? -1 : REAL(epoll_pwait2)(ep, ev, max, timeout, mask);
}

INTERPOSE int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return lost() ? -1 : REAL(poll)(fds, n, timeout_ms);
}

INTERPOSE int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		    const sigset_t *mask)
{
	return lost() ? -1 : REAL(ppoll)(fds, n, timeout, mask);
}

/* What poll and ppoll become when a program is built with _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask,
		size_t room);

INTERPOSE int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room)
{
	return lost() ? -1 : REAL(__poll_chk)(fds, n, timeout_ms, room);
}

INTERPOSE int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
			  const sigset_t *mask, size_t room)
{
	return lost() ? -1 : REAL(__ppoll_chk)(fds, n, timeout, mask, room);
}

INTERPOSE int select(int n, fd_set *r, fd_set *w, fd_set *e, struct timeval *timeout)
{
	return lost() ? -1 : REAL(select)(n, r, w, e, timeout);
}

INTERPOSE int pselect(int n, fd_set *r, fd_set *w, fd_set *e, const struct timespec *timeout,
		      const sigset_t *mask)
{
	return lost() ? -1 : REAL(pselect)(n, r, w, e, timeout, mask);
}
