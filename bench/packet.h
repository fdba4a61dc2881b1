/* SPDX-License-Identifier: BSD-2-Clause */
/* The one input of every benchmark: eth + IPv4 + TCP + 74 bytes of text, 128 bytes. */
#pragma once
static const unsigned char bench_packet[128] =
	/* eth: dst, src, 0x0800 */
	"\x02\x00\x00\x00\x00\x02"
	"\x02\x00\x00\x00\x00\x01"
	"\x08\x00"
	/* IPv4: ihl 5, len 114, id 0x1234, DF, ttl 64, tcp, csum 0x1450, 10.0.0.1 > 10.0.0.2 */
	"\x45\x00\x00\x72\x12\x34\x40\x00\x40\x06\x14\x50\x0a\x00\x00\x01\x0a\x00\x00\x02"
	/* TCP: 12345 > 80, seq, ack, doff 5, PSH|ACK, window, csum, urg */
	"\x30\x39\x00\x50\x01\x02\x03\x04\x05\x06\x07\x08\x50\x18\x72\x10\xab\xcd\x00\x00"
	/* payload, 74 bytes */
	"GET /index.html?a=1&b=22&key=value42 HTTP/1.1\r\nHost: bench.example\r\n\r\n\x01\x02\x03";
