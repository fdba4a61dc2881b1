/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/capture.h"

#define LINKTYPE_ETHERNET 1
#define PACKET_MAX	  (256u * 1024)

struct reader {
	const uint8_t *p, *end;
	bool swap;
};

static uint32_t get_u32(const struct reader *r, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return r->swap ? __builtin_bswap32(v) : v;
}

static uint16_t get_u16(const struct reader *r, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return r->swap ? __builtin_bswap16(v) : v;
}

static int add_packet(struct capture *c, const uint8_t *data, uint32_t len, uint32_t wire_len)
{
	struct capture_packet *more;

	if (len > PACKET_MAX)
		return -EINVAL;
	more = realloc(c->packets, (c->nr + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	c->packets = more;
	more[c->nr++] = (struct capture_packet){ data, len, wire_len };
	return 0;
}

/* ---- pcap ---- */

static bool is_pcap(struct reader *r)
{
	static const uint32_t magics[] = { 0xa1b2c3d4, 0xa1b23c4d };
	uint32_t magic;

	if (r->end - r->p < 24)
		return false;
	memcpy(&magic, r->p, 4);
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		r->swap = magic == __builtin_bswap32(magics[i]);
		if (r->swap || magic == magics[i])
			return true;
	}
	return false;
}

static int parse_pcap(struct reader *r, struct capture *c, const char **err)
{
	int rc = 0;

	if ((get_u32(r, r->p + 20) & 0xffff) != LINKTYPE_ETHERNET) {
		*err = "its packets are not Ethernet";
		return -EOPNOTSUPP;
	}
	for (r->p += 24; !rc && r->end - r->p >= 16;) {
		uint32_t len = get_u32(r, r->p + 8), wire_len = get_u32(r, r->p + 12);

		r->p += 16;
		if (len > (size_t)(r->end - r->p)) {
			*err = "it is cut off in the middle of a packet";
			return -EINVAL;
		}
		rc = add_packet(c, r->p, len, wire_len);
		r->p += len;
	}
	if (rc == -EINVAL)
		*err = "it is damaged: a packet is longer than any";
	return rc;
}

/* ---- pcapng ---- */

enum { NG_SECTION = 0x0a0d0d0a, NG_INTERFACE = 1, NG_SIMPLE = 3, NG_ENHANCED = 6 };
#define NG_BYTE_ORDER 0x1a2b3c4d
#define NG_INTERFACES 64

struct ng {
	struct reader r;
	bool ethernet[NG_INTERFACES];
	uint32_t snaplen[NG_INTERFACES];
	uint32_t interfaces;
	bool other_link; /* packets of other links were left out */
};

static int ng_packet(struct ng *n, struct capture *c, const uint8_t *body, uint32_t len,
		     bool enhanced)
{
	uint32_t interface = enhanced ? get_u32(&n->r, body) : 0;
	uint32_t head = enhanced ? 20 : 4;
	uint32_t cap, wire_len;

	if (len < head || interface >= n->interfaces)
		return -EINVAL;
	wire_len = get_u32(&n->r, body + (enhanced ? 16 : 0));
	cap = enhanced ? get_u32(&n->r, body + 12) : wire_len;
	if (!enhanced && n->snaplen[0] && cap > n->snaplen[0])
		cap = n->snaplen[0];
	if (cap > len - head)
		return -EINVAL;
	if (!n->ethernet[interface]) {
		n->other_link = true;
		return 0;
	}
	return add_packet(c, body + head, cap, wire_len);
}

static int ng_interface(struct ng *n, const uint8_t *body, uint32_t len)
{
	if (len < 8 || n->interfaces == NG_INTERFACES)
		return -EINVAL;
	n->ethernet[n->interfaces] = get_u16(&n->r, body) == LINKTYPE_ETHERNET;
	n->snaplen[n->interfaces++] = get_u32(&n->r, body + 4);
	return 0;
}

static int ng_section(struct ng *n, const uint8_t *body, uint32_t len)
{
	uint32_t order;

	if (len < 16)
		return -EINVAL;
	memcpy(&order, body, 4);
	if (order != NG_BYTE_ORDER && order != __builtin_bswap32(NG_BYTE_ORDER))
		return -EINVAL;
	n->interfaces = 0;
	return 0;
}

static bool is_pcapng(const struct reader *r)
{
	uint32_t type;

	if (r->end - r->p < 28)
		return false;
	memcpy(&type, r->p, 4);
	return type == NG_SECTION;
}

/* The byte order of a section stands in its header, behind the length that needs it. */
static void ng_set_order(struct ng *n)
{
	uint32_t order;

	if (n->r.end - n->r.p < 12)
		return;
	memcpy(&order, n->r.p + 8, 4);
	n->r.swap = order == __builtin_bswap32(NG_BYTE_ORDER);
}

static int parse_pcapng(const struct reader *start, struct capture *c, const char **err)
{
	struct ng n = { .r = *start };
	int rc = 0;

	while (!rc && n.r.end - n.r.p >= 12) {
		uint32_t type, len;
		const uint8_t *body = n.r.p + 8;

		memcpy(&type, n.r.p, 4); /* the section's type reads the same both ways */
		if (type == NG_SECTION)
			ng_set_order(&n);
		type = get_u32(&n.r, n.r.p);
		len = get_u32(&n.r, n.r.p + 4);
		if (len < 12 || len % 4 || len > (size_t)(n.r.end - n.r.p)) {
			*err = "a block's length is wrong";
			return -EINVAL;
		}
		if (type == NG_SECTION)
			rc = ng_section(&n, body, len - 12);
		else if (type == NG_INTERFACE)
			rc = ng_interface(&n, body, len - 12);
		else if (type == NG_SIMPLE || type == NG_ENHANCED)
			rc = len < 12 + 20 && type == NG_ENHANCED
				     ? -EINVAL
				     : ng_packet(&n, c, body, len - 12, type == NG_ENHANCED);
		n.r.p += len;
	}
	if (rc == -EINVAL)
		*err = "one of its blocks is damaged";
	else if (!rc && !c->nr && n.other_link) {
		*err = "its packets are not Ethernet";
		rc = -EOPNOTSUPP;
	}
	return rc;
}

int capture_parse(uint8_t *file, size_t len, struct capture *c, const char **err)
{
	struct reader r = { .p = file, .end = file + len };
	int rc;

	*c = (struct capture){ .file = file };
	*err = "out of memory";
	if (is_pcap(&r)) {
		rc = parse_pcap(&r, c, err);
	} else if (is_pcapng(&r)) {
		rc = parse_pcapng(&r, c, err);
	} else {
		*err = "it is neither pcap nor pcapng";
		rc = -EINVAL;
	}
	if (!rc && !c->nr) {
		*err = "there are no packets in it";
		rc = -EINVAL;
	}
	if (rc)
		capture_free(c);
	return rc;
}

void capture_free(struct capture *c)
{
	free(c->packets);
	free(c->file);
	*c = (struct capture){ 0 };
}
