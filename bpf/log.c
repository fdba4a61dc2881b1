/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/log.h"

#include "include/err.h"
#include "include/hal.h"
#include "lib/fmt.h"

#define LOG_ROOM_FIRST 1024ull

void bpf_log_init(struct bpf_log *log, uint32_t level, char *buf, uint32_t room)
{
	*log = (struct bpf_log){ .buf = room ? buf : NULL, .room = buf ? room : 0, .level = level };
}

void bpf_log_init_growing(struct bpf_log *log, uint32_t level, uint32_t room_max)
{
	*log = (struct bpf_log){ .level = level, .room_max = room_max };
}

/* Room for need bytes if there may be; only while nothing has been pushed out. */
static void log_grow(struct bpf_log *log, uint64_t need)
{
	uint64_t room = MAX(log->room, LOG_ROOM_FIRST);
	char *buf;

	if (need <= log->room || log->room >= log->room_max || log->start)
		return;
	while (room < need)
		room *= 2;
	room = MIN(room, log->room_max);
	buf = hal_alloc((size_t)room);
	if (!buf) {
		log->room_max = log->room;
		return;
	}
	if (log->room)
		__builtin_memcpy(buf, log->buf, log->room);
	hal_free(log->buf);
	log->buf = buf;
	log->room = (uint32_t)room;
}

/* Text bytes that the buffer keeps; one byte is for the NUL. */
static uint64_t log_keep(const struct bpf_log *log)
{
	return log->room ? log->room - 1 : 0;
}

static void log_put(struct bpf_log *log, const char *text, uint32_t len)
{
	uint64_t keep;

	log_grow(log, log->total + len + 1);
	keep = log_keep(log);
	for (uint32_t i = 0; i < len; i++, log->total++) {
		if (!keep)
			continue;
		if (log->level & BPF_LOG_FIXED) {
			if (log->total < keep)
				log->buf[log->total] = text[i];
			continue;
		}
		log->buf[log->total % keep] = text[i];
		if (log->total + 1 - log->start > keep)
			log->start = log->total + 1 - keep;
	}
	if (log->total > log->most)
		log->most = log->total;
}

void bpf_log_vprintf(struct bpf_log *log, const char *fmt, va_list ap)
{
	char line[BPF_LOG_LINE_MAX + 1];
	int len;

	if (!log || !log->level)
		return;
	len = fmt_vsnprintf(line, sizeof(line), fmt, ap);
	if (len > 0)
		log_put(log, line, MIN((uint32_t)len, (uint32_t)BPF_LOG_LINE_MAX));
}

void bpf_log_printf(struct bpf_log *log, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	bpf_log_vprintf(log, fmt, ap);
	va_end(ap);
}

uint64_t bpf_log_mark(const struct bpf_log *log)
{
	return log ? log->total : 0;
}

void bpf_log_reset_to(struct bpf_log *log, uint64_t mark)
{
	if (!log || mark >= log->total)
		return;
	log->total = mark;
	if (log->start > mark)
		log->start = mark;
}

static void reverse(char *buf, uint64_t from, uint64_t to)
{
	while (from + 1 < to) {
		char c = buf[from];

		buf[from++] = buf[--to];
		buf[to] = c;
	}
}

/* Ring order to text order, in place: the oldest byte comes to index 0. */
static void log_rotate(struct bpf_log *log, uint64_t len)
{
	uint64_t keep = log_keep(log), first = log->start % keep;

	if (!first)
		return;
	if (first + len <= keep) {
		for (uint64_t i = 0; i < len; i++)
			log->buf[i] = log->buf[first + i];
		return;
	}
	reverse(log->buf, 0, first);
	reverse(log->buf, first, keep);
	reverse(log->buf, 0, keep);
}

int bpf_log_finish(struct bpf_log *log, uint32_t *true_size)
{
	uint64_t keep, len;

	*true_size = 0;
	if (!log->level)
		return 0;
	*true_size = log->most >= UINT32_MAX ? UINT32_MAX : (uint32_t)log->most + 1;
	if (!log->room)
		return 0;
	keep = log_keep(log);
	len = MIN(log->total - log->start, keep);
	if (keep && !(log->level & BPF_LOG_FIXED))
		log_rotate(log, len);
	log->buf[len] = '\0';
	/* In order now: further text would start from here. */
	log->start = log->total - len;
	return *true_size > log->room ? -ENOSPC : 0;
}
