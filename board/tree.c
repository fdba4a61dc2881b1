/* SPDX-License-Identifier: BSD-2-Clause */
#include "board/tree.h"

#include <libfdt.h>

#include "include/err.h"

/* Without these properties a node's children have two address cells and one size cell. */
#define DEFAULT_ADDRESS_CELLS 2
#define DEFAULT_SIZE_CELLS    1

uint32_t tree_read_cell(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* A number of 0, 1 or 2 cells. */
static uint64_t read_cells(const uint8_t *p, uint32_t cells)
{
	uint64_t v = 0;

	for (; cells; cells--, p += 4)
		v = v << 32 | tree_read_cell(p);
	return v;
}

/* Value of a property of any node; *len is 0 when there is none. */
static const uint8_t *get_prop(const void *fdt, int node, const char *name, uint32_t *len)
{
	int got = 0;
	const void *value = fdt_getprop(fdt, node, name, &got);

	*len = value && got > 0 ? (uint32_t)got : 0;
	return value;
}

static const char *get_string(const void *fdt, int node, const char *name)
{
	uint32_t len;
	const uint8_t *value = get_prop(fdt, node, name, &len);

	if (!value || !len || value[len - 1])
		return NULL;
	for (uint32_t i = 0; i < len - 1; i++)
		if (!value[i])
			return NULL;
	return (const char *)value;
}

static bool is_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

const char *tree_check(const void *fdt, size_t bytes)
{
	int err;

	if (bytes < sizeof(struct fdt_header))
		return "shorter than a header";
	if ((uintptr_t)fdt % 8)
		return "not aligned to 8 bytes";
	err = fdt_check_header(fdt);
	if (err)
		return fdt_strerror(err);
	if (fdt_totalsize(fdt) > bytes)
		return "longer than the memory that can be read";
	err = fdt_check_full(fdt, bytes);
	return err ? fdt_strerror(err) : NULL;
}

size_t tree_get_size(const void *header)
{
	return fdt_magic(header) == FDT_MAGIC ? fdt_totalsize(header) : 0;
}

static bool is_okay(const uint8_t *status, uint32_t len)
{
	return (len == 5 && is_equal((const char *)status, "okay")) ||
	       (len == 3 && is_equal((const char *)status, "ok"));
}

/* What a level remembers of one property. */
static void enter_prop(struct tree_level *l, const char *name, const uint8_t *value, uint32_t len)
{
	switch (name[0]) {
	case '#':
		if (len == 4 && is_equal(name, "#address-cells"))
			l->address_cells = tree_read_cell(value);
		else if (len == 4 && is_equal(name, "#size-cells"))
			l->size_cells = tree_read_cell(value);
		break;
	case 'c':
		if (len && is_equal(name, "compatible")) {
			l->compatible = (const char *)value;
			l->compatible_bytes = len;
		}
		break;
	case 'i':
		if (len == 4 && is_equal(name, "interrupt-parent"))
			l->interrupt_parent = tree_read_cell(value);
		break;
	case 's':
		if (is_equal(name, "status") && !is_okay(value, len))
			l->is_available = false;
		break;
	}
}

/*
 * Fill level[depth] for the node whose first tag after its name is at offset; the level above is
 * filled. All its properties are looked at once here: a look-up by name costs as much, and most
 * nodes need nothing else.
 */
static void enter_node(struct tree *t, int node, int offset)
{
	struct tree_level *l = &t->level[t->open];
	const char *name;
	const void *value;
	int len, next;

	*l = (struct tree_level){ .offset = node,
				  .address_cells = DEFAULT_ADDRESS_CELLS,
				  .size_cells = DEFAULT_SIZE_CELLS,
				  .is_available = true };
	if (t->open > 0) {
		l->interrupt_parent = l[-1].interrupt_parent;
		l->is_available = l[-1].is_available;
	}
	for (;; offset = next) {
		uint32_t tag = fdt_next_tag(t->fdt, offset, &next);

		if (tag == FDT_NOP)
			continue;
		if (tag != FDT_PROP)
			break;
		value = fdt_getprop_by_offset(t->fdt, offset, &name, &len);
		if (value && len >= 0)
			enter_prop(l, name, value, (uint32_t)len);
	}
	t->next = offset;
	t->depth = t->open;
}

void tree_start(struct tree *t, const void *fdt)
{
	*t = (struct tree){ .fdt = fdt, .depth = -1, .open = -1 };
}

bool tree_next(struct tree *t)
{
	for (;;) {
		int node = t->next, after;

		switch (fdt_next_tag(t->fdt, node, &after)) {
		case FDT_BEGIN_NODE:
			t->open++;
			t->next = after;
			if (t->open >= TREE_MAX_DEPTH)
				break;
			enter_node(t, node, after);
			return true;
		case FDT_END_NODE:
			if (--t->open < 0)
				return false;
			t->next = after;
			break;
		case FDT_END:
			return false;
		default:
			t->next = after;
			break;
		}
	}
}

static int current(const struct tree *t)
{
	return t->level[t->depth].offset;
}

const char *tree_get_name(const struct tree *t)
{
	const char *name = fdt_get_name(t->fdt, current(t), NULL);

	return name ? name : "";
}

bool tree_is_available(const struct tree *t)
{
	return t->level[t->depth].is_available;
}

bool tree_is_compatible(const struct tree *t, const char *what)
{
	const struct tree_level *l = &t->level[t->depth];

	return l->compatible &&
	       fdt_stringlist_contains(l->compatible, (int)l->compatible_bytes, what);
}

bool tree_is_child_of(const struct tree *t, const char *name)
{
	const char *parent;

	if (t->depth != 2)
		return false;
	parent = fdt_get_name(t->fdt, t->level[1].offset, NULL);
	return parent && is_equal(parent, name);
}

const char *tree_get_string(const struct tree *t, const char *prop)
{
	return get_string(t->fdt, current(t), prop);
}

bool tree_has_prop(const struct tree *t, const char *prop)
{
	return fdt_getprop(t->fdt, current(t), prop, NULL) != NULL;
}

int tree_get_bytes(const struct tree *t, const char *prop, const uint8_t **value)
{
	uint32_t len;
	const uint8_t *p = get_prop(t->fdt, current(t), prop, &len);

	if (!p)
		return -ENOENT;
	*value = p;
	return (int)len;
}

int tree_get_cell(const struct tree *t, const char *prop, unsigned int i, uint32_t *out)
{
	uint32_t len;
	const uint8_t *p = get_prop(t->fdt, current(t), prop, &len);

	if (!p)
		return -ENOENT;
	if (i >= len / 4)
		return -ERANGE;
	*out = tree_read_cell(p + 4 * i);
	return 0;
}

int tree_get_number(const struct tree *t, const char *prop, uint64_t *out)
{
	uint32_t len;
	const uint8_t *p = get_prop(t->fdt, current(t), prop, &len);

	if (!p)
		return -ENOENT;
	if (len != 4 && len != 8)
		return -EINVAL;
	*out = read_cells(p, len / 4);
	return 0;
}

uint32_t tree_get_phandle(const struct tree *t)
{
	return fdt_get_phandle(t->fdt, current(t));
}

int tree_get_reg(const struct tree *t, unsigned int i, struct board_range *out)
{
	const struct tree_level *parent;
	uint32_t len, entry;
	const uint8_t *p;
	struct board_range r;

	if (t->depth < 1)
		return -ENOENT;
	parent = &t->level[t->depth - 1];
	p = get_prop(t->fdt, current(t), "reg", &len);
	if (!p)
		return -ENOENT;
	if (parent->address_cells < 1 || parent->address_cells > 2 || parent->size_cells > 2)
		return -EINVAL;
	entry = (parent->address_cells + parent->size_cells) * 4;
	if (!len || len % entry)
		return -EINVAL;
	if (i >= len / entry)
		return -ENOENT;
	p += i * entry;
	r.base_pa = read_cells(p, parent->address_cells);
	r.size_bytes = read_cells(p + parent->address_cells * 4, parent->size_cells);
	if (r.base_pa + r.size_bytes < r.base_pa)
		return -EINVAL;
	*out = r;
	return 0;
}

/* One bus up: from the addresses of level[depth]'s children to those of its parent's children. */
static int translate_once(const struct tree *t, int depth, struct board_range *r)
{
	const struct tree_level *bus = &t->level[depth], *above = &t->level[depth - 1];
	uint32_t len, entry;
	const uint8_t *p = get_prop(t->fdt, bus->offset, "ranges", &len);

	if (!p)
		return -ENXIO;
	if (!len)
		return 0;
	if (bus->address_cells < 1 || bus->address_cells > 2 || above->address_cells < 1 ||
	    above->address_cells > 2 || bus->size_cells < 1 || bus->size_cells > 2)
		return -ENXIO;
	entry = (bus->address_cells + above->address_cells + bus->size_cells) * 4;
	for (; len >= entry; len -= entry, p += entry) {
		const uint8_t *up = p + bus->address_cells * 4;
		uint64_t child = read_cells(p, bus->address_cells);
		uint64_t parent = read_cells(up, above->address_cells);
		uint64_t size = read_cells(up + above->address_cells * 4, bus->size_cells);
		uint64_t at = r->base_pa - child;

		if (r->base_pa < child || at >= size || r->size_bytes > size - at)
			continue;
		if (parent + at < parent || parent + at + r->size_bytes < parent + at)
			return -ENXIO;
		r->base_pa = parent + at;
		return 0;
	}
	return -ENXIO;
}

int tree_get_mmio(const struct tree *t, unsigned int i, struct board_range *out)
{
	struct board_range r;
	int err = tree_get_reg(t, i, &r);

	for (int depth = t->depth - 1; !err && depth > 0; depth--)
		err = translate_once(t, depth, &r);
	if (!err)
		*out = r;
	return err;
}

void tree_get_irqs(const struct tree *t, struct tree_irqs *out)
{
	out->value = get_prop(t->fdt, current(t), "interrupts", &out->bytes);
	out->parent = t->level[t->depth].interrupt_parent;
}

uint32_t tree_irqs_intid(const struct tree_irqs *irqs, const struct tree_gic *gic, unsigned int i)
{
	uint32_t type, number;
	const uint8_t *p = irqs->value;

	/* Three cells (type, number, flags), or a fourth for partitions of PPIs. */
	if (!p || gic->cells < 3 || gic->cells > 4 || i >= irqs->bytes / (gic->cells * 4))
		return 0;
	if (!gic->phandle || irqs->parent != gic->phandle)
		return 0;
	p += i * gic->cells * 4;
	type = tree_read_cell(p);
	number = tree_read_cell(p + 4);
	if (type == 0 && number < 1020 - 32)
		return 32 + number;
	if (type == 1 && number < 16)
		return 16 + number;
	return 0;
}

int tree_find_path(const void *fdt, const char *path, const char **options)
{
	int len = 0;

	while (path[len] && path[len] != ':')
		len++;
	if (options)
		*options = path[len] ? path + len + 1 : path + len;
	/* This also resolves an alias in place of a path. */
	return fdt_path_offset_namelen(fdt, path, len);
}

int tree_get_offset(const struct tree *t)
{
	return current(t);
}

int tree_get_memreserve(const void *fdt, unsigned int i, struct board_range *out)
{
	uint64_t base, size;

	if ((int)i >= fdt_num_mem_rsv(fdt) || fdt_get_mem_rsv(fdt, (int)i, &base, &size))
		return -ENOENT;
	if (base + size < base)
		return -ENOENT;
	*out = (struct board_range){ .base_pa = base, .size_bytes = size };
	return 0;
}
