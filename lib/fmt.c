/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/fmt.h"

#include <limits.h>

#include "include/err.h"

/* Longest string that fmt_words() fetches for one %s. */
#define WORD_STR_BYTES 128
/* 22 octal digits of a 64-bit number. */
#define DIGITS_MAX 22

struct out {
	char *buf;
	size_t size;
	size_t len; /* of the whole text, also of what did not fit */
};

enum length { LEN_CHAR, LEN_SHORT, LEN_INT, LEN_LONG };

struct spec {
	bool left, plus, space, zero, alt;
	bool has_width_arg, has_precision_arg;
	int width;
	int precision; /* < 0: none */
	enum length length;
	char conv;
};

static void out_char(struct out *o, char c)
{
	if (o->len < o->size)
		o->buf[o->len] = c;
	o->len++;
}

static void out_pad(struct out *o, char c, int n)
{
	for (; n > 0 && o->len < o->size; n--)
		out_char(o, c);
	/* A huge width only has to be counted. */
	if (n > 0)
		o->len += (size_t)n;
}

static int out_end(struct out *o)
{
	if (o->size)
		o->buf[o->len < o->size ? o->len : o->size - 1] = '\0';
	return o->len > INT_MAX ? INT_MAX : (int)o->len;
}

/* Decimal number at *p, clamped to what an int holds. */
static int parse_number(const char **p, const char *end)
{
	int n = 0;

	for (; *p < end && **p >= '0' && **p <= '9'; (*p)++)
		n = n > (INT_MAX - 9) / 10 ? INT_MAX : n * 10 + (**p - '0');
	return n;
}

static bool parse_flag(struct spec *s, char c)
{
	switch (c) {
	case '-':
		return s->left = true;
	case '+':
		return s->plus = true;
	case ' ':
		return s->space = true;
	case '0':
		return s->zero = true;
	case '#':
		return s->alt = true;
	}
	return false;
}

static void parse_length(struct spec *s, const char **p, const char *end)
{
	char c = *p < end ? **p : '\0';

	s->length = LEN_INT;
	if (c == 'h') {
		(*p)++;
		s->length = LEN_SHORT;
		if (*p < end && **p == 'h') {
			(*p)++;
			s->length = LEN_CHAR;
		}
	} else if (c == 'l') {
		(*p)++;
		s->length = LEN_LONG;
		if (*p < end && **p == 'l')
			(*p)++;
	} else if (c == 'z' || c == 't' || c == 'j') {
		(*p)++;
		s->length = LEN_LONG;
	}
}

/* Parse what follows a '%'. Returns the end of the conversion, or NULL if it is none of ours. */
static const char *parse_spec(struct spec *s, const char *p, const char *end)
{
	*s = (struct spec){ .precision = -1 };
	while (p < end && parse_flag(s, *p))
		p++;
	if (p < end && *p == '*') {
		s->has_width_arg = true;
		p++;
	} else {
		s->width = parse_number(&p, end);
	}
	if (p < end && *p == '.') {
		p++;
		if (p < end && *p == '*') {
			s->has_precision_arg = true;
			p++;
		} else {
			s->precision = parse_number(&p, end);
		}
	}
	parse_length(s, &p, end);
	if (p == end)
		return NULL;
	s->conv = *p++;
	for (const char *known = "diuxXocsp%"; *known; known++)
		if (*known == s->conv)
			return p;
	return NULL;
}

static void set_width(struct spec *s, int width)
{
	if (width < 0) {
		s->left = true;
		width = width == INT_MIN ? INT_MAX : -width;
	}
	s->width = width;
}

static void put_text(struct out *o, const struct spec *s, const char *text, size_t len)
{
	int pad = len < (size_t)s->width ? s->width - (int)len : 0;

	if (!s->left)
		out_pad(o, ' ', pad);
	for (size_t i = 0; i < len; i++)
		out_char(o, text[i]);
	if (s->left)
		out_pad(o, ' ', pad);
}

static void put_string(struct out *o, const struct spec *s, const char *text)
{
	size_t len = 0;

	if (!text)
		text = "(null)";
	while ((s->precision < 0 || len < (size_t)s->precision) && text[len])
		len++;
	put_text(o, s, text, len);
}

/* Digits of v, least significant first; none for 0. Returns how many. */
static int get_digits(uint64_t v, unsigned int base, bool upper, char *digits)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	int n = 0;

	for (; v; v /= base)
		digits[n++] = set[v % base];
	return n;
}

static void put_number(struct out *o, const struct spec *s, uint64_t v, unsigned int base,
		       const char *prefix)
{
	char digits[DIGITS_MAX];
	int n = get_digits(v, base, s->conv == 'X', digits);
	int zeros = (s->precision < 0 ? 1 : s->precision) - n;
	int prefix_len = prefix[0] ? (prefix[1] ? 2 : 1) : 0;
	int pad;

	if (zeros < 0)
		zeros = 0;
	if (s->conv == 'o' && s->alt && zeros == 0)
		zeros = 1;
	pad = s->width - n - prefix_len;
	pad = pad > zeros ? pad - zeros : 0;
	if (s->zero && !s->left && s->precision < 0) {
		zeros += pad;
		pad = 0;
	}
	if (!s->left)
		out_pad(o, ' ', pad);
	for (int i = 0; i < prefix_len; i++)
		out_char(o, prefix[i]);
	out_pad(o, '0', zeros);
	while (n)
		out_char(o, digits[--n]);
	if (s->left)
		out_pad(o, ' ', pad);
}

static int64_t sign_extend(uint64_t v, enum length length)
{
	switch (length) {
	case LEN_CHAR:
		return (int8_t)v;
	case LEN_SHORT:
		return (int16_t)v;
	case LEN_INT:
		return (int32_t)v;
	default:
		return (int64_t)v;
	}
}

