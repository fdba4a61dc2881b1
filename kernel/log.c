/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/log.h"

#include <string.h>

#include "include/err.h"
#include "kernel/cpu.h"
#include "kernel/early_console.h"
#include "lib/fmt.h"
#include "lib/spinlock.h"

/*
 * Records lie one behind the other in a ring of bytes: header, then text, padded to 8. A record may
 * wrap. Counters only grow; position modulo LOG_BYTES is the place in the ring.
 */
#define LOG_BYTES 16384u

struct record {
	uint64_t time_ns;
	uint64_t text_pos; /* of the line in the text that log_read_text shows */
	uint16_t len;
	uint8_t level;
	uint8_t cpu;
	uint32_t reserved;
};

static struct {
	struct spinlock lock;
	uint64_t head, tail; /* bytes ever written; start of the oldest record kept */
	uint64_t next_seq, tail_seq;
	uint64_t text_end;
	void (*sink)(const char *text, size_t len);
	enum log_level console_level;
} log_ring = { .console_level = LOG_INFO };

static uint8_t log_bytes[LOG_BYTES];

static void ring_copy_in(uint64_t pos, const void *data, size_t n)
{
	size_t at = pos % LOG_BYTES;
	size_t first = MIN(n, LOG_BYTES - at);

	memcpy(log_bytes + at, data, first);
	memcpy(log_bytes, (const uint8_t *)data + first, n - first);
}

static void ring_copy_out(uint64_t pos, void *data, size_t n)
{
	size_t at = pos % LOG_BYTES;
	size_t first = MIN(n, LOG_BYTES - at);

	memcpy(data, log_bytes + at, first);
	memcpy((uint8_t *)data + first, log_bytes, n - first);
}

static uint64_t record_bytes(const struct record *r)
{
	return sizeof(*r) + ROUND_UP((uint64_t)r->len, 8);
}

/* formatted: length of the line as log_format makes it. */
static void ring_append(struct record *r, const char *text, size_t formatted)
{
	uint64_t need = record_bytes(r);

	while (log_ring.head + need - log_ring.tail > LOG_BYTES) {
		struct record old;

		ring_copy_out(log_ring.tail, &old, sizeof(old));
		log_ring.tail += record_bytes(&old);
		log_ring.tail_seq++;
	}
	r->text_pos = log_ring.text_end;
	log_ring.text_end += formatted;
	ring_copy_in(log_ring.head, r, sizeof(*r));
	ring_copy_in(log_ring.head + sizeof(*r), text, r->len);
	log_ring.head += need;
	log_ring.next_seq++;
}

static void record_get(uint64_t ring_pos, uint64_t seq, const struct record *r,
		       struct log_line *out)
{
	out->seq = seq;
	out->time_ns = r->time_ns;
	out->level = r->level;
	out->cpu = r->cpu;
	out->len = r->len;
	ring_copy_out(ring_pos + sizeof(*r), out->text, r->len);
}

int log_read(uint64_t seq, struct log_line *out)
{
	unsigned long flags = spin_lock_irqsave(&log_ring.lock);
	uint64_t pos = log_ring.tail, at = log_ring.tail_seq;
	struct record r;

	if (seq >= log_ring.next_seq) {
		spin_unlock_irqrestore(&log_ring.lock, flags);
		return -ENOENT;
	}
	for (;; at++) {
		ring_copy_out(pos, &r, sizeof(r));
		if (at >= seq)
			break;
		pos += record_bytes(&r);
	}
	record_get(pos, at, &r, out);
	spin_unlock_irqrestore(&log_ring.lock, flags);
	return 0;
}

