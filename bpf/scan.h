/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the two pieces of bpf_scan (bpf/verify.h). */
#pragma once

#include "bpf/log.h"
#include "bpf/prog.h"

/*
 * Walk what may be reached, from the entry on: marks AUX_REACHED, and loads and stores whose base
 * is the context on every path as AUX_PTR_CTX. Needs prog->aux and prog->subprogs. 0 or -ENOMEM.
 */
int scan_flow(struct bpf_prog *prog) __must_check;
