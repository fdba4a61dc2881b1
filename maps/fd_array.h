/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Arrays of objects: each slot is a pointer with a reference, or NULL. bpf(2) puts handles in and
 * reads ids; programs get the object.
 */
#pragma once

#include "bpf/map.h"

/* Operations in the sense of struct bpf_map_ops. */
int fd_array_alloc_check(const union bpf_attr *attr);
int fd_array_alloc(const union bpf_attr *attr, struct bpf_map **out);
void fd_array_free(struct bpf_map *map);
void *fd_array_lookup(struct bpf_map *map, const void *key);
int fd_array_sys_lookup(struct bpf_map *map, const void *key, void *value, uint64_t flags);
int fd_array_sys_update(struct bpf_map *map, const void *key, const void *value, uint64_t flags);
int fd_array_delete(struct bpf_map *map, const void *key);
void fd_array_gen_lookup(struct bpf_map *map, struct map_lookup *l);
uint64_t fd_array_mem_usage(struct bpf_map *map);

/* Drop what every slot holds. Thread. */
void fd_array_clear(struct bpf_map *map);
