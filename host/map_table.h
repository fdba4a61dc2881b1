/* SPDX-License-Identifier: BSD-2-Clause */
/* A map's content as a table, with columns by the BTF types of its keys and values. */
#pragma once

#include "host/cli.h"

struct map_view {
	bool all;	   /* rows whose value is all zeros too */
	uint32_t max_rows; /* 0: no limit */
};

/* Print the map behind fd. j: as members "map" and "rows" of the open object. CLI_OK or says. */
int map_table_print(int fd, const struct map_view *view, struct json *j) __must_check;
