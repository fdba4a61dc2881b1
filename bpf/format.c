/* SPDX-License-Identifier: BSD-2-Clause */
#include "bpf/format.h"

#include <string.h>

#include "bpf/probe.h"
#include "include/err.h"
#include "include/hal.h"
#include "lib/fmt.h"

/* Widest field: Linux has no bound, but nothing longer than a line is of use. */
#define WIDTH_MAX 1024
/* Longest string of one %s. */
#define STR_MAX 256

struct out {
	char *buf;
	size_t size, len; /* len: of the whole text, may pass size */
};

/* One conversion, parsed. */
struct spec {
	char flags[5]; /* as given, without repeats */
	uint32_t width;
	uint32_t arg_bytes; /* 4 or 8 */
	char conv;	    /* d u x X c s; 'p' address, '4' '6' IP address */
	char sub;	    /* IP addresses: I or i */
};

static void put(struct out *o, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++, o->len++) {
		if (o->len + 1 < o->size)
			o->buf[o->len] = text[i];
	}
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_print(char c)
{
	return c >= ' ' && c <= '~';
}

/* May follow %p and %s: the end, white space, punctuation. */
static bool ends_word(char c)
{
	bool alnum = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');

	return !c || is_space(c) || (is_print(c) && !alnum);
}

static const char *parse_flags(const char *p, struct spec *s)
{
	uint32_t n = 0;

	for (; *p && strchr("0+- ", *p); p++) {
		if (n < sizeof(s->flags) - 1 && !memchr(s->flags, *p, n))
			s->flags[n++] = *p;
	}
	for (; *p >= '0' && *p <= '9'; p++)
		s->width = MIN(s->width * 10 + (uint32_t)(*p - '0'), (uint32_t)WIDTH_MAX);
	return p;
}

/* After %p. Returns the end of the conversion, NULL: not one. */
static const char *parse_pointer(const char *p, struct spec *s)
{
	s->conv = 'p';
	s->arg_bytes = 8;
	if (ends_word(*p))
		return p;
	if ((*p == 'k' || *p == 'u') && p[1] == 's') {
		s->conv = 's';
		return ends_word(p[2]) ? p + 2 : NULL;
	}
	if (*p == 'x' || *p == 'K' || *p == 'S' || *p == 's' || *p == 'B')
		return p + 1;
	if ((*p != 'i' && *p != 'I') || (p[1] != '4' && p[1] != '6'))
		return NULL;
	s->sub = *p;
	s->conv = p[1];
	return p + 2;
}

/* From after the %. */
static const char *parse_spec(const char *p, struct spec *s)
{
	*s = (struct spec){ .arg_bytes = 4 };
	p = parse_flags(p, s);
	if (*p == 'p')
		return parse_pointer(p + 1, s);
	if (*p == 's') {
		s->conv = 's';
		return ends_word(p[1]) ? p + 1 : NULL;
	}
	if (*p == 'c') {
		s->conv = 'c';
		return p + 1;
	}
	if (*p == 'l') {
		s->arg_bytes = 8;
		p += p[1] == 'l' ? 2 : 1;
	}
	if (!*p || !strchr("diuxX", *p))
		return NULL;
	s->conv = *p == 'i' ? 'd' : *p;
	return p + 1;
}

static void put_number(struct out *o, const struct spec *s, uint64_t arg)
{
	char fmt[16], text[WIDTH_MAX / 8];
	uint32_t width = MIN(s->width, (uint32_t)sizeof(text) - 1);
	int64_t value = s->arg_bytes == 8 ? (int64_t)arg : (int32_t)arg;
	int len;

	fmt_snprintf(fmt, sizeof(fmt), "%%%s*ll%c", s->flags, s->conv);
	if (s->conv != 'd' && s->arg_bytes == 4)
		value = (uint32_t)arg;
	/* fmt is one of ours, made from checked parts. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
	len = fmt_snprintf(text, sizeof(text), fmt, (int)width, (long long)value);
#pragma GCC diagnostic pop
	put(o, text, (size_t)MAX(len, 0));
}

static void put_padded(struct out *o, const struct spec *s, const char *text, size_t len)
{
	size_t pad = s->width > len ? s->width - len : 0;
	bool left = strchr(s->flags, '-');

	for (size_t i = 0; !left && i < pad; i++)
		put(o, " ", 1);
	put(o, text, len);
	for (size_t i = 0; left && i < pad; i++)
		put(o, " ", 1);
}

static void put_string(struct out *o, const struct spec *s, uint64_t addr)
{
	char text[STR_MAX];
	int64_t len = probe_read_str(text, sizeof(text), (const void *)(uintptr_t)addr);

	put_padded(o, s, text, len > 0 ? (size_t)len - 1 : 0);
}

static void put_ip(struct out *o, const struct spec *s, uint64_t addr)
{
	uint8_t b[16] = { 0 };
	char text[48];
	size_t len = 0;

	if (hal_probe_read(b, (const void *)(uintptr_t)addr, s->conv == '4' ? 4 : 16))
		memset(b, 0, sizeof(b));
	if (s->conv == '4') {
		fmt_append(text, sizeof(text), &len,
			   s->sub == 'i' ? "%03u.%03u.%03u.%03u" : "%u.%u.%u.%u", b[0], b[1], b[2],
			   b[3]);
	} else {
		for (uint32_t i = 0; i < 16; i += 2)
			fmt_append(text, sizeof(text), &len, "%s%02x%02x",
				   i && s->sub == 'I' ? ":" : "", b[i], b[i + 1]);
	}
	put_padded(o, s, text, len);
}

static void put_spec(struct out *o, const struct spec *s, uint64_t arg)
{
	char text[20];
	int len;

	switch (s->conv) {
	case 's':
		put_string(o, s, arg);
		break;
	case '4':
	case '6':
		put_ip(o, s, arg);
		break;
	case 'c':
		text[0] = (char)arg;
		put_padded(o, s, text, 1);
		break;
	case 'p':
		len = fmt_snprintf(text, sizeof(text), "%016llx", (unsigned long long)arg);
		put_padded(o, s, text, (size_t)MAX(len, 0));
		break;
	default:
		put_number(o, s, arg);
		break;
	}
}

/* The whole format before anything is printed: number of conversions, or -EINVAL. */
static int format_check(const char *fmt, size_t fmt_size)
{
	const char *end = memchr(fmt, 0, fmt_size);
	struct spec s;
	int nr = 0;

	if (!end)
		return -EINVAL;
	for (const char *p = fmt; p < end;) {
		if (!is_print(*p) && !is_space(*p))
			return -EINVAL;
		if (*p++ != '%')
			continue;
		if (*p == '%') {
			p++;
			continue;
		}
		p = parse_spec(p, &s);
		if (!p)
			return -EINVAL;
		nr++;
	}
	return nr;
}

int bpf_format(char *out, size_t size, const char *fmt, size_t fmt_size, const uint64_t *args,
	       uint32_t nr)
{
	struct out o = { .buf = out, .size = size };
	int wanted = format_check(fmt, fmt_size);
	struct spec s;

	if (wanted < 0 || (uint32_t)wanted > nr)
		return -EINVAL;
	for (const char *p = fmt; *p;) {
		if (*p != '%' || p[1] == '%') {
			put(&o, p, 1);
			p += *p == '%' ? 2 : 1;
			continue;
		}
		p = parse_spec(p + 1, &s);
		put_spec(&o, &s, *args++);
	}
	if (size)
		out[MIN(o.len, size - 1)] = '\0';
	return (int)MIN(o.len, (size_t)INT32_MAX);
}
