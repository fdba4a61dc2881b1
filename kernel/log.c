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
	uint16_t len;
	uint8_t level;
	uint8_t cpu;
	uint32_t reserved;
};

static struct {
	struct spinlock lock;
	uint64_t head, tail; /* bytes ever written; start of the oldest record kept */
	uint64_t next_seq, tail_seq;
	void (*sink)(const char *text, size_t len);
	enum log_level console_level;
	uint8_t ring[LOG_BYTES];
} log_ring = { .console_level = LOG_INFO };

static void ring_copy_in(uint64_t pos, const void *data, size_t n)
{
	size_t at = pos % LOG_BYTES;
	size_t first = MIN(n, LOG_BYTES - at);

	memcpy(log_ring.ring + at, data, first);
	memcpy(log_ring.ring, (const uint8_t *)data + first, n - first);
}

static void ring_copy_out(uint64_t pos, void *data, size_t n)
{
	size_t at = pos % LOG_BYTES;
	size_t first = MIN(n, LOG_BYTES - at);

	memcpy(data, log_ring.ring + at, first);
	memcpy((uint8_t *)data + first, log_ring.ring, n - first);
}

static uint64_t record_bytes(const struct record *r)
{
	return sizeof(*r) + ROUND_UP((uint64_t)r->len, 8);
}

/* Returns the sequence number. */
static uint64_t ring_append(const struct record *r, const char *text)
{
	uint64_t need = record_bytes(r);

	while (log_ring.head + need - log_ring.tail > LOG_BYTES) {
		struct record old;

		ring_copy_out(log_ring.tail, &old, sizeof(old));
		log_ring.tail += record_bytes(&old);
		log_ring.tail_seq++;
	}
	ring_copy_in(log_ring.head, r, sizeof(*r));
	ring_copy_in(log_ring.head + sizeof(*r), text, r->len);
	log_ring.head += need;
	return log_ring.next_seq++;
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
	for (;;) {
		ring_copy_out(pos, &r, sizeof(r));
		if (at >= seq)
			break;
		pos += record_bytes(&r);
		at++;
	}
	out->seq = at;
	out->time_ns = r.time_ns;
	out->level = r.level;
	out->cpu = r.cpu;
	out->len = r.len;
	ring_copy_out(pos + sizeof(r), out->text, r.len);
	spin_unlock_irqrestore(&log_ring.lock, flags);
	return 0;
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

static void console_out(const struct log_line *line)
{
	char text[LOG_LINE_BYTES + 40];
	size_t len = log_format(line, text, sizeof(text));
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
	unsigned long flags;
	struct record r;

	line.len = (uint16_t)MIN((size_t)len, sizeof(line.text) - 1);
	while (line.len > 0 && line.text[line.len - 1] == '\n')
		line.len--;
	r = (struct record){
		.time_ns = line.time_ns,
		.len = line.len,
		.level = line.level,
		.cpu = line.cpu,
	};
	flags = spin_lock_irqsave(&log_ring.lock);
	line.seq = ring_append(&r, line.text);
	spin_unlock_irqrestore(&log_ring.lock, flags);
	if (level <= READ_ONCE(log_ring.console_level))
		console_out(&line);
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
