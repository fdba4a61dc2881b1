/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The board's log: a ring of lines, each with a sequence number, a time and a level. Lines also go
 * to the console as far as the console level lets them. Lines are cut at LOG_LINE_BYTES.
 *
 * Context of all functions: any, also before there is a console: lines wait in the ring and go to
 * the early UART if there is one.
 */
#pragma once

#include "include/base.h"

#define LOG_LINE_BYTES 256

/* As in Linux. */
enum log_level {
	LOG_EMERG = 0,
	LOG_ERROR = 3,
	LOG_WARN = 4,
	LOG_NOTICE = 5,
	LOG_INFO = 6,
	LOG_DEBUG = 7,
};

void log_write(enum log_level level, const char *fmt, ...) __printf_like(2, 3);
void log_vwrite(enum log_level level, const char *fmt, __builtin_va_list ap);

#define log_error(...)	log_write(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)	log_write(LOG_WARN, __VA_ARGS__)
#define log_notice(...) log_write(LOG_NOTICE, __VA_ARGS__)
#define log_info(...)	log_write(LOG_INFO, __VA_ARGS__)
#define log_debug(...)	log_write(LOG_DEBUG, __VA_ARGS__)

struct log_line {
	uint64_t seq; /* counts from 0, no gaps */
	uint64_t time_ns;
	uint8_t level;
	uint8_t cpu;
	uint16_t len; /* bytes of text, without a newline or NUL */
	char text[LOG_LINE_BYTES];
};

/*
 * Line number seq, or the oldest still kept if that is gone (out->seq then tells how many were
 * lost). 0, or -ENOENT when seq is not written yet.
 */
int log_read(uint64_t seq, struct log_line *out);
/* Number of the next line to be written. */
uint64_t log_next_seq(void);

/*
 * The log as one text, each line as log_format makes it: from position *pos on (bytes ever written,
 * from 0) to buf. Returns how many bytes, and advances *pos. *lost: bytes between the wanted
 * position and the first still kept.
 */
uint32_t log_read_text(char *buf, uint32_t len, uint64_t *pos, uint64_t *lost);

/*
 * "[    1.234567] text\n" of a line into buf; returns its length (cut to size). For consoles and
 * clients.
 */
size_t log_format(const struct log_line *line, char *buf, size_t size);

/* Lines of this level and below (more urgent) go to the console at once. */
void log_set_console_level(enum log_level level);

/*
 * Where console text goes: called with whole lines, context any, must not log. NULL: the early
 * UART, polled. Returns after handing the text on (it may drop text when its buffer is full).
 */
void log_set_sink(void (*write)(const char *text, size_t len));
