/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a flattened device tree (Devicetree Specification, release 0.4) that may be damaged: one
 * pass over all nodes, with what a node inherits from its parents kept on the way, and readers that
 * check every length. libfdt is used here and in tree.c only.
 *
 * Addresses and sizes of more than two cells (PCI) and interrupts of anything but a GIC are not
 * understood: readers then fail and the device is skipped.
 */
#pragma once

#include "board/board.h"
#include "include/base.h"

#define TREE_MAX_DEPTH 16
#define TREE_MAX_BYTES (2u << 20) /* Linux's boot protocol: a tree has at most 2 MiB */

/* A node on the path from the root to the current node. */
struct tree_level {
	int offset;		   /* libfdt's node offset */
	uint32_t interrupt_parent; /* phandle, inherited; 0: none */
	uint32_t address_cells;	   /* of the children's addresses */
	uint32_t size_cells;
	bool is_available;	/* this node and all above it have no status, or "okay" */
	const char *compatible; /* value of the property, compatible_bytes long, or NULL */
	uint32_t compatible_bytes;
};

struct tree {
	const void *fdt;
	int next;  /* offset of the first tag behind the current node's properties */
	int open;  /* depth at that tag, which may be beyond TREE_MAX_DEPTH */
	int depth; /* of the current node; the root is 0 */
	struct tree_level level[TREE_MAX_DEPTH];
};

/*
 * Check the whole blob at fdt, of which bytes bytes can be read. NULL if it is sound, else what is
 * wrong with it, in words.
 */
const char *tree_check(const void *fdt, size_t bytes);
/* Size that a header claims, 0 when it is none. header: 40 readable bytes. */
size_t tree_get_size(const void *header);

/* Place t before the root; fdt has passed tree_check(). */
void tree_start(struct tree *t, const void *fdt);
/* Move to the next node in order, skipping those below TREE_MAX_DEPTH. False at the end. */
bool tree_next(struct tree *t);

/* ---- the current node ---- */

/* Name with unit address; never NULL. */
const char *tree_get_name(const struct tree *t);
bool tree_is_available(const struct tree *t);
bool tree_is_compatible(const struct tree *t, const char *what);
/* The parent's name is this one and the parent is a child of the root. */
bool tree_is_child_of(const struct tree *t, const char *name);
/* A property that is one terminated string, else NULL. */
const char *tree_get_string(const struct tree *t, const char *prop);
bool tree_has_prop(const struct tree *t, const char *prop);
/* Length of a property's value in bytes and the value, or -ENOENT. */
int tree_get_bytes(const struct tree *t, const char *prop, const uint8_t **value);
/* Cell i of a property. 0, -ENOENT or -ERANGE (property shorter). */
int tree_get_cell(const struct tree *t, const char *prop, unsigned int i, uint32_t *out);
/* A property of one or two cells as a number. 0, -ENOENT or -EINVAL (other length). */
int tree_get_number(const struct tree *t, const char *prop, uint64_t *out);
/* A cell of a value. */
uint32_t tree_read_cell(const uint8_t *p);
/* Phandle of the node, 0 if it has none. */
uint32_t tree_get_phandle(const struct tree *t);

/*
 * Entry i of `reg`, as it stands (the addresses of /cpus, /memory and /reserved-memory need no
 * translation). 0; -ENOENT (no such entry); -EINVAL (not a multiple of an entry, more than two
 * cells, wraps around).
 */
int tree_get_reg(const struct tree *t, unsigned int i, struct board_range *out);
/* The same, translated to a physical address; -ENXIO when a bus on the way does not forward it. */
int tree_get_mmio(const struct tree *t, unsigned int i, struct board_range *out);

/*
 * The node's `interrupts`, kept until the GIC is known: it may come later in the tree. The value
 * stays where it is, in the tree.
 */
struct tree_irqs {
	const uint8_t *value; /* NULL: none */
	uint32_t bytes;
	uint32_t parent; /* phandle */
};
void tree_get_irqs(const struct tree *t, struct tree_irqs *out);

/* The GIC that interrupt numbers are decoded for. */
struct tree_gic {
	uint32_t phandle;
	uint32_t cells; /* #interrupt-cells */
};
/* INTID of entry i; 0 when it is missing, not this GIC's, or out of range. */
uint32_t tree_irqs_intid(const struct tree_irqs *irqs, const struct tree_gic *gic, unsigned int i);

/* ---- anywhere ---- */

/*
 * Offset of the node that a path like /chosen/stdout-path names, through /aliases where it begins
 * with one, or negative. *options (may be NULL) is what follows a colon, "" if nothing.
 */
int tree_find_path(const void *fdt, const char *path, const char **options);
/* Offset of the current node, to compare with that. */
int tree_get_offset(const struct tree *t);
/* Entry i of the memory reservation block. 0 or -ENOENT. */
int tree_get_memreserve(const void *fdt, unsigned int i, struct board_range *out);
