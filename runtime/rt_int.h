/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of runtime/ share. Everything runs in thread context: one call at a time, so
 * nothing here takes a lock. Only reference counts change in other contexts; an object whose count
 * reached zero stays in the id table, unseen, until a grace period is over (rt_obj_reap).
 */
#pragma once

#include "include/base.h"
#include "include/err.h"
#include "include/hal.h"
#include "bpf/btf.h"
#include "bpf/map.h"
#include "bpf/prog.h"
#include "runtime/rt.h"

/* ---- ids: sorted by id, handed out in a cycle as Linux does --------------------------------- */

#define RT_ID_MAX 0x7fffffffu

struct rt_id {
	uint32_t id;
	void *obj;
};

struct rt_ids {
	struct rt_id *v;
	uint32_t nr, room;
	uint32_t last; /* handed out most recently */
};

/* ---- handles -------------------------------------------------------------------------------- */

/*
 * A handle is generation << 16 | slot + 1, so that it is never 0, never negative as an int, and a
 * closed one is not mistaken for its slot's next user until 2^14 reuses later.
 */
#define RT_HANDLES_MAX	65535u
#define RT_HANDLE_GENS	(1u << 14)
#define RT_SESSION_NONE 0 /* of calls that the board makes itself */

enum rt_perm { RT_PERM_READ = 1, RT_PERM_WRITE = 2, RT_PERM_ALL = 3 };

struct rt_handle {
	void *obj; /* NULL: free slot */
	uint32_t session;
	uint32_t next_free; /* slot + 1, 0 ends the list */
	uint16_t gen;
	uint8_t kind;  /* enum rt_kind */
	uint8_t perms; /* enum rt_perm; maps only */
};

/* ---- pins: the tree below "/", of which only /sys/fs/bpf can change -------------------------- */

enum pin_mode { PIN_DIR = 1, PIN_MAP, PIN_PROG, PIN_LINK }; /* values of board_attr_path.mode */

struct pin {
	struct pin *parent, *child, *next; /* children in the order of their names */
	void *obj;
	uint8_t mode;  /* enum pin_mode */
	uint8_t fixed; /* /, /sys, /sys/fs: nothing is made or removed in it */
	uint8_t name_len;
	const char *name; /* follows the structure unless the pin is one of rt's own */
};

#define PIN_PATH_MAX  4096
#define PIN_NAME_MAX  255
#define RT_FIXED_PINS 4

struct rt {
	const struct rt_platform *platform; /* never NULL; its members may be */
	int64_t knobs[KNOB_NR];
	struct rt_ids ids[RT_KIND_NR];
	struct rt_handle *handles;
	uint32_t handle_room, handle_nr, handle_free;
	struct pin pins[RT_FIXED_PINS]; /* "/", "sys", "fs", "bpf" */
	uint32_t stats_users;		/* live BPF_ENABLE_STATS handles */
};

/* ---- objects.c ------------------------------------------------------------------------------ */

/* Take or drop the reference of a handle or pin. */
void rt_obj_ref(enum rt_kind kind, void *obj);
void rt_obj_put(struct rt *rt, enum rt_kind kind, void *obj);
/* Room for one more id, so that rt_id_publish cannot fail. 0 or -ENOMEM. */
int rt_id_reserve(struct rt *rt, enum rt_kind kind) __must_check;
/* Make obj findable; its id. */
uint32_t rt_id_publish(struct rt *rt, enum rt_kind kind, void *obj);
void rt_id_remove(struct rt *rt, enum rt_kind kind, uint32_t id);
/* Room for one more handle. 0, -ENOMEM, -EMFILE. */
int rt_handle_reserve(struct rt *rt) __must_check;
/*
 * Put the caller's reference behind a new handle, tell the client (call->obj), return the handle.
 * On -ENOMEM or -EMFILE the reference is dropped.
 */
int64_t rt_handle_return(struct rt *rt, struct bpf_call *call, enum rt_kind kind, void *obj,
			 uint8_t perms);
/* The live entry, or NULL with *err -EBADF or -EINVAL (the client's sentinels). */
const struct rt_handle *rt_handle_find(const struct rt *rt, uint32_t handle, int *err);
/* 0 or -EBADF. */
int rt_handle_close(struct rt *rt, uint32_t handle) __must_check;
/* A map and what this handle may do with it; a frozen map has lost RT_PERM_WRITE. */
int rt_map_get(const struct rt *rt, uint32_t handle, struct bpf_map **map,
	       uint8_t *perms) __must_check;
/* Drop a reference of thread context at once (no grace period: programs hold none themselves). */
void rt_btf_put(struct rt *rt, struct bpf_btf *btf);
/* RDONLY and WRONLY flags to permissions: 0 or -EINVAL. */
int rt_perms_of_flags(uint32_t flags, uint8_t *perms) __must_check;
/* Bytes behind an object, for accounts. */
uint64_t rt_obj_bytes(enum rt_kind kind, const void *obj);

/* Sums of a program's statistics over all CPUs. */
struct rt_prog_sums {
	uint64_t runs, run_ns, misses;
};
void rt_prog_sums(const struct bpf_prog *prog, struct rt_prog_sums *out);

/* ---- pins.c --------------------------------------------------------------------------------- */

void pin_init(struct rt *rt);
/* Remove everything below /sys/fs/bpf, references and all. */
void pin_clear(struct rt *rt);
/* The node at path: 0, -ENOENT, -ENOTDIR, -ENAMETOOLONG, -EPERM (a name with a dot). */
int pin_find(struct rt *rt, const char *path, struct pin **out) __must_check;
/* obj gets a name; the pin takes a reference. As above, or -EEXIST, -EPERM, -ENOMEM. */
int pin_add(struct rt *rt, const char *path, enum rt_kind kind, void *obj) __must_check;
int pin_mkdir(struct rt *rt, const char *path) __must_check;
/* want: 0 anything, PIN_DIR as rmdir(2), any other mode as unlink(2). */
int pin_unlink(struct rt *rt, const char *path, uint32_t want) __must_check;
/* Names, one a line, directories with a '/': whole lines into buf, *need = bytes of all. */
int pin_list(struct rt *rt, const char *path, char *buf, uint32_t room,
	     uint32_t *need) __must_check;
/* Kind of the object behind a pin that is no directory. */
enum rt_kind pin_kind(const struct pin *pin);

/* ---- map_fd.c ------------------------------------------------------------------------------- */

/* How handles in values of such a map are turned into objects; NULL: its values are no objects. */
const struct map_fd_ops *rt_fd_ops(const struct map_type *row);

/* ---- knobs.c -------------------------------------------------------------------------------- */

void knob_init(struct rt *rt);
