/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/support_client.h"

#include <stdio.h>
#include <string.h>

#include "include/err.h"

uint8_t client_mem[CLIENT_MEM_BYTES] __aligned(4096);
struct client client;

static const struct bpf_obj_info objs[] = {
	{ .handle = FD_HASH, 'm', .type = BPF_MAP_TYPE_HASH, 0, 4, 12, 100, 0 },
	{ .handle = FD_PERCPU, 'm', .type = BPF_MAP_TYPE_PERCPU_ARRAY, 0, 4, 12, 5, 0 },
	{ .handle = FD_PROGS, 'm', .type = BPF_MAP_TYPE_PROG_ARRAY, 0, 4, 4, 8, 0 },
	{ .handle = FD_LPM, 'm', .type = BPF_MAP_TYPE_LPM_TRIE, 0, 8, 4, 10, 0 },
	{ .handle = FD_DEVMAP, 'm', .type = BPF_MAP_TYPE_DEVMAP, 0, 4, 8, 4, 0 },
	{ .handle = FD_QUEUE, 'm', .type = BPF_MAP_TYPE_QUEUE, 0, 0, 16, 4, 0 },
	{ .handle = FD_BLOOM, 'm', .type = BPF_MAP_TYPE_BLOOM_FILTER, 0, 0, 8, 4, 0 },
	{ .handle = FD_STORAGE, 'm', .type = BPF_MAP_TYPE_SK_STORAGE, 0, 4, 8, 0, 0 },
	{ .handle = FD_PROG, 'p', .type = BPF_PROG_TYPE_XDP, 0, 0, 0, 0, 0 },
	{ .handle = FD_BTF, 'b' },
	{ .handle = FD_LINK, 'l', .type = BPF_LINK_TYPE_CGROUP },
};

static bool mem_has(uint64_t addr, size_t n)
{
	uint64_t off = addr - (uintptr_t)client_mem;

	return off <= sizeof(client_mem) && n <= sizeof(client_mem) - off;
}

static int peek(void *arg, void *dst, uint64_t addr, size_t n)
{
	(void)arg;
	if (!mem_has(addr, n))
		return -EFAULT;
	memcpy(dst, (void *)(uintptr_t)addr, n);
	return 0;
}

static int poke(void *arg, uint64_t addr, const void *src, size_t n)
{
	uint64_t off = addr - (uintptr_t)client_mem;

	(void)arg;
	if (!mem_has(addr, n) || (off < client.readonly_to && off + n > client.readonly_from))
		return -EFAULT;
	memcpy((void *)(uintptr_t)addr, src, n);
	client.pokes++;
	return 0;
}

static int fd_info(void *arg, int fd, struct bpf_obj_info *info)
{
	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(objs); i++) {
		if ((int)objs[i].handle == fd) {
			*info = objs[i];
			info->handle = HANDLE(fd);
			return 0;
		}
	}
	return fd == FD_FILE ? -EINVAL : -EBADF;
}

static int abs_path(void *arg, int dirfd, char *path, size_t room)
{
	char text[300];

	(void)arg;
	snprintf(client.cwd, sizeof(client.cwd), "%d", dirfd);
	if (dirfd == 99)
		return -EBADF;
	snprintf(text, sizeof(text), "/cwd/%.200s", path);
	snprintf(path, room, "%s", text);
	return 0;
}

static void handle_ref(void *arg, int buf, uint32_t off, uint32_t handle)
{
	(void)arg;
	client.refs++;
	client.last_ref.buf = buf;
	client.last_ref.off = off;
	client.last_ref.handle = handle;
}

const struct marshal_io client_io = { .peek = peek,
				      .poke = poke,
				      .fd_info = fd_info,
				      .abs_path = abs_path,
				      .handle_ref = handle_ref,
				      .cpus = 4 };

void client_start(void)
{
	memset(client_mem, 0, sizeof(client_mem));
	memset(&client, 0, sizeof(client));
}

void client_finish(void)
{
	wire_buf_free(&client.request);
	wire_buf_free(&client.reply);
}

uint64_t client_put(const void *data, size_t n)
{
	uint8_t *p = client_mem + client.mem_used;

	client.mem_used += ROUND_UP(n, 8) + 8;
	if (data)
		memcpy(p, data, n);
	else
		memset(p, 0xee, n);
	return (uintptr_t)p;
}

int client_send_attr(uint32_t cmd, uint64_t attr, uint32_t size, struct bpf_call *call)
{
	int err;

	wire_buf_free(&client.request);
	err = marshal_request(&client.mc, cmd, attr, size, &client_io, &client.request);
	if (err)
		return err;
	return unmarshal_request(client.request.data, client.request.len, call);
}

int client_send_bpf(uint32_t cmd, const union bpf_attr *attr, uint32_t size, struct bpf_call *call)
{
	client.attr_at = client_put(attr, sizeof(*attr));
	return client_send_attr(cmd, client.attr_at, size, call);
}

int client_answer(struct bpf_call *call, int64_t *ret)
{
	int err;

	wire_buf_free(&client.reply);
	err = unmarshal_reply(call, &client.reply);
	bpf_call_free(call);
	if (err)
		return err;
	return marshal_reply(&client.mc, client.reply.data, client.reply.len, &client_io, ret,
			     &client.obj);
}

const union bpf_attr *client_attr(void)
{
	return (const void *)(uintptr_t)client.attr_at;
}
