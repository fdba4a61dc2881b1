/* SPDX-License-Identifier: BSD-2-Clause */
/* A branchy state machine: an HTTP request line; counts tokens and hashes the query's values. */
#include "bench.h"
enum { METHOD, PATH, KEY, VALUE, PROTO, HDR, EOL };
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	if (p + PKT_LEN > e)
		return -1;
	u32 st = METHOD, h = 5381, keys = 0, slashes = 0, num = 0, colons = 0;
	NOUNROLL
	for (u32 i = 54; i < PKT_LEN - 1; i++) {
		u8 c = p[i];
		switch (st) {
		case METHOD:
			if (c == ' ')
				st = PATH;
			else if (c < 'A' || c > 'Z')
				return 1;
			break;
		case PATH:
			if (c == '/')
				slashes++;
			else if (c == '?')
				st = KEY;
			else if (c == ' ')
				st = PROTO;
			break;
		case KEY:
			if (c == '=') {
				keys++;
				st = VALUE;
			} else if (c == ' ') {
				st = PROTO;
			} else {
				h = h * 33 + c;
			}
			break;
		case VALUE:
			if (c == '&')
				st = KEY;
			else if (c == ' ')
				st = PROTO;
			else if (c >= '0' && c <= '9')
				num = num * 10 + (c - '0');
			else
				h = (h * 33) ^ c;
			break;
		case PROTO:
			if (c == '\n')
				st = HDR;
			break;
		case HDR:
			if (c == ':')
				colons++;
			else if (c == '\r')
				st = EOL;
			break;
		case EOL:
			st = c == '\n' ? HDR : EOL;
			break;
		}
	}
	return h + num * 7 + keys * 1000 + slashes * 100 + colons * 10 + st;
}
BENCH_COMPUTE(run);
