/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The name space of pins: what /sys/fs/bpf is on Linux. The fixed directories above it exist so
 * that a path is walked in one way, `..` included.
 */
#include "runtime/rt_int.h"

static const char *const fixed_names[RT_FIXED_PINS] = { "", "sys", "fs", "bpf" };
#define BPFFS (RT_FIXED_PINS - 1)

void pin_init(struct rt *rt)
{
	for (uint32_t i = 0; i < RT_FIXED_PINS; i++) {
		struct pin *pin = &rt->pins[i];

		pin->mode = PIN_DIR;
		pin->fixed = i < BPFFS;
		pin->name = fixed_names[i];
		pin->name_len = (uint8_t)__builtin_strlen(fixed_names[i]);
		pin->parent = i ? &rt->pins[i - 1] : pin;
		pin->child = i < BPFFS ? &rt->pins[i + 1] : NULL;
	}
}

enum rt_kind pin_kind(const struct pin *pin)
{
	switch (pin->mode) {
	case PIN_MAP:
		return RT_MAP;
	case PIN_PROG:
		return RT_PROG;
	default:
		return RT_LINK;
	}
}

/* Order of two names: <0, 0, >0. */
static int name_cmp(const char *a, uint32_t a_len, const char *b, uint32_t b_len)
{
	int diff = __builtin_memcmp(a, b, MIN(a_len, b_len));

	return diff ? diff : (int)a_len - (int)b_len;
}

/* Where a child of that name is or would be linked; **at is the first with a name >= it. */
static struct pin **child_slot(struct pin *dir, const char *name, uint32_t len)
{
	struct pin **at = &dir->child;

	while (*at && name_cmp((*at)->name, (*at)->name_len, name, len) < 0)
		at = &(*at)->next;
	return at;
}

static struct pin *child_find(struct pin *dir, const char *name, uint32_t len)
{
	struct pin *pin = *child_slot(dir, name, len);

	return pin && !name_cmp(pin->name, pin->name_len, name, len) ? pin : NULL;
}

/* One component of a path. */
struct component {
	const char *name;
	uint32_t len;
	bool slash; /* a '/' follows: it must be a directory */
};

static bool next_component(const char **path, struct component *c)
{
	const char *p = *path;

	while (*p == '/')
		p++;
	c->name = p;
	while (*p && *p != '/')
		p++;
	c->len = (uint32_t)(p - c->name);
	c->slash = *p == '/';
	while (*p == '/')
		p++;
	*path = p;
	return c->len > 0;
}

/*
 * Walk to the directory that holds the path's last component, which stays in *last; its name is
 * "." when the path ends at the directory itself.
 */
static int walk(struct rt *rt, const char *path, struct pin **dir_out, struct component *last)
{
	struct pin *dir = &rt->pins[0];
	struct component c;

	if (!*path)
		return -ENOENT;
	if (__builtin_strlen(path) >= PIN_PATH_MAX)
		return -ENAMETOOLONG;
	/* The host makes paths absolute. */
	if (*path != '/')
		return -ENOENT;
	*last = (struct component){ ".", 1, false };
	while (next_component(&path, &c)) {
		if (c.len > PIN_NAME_MAX)
			return -ENAMETOOLONG;
		if (c.len == 1 && c.name[0] == '.')
			continue;
		if (c.len == 2 && c.name[0] == '.' && c.name[1] == '.') {
			dir = dir->parent;
			continue;
		}
		/* Linux keeps names with dots for itself. */
		if (!dir->fixed && __builtin_memchr(c.name, '.', c.len))
			return -EPERM;
		if (!*path) {
			*last = c;
			break;
		}
		dir = child_find(dir, c.name, c.len);
		if (!dir)
			return -ENOENT;
		if (dir->mode != PIN_DIR)
			return -ENOTDIR;
	}
	*dir_out = dir;
	return 0;
}

static bool is_dot(const struct component *c)
{
	return c->len == 1 && c->name[0] == '.';
}

