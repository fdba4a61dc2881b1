/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers that only this board has, for programs: #include it after <bpf/bpf_helpers.h>. Their
 * numbers lie far above Linux's, so that a program which uses one is refused anywhere else.
 */
#pragma once

#define BAREBPF_FUNC_BASE 0x10000
