/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of map types, from map_types.def. */
#include "bpf/map.h"
#include "maps/map_int.h"

#define MAP_TYPE(TYPE, name, ops, FEATURES, FLAGS_OK) extern const struct bpf_map_ops ops;
#include "maps/map_types.def"
#undef MAP_TYPE

#define MAP_TYPE(TYPE, name, ops, FEATURES, FLAGS_OK)                                              \
	[BPF_MAP_TYPE_##TYPE] = { BPF_MAP_TYPE_##TYPE, name, &ops, FEATURES, FLAGS_OK },
static const struct map_type types[] = {
#include "maps/map_types.def"
};
#undef MAP_TYPE

const struct map_type *bpf_map_type_get(enum bpf_map_type type)
{
	if ((unsigned int)type >= ARRAY_SIZE(types) || !types[type].ops)
		return NULL;
	return &types[type];
}
