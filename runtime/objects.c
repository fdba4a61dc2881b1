/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/rt_int.h"

#include "runtime/load.h"

/* ---- what differs between kinds of objects --------------------------------------------------- */

struct kind_ops {
	char letter; /* struct bpf_obj_info.kind */
	void (*ref)(void *obj);
	void (*put)(struct rt *rt, void *obj);
	uint32_t (*refs)(const void *obj);
	void (*describe)(const void *obj, struct bpf_obj_info *info);
	void (*set_id)(struct rt *rt, void *obj, uint32_t id);
	uint64_t (*bytes)(const void *obj);
};

static void map_reap(struct hal_deferred *d)
{
	struct bpf_map *map = container_of(d, struct bpf_map, reap);
	struct rt *rt = map->rt;
	struct bpf_btf *btf = map->btf;

	rt_id_remove(rt, RT_MAP, map->id);
	bpf_map_destroy(map);
	if (btf)
		rt_btf_put(rt, btf);
}

static void map_ref(void *obj)
{
	struct bpf_map *map = obj;

	__atomic_fetch_add(&map->urefs, 1, __ATOMIC_RELAXED);
	bpf_map_ref(map);
}

static void map_put(struct rt *rt, void *obj)
{
	struct bpf_map *map = obj;

	(void)rt;
	if (!__atomic_sub_fetch(&map->urefs, 1, __ATOMIC_ACQ_REL) && map->ops->release_uref)
		map->ops->release_uref(map);
	bpf_map_put(map);
}

static uint32_t map_refs(const void *obj)
{
	return READ_ONCE(((const struct bpf_map *)obj)->refs);
}

static void map_describe(const void *obj, struct bpf_obj_info *info)
{
	const struct bpf_map *map = obj;

	info->type = map->type;
	info->id = map->id;
	info->key_size = map->key_size;
	info->value_size = map->value_size;
	info->max_entries = map->max_entries;
	info->map_flags = map->map_flags;
}

static void map_set_id(struct rt *rt, void *obj, uint32_t id)
{
	struct bpf_map *map = obj;

	map->id = id;
	map->rt = rt;
	map->reap_fn = map_reap;
}

static uint64_t map_bytes(const void *obj)
{
	const struct bpf_map *map = obj;

	/* mem_usage only reads; the op predates const in its signature. */
	return map->ops->mem_usage ? map->ops->mem_usage((struct bpf_map *)map) : sizeof(*map);
}

static void prog_reap(struct hal_deferred *d)
{
	struct bpf_prog *prog = container_of(d, struct bpf_prog, reap);
	struct rt *rt = prog->rt;

	rt_id_remove(rt, RT_PROG, prog->id);
	load_prog_free(rt, prog);
}

static void prog_ref(void *obj)
{
	bpf_prog_ref(obj);
}

static void prog_put(struct rt *rt, void *obj)
{
	(void)rt;
	bpf_prog_put(obj);
}

static uint32_t prog_refs(const void *obj)
{
	return READ_ONCE(((const struct bpf_prog *)obj)->refs);
}

static void prog_describe(const void *obj, struct bpf_obj_info *info)
{
	const struct bpf_prog *prog = obj;

	info->type = prog->type;
	info->id = prog->id;
}

static void prog_set_id(struct rt *rt, void *obj, uint32_t id)
{
	struct bpf_prog *prog = obj;

	prog->id = id;
	prog->rt = rt;
	prog->reap_fn = prog_reap;
}

static uint64_t prog_bytes(const void *obj)
{
	return load_prog_bytes(obj);
}

static void btf_ref(void *obj)
{
	struct bpf_btf *btf = obj;

	__atomic_fetch_add(&btf->refs, 1, __ATOMIC_RELAXED);
}

