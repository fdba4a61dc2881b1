/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bundle: libbpf loads the objects as always, but its calls go to a recorder instead of a board.
 * The recorder says yes to all that a bundle may hold. No board is needed; what the verifier thinks
 * of the programs shows when the bundle is replayed (`barebpf load` asks it beforehand).
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "include/hal.h"
#include "wire/bundle.h"
#include "host/object.h"

struct recorded {
	int peer; /* the other end of the placeholder; -1: none, or closed */
	struct bpf_obj_info obj;
};

struct recorder {
	struct bundle_writer writer;
	struct recorded *calls; /* by the number that the writer gave; handles are number + 1 */
	uint32_t nr, room;
};

/* ---- what the loader asks ---- */

static const struct bpf_obj_info *object_of(const struct recorder *r, uint32_t handle)
{
	return handle && handle <= r->nr && r->calls[handle - 1].obj.kind
		       ? &r->calls[handle - 1].obj
		       : NULL;
}

static struct bpf_obj_info new_object(const struct bpf_call *call)
{
	const union bpf_attr *a = &call->attr.bpf;
	struct bpf_obj_info o = { 0 };

	switch (call->cmd) {
	case BPF_MAP_CREATE:
		o = (struct bpf_obj_info){ .kind = 'm',
					   .type = a->map_type,
					   .key_size = a->key_size,
					   .value_size = a->value_size,
					   .max_entries = a->max_entries,
					   .map_flags = a->map_flags };
		break;
	case BPF_PROG_LOAD:
		o.kind = 'p';
		o.type = a->prog_type;
		break;
	case BPF_BTF_LOAD:
		o.kind = 'b';
		break;
	case BPF_LINK_CREATE:
	case BPF_RAW_TRACEPOINT_OPEN:
		o.kind = 'l';
		break;
	}
	return o;
}

/* libbpf looks at maps that it has just made. */
static int64_t get_info(const struct recorder *r, struct bpf_call *call)
{
	union bpf_attr *a = &call->attr.bpf;
	const struct bpf_obj_info *o = object_of(r, a->info.bpf_fd);
	struct bpf_map_info info = { 0 };
	uint32_t n = MIN(a->info.info_len, (uint32_t)sizeof(info));
	void *out;

	if (!o)
		return -EBADF;
	if (o->kind != 'm')
		return -EOPNOTSUPP;
	info.type = o->type;
	info.id = o->handle;
	info.key_size = o->key_size;
	info.value_size = o->value_size;
	info.max_entries = o->max_entries;
	info.map_flags = o->map_flags;
	out = call_out(call, a->info.info, n);
	if (!out)
		return -EFAULT;
	memcpy(out, &info, n);
	a->info.info_len = n;
	return 0;
}

static int64_t add_call(struct recorder *r, const struct wire_buf *msg,
			const struct client_ref *refs, uint32_t refs_nr)
{
	struct bundle_ref *b = calloc(refs_nr + 1, sizeof(*b));
	struct recorded *more;
	uint32_t n = 0;
	int64_t number;

	if (!b)
		return -ENOMEM;
	for (uint32_t i = 0; i < refs_nr; i++)
		if (object_of(r, refs[i].handle))
			b[n++] =
				(struct bundle_ref){ refs[i].buf, refs[i].off, refs[i].handle - 1 };
	number = bundle_add(&r->writer, msg->data, msg->len, b, n);
	free(b);
	if (number < 0)
		return number;
	if (r->nr == r->room) {
		r->room = r->room ? r->room * 2 : 64;
		more = realloc(r->calls, r->room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		r->calls = more;
	}
	r->calls[r->nr++] = (struct recorded){ .peer = -1 };
	return number;
}

/* A placeholder as the broker makes them, for our own libbpf. */
static int64_t give_fd(struct recorder *r, uint32_t number, struct bpf_obj_info *o, int *fd)
{
	struct placeholder p = { .epoch = 1, .serial = number + 1 };
	struct sockaddr_un sa;
	socklen_t len;
	int sv[2];

	o->handle = o->id = number + 1;
	p.epoch = (uint64_t)getpid();
	p.obj = *o;
	len = placeholder_name(&p, &sa);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv))
		return -errno;
	if (bind(sv[1], (struct sockaddr *)&sa, len)) {
		close(sv[0]);
		close(sv[1]);
		return -errno;
	}
	r->calls[number].peer = sv[0];
	r->calls[number].obj = *o;
	*fd = sv[1];
	return o->handle;
}

static int64_t record(struct recorder *r, struct bpf_call *call, const struct wire_buf *msg,
		      const struct client_ref *refs, uint32_t refs_nr, int *fd)
{
	struct bpf_obj_info o = new_object(call);
	int64_t number;

	if (call->cmd == BPF_OBJ_GET_INFO_BY_FD)
		return get_info(r, call);
	if (call->cmd == BPF_OBJ_GET || call->cmd == BOARD_PATH_STAT)
		return -ENOENT;
	number = add_call(r, msg, refs, refs_nr);
	if (number < 0 || !o.kind)
		return MIN(number, (int64_t)0);
	number = give_fd(r, (uint32_t)number, &o, fd);
	call->obj = o;
	return number;
}