int pin_find(struct rt *rt, const char *path, struct pin **out)
{
	struct component last;
	struct pin *pin;
	int err = walk(rt, path, &pin, &last);

	if (err)
		return err;
	if (!is_dot(&last))
		pin = child_find(pin, last.name, last.len);
	if (!pin)
		return -ENOENT;
	if (last.slash && pin->mode != PIN_DIR)
		return -ENOTDIR;
	*out = pin;
	return 0;
}

/* A new node at path, linked but without an object. */
static int make(struct rt *rt, const char *path, enum pin_mode mode, struct pin **out)
{
	struct component last;
	struct pin *dir, **at, *pin;
	char *name;
	int err = walk(rt, path, &dir, &last);

	if (err)
		return err;
	if (is_dot(&last) || child_find(dir, last.name, last.len))
		return -EEXIST;
	if (last.slash && mode != PIN_DIR)
		return -ENOENT;
	if (dir->fixed)
		return -EPERM;
	pin = hal_alloc(sizeof(*pin) + last.len);
	if (!pin)
		return -ENOMEM;
	name = (char *)(pin + 1);
	__builtin_memcpy(name, last.name, last.len);
	pin->name = name;
	pin->name_len = (uint8_t)last.len;
	pin->mode = (uint8_t)mode;
	pin->parent = dir;
	at = child_slot(dir, name, last.len);
	pin->next = *at;
	*at = pin;
	*out = pin;
	return 0;
}

int pin_add(struct rt *rt, const char *path, enum rt_kind kind, void *obj)
{
	static const uint8_t modes[RT_KIND_NR] = {
		[RT_MAP] = PIN_MAP,
		[RT_PROG] = PIN_PROG,
		[RT_LINK] = PIN_LINK,
	};
	struct pin *pin;
	int err;

	if (!modes[kind])
		return -EINVAL;
	err = make(rt, path, (enum pin_mode)modes[kind], &pin);
	if (err)
		return err;
	pin->obj = obj;
	rt_obj_ref(kind, obj);
	return 0;
}

int pin_mkdir(struct rt *rt, const char *path)
{
	struct pin *pin;

	return make(rt, path, PIN_DIR, &pin);
}

static void remove_pin(struct rt *rt, struct pin *pin)
{
	*child_slot(pin->parent, pin->name, pin->name_len) = pin->next;
	if (pin->mode != PIN_DIR)
		rt_obj_put(rt, pin_kind(pin), pin->obj);
	hal_free(pin);
}

int pin_unlink(struct rt *rt, const char *path, uint32_t want)
{
	struct pin *pin;
	int err = pin_find(rt, path, &pin);

	if (err)
		return err;
	if (pin->mode == PIN_DIR && want && want != PIN_DIR)
		return -EISDIR;
	if (pin->mode != PIN_DIR && want == PIN_DIR)
		return -ENOTDIR;
	if (pin->fixed || pin == &rt->pins[BPFFS])
		return -EBUSY;
	if (pin->child)
		return -ENOTEMPTY;
	remove_pin(rt, pin);
	return 0;
}

void pin_clear(struct rt *rt)
{
	struct pin *top = &rt->pins[BPFFS], *pin;

	while ((pin = top->child)) {
		while (pin->child)
			pin = pin->child;
		remove_pin(rt, pin);
	}
}

int pin_list(struct rt *rt, const char *path, char *buf, uint32_t room, uint32_t *need)
{
	struct pin *dir;
	uint64_t at = 0;
	int err = pin_find(rt, path, &dir);

	if (err)
		return err;
	if (dir->mode != PIN_DIR)
		return -ENOTDIR;
	for (const struct pin *pin = dir->child; pin; pin = pin->next) {
		uint32_t len = pin->name_len + (pin->mode == PIN_DIR ? 2u : 1u);

		if (at + len <= room) {
			__builtin_memcpy(buf + at, pin->name, pin->name_len);
			if (pin->mode == PIN_DIR)
				buf[at + pin->name_len] = '/';
			buf[at + len - 1] = '\n';
		} else {
			room = 0; /* no later, shorter name either: the text is a prefix */
		}
		at += len;
	}
	*need = at > UINT32_MAX ? UINT32_MAX : (uint32_t)at;
	return 0;
}
