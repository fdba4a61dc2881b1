/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "host/text_table.h"

struct text_table {
	unsigned int columns, rows, at; /* at: next cell of the current row */
	char **cells;			/* heads first, then row by row */
	unsigned int cells_nr, cells_cap;
};

static void push(struct text_table *t, char *text)
{
	if (!text)
		abort();
	if (t->cells_nr == t->cells_cap) {
		t->cells_cap = t->cells_cap ? t->cells_cap * 2 : 64;
		t->cells = realloc(t->cells, t->cells_cap * sizeof(*t->cells));
		if (!t->cells)
			abort();
	}
	t->cells[t->cells_nr++] = text;
}

void text_table_column(struct text_table *t, const char *head)
{
	push(t, strdup(head));
	t->columns++;
}

struct text_table *text_table_new_empty(void)
{
	struct text_table *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	return t;
}

struct text_table *text_table_new(const char *head, ...)
{
	struct text_table *t = text_table_new_empty();
	va_list ap;

	va_start(ap, head);
	for (; head; head = va_arg(ap, const char *))
		text_table_column(t, head);
	va_end(ap);
	return t;
}

static void fill_row(struct text_table *t)
{
	while (t->rows && t->at < t->columns) {
		push(t, strdup(""));
		t->at++;
	}
}

void text_table_row(struct text_table *t)
{
	fill_row(t);
	t->rows++;
	t->at = 0;
}

void text_table_cell(struct text_table *t, const char *fmt, ...)
{
	char *text;
	va_list ap;

	if (!t->rows || t->at == t->columns)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	va_end(ap);
	push(t, text);
	t->at++;
}

unsigned int text_table_rows(const struct text_table *t)
{
	return t->rows;
}

static const char *cell(const struct text_table *t, unsigned int row, unsigned int col)
{
	unsigned int i = row * t->columns + col;

	return i < t->cells_nr ? t->cells[i] : "";
}

static bool is_number(const char *s)
{
	if (*s == '-')
		s++;
	return isdigit((unsigned char)*s) && !s[strspn(s, "0123456789abcdefx.%")];
}

struct layout {
	size_t width;
	bool right;
};

static void measure(const struct text_table *t, struct layout *l)
{
	for (unsigned int col = 0; col < t->columns; col++)
		l[col] = (struct layout){ .right = t->rows > 0 };
	for (unsigned int row = 0; row <= t->rows; row++) {
		for (unsigned int col = 0; col < t->columns; col++) {
			const char *text = cell(t, row, col);

			l[col].width = MAX(l[col].width, strlen(text));
			if (row && text[0] && !is_number(text))
				l[col].right = false;
		}
	}
}

void text_table_print(const struct text_table *t, FILE *out)
{
	struct layout *l = calloc(t->columns + 1, sizeof(*l));

	if (!l)
		abort();
	measure(t, l);
	for (unsigned int row = 0; row <= t->rows; row++) {
		for (unsigned int col = 0; col < t->columns; col++) {
			const char *gap = col ? "  " : "", *text = cell(t, row, col);

			if (l[col].right)
				fprintf(out, "%s%*s", gap, (int)l[col].width, text);
			else if (col + 1 == t->columns)
				fprintf(out, "%s%s", gap, text);
			else
				fprintf(out, "%s%-*s", gap, (int)l[col].width, text);
		}
		fputc('\n', out);
	}
	free(l);
}

void text_table_free(struct text_table *t)
{
	for (unsigned int i = 0; i < t->cells_nr; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t);
}
