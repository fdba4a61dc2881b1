/* SPDX-License-Identifier: BSD-2-Clause */
/* For tests of maps: short ways to make them, and objects to put into maps of objects. */
#pragma once

#include "bpf/map.h"

/* 0 or -errno as bpf_map_create. No BTF, no inner map, fd_ops below. */
int map_new(struct bpf_map **out, enum bpf_map_type type, uint32_t key_size, uint32_t value_size,
	    uint32_t max_entries, uint32_t flags);
/* With everything. */
int map_new_attr(struct bpf_map **out, const union bpf_attr *attr, struct bpf_map *inner,
		 struct bpf_btf *btf);

/*
 * BTF for values. Type ids: */
enum {
	MAP_TEST_INT = 1,	  /* int */
	MAP_TEST_U64 = 2,	  /* unsigned long long */
	MAP_TEST_LOCK = 3,	  /* struct bpf_spin_lock */
	MAP_TEST_LOCK_VALUE = 6,  /* 16 bytes: u64, lock at 8, int */
	MAP_TEST_TIMER_VALUE = 7, /* 24 bytes: timer at 0, u64 */
	MAP_TEST_DATASEC = 9,	  /* 8 bytes, ".bss" */
};
int map_test_btf(struct bpf_btf **btf);
int map_new_btf(struct bpf_map **out, struct bpf_btf *btf, enum bpf_map_type type,
		uint32_t key_size, uint32_t value_size, uint32_t max_entries, uint32_t flags,
		uint32_t key_id, uint32_t value_id);

/* Destroy and let deferred frees run. */
void map_end(struct bpf_map *map);

/*
 * The objects of map_test_fd_ops: handle h (1 to 8) is map_test_obj[h - 1], with id 1000 + h; other
 * handles are -EBADF. refs counts references that maps hold.
 */
struct map_test_obj {
	int refs;
	uint32_t id;
};
extern struct map_test_obj map_test_objs[8];
extern const struct map_fd_ops map_test_fd_ops;