static uint64_t zero_extend(uint64_t v, enum length length)
{
	switch (length) {
	case LEN_CHAR:
		return (uint8_t)v;
	case LEN_SHORT:
		return (uint16_t)v;
	case LEN_INT:
		return (uint32_t)v;
	default:
		return v;
	}
}

/* Every conversion but %s, from a 64-bit word. */
static void put_word(struct out *o, const struct spec *s, uint64_t v)
{
	struct spec pointer = *s;
	int64_t signed_v;
	char c;

	switch (s->conv) {
	case 'd':
	case 'i':
		signed_v = sign_extend(v, s->length);
		v = signed_v < 0 ? 0 - (uint64_t)signed_v : (uint64_t)signed_v;
		put_number(o, s, v, 10, signed_v < 0 ? "-" : s->plus ? "+" : s->space ? " " : "");
		break;
	case 'u':
		put_number(o, s, zero_extend(v, s->length), 10, "");
		break;
	case 'o':
		put_number(o, s, zero_extend(v, s->length), 8, "");
		break;
	case 'x':
	case 'X':
		v = zero_extend(v, s->length);
		put_number(o, s, v, 16, !s->alt || !v ? "" : s->conv == 'x' ? "0x" : "0X");
		break;
	case 'p':
		pointer.conv = 'x';
		put_number(o, &pointer, v, 16, "0x");
		break;
	case 'c':
		c = (char)v;
		put_text(o, s, &c, 1);
		break;
	case '%':
		out_char(o, '%');
		break;
	}
}

/* va_list may be an array type, which cannot be passed by address portably; a struct can. */
struct va {
	va_list ap;
};

static uint64_t next_va_word(struct va *va, const struct spec *s)
{
	if (s->conv == 'p')
		return (uint64_t)(uintptr_t)va_arg(va->ap, void *);
	if (s->length == LEN_LONG && s->conv != 'c')
		return va_arg(va->ap, unsigned long);
	return (uint64_t)va_arg(va->ap, int);
}

_Static_assert(sizeof(long) == sizeof(long long) && sizeof(long) == sizeof(size_t),
	       "l, ll and z are fetched alike");

static void format_va(struct out *o, const char *fmt, struct va *va)
{
	const char *end = fmt, *p = fmt, *next;
	struct spec s;

	while (*end)
		end++;
	while (p < end) {
		if (*p != '%') {
			out_char(o, *p++);
			continue;
		}
		next = parse_spec(&s, p + 1, end);
		if (!next)
			break;
		p = next;
		if (s.has_width_arg)
			set_width(&s, va_arg(va->ap, int));
		if (s.has_precision_arg)
			s.precision = va_arg(va->ap, int);
		if (s.conv == 's')
			put_string(o, &s, va_arg(va->ap, const char *));
		else
			put_word(o, &s, s.conv == '%' ? 0 : next_va_word(va, &s));
	}
	while (p < end)
		out_char(o, *p++);
}

int fmt_vsnprintf(char *buf, size_t size, const char *fmt, va_list ap)
{
	struct out o = { .buf = buf, .size = size };
	struct va va;

	va_copy(va.ap, ap);
	format_va(&o, fmt, &va);
	va_end(va.ap);
	return out_end(&o);
}

int fmt_snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = fmt_vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return len;
}

size_t fmt_append(char *buf, size_t size, size_t *len, const char *fmt, ...)
{
	size_t at = *len < size ? *len : size - 1;
	va_list ap;
	int more;

	va_start(ap, fmt);
	more = fmt_vsnprintf(buf + at, size - at, fmt, ap);
	va_end(ap);
	*len = (size_t)more < size - at ? at + (size_t)more : size - 1;
	return *len;
}

struct word_source {
	const struct fmt_words *args;
	unsigned int used;
};

static int next_word(struct word_source *src, uint64_t *out)
{
	if (src->used >= src->args->n_words)
		return -E2BIG;
	*out = src->args->words[src->used++];
	return 0;
}

static int put_word_string(struct out *o, const struct spec *s, const struct fmt_words *args,
			   uint64_t addr)
{
	char text[WORD_STR_BYTES];
	int len = args->read_str ? args->read_str(args->ctx, addr, text, sizeof(text)) : -EINVAL;

	if (len < 0)
		return len;
	text[(size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1] = '\0';
	put_string(o, s, text);
	return 0;
}

static int put_word_spec(struct out *o, struct spec *s, struct word_source *src)
{
	uint64_t v = 0;
	int err = 0;

	if (s->has_width_arg) {
		err = next_word(src, &v);
		set_width(s, (int)v);
	}
	if (!err && s->has_precision_arg) {
		err = next_word(src, &v);
		s->precision = (int)v;
	}
	if (!err && s->conv != '%')
		err = next_word(src, &v);
	if (err)
		return err;
	if (s->conv == 's')
		return put_word_string(o, s, src->args, v);
	put_word(o, s, v);
	return 0;
}

int fmt_words(char *buf, size_t size, const char *fmt, size_t fmt_bytes,
	      const struct fmt_words *args)
{
	struct out o = { .buf = buf, .size = size };
	struct word_source src = { .args = args };
	const char *p = fmt, *end = fmt;
	struct spec s;
	int err = 0;

	while ((size_t)(end - fmt) < fmt_bytes && *end)
		end++;
	while (!err && p < end) {
		if (*p != '%') {
			out_char(&o, *p++);
			continue;
		}
		p = parse_spec(&s, p + 1, end);
		if (!p)
			err = -EINVAL;
		else
			err = put_word_spec(&o, &s, &src);
	}
	if (err) {
		if (size)
			buf[0] = '\0';
		return err;
	}
	return out_end(&o);
}
