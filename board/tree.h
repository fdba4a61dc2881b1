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

/* ---- anywhere ---- */

/* The GIC that interrupt numbers are decoded for. */
struct tree_gic {
	uint32_t phandle;
	uint32_t cells; /* #interrupt-cells */
};
/* INTID of entry i of `interrupts`; 0 when it is missing, not a GIC's, or out of range. */
uint32_t tree_get_intid(const struct tree *t, const struct tree_gic *gic, unsigned int i);
/* `clock-frequency` of the node, or of the fixed clock that entry 0 of its `clocks` names; else 0.
 */
uint32_t tree_get_clock_hz(const struct tree *t);
/*
 * Physical address of the device that /chosen/stdout-path names, through /aliases where it is one.
 * The options after the colon give *baud (0: none). 0, or -ENOENT.
 */
int tree_get_stdout(const void *fdt, uint64_t *base_pa, uint32_t *baud);
/* Entry i of the memory reservation block. 0 or -ENOENT. */
int tree_get_memreserve(const void *fdt, unsigned int i, struct board_range *out);
