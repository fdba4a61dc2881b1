/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON text on a stream, written in order: objects and arrays nest up to 16 deep, commas and line
 * ends come by themselves. Keys are NULL inside arrays.
 */
#pragma once

#include <stdio.h>

#include "include/base.h"

struct json {
	FILE *out;
	uint32_t depth;
	bool more[16]; /* by depth: something stands there already */
	bool array[16];
};

void json_open(struct json *j, FILE *out);
/* Ends the text with a newline. */
void json_close(struct json *j);

void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j);

void json_string(struct json *j, const char *key, const char *value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_int(struct json *j, const char *key, int64_t value);
void json_real(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
