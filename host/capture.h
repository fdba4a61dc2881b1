/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets of a capture file: pcap (both byte orders, micro- and nanoseconds;
 * draft-ietf-opsawg-pcap) and pcapng (section header, interface, simple and enhanced packet blocks;
 * draft-ietf-opsawg-pcapng). Ethernet only.
 */
#pragma once

#include "include/base.h"

struct capture_packet {
	const uint8_t *data; /* into the file's bytes */
	uint32_t len;	     /* bytes captured */
	uint32_t wire_len;   /* bytes that the packet had */
};

struct capture {
	uint8_t *file;
	struct capture_packet *packets;
	uint32_t nr;
};

/* 0, or -EINVAL, -ENOMEM, -EOPNOTSUPP with a sentence in err. Takes over file (malloc'ed). */
int capture_parse(uint8_t *file, size_t len, struct capture *c, const char **err) __must_check;
void capture_free(struct capture *c);
