/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the runtime asks of the machine (struct rt_platform in runtime/rt.h), answered by the
 * kernel.
 */
#pragma once

#include "include/base.h"

struct rt;
struct rt_platform;

/* One instance, constant. */
const struct rt_platform *platform_get(void);
/* Random, differs on every boot. */
uint64_t platform_get_boot_id(void);

/* Set every knob that the boot arguments name (knob=value); bad values are logged. Thread. */
void platform_apply_bootargs(struct rt *rt);

/* The first frame is about to be sent: memory and instructions used so far are noted, once. */
void platform_note_ready(void);
/* Instructions that CPU 0 had retired then, 0: not ready yet, or not counted. */
uint64_t platform_get_ready_insns(void);
/* RAM in use then. */
uint64_t platform_get_ready_ram_bytes(void);

/*
 * A reset or power-off that a client asked for is due: does not return if so. `answered`:
 * everything queued for the line has left; without it a request waits half a second at most.
 * Thread, CPU 0.
 */
void platform_poll_reset(bool answered);
/* When to call that again at the latest; ~0: nothing is under way. */
uint64_t platform_reset_deadline_ns(void);
