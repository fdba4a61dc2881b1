/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/common/placeholder.h"

#define PREFIX	  "barebpf/"
#define NAME_HEAD offsetof(struct sockaddr_un, sun_path)

socklen_t placeholder_name(const struct placeholder *p, struct sockaddr_un *sa)
{
	const struct bpf_obj_info *o = &p->obj;
	int n;

	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	n = snprintf(sa->sun_path + 1, sizeof(sa->sun_path) - 1,
		     PREFIX "%016llx/%x/%x/%c/%x/%x/%x/%x/%x/%x", (unsigned long long)p->epoch,
		     p->serial, o->handle, o->kind, o->type, o->id, o->key_size, o->value_size,
		     o->max_entries, o->map_flags);
	return (socklen_t)(NAME_HEAD + 1 + (size_t)n);
}

int placeholder_read(int fd, struct placeholder *p)
{
	struct sockaddr_un sa;
	socklen_t len = sizeof(sa);
	char name[sizeof(sa.sun_path) + 1];
	struct placeholder got = { 0 };
	struct bpf_obj_info *o = &got.obj;
	unsigned long long epoch;
	char kind;

	if (getsockname(fd, (struct sockaddr *)&sa, &len))
		return errno == EBADF ? -EBADF : -EINVAL;
	if (sa.sun_family != AF_UNIX || len <= NAME_HEAD + 1 || len > sizeof(sa) || sa.sun_path[0])
		return -EINVAL;
	memcpy(name, sa.sun_path + 1, len - NAME_HEAD - 1);
	name[len - NAME_HEAD - 1] = 0;
	if (sscanf(name, PREFIX "%16llx/%x/%x/%c/%x/%x/%x/%x/%x/%x", &epoch, &got.serial,
		   &o->handle, &kind, &o->type, &o->id, &o->key_size, &o->value_size,
		   &o->max_entries, &o->map_flags) != 10)
		return -EINVAL;
	got.epoch = epoch;
	o->kind = (uint8_t)kind;
	*p = got;
	return 0;
}
