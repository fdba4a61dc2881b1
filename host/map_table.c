/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/map_table.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/btf_cells.h"
#include "host/text_table.h"

#define BATCH 256

struct dump {
	struct bpf_map_info info;
	struct btf *btf;
	struct btf_cells key, value;
	struct map_view view;
	uint32_t cpus;	    /* values per element; 1: not per CPU */
	uint32_t slot;	    /* bytes of one CPU's value */
	size_t value_bytes; /* of an element as bpf(2) gives it */
	struct text_table *t;
	struct json *j;
	uint64_t rows, zeros;
};

static bool is_percpu(uint32_t type)
{
	return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static bool has_elements(uint32_t type)
{
	switch (type) {
	case BPF_MAP_TYPE_RINGBUF:
	case BPF_MAP_TYPE_USER_RINGBUF:
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
	case BPF_MAP_TYPE_BLOOM_FILTER:
		return false;
	}
	return true;
}

static bool has_index(uint32_t type)
{
	switch (type) {
	case BPF_MAP_TYPE_ARRAY:
	case BPF_MAP_TYPE_PERCPU_ARRAY:
	case BPF_MAP_TYPE_PROG_ARRAY:
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
		return true;
	}
	return false;
}

static bool holds_ids(uint32_t type)
{
	return type == BPF_MAP_TYPE_PROG_ARRAY || type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
	       type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

/* ---- rows ---- */

static bool all_zero(const uint8_t *p, size_t n)
{
	while (n && !*p) {
		p++;
		n--;
	}
	return !n;
}

static void put_cells(struct dump *d, const char *what, const struct btf_cells *cells,
		      const uint8_t *data)
{
	char text[512];

	if (d->j)
		json_object(d->j, what);
	for (uint32_t i = 0; i < cells->nr; i++) {
		const struct btf_cell *c = &cells->c[i];
		bool is_signed;
		int64_t v;

		if (d->j && btf_cell_number(d->btf, c, data, &v, &is_signed)) {
			if (is_signed)
				json_int(d->j, c->name, v);
			else
				json_uint(d->j, c->name, (uint64_t)v);
			continue;
		}
		btf_cell_text(d->btf, c, data, text, sizeof(text));
		if (d->j)
			json_string(d->j, c->name, text);
		else
			text_table_cell(d->t, "%s", text);
	}
	if (d->j)
		json_end(d->j);
}

static void put_row(struct dump *d, const uint8_t *key, const uint8_t *value)
{
	for (uint32_t cpu = 0; cpu < d->cpus; cpu++) {
		const uint8_t *v = value + (size_t)cpu * d->slot;

		if (!d->view.all && all_zero(v, d->info.value_size)) {
			d->zeros++;
			continue;
		}
		d->rows++;
		if (d->view.max_rows && d->rows > d->view.max_rows)
			continue;
		if (d->j)
			json_object(d->j, NULL);
		else
			text_table_row(d->t);
		put_cells(d, "key", &d->key, key);
		if (d->cpus > 1) {
			if (d->j)
				json_uint(d->j, "cpu", cpu);
			else
				text_table_cell(d->t, "%u", cpu);
		}
		put_cells(d, "value", &d->value, v);
		if (d->j)
			json_end(d->j);
	}
}

/* ---- elements ---- */

static int dump_batches(struct dump *d, int fd, bool *unsupported)
{
	uint8_t *keys = calloc(BATCH, d->info.key_size), *values = calloc(BATCH, d->value_bytes);
	/* A cursor is 4 bytes, or a key for tries. */
	uint8_t *cursor = calloc(1, MAX(d->info.key_size, 8u));
	bool first = true;
	int rc = keys && values && cursor ? 0 : -ENOMEM;

	while (!rc) {
		uint32_t n = BATCH;

		rc = bpf_map_lookup_batch(fd, first ? NULL : cursor, cursor, keys, values, &n, NULL)
			     ? -errno
			     : 0;
		if (rc && rc != -ENOENT) {
			*unsupported = first;
			break;
		}
		for (uint32_t i = 0; i < n; i++)
			put_row(d, keys + (size_t)i * d->info.key_size,
				values + (size_t)i * d->value_bytes);
		first = false;
	}
	free(keys);
	free(values);
	free(cursor);
	return rc == -ENOENT ? 0 : rc;
}

static int dump_singly(struct dump *d, int fd)
{
	uint8_t *key = calloc(2, d->info.key_size + 8), *value = calloc(1, d->value_bytes);
	uint8_t *prev = NULL;
	int rc = key && value ? 0 : -ENOMEM;

	while (!rc) {
		uint8_t *next = prev == key ? key + d->info.key_size + 8 : key;

		if (bpf_map_get_next_key(fd, prev, next)) {
			rc = errno == ENOENT ? 0 : -errno;
			break;
		}
		if (!bpf_map_lookup_elem(fd, next, value))
			put_row(d, next, value);
		else if (errno != ENOENT)
			rc = -errno;
		prev = next;
	}
	free(key);
	free(value);
	return rc;
}

/* ---- shape ---- */

static bool is_section(const struct dump *d)
{
	const struct btf_type *t =
		d->btf ? btf__type_by_id(d->btf, d->info.btf_value_type_id) : NULL;

	return t && btf_is_datasec(t) && d->info.max_entries == 1;
}

static int dump_prepare(struct dump *d, int fd)
{
	uint32_t len = sizeof(d->info);
	struct ipc_hello hello;
	int rc;

	if (bpf_obj_get_info_by_fd(fd, &d->info, &len))
		return -errno;
	rc = client_hello(&hello);
	if (rc)
		return rc;
	d->cpus = is_percpu(d->info.type) ? hello.info.cpus : 1;
	d->slot = d->cpus > 1 || is_percpu(d->info.type) ? ROUND_UP(d->info.value_size, 8u)
							 : d->info.value_size;
	d->value_bytes = (size_t)d->slot * d->cpus;
	if (d->info.btf_id)
		d->btf = btf__load_from_kernel_by_id(d->info.btf_id);
	btf_cells_of(d->btf, d->info.btf_key_type_id, "key", d->info.key_size,
		     has_index(d->info.type), &d->key);
	btf_cells_of(d->btf, d->info.btf_value_type_id, "value", d->info.value_size,
		     holds_ids(d->info.type), &d->value);
	/* Global variables: there is one element. */
	if (is_section(d))
		d->key.nr = 0;
	return 0;
}

static void start_output(struct dump *d)
{
	if (d->j) {
		json_object(d->j, "map");
		json_uint(d->j, "id", d->info.id);
		json_string(d->j, "name", d->info.name);
		json_end(d->j);
		json_array(d->j, "rows");
		return;
	}
	d->t = text_table_new_empty();
	for (uint32_t i = 0; i < d->key.nr; i++)
		text_table_column(d->t, d->key.c[i].name);
	if (d->cpus > 1)
		text_table_column(d->t, "cpu");
	for (uint32_t i = 0; i < d->value.nr; i++)
		text_table_column(d->t, d->value.c[i].name);
}

static void end_output(struct dump *d)
{
	const char *type = libbpf_bpf_map_type_str(d->info.type);

	if (d->j) {
		json_end(d->j);
		return;
	}
	printf("map %s (id %u, %s, %u entries at most)\n", d->info.name, d->info.id,
	       type ? type : "?", d->info.max_entries);
	if (d->rows)
		text_table_print(d->t, stdout);
	if (d->view.max_rows && d->rows > d->view.max_rows)
		printf("... %llu more rows\n", (unsigned long long)(d->rows - d->view.max_rows));
	if (d->zeros)
		printf("(%llu rows of zeros)\n", (unsigned long long)d->zeros);
	else if (!d->rows)
		printf("(empty)\n");
	text_table_free(d->t);
}

int map_table_print(int fd, const struct map_view *view, struct json *j)
{
	struct dump *d = calloc(1, sizeof(*d));
	bool unsupported = false;
	int rc = d ? 0 : -ENOMEM;

	if (!rc) {
		d->view = *view;
		d->j = j;
		rc = dump_prepare(d, fd);
	}
	if (!rc) {
		start_output(d);
		if (has_elements(d->info.type) && d->info.key_size) {
			rc = dump_batches(d, fd, &unsupported);
			if (rc && unsupported)
				rc = dump_singly(d, fd);
		}
		end_output(d);
	}
	if (d)
		btf__free(d->btf);
	free(d);
	return rc ? cli_fail("map: %s", cli_errno(rc)) : CLI_OK;
}