/* The line that holds text position pos, or the first one behind it: false at the end. */
static bool line_at(uint64_t text_pos, struct log_line *line, uint64_t *line_pos)
{
	unsigned long flags = spin_lock_irqsave(&log_ring.lock);
	uint64_t pos = log_ring.tail, seq = log_ring.tail_seq;
	bool found = false;

	for (; pos != log_ring.head && !found; seq++) {
		uint64_t end = log_ring.text_end;
		struct record r, next;

		ring_copy_out(pos, &r, sizeof(r));
		if (pos + record_bytes(&r) != log_ring.head) {
			ring_copy_out(pos + record_bytes(&r), &next, sizeof(next));
			end = next.text_pos;
		}
		if (text_pos < end) {
			record_get(pos, seq, &r, line);
			*line_pos = r.text_pos;
			found = true;
		}
		pos += record_bytes(&r);
	}
	spin_unlock_irqrestore(&log_ring.lock, flags);
	return found;
}

uint32_t log_read_text(char *buf, uint32_t len, uint64_t *pos, uint64_t *lost)
{
	char text[LOG_LINE_BYTES + 40];
	struct log_line line;
	uint64_t line_pos;
	uint32_t n = 0;

	*lost = 0;
	*pos = MIN(*pos, __atomic_load_n(&log_ring.text_end, __ATOMIC_RELAXED));
	while (n < len && line_at(*pos, &line, &line_pos)) {
		size_t size = log_format(&line, text, sizeof(text));
		uint64_t skip;
		uint32_t part;

		if (*pos < line_pos) {
			*lost += line_pos - *pos;
			*pos = line_pos;
		}
		skip = *pos - line_pos;
		part = (uint32_t)MIN(size - skip, (uint64_t)(len - n));
		memcpy(buf + n, text + skip, part);
		n += part;
		*pos += part;
	}
	return n;
}

uint64_t log_next_seq(void)
{
	return READ_ONCE(log_ring.next_seq);
}

size_t log_format(const struct log_line *line, char *buf, size_t size)
{
	size_t len = 0;

	if (size == 0)
		return 0;
	buf[0] = 0;
	fmt_append(buf, size, &len, "[%5llu.%06llu] ",
		   (unsigned long long)(line->time_ns / 1000000000u),
		   (unsigned long long)(line->time_ns / 1000u % 1000000u));
	if (line->level <= LOG_WARN)
		fmt_append(buf, size, &len, "%s: ", line->level <= LOG_ERROR ? "error" : "warning");
	fmt_append(buf, size, &len, "%.*s\n", (int)line->len, line->text);
	return len;
}

static void console_out(const char *text, size_t len)
{
	void (*sink)(const char *, size_t) = READ_ONCE(log_ring.sink);

	if (sink)
		sink(text, len);
	else
		early_console_write(text, len);
}

void log_vwrite(enum log_level level, const char *fmt, __builtin_va_list ap)
{
	struct log_line line = {
		.time_ns = hal_ktime_ns(),
		.level = (uint8_t)level,
		.cpu = (uint8_t)this_cpu()->id,
	};
	int len = fmt_vsnprintf(line.text, sizeof(line.text), fmt, ap);
	char text[LOG_LINE_BYTES + 40];
	unsigned long flags;
	struct record r;
	size_t formatted;

	line.len = (uint16_t)MIN((size_t)len, sizeof(line.text) - 1);
	while (line.len > 0 && line.text[line.len - 1] == '\n')
		line.len--;
	r = (struct record){
		.time_ns = line.time_ns,
		.len = line.len,
		.level = line.level,
		.cpu = line.cpu,
	};
	formatted = log_format(&line, text, sizeof(text));
	flags = spin_lock_irqsave(&log_ring.lock);
	ring_append(&r, line.text, formatted);
	spin_unlock_irqrestore(&log_ring.lock, flags);
	if (level <= READ_ONCE(log_ring.console_level))
		console_out(text, formatted);
}

void log_write(enum log_level level, const char *fmt, ...)
{
	__builtin_va_list ap;

	__builtin_va_start(ap, fmt);
	log_vwrite(level, fmt, ap);
	__builtin_va_end(ap);
}

void log_set_console_level(enum log_level level)
{
	WRITE_ONCE(log_ring.console_level, level);
}

void log_set_sink(void (*write)(const char *text, size_t len))
{
	WRITE_ONCE(log_ring.sink, write);
}
