/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <math.h>

#include "host/json.h"

static void put_text(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void item(struct json *j, const char *key)
{
	if (j->depth) {
		if (j->more[j->depth])
			fputc(',', j->out);
		j->more[j->depth] = true;
	}
	if (key && !j->array[j->depth]) {
		put_text(j->out, key);
		fputc(':', j->out);
	}
}

static void down(struct json *j, bool array)
{
	fputc(array ? '[' : '{', j->out);
	if (j->depth + 1 < ARRAY_SIZE(j->more))
		j->depth++;
	j->more[j->depth] = false;
	j->array[j->depth] = array;
}

void json_open(struct json *j, FILE *out)
{
	*j = (struct json){ .out = out };
}

void json_close(struct json *j)
{
	fputc('\n', j->out);
	fflush(j->out);
}

void json_object(struct json *j, const char *key)
{
	item(j, key);
	down(j, false);
}

void json_array(struct json *j, const char *key)
{
	item(j, key);
	down(j, true);
}

void json_end(struct json *j)
{
	fputc(j->array[j->depth] ? ']' : '}', j->out);
	if (j->depth)
		j->depth--;
}

void json_string(struct json *j, const char *key, const char *value)
{
	item(j, key);
	put_text(j->out, value);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	item(j, key);
	fprintf(j->out, "%" PRIu64, value);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	item(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_real(struct json *j, const char *key, double value)
{
	item(j, key);
	if (isfinite(value))
		fprintf(j->out, "%.9g", value);
	else
		fputs("null", j->out);
}

void json_bool(struct json *j, const char *key, bool value)
{
	item(j, key);
	fputs(value ? "true" : "false", j->out);
}
