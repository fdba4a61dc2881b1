/* SPDX-License-Identifier: BSD-2-Clause */
/* A board in the process for libbpf; see inproc.c. */
#pragma once

int inproc_start(void);
/* Drop every handle; file descriptors still open stand for nothing from then on. */
void inproc_end_session(void);
