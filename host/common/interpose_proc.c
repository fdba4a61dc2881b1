/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process asks about itself and its rights. */
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/common/client.h"
#include "host/common/interpose.h"

/* ---- what kind of object is behind an fd ---- */

static const char *link_of(const char *path)
{
	struct placeholder p;
	int fd;

	if (!client_is_active() || !path)
		return NULL;
	fd = board_proc_fd(path, "fd");
	return fd >= 0 && !placeholder_read(fd, &p) ? board_kind_link(p.obj.kind) : NULL;
}

static ssize_t give_link(const char *text, char *buf, size_t room)
{
	size_t n = strlen(text) < room ? strlen(text) : room;

	memcpy(buf, text, n);
	return (ssize_t)n;
}

INTERPOSE ssize_t readlink(const char *path, char *buf, size_t room)
{
	const char *link = link_of(path);

	return link ? give_link(link, buf, room) : REAL(readlink)(path, buf, room);
}

INTERPOSE ssize_t readlinkat(int dir, const char *path, char *buf, size_t room)
{
	const char *link = link_of(path);

	return link ? give_link(link, buf, room) : REAL(readlinkat)(dir, path, buf, room);
}

/* What readlink becomes when a program is built with _FORTIFY_SOURCE. */
ssize_t __readlink_chk(const char *path, char *buf, size_t room, size_t size);

INTERPOSE ssize_t __readlink_chk(const char *path, char *buf, size_t room, size_t size)
{
	const char *link = link_of(path);

	return link ? give_link(link, buf, room) : REAL(__readlink_chk)(path, buf, room, size);
}

/* ---- CPUs ---- */

/* Programs that do not read the possible CPUs size per-CPU buffers by this. */
INTERPOSE long sysconf(int name)
{
	struct ipc_hello hello;

	if (name == _SC_NPROCESSORS_CONF && client_is_active() && !client_hello(&hello))
		return hello.info.cpus;
	return REAL(sysconf)(name);
}

/* ---- rights ----
 *
 * On the board everyone may do everything. Tools that check first whether they are root enough
 * (bpftool feature probe, and anything that raises its memlock limit) are told that they are. A
 * capability that is only pretended is taken out again before the kernel sees it.
 */

#define PRETENDED_LOW  (1u << CAP_NET_ADMIN | 1u << CAP_SYS_ADMIN)
#define PRETENDED_HIGH (1u << (CAP_PERFMON - 32) | 1u << (CAP_BPF - 32))

/* libcap declares these; the kernel's header gives the layout. */
int capget(cap_user_header_t header, cap_user_data_t data);
int capset(cap_user_header_t header, const cap_user_data_t data);

static bool is_own(const struct __user_cap_header_struct *h)
{
	return h->version == _LINUX_CAPABILITY_VERSION_3 && (!h->pid || h->pid == getpid());
}

INTERPOSE int capget(cap_user_header_t header, cap_user_data_t data)
{
	int rc = REAL(capget)(header, data);

	if (rc || !data || !client_is_active() || !is_own(header))
		return rc;
	data[0].effective |= PRETENDED_LOW;
	data[0].permitted |= PRETENDED_LOW;
	data[1].effective |= PRETENDED_HIGH;
	data[1].permitted |= PRETENDED_HIGH;
	return 0;
}

INTERPOSE int capset(cap_user_header_t header, const cap_user_data_t data)
{
	struct __user_cap_data_struct held[2], want[2];
	const uint32_t pretended[2] = { PRETENDED_LOW, PRETENDED_HIGH };

	if (!client_is_active() || !data || !is_own(header) || REAL(capget)(header, held))
		return REAL(capset)(header, data);
	memcpy(want, data, sizeof(want));
	for (int i = 0; i < 2; i++) {
		uint32_t not_held = pretended[i] & ~held[i].permitted;

		want[i].permitted &= ~not_held;
		want[i].effective &= ~not_held;
	}
	return REAL(capset)(header, want);
}

static int raise_limit(int rc, __rlimit_resource_t what)
{
	return rc && errno == EPERM && what == RLIMIT_MEMLOCK && client_is_active() ? 0 : rc;
}

INTERPOSE int setrlimit(__rlimit_resource_t what, const struct rlimit *limit)
{
	return raise_limit(REAL(setrlimit)(what, limit), what);
}

INTERPOSE int setrlimit64(__rlimit_resource_t what, const struct rlimit64 *limit)
{
	return raise_limit(REAL(setrlimit64)(what, limit), what);
}
