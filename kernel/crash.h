/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * Boot argument crash=KIND: fail in that way, so that tests see what a report looks like. Returns
 * when there is no such argument, or if the failure did not come off. Thread, CPU 0.
 */
void crash_on_request(void);
