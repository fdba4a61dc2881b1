/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/cmd.h"

#define KNOB_RDONLY 1

struct knob_row {
	const char *name;
	int64_t dflt, min, max;
	uint32_t flags;
};

static const struct knob_row rows[KNOB_NR] = {
#define KNOB(id, knob_name, knob_dflt, knob_min, knob_max, knob_flags, text)                       \
	[KNOB_##id] = { knob_name, knob_dflt, knob_min, knob_max, knob_flags },
#include "runtime/knobs.def"
#undef KNOB
};

/* Every name fits where the wire carries it, its NUL included. */
#define KNOB(id, knob_name, knob_dflt, knob_min, knob_max, knob_flags, text)                       \
	_Static_assert(sizeof(knob_name) <= BOARD_KNOB_LEN, "knob name too long");                 \
	_Static_assert((knob_dflt) >= (knob_min) && (knob_dflt) <= (knob_max), "knob default");
#include "runtime/knobs.def"
#undef KNOB

void knob_init(struct rt *rt)
{
	for (int k = 0; k < KNOB_NR; k++)
		rt->knobs[k] = rows[k].dflt;
}

int64_t rt_knob(const struct rt *rt, enum rt_knob k)
{
	return rt->knobs[k];
}

/* KNOB_NR: no such name. */
static enum rt_knob knob_by_name(const char *name)
{
	int k;

	for (k = 0; k < KNOB_NR; k++) {
		if (!__builtin_strcmp(rows[k].name, name))
			break;
	}
	return (enum rt_knob)k;
}

int rt_knob_set(struct rt *rt, const char *name, int64_t value)
{
	enum rt_knob k = knob_by_name(name);
	int err = 0;

	if (k == KNOB_NR)
		return -ENOENT;
	if (rows[k].flags & KNOB_RDONLY)
		return -EPERM;
	if (value < rows[k].min || value > rows[k].max)
		return -EINVAL;
	if (rt->platform->knob_set)
		err = rt->platform->knob_set(rt->platform->arg, k, value);
	if (err)
		return err;
	WRITE_ONCE(rt->knobs[k], value);
	return 0;
}

/* The name that the client sent: terminated inside its field, or NULL. */
static const char *knob_name(const struct board_attr_knob *attr)
{
	return __builtin_memchr(attr->name, 0, sizeof(attr->name)) ? attr->name : NULL;
}

static void knob_fill(const struct rt *rt, enum rt_knob k, struct board_attr_knob *attr)
{
	__builtin_memset(attr, 0, sizeof(*attr));
	__builtin_memcpy(attr->name, rows[k].name, __builtin_strlen(rows[k].name));
	attr->value = rt->knobs[k];
	attr->min = rows[k].min;
	attr->max = rows[k].max;
	attr->flags = rows[k].flags;
}

int64_t cmd_knob_get(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_knob *attr = &call->attr.board.knob;
	const char *name = knob_name(attr);
	enum rt_knob k;

	if (!name)
		return -EINVAL;
	k = knob_by_name(name);
	if (k == KNOB_NR)
		return -ENOENT;
	knob_fill(rt, k, attr);
	return 0;
}

int64_t cmd_knob_set(struct rt *rt, struct bpf_call *call)
{
	const struct board_attr_knob *attr = &call->attr.board.knob;
	const char *name = knob_name(attr);

	return name ? rt_knob_set(rt, name, attr->value) : -EINVAL;
}

int64_t cmd_knob_next(struct rt *rt, struct bpf_call *call)
{
	struct board_attr_knob *attr = &call->attr.board.knob;
	const char *name = knob_name(attr);
	int next = 0;

	if (!name)
		return -EINVAL;
	if (*name) {
		enum rt_knob k = knob_by_name(name);

		if (k == KNOB_NR)
			return -ENOENT;
		next = (int)k + 1;
	}
	if (next == KNOB_NR)
		return -ENOENT;
	knob_fill(rt, (enum rt_knob)next, attr);
	return 0;
}
