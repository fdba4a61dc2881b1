/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables of text: columns as wide as their widest cell, numbers to the right. Cells may hold
 * any text without line ends.
 */
#pragma once

#include <stdio.h>

#include "include/base.h"

struct text_table;

/* Column heads, NULL at the end. Never NULL: memory shortage ends the program. */
struct text_table *text_table_new(const char *head, ...) __attribute__((sentinel));
struct text_table *text_table_new_empty(void);
/* Add a column to a table without rows. */
void text_table_column(struct text_table *t, const char *head);
void text_table_row(struct text_table *t);
void text_table_cell(struct text_table *t, const char *fmt, ...) __printf_like(2, 3);
unsigned int text_table_rows(const struct text_table *t);
void text_table_print(const struct text_table *t, FILE *out);
void text_table_free(struct text_table *t);
