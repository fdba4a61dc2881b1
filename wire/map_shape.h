/* SPDX-License-Identifier: BSD-2-Clause */
/* What the host must know of map types to size and translate keys and values of bpf(2). */
#pragma once

#include "include/base.h"
#include "wire/bpf_call.h"

/* Bytes of one value as bpf(2) copies it: all CPUs' slots of a per-CPU map, 4 of an fd map. */
uint64_t map_value_bytes(const struct bpf_obj_info *map, uint32_t cpus);
/* Bytes of a batch cursor. */
uint32_t map_cursor_bytes(const struct bpf_obj_info *map);
/* Keys begin with an fd (local storage maps). */
bool map_key_is_fd(const struct bpf_obj_info *map);
/* Values that are written begin with an fd. */
bool map_value_is_fd(const struct bpf_obj_info *map);
/* 8-byte values: a number, then a program's fd or nothing (devmap, cpumap). */
bool map_value_has_prog(const struct bpf_obj_info *map);
