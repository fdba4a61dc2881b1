/* SPDX-License-Identifier: BSD-2-Clause */
#include "support_vectors.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/helpers.h"
#include "bpf/interp.h"
#include "bpf/verify.h"
#include "bpf/xlate.h"
#include "include/hal.h"
#include "support_asm.h"

static const struct {
	const char *word;
	enum run_end_why why;
} ends[] = {
	{ "access", RUN_END_BAD_ACCESS }, { "budget", RUN_END_BUDGET },
	{ "loops", RUN_END_LOOPS },	  { "stack", RUN_END_STACK },
	{ "insn", RUN_END_BAD_INSN },	  { "call", RUN_END_BAD_CALL },
};

static uint32_t read_hex(const char *text, uint8_t *out)
{
	uint32_t nr = 0;
	unsigned int byte;
	int used;

	while (nr < VECTOR_MEM_MAX && sscanf(text, " %2x%n", &byte, &used) == 1) {
		out[nr++] = (uint8_t)byte;
		text += used;
	}
	return nr;
}

static bool read_result(const char *text, struct vector *v)
{
	const char *mem = strstr(text, "mem ");
	char word[32];

	if (mem)
		v->mem_after_len = read_hex(mem + 4, v->mem_after);
	if (sscanf(text, " %31s", word) != 1)
		return false;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (!strcmp(word, ends[i].word)) {
			v->why = ends[i].why;
			return true;
		}
	}
	v->ret = strtoull(word, NULL, 16);
	return !strncmp(word, "0x", 2);
}

static bool read_vector(char *line, struct vector *v)
{
	char *colon = strchr(line, ':'), *arrow = strstr(line, "=>"), *mem;
	int nr;

	memset(v, 0, sizeof(*v));
	if (!colon || !arrow || sscanf(line, " %63[^ :]", v->name) != 1)
		return false;
	*colon = *arrow = '\0';
	mem = strstr(line, " mem ");
	if (mem)
		v->mem_len = read_hex(mem + 5, v->mem);
	mem = strstr(line, " pkt ");
	if (mem)
		v->mem_len = read_hex(mem + 5, v->mem);
	v->is_packet = mem;
	nr = asm_text(colon + 1, v->insns, VECTOR_INSNS_MAX);
	v->insn_cnt = nr > 0 ? (uint32_t)nr : 0;
	return nr > 0 && read_result(arrow + 2, v);
}

static bool is_blank(const char *line)
{
	line += strspn(line, " \t\n");
	return !*line || *line == '#';
}

static int read_file(const char *path, void (*fn)(const struct vector *v, void *arg), void *arg)
{
	static char text[65536];
	static struct vector v;
	FILE *f = fopen(path, "r");
	int line_nr = 0, ok = 0;
	size_t len = 0;

	if (!f)
		return -1;
	while (!ok && fgets(text + len, (int)(sizeof(text) - len), f)) {
		line_nr++;
		if (is_blank(text + len))
			continue;
		len += strlen(text + len);
		if (!strstr(text, "=>"))
			continue;
		if (read_vector(text, &v)) {
			fn(&v, arg);
		} else {
			printf("# %s:%d: not a vector\n", path, line_nr);
			ok = -1;
		}
		len = 0;
	}
	fclose(f);
	return ok;
}

int vectors_each(void (*fn)(const struct vector *v, void *arg), void *arg)
{
	static const char dir[] = "tests/conformance";
	struct dirent **names;
	int nr = scandir(dir, &names, NULL, alphasort), read = 0;

	if (nr < 0) {
		printf("# no %s here: run from the top of the repository\n", dir);
		return -1;
	}
	for (int i = 0; i < nr; i++) {
		char path[300];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		if (read >= 0 && strstr(path, ".txt"))
			read = read_file(path, fn, arg) ? -1 : read + 1;
		free(names[i]);
	}
	free(names);
	return read;
}

static int prepare(struct bpf_prog *prog, bool convert)
{
	const char *why;
	int err = xlate_resolve_maps(prog, &why);

	if (!err)
		err = bpf_scan(prog, NULL);
	if (!err && convert)
		err = xlate_finish(prog);
	if (!err)
		err = interp_prepare(prog);
	return err;
}

static struct bpf_prog *prog_new(enum bpf_prog_type type, const struct bpf_insn *insns,
				 uint32_t cnt, struct bpf_map **maps, uint32_t map_cnt,
				 bool convert)
{
	struct bpf_prog *prog = hal_alloc(sizeof(*prog));

	if (!prog)
		return NULL;
	prog->type = type;
	prog->gpl = 1;
	prog->mode = PROG_MODE_FAST;
	prog->maps = maps;
	prog->map_cnt = map_cnt;
	prog->insns = hal_alloc(cnt * sizeof(*insns));
	prog->insn_cnt = cnt;
	if (prog->insns)
		memcpy(prog->insns, insns, cnt * sizeof(*insns));
	if (!prog->insns || prepare(prog, convert)) {
		test_prog_free(prog);
		return NULL;
	}
	return prog;
}

struct bpf_prog *test_prog_new(enum bpf_prog_type type, const struct bpf_insn *insns, uint32_t cnt,
			       bool convert)
{
	return prog_new(type, insns, cnt, NULL, 0, convert);
}

struct bpf_prog *test_prog_asm(enum bpf_prog_type type, const char *text, struct bpf_map **maps,
			       uint32_t map_cnt, bool convert)
{
	static struct bpf_insn insns[VECTOR_INSNS_MAX];
	int nr = asm_text(text, insns, VECTOR_INSNS_MAX);

	return nr > 0 ? prog_new(type, insns, (uint32_t)nr, maps, map_cnt, convert) : NULL;
}

void test_prog_free(struct bpf_prog *prog)
{
	if (!prog)
		return;
	interp_free(prog->interp);
	hal_free(prog->insns);
	hal_free(prog->aux);
	hal_free(prog->subprogs);
	hal_free(prog);
}

struct entry {
	struct bpf_prog *prog;
	enum prog_mode mode;
	void *r1, *r2;
	struct run_ctx *rc;
};

static uint64_t enter(void *arg)
{
	struct entry *e = arg;

	return e->mode == PROG_MODE_CHECKED ? interp_run_checked(e->prog, e->r1, e->r2, e->rc)
					    : interp_run_fast(e->prog, e->r1, e->r2, e->rc);
}

int test_prog_run(struct bpf_prog *prog, enum prog_mode mode, void *r1, void *r2,
		  struct run_ctx *rc, uint64_t *ret)
{
	struct entry e = { prog, mode, r1, r2, rc };
	int err;

	rc->tail_calls = 0;
	rc->depth = 0;
	rc->loops_left = BPF_LOOPS_MAX;
	rc->insns = 0;
	rc->held_nr = 0;
	rc->end = (struct run_end){ 0 };
	err = hal_run_enter(rc, enter, &e, ret);
	if (err)
		helper_release_held(rc);
	return err;
}