static int on_call(void *arg, uint32_t cmd, const struct wire_buf *msg,
		   const struct client_ref *refs, uint32_t refs_nr, struct wire_buf *rep, int *fd)
{
	struct bpf_call call;
	int rc = unmarshal_request(msg->data, msg->len, &call);

	(void)cmd;
	if (rc)
		return rc;
	call.ret = record(arg, &call, msg, refs, refs_nr, fd);
	rc = unmarshal_reply(&call, rep);
	bpf_call_free(&call);
	return rc;
}

/* The loader maps .data and the like; what is written through the mapping is not recorded. */
static int on_mmap(void *arg, const struct placeholder *p)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t bytes = ROUND_UP((uint64_t)p->obj.value_size, 8) * p->obj.max_entries;
	int fd = memfd_create("barebpf-bundle", MFD_CLOEXEC);

	(void)arg;
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)ROUND_UP(bytes, page))) {
		close(fd);
		return -ENOMEM;
	}
	return fd;
}

/* ---- the bundle ---- */

/* What the loader has closed by now was only a probe, or is held by something else. */
static void note_closed(struct recorder *r)
{
	for (uint32_t i = 0; i < r->nr; i++) {
		struct pollfd p = { .fd = r->calls[i].peer };

		if (p.fd >= 0 && poll(&p, 1, 0) == 1 && p.revents & POLLHUP)
			bundle_closed(&r->writer, i);
	}
}

static int write_file(const char *path, const struct wire_buf *bytes)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(bytes->data, 1, bytes->len, f) != bytes->len || fclose(f)) {
		unlink(path);
		return cli_fail("%s: %s", path, strerror(errno));
	}
	return CLI_OK;
}

static int finish(struct cli *cli, struct recorder *r, const char *path)
{
	struct wire_buf bytes = { 0 };
	uint32_t kept = 0;
	struct json j;
	int rc;

	note_closed(r);
	rc = bundle_finish(&r->writer, &bytes, &kept);
	rc = rc ? cli_fail("bundle: %s", strerror(-rc)) : write_file(path, &bytes);
	if (!rc && cli->json) {
		json_open(&j, stdout);
		json_object(&j, NULL);
		json_string(&j, "file", path);
		json_uint(&j, "calls", kept);
		json_uint(&j, "bytes", bytes.len);
		json_end(&j);
		json_close(&j);
	} else if (!rc) {
		printf("%s: %u calls, %zu bytes\n", path, kept, bytes.len);
	}
	wire_buf_free(&bytes);
	return rc;
}

struct options {
	const char *out, *pin, *type;
	uint64_t cpus;
};

static int parse_options(struct options *o, int argc, char **argv)
{
	static const struct option options[] = { { "pin", required_argument, NULL, 'p' },
						 { "type", required_argument, NULL, 'T' },
						 { "cpus", required_argument, NULL, 'c' },
						 { "output", required_argument, NULL, 'o' },
						 { 0 } };
	int opt;

	while ((opt = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
		switch (opt) {
		case 'o':
			o->out = optarg;
			break;
		case 'p':
			o->pin = optarg;
			break;
		case 'T':
			o->type = optarg;
			break;
		case 'c':
			if (cli_number("--cpus", optarg, 1, 256, &o->cpus))
				return CLI_USAGE;
			break;
		default:
			return cli_usage("bundle", "unknown option");
		}
	}
	if (optind == argc || !o->out)
		return cli_usage("bundle", optind == argc ? "which files?" : "-o FILE?");
	if (o->pin && argc - optind > 1)
		return cli_usage("bundle", "--pin takes one file");
	return CLI_OK;
}

int cmd_bundle(struct cli *cli, int argc, char **argv)
{
	struct options o = { .cpus = 4 };
	struct recorder r = { 0 };
	struct client_backend backend = { .call = on_call, .mmap_fd = on_mmap, .arg = &r };
	struct bpf_object **objs;
	int rc = parse_options(&o, argc, argv), n = 0;

	if (rc)
		return rc;
	objs = calloc((size_t)argc, sizeof(struct bpf_object *));
	if (!objs)
		return cli_fail("out of memory");
	/* Per-CPU values are as wide as the board has cores. */
	backend.hello.info.cpus = (uint32_t)o.cpus;
	backend.hello.epoch = (uint64_t)getpid();
	client_set_backend(&backend);
	object_set_verbose(cli->verbose);
	for (int i = optind; !rc && i < argc; i++) {
		rc = object_load(argv[i], o.type, false, &objs[n]);
		if (!rc)
			n++;
	}
	if (!rc && o.pin)
		rc = object_pin(objs[0], o.pin);
	if (!rc)
		rc = finish(cli, &r, o.out);
	while (n)
		bpf_object__close(objs[--n]);
	client_set_backend(NULL);
	bundle_writer_free(&r.writer);
	free(r.calls);
	free(objs);
	return rc;
}
