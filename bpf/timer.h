/* SPDX-License-Identifier: BSD-2-Clause */
/* struct bpf_timer as it lies in map values. */
#pragma once

#include "include/base.h"
#include "include/uapi_new.h"

/*
 * The value that holds the timer leaves its map (deleted, overwritten as new, map freed): cancel
 * the timer, drop what it refers to, leave it uninitialised. Its callback may still be running on
 * another CPU, on memory that a grace period keeps. Context: any.
 */
void bpf_timer_cancel_and_free(struct bpf_timer *timer);
