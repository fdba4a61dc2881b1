/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads programs of Linux's selftest objects and says what came of it. Each line of the standard
 * input is a test, the output a line for each:
 *
 *   in   OBJECT PROGRAM FLAGS RUN AUX[,AUX...]     FLAGS hex (BPF_F_*), RUN 1: run it, AUX "-" for
 * none out  OBJECT PROGRAM accept|reject ERRNO RETVAL PROCESSED
 *
 * RETVAL "-" where nothing ran or the run failed. With LOG_DIR set, a file per program holds its
 * log. Where the board is: in this process (make linux-tests' quick form) or, without INPROC,
 * wherever bpf(2) goes.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef INPROC
#include "inproc.h"
#endif

#define LOG_BYTES (1u << 20)

struct request {
	char object[256], program[128], aux[1024];
	unsigned int flags;
	int run;
};

static char log_buf[LOG_BYTES];

static int silent(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (!getenv("VERBOSE") || level == LIBBPF_DEBUG)
		return 0;
	return vfprintf(stderr, fmt, ap);
}

static bool listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
		if (!strncmp(p, name, n) && (p[n] == ',' || !p[n]))
			return true;
	return false;
}

/* Maps that no loaded program uses are not made: some have types that only other tests need. */
static void choose(struct bpf_object *obj, const struct request *r)
{
	struct bpf_program *p;
	struct bpf_map *m;

	bpf_object__for_each_program(p, obj)
	{
		bool main = !strcmp(bpf_program__name(p), r->program);

		/* libbpf before 1.3 does not know tc/ingress and tc/egress */
		if (bpf_program__type(p) == BPF_PROG_TYPE_UNSPEC &&
		    !strncmp(bpf_program__section_name(p), "tc", 2))
			bpf_program__set_type(p, BPF_PROG_TYPE_SCHED_CLS);
		bpf_program__set_autoload(p, main || listed(r->aux, bpf_program__name(p)));
		if (main) {
			bpf_program__set_flags(p, r->flags | BPF_F_TEST_RND_HI32);
			bpf_program__set_log_buf(p, log_buf, LOG_BYTES);
			bpf_program__set_log_level(
				p, getenv("LOG_LEVEL") ? (unsigned int)atoi(getenv("LOG_LEVEL"))
						       : 1 | 4);
		}
	}
	bpf_object__for_each_map(m, obj)
	{
		unsigned int t = bpf_map__type(m);

		if (t == BPF_MAP_TYPE_SOCKMAP || t == BPF_MAP_TYPE_SOCKHASH ||
		    t == BPF_MAP_TYPE_XSKMAP || t == BPF_MAP_TYPE_SK_STORAGE ||
		    t == BPF_MAP_TYPE_CGROUP_STORAGE || t == BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE ||
		    t == BPF_MAP_TYPE_REUSEPORT_SOCKARRAY || t == BPF_MAP_TYPE_STACK_TRACE ||
		    t == BPF_MAP_TYPE_ARENA || t == BPF_MAP_TYPE_USER_RINGBUF ||
		    t == BPF_MAP_TYPE_STRUCT_OPS || t == BPF_MAP_TYPE_DEVMAP ||
		    t == BPF_MAP_TYPE_CPUMAP)
			bpf_map__set_autocreate(m, false);
	}
}

/* The value that array tests expect under key 0. */
static void preset(struct bpf_object *obj)
{
	static const char *const names[] = { "map_array_ro", "map_array_48b" };
	struct {
		int index;
		int foo[11];
	} v = { .index = 28 };
	unsigned int key = 0;

	v.foo[6] = (int)0xabcdef12;
	for (size_t i = 0; i < 2; i++) {
		struct bpf_map *m = bpf_object__find_map_by_name(obj, names[i]);

		if (m && bpf_map__fd(m) >= 0)
			bpf_map_update_elem(bpf_map__fd(m), &key, &v, 0);
	}
}

static bool run(struct bpf_program *p, unsigned int *retval)
{
	unsigned char in[64] = { 0 }, out[256];
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = in, .data_size_in = sizeof(in),
		    .data_out = out, .data_size_out = sizeof(out), .repeat = 1);

	if (bpf_program__type(p) == BPF_PROG_TYPE_SYSCALL ||
	    bpf_program__type(p) == BPF_PROG_TYPE_RAW_TRACEPOINT)
		o.data_size_in = o.data_size_out = 0, o.data_in = o.data_out = NULL, o.repeat = 0;
	if (bpf_prog_test_run_opts(bpf_program__fd(p), &o))
		return false;
	*retval = o.retval;
	return true;
}

static void save_log(const struct request *r)
{
	char path[1024];
	const char *base = strrchr(r->object, '/');
	FILE *f;

	if (!getenv("LOG_DIR"))
		return;
	snprintf(path, sizeof(path), "%s/%s.%s.log", getenv("LOG_DIR"), base ? base + 1 : r->object,
		 r->program);
	f = fopen(path, "w");
	if (!f)
		return;
	fputs(log_buf, f);
	fclose(f);
}

static unsigned int processed(void)
{
	const char *p = NULL, *q = log_buf;
	unsigned int n = 0;

	while ((q = strstr(q, "processed ")))
		p = q++;
	return p && sscanf(p, "processed %u", &n) == 1 ? n : 0;
}

static void one(const struct request *r)
{
	struct bpf_object *obj = bpf_object__open_file(r->object, NULL);
	struct bpf_program *p = obj ? bpf_object__find_program_by_name(obj, r->program) : NULL;
	unsigned int retval = 0;
	bool ran = false;
	int err;

	log_buf[0] = 0;
	if (!p) {
		printf("%s %s missing 0 - 0\n", r->object, r->program);
		return;
	}
	choose(obj, r);
	err = bpf_object__load(obj);
	if (!err) {
		preset(obj);
		if (r->run)
			ran = run(p, &retval);
	}
	save_log(r);
	printf("%s %s %s %d ", r->object, r->program, err ? "reject" : "accept", -err);
	if (ran)
		printf("%u ", retval);
	else
		printf("- ");
	printf("%u\n", processed());
	bpf_object__close(obj);
}

int main(void)
{
	char line[2048];
	struct request r;

	libbpf_set_print(silent);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		pid_t child;
		int st;

		if (sscanf(line, "%255s %127s %x %d %1023s", r.object, r.program, &r.flags, &r.run,
			   r.aux) != 5)
			continue;
		/* A process of its own: a crash is one test's. */
		child = fork();
		if (child) {
			waitpid(child, &st, 0);
			if (!WIFEXITED(st) || WEXITSTATUS(st))
				printf("%s %s crash %d - 0\n", r.object, r.program, st);
			continue;
		}
#ifdef INPROC
		alarm(60);
		if (inproc_start())
			_exit(1);
#endif
		one(&r);
		fflush(stdout);
		_exit(0);
	}
	return 0;
}
