/* SPDX-License-Identifier: BSD-2-Clause */
/* What a board is, for people and as JSON members of the object that is open. */
#pragma once

#include <stdio.h>

#include "include/uapi_board.h"
#include "host/json.h"

void info_print(FILE *out, const struct board_info_reply *info);
void info_json(struct json *j, const struct board_info_reply *info);
