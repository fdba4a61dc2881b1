/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the board does all day: bytes from the serial line go to the server (frames) and the console
 * (text between them), answers go back, objects whose grace period is over are freed. One instance,
 * thread context on CPU 0.
 */
#pragma once

#include "include/base.h"

struct server;

/* Make runtime, server and console, and send the first frame. 0 or -ENOMEM. */
int service_start(void);
/*
 * Replay the bundle that the loader has left in memory (/chosen/linux,initrd-*), if there is one,
 * and give its memory back. What comes of it is logged. Once, after service_start.
 */
void service_load_initrd(void);
/* Do what there is to do. Returns when to call again at the latest, ~0: after an interrupt. */
uint64_t service_poll(void);
/* Is there something to do at once? Context: any. */
bool service_is_wanted(void);

/* NULL before service_start. */
struct server *service_get_server(void);
