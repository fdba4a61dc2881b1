/* SPDX-License-Identifier: BSD-2-Clause */
/* BOARD_FDINFO: the lines that Linux shows of a BPF object in /proc/PID/fdinfo, in its order. */
#include "runtime/cmd.h"

#include "lib/fmt.h"

#define TEXT_BYTES 1024

struct text {
	char buf[TEXT_BYTES];
	size_t len;
};

static void add(struct text *t, const char *name, uint64_t value)
{
	fmt_append(t->buf, sizeof(t->buf), &t->len, "%s:\t%llu\n", name, (unsigned long long)value);
}

static void add_hex(struct text *t, const char *name, uint64_t value)
{
	fmt_append(t->buf, sizeof(t->buf), &t->len, "%s:\t0x%llx\n", name,
		   (unsigned long long)value);
}

static void map_text(struct text *t, const struct bpf_map *map)
{
	add(t, "map_type", map->type);
	add(t, "key_size", map->key_size);
	add(t, "value_size", map->value_size);
	add(t, "max_entries", map->max_entries);
	add_hex(t, "map_flags", map->map_flags);
	add_hex(t, "map_extra", map->map_extra);
	add(t, "memlock", rt_obj_bytes(RT_MAP, map));
	add(t, "map_id", map->id);
	add(t, "frozen", map->frozen);
	if (map->owner_type) {
		add(t, "owner_prog_type", map->owner_type);
		add(t, "owner_jited", map->owner_jited);
	}
}

static void prog_text(struct text *t, const struct bpf_prog *prog)
{
	struct rt_prog_sums sums;

	rt_prog_sums(prog, &sums);
	add(t, "prog_type", prog->type);
	add(t, "prog_jited", prog->mode == PROG_MODE_JIT);
	fmt_append(t->buf, sizeof(t->buf), &t->len, "prog_tag:\t");
	for (size_t i = 0; i < sizeof(prog->tag); i++)
		fmt_append(t->buf, sizeof(t->buf), &t->len, "%02x", prog->tag[i]);
	fmt_append(t->buf, sizeof(t->buf), &t->len, "\n");
	add(t, "memlock", rt_obj_bytes(RT_PROG, prog));
	add(t, "prog_id", prog->id);
	add(t, "run_time_ns", sums.run_ns);
	add(t, "run_cnt", sums.runs);
	add(t, "recursion_misses", sums.misses);
	add(t, "verified_insns", prog->verified_insns);
}

int64_t cmd_fdinfo(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_fdinfo *attr = &call->attr.board.fdinfo;
	struct text t = { .len = 0 };
	int err;
	const struct rt_handle *h = rt_handle_find(rt, attr->fd, &err);

	if (!h)
		return err;
	switch (h->kind) {
	case RT_MAP:
		map_text(&t, h->obj);
		break;
	case RT_PROG:
		prog_text(&t, h->obj);
		break;
	case RT_BTF:
		add(&t, "btf_id", ((const struct bpf_btf *)h->obj)->id);
		break;
	default:
		break;
	}
	t.len = MIN(t.len, (size_t)attr->len);
	err = cmd_put(call, attr->buf, t.buf, t.len);
	if (!err)
		attr->len = (uint32_t)t.len;
	return err;
}