/* Programs reach their BTF only while they hold it, so it needs no grace period of its own. */
static void btf_put(struct rt *rt, void *obj)
{
	struct bpf_btf *btf = obj;

	if (__atomic_sub_fetch(&btf->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (btf->id)
		rt_id_remove(rt, RT_BTF, btf->id);
	btf_free(btf);
}

static uint32_t btf_refs(const void *obj)
{
	return READ_ONCE(((const struct bpf_btf *)obj)->refs);
}

static void btf_describe(const void *obj, struct bpf_obj_info *info)
{
	info->id = ((const struct bpf_btf *)obj)->id;
}

static void btf_set_id(struct rt *rt, void *obj, uint32_t id)
{
	(void)rt;
	((struct bpf_btf *)obj)->id = id;
}

static uint64_t btf_bytes(const void *obj)
{
	const struct bpf_btf *btf = obj;

	return sizeof(*btf) + btf->size + btf->type_cnt * sizeof(btf->types[0]);
}

/* The object of a statistics handle is the runtime itself. */
static void stats_ref(void *obj)
{
	((struct rt *)obj)->stats_users++;
}

static void stats_put(struct rt *rt, void *obj)
{
	(void)obj;
	rt->stats_users--;
}

static const struct kind_ops kinds[RT_KIND_NR] = {
	[RT_MAP] = { 'm', map_ref, map_put, map_refs, map_describe, map_set_id, map_bytes },
	[RT_PROG] = { 'p', prog_ref, prog_put, prog_refs, prog_describe, prog_set_id, prog_bytes },
	[RT_BTF] = { 'b', btf_ref, btf_put, btf_refs, btf_describe, btf_set_id, btf_bytes },
	[RT_STATS] = { 's', .ref = stats_ref, .put = stats_put },
};

void rt_obj_ref(enum rt_kind kind, void *obj)
{
	kinds[kind].ref(obj);
}

void rt_obj_put(struct rt *rt, enum rt_kind kind, void *obj)
{
	kinds[kind].put(rt, obj);
}

void rt_btf_put(struct rt *rt, struct bpf_btf *btf)
{
	btf_put(rt, btf);
}

uint64_t rt_obj_bytes(enum rt_kind kind, const void *obj)
{
	return kinds[kind].bytes ? kinds[kind].bytes(obj) : 0;
}

/* ---- ids ------------------------------------------------------------------------------------- */

/* Index of the first entry with an id >= id. */
static uint32_t id_lower_bound(const struct rt_ids *ids, uint32_t id)
{
	uint32_t lo = 0, hi = ids->nr;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ids->v[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int rt_id_reserve(struct rt *rt, enum rt_kind kind)
{
	struct rt_ids *ids = &rt->ids[kind];
	uint32_t room = ids->room ? 2 * ids->room : 16;
	struct rt_id *v;

	if (ids->nr < ids->room)
		return 0;
	v = hal_alloc((size_t)room * sizeof(*v));
	if (!v)
		return -ENOMEM;
	if (ids->nr)
		__builtin_memcpy(v, ids->v, ids->nr * sizeof(*v));
	hal_free(ids->v);
	ids->v = v;
	ids->room = room;
	return 0;
}

uint32_t rt_id_publish(struct rt *rt, enum rt_kind kind, void *obj)
{
	struct rt_ids *ids = &rt->ids[kind];
	uint32_t id = ids->last, at;

	/* First free id after the last one; there are far fewer objects than ids. */
	do {
		id = id >= RT_ID_MAX - 1 ? 1 : id + 1;
		at = id_lower_bound(ids, id);
	} while (at < ids->nr && ids->v[at].id == id);

	__builtin_memmove(&ids->v[at + 1], &ids->v[at], (ids->nr - at) * sizeof(ids->v[0]));
	ids->v[at] = (struct rt_id){ id, obj };
	ids->nr++;
	ids->last = id;
	kinds[kind].set_id(rt, obj, id);
	return id;
}

void rt_id_remove(struct rt *rt, enum rt_kind kind, uint32_t id)
{
	struct rt_ids *ids = &rt->ids[kind];
	uint32_t at = id_lower_bound(ids, id);

	if (at == ids->nr || ids->v[at].id != id)
		return;
	ids->nr--;
	__builtin_memmove(&ids->v[at], &ids->v[at + 1], (ids->nr - at) * sizeof(ids->v[0]));
}

int rt_next_id(struct rt *rt, enum rt_kind kind, uint32_t id, uint32_t *next)
{
	const struct rt_ids *ids = &rt->ids[kind];

	if (id >= RT_ID_MAX)
		return -ENOENT;
	for (uint32_t at = id_lower_bound(ids, id + 1); at < ids->nr; at++) {
		if (kinds[kind].refs(ids->v[at].obj)) {
			*next = ids->v[at].id;
			return 0;
		}
	}
	return -ENOENT;
}

void *rt_by_id(struct rt *rt, enum rt_kind kind, uint32_t id)
{
	const struct rt_ids *ids = &rt->ids[kind];
	uint32_t at = id_lower_bound(ids, id);

	if (at == ids->nr || ids->v[at].id != id || !kinds[kind].refs(ids->v[at].obj))
		return NULL;
	return ids->v[at].obj;
}

/* ---- handles --------------------------------------------------------------------------------- */

int rt_handle_reserve(struct rt *rt)
{
	uint32_t room = rt->handle_room ? MIN(2 * rt->handle_room, RT_HANDLES_MAX) : 32;
	struct rt_handle *v;

	if (rt->handle_free || rt->handle_nr < rt->handle_room)
		return 0;
	if (rt->handle_nr == RT_HANDLES_MAX)
		return -EMFILE;
	v = hal_alloc((size_t)room * sizeof(*v));
	if (!v)
		return -ENOMEM;
	if (rt->handle_nr)
		__builtin_memcpy(v, rt->handles, rt->handle_nr * sizeof(*v));
	hal_free(rt->handles);
	rt->handles = v;
	rt->handle_room = room;
	return 0;
}

int64_t rt_handle_return(struct rt *rt, struct bpf_call *call, enum rt_kind kind, void *obj,
			 uint8_t perms)
{
	int err = rt_handle_reserve(rt);
	struct rt_handle *h;
	uint32_t slot;

	if (err) {
		rt_obj_put(rt, kind, obj);
		return err;
	}
	if (rt->handle_free) {
		slot = rt->handle_free - 1;
		rt->handle_free = rt->handles[slot].next_free;
	} else {
		slot = rt->handle_nr++;
	}
	h = &rt->handles[slot];
	h->obj = obj;
	h->session = call->session;
	h->kind = (uint8_t)kind;
	h->perms = perms;

	__builtin_memset(&call->obj, 0, sizeof(call->obj));
	if (kinds[kind].describe)
		kinds[kind].describe(obj, &call->obj);
	call->obj.kind = (uint8_t)kinds[kind].letter;
	call->obj.handle = (uint32_t)h->gen << 16 | (slot + 1);
	return call->obj.handle;
}

const struct rt_handle *rt_handle_find(const struct rt *rt, uint32_t handle, int *err)
{
	uint32_t slot = (handle & 0xffff) - 1;

	*err = handle == BPF_HANDLE_EINVAL ? -EINVAL : -EBADF;
	if (slot >= rt->handle_nr || !rt->handles[slot].obj ||
	    rt->handles[slot].gen != handle >> 16)
		return NULL;
	return &rt->handles[slot];
}

int rt_handle_get(struct rt *rt, uint32_t handle, enum rt_kind kind, void **obj)
{
	int err;
	const struct rt_handle *h = rt_handle_find(rt, handle, &err);

	if (!h)
		return err;
	if (h->kind != kind)
		return -EINVAL;
	*obj = h->obj;
	return 0;
}

int rt_map_get(const struct rt *rt, uint32_t handle, struct bpf_map **map, uint8_t *perms)
{
	int err;
	const struct rt_handle *h = rt_handle_find(rt, handle, &err);

	if (!h)
		return err;
	if (h->kind != RT_MAP)
		return -EINVAL;
	*map = h->obj;
	*perms = h->perms;
	if ((*map)->frozen)
		*perms &= (uint8_t)~RT_PERM_WRITE;
	return 0;
}

static void handle_drop(struct rt *rt, uint32_t slot)
{
	struct rt_handle *h = &rt->handles[slot];
	enum rt_kind kind = h->kind;
	void *obj = h->obj;

	h->obj = NULL;
	h->gen = (uint16_t)((h->gen + 1) % RT_HANDLE_GENS);
	h->next_free = rt->handle_free;
	rt->handle_free = slot + 1;
	rt_obj_put(rt, kind, obj);
}

int rt_handle_close(struct rt *rt, uint32_t handle)
{
	int err;

	if (!rt_handle_find(rt, handle, &err))
		return -EBADF;
	handle_drop(rt, (handle & 0xffff) - 1);
	return 0;
}

/*
 * Frees what no reference holds. A program that goes drops its maps, a map of maps its inner maps:
 * each such step begins a grace period of its own.
 */
static void reap_all(struct rt *rt)
{
	uint32_t before, after = ~0u;

	do {
		before = after;
		hal_quiesce_flush(true);
		after = 0;
		for (int kind = 0; kind < RT_KIND_NR; kind++)
			after += rt->ids[kind].nr;
	} while (after && after != before);
}

void rt_session_end(struct rt *rt, uint32_t session)
{
	for (uint32_t slot = 0; slot < rt->handle_nr; slot++) {
		if (rt->handles[slot].obj && rt->handles[slot].session == session)
			handle_drop(rt, slot);
	}
	reap_all(rt);
}

int rt_perms_of_flags(uint32_t flags, uint8_t *perms)
{
	switch (flags & (BPF_F_RDONLY | BPF_F_WRONLY)) {
	case BPF_F_RDONLY | BPF_F_WRONLY:
		return -EINVAL;
	case BPF_F_RDONLY:
		*perms = RT_PERM_READ;
		return 0;
	case BPF_F_WRONLY:
		*perms = RT_PERM_WRITE;
		return 0;
	default:
		*perms = RT_PERM_ALL;
		return 0;
	}
}

/* ---- the runtime itself ---------------------------------------------------------------------- */

struct rt *rt_new(const struct rt_platform *platform)
{
	static const struct rt_platform none;
	struct rt *rt = hal_alloc(sizeof(*rt));

	if (!rt)
		return NULL;
	rt->platform = platform ? platform : &none;
	knob_init(rt);
	pin_init(rt);
	return rt;
}

uint64_t rt_free(struct rt *rt)
{
	uint64_t left = 0;

	for (uint32_t slot = 0; slot < rt->handle_nr; slot++) {
		if (rt->handles[slot].obj)
			handle_drop(rt, slot);
	}
	pin_clear(rt);
	reap_all(rt);
	for (int kind = 0; kind < RT_KIND_NR; kind++) {
		for (uint32_t at = 0; at < rt->ids[kind].nr; at++)
			left += rt_obj_bytes((enum rt_kind)kind, rt->ids[kind].v[at].obj);
		hal_free(rt->ids[kind].v);
	}
	hal_free(rt->handles);
	hal_free(rt);
	return left;
}
