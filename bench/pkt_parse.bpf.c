/* SPDX-License-Identifier: BSD-2-Clause */
/* Ethernet (with optional VLAN), IPv4 with options, TCP: a flow key and the payload offset. */
#include "bench.h"
static __always_inline u32 run(const u8 *p, const u8 *e)
{
	const u8 *q = p + 14;
	if (q > e)
		return 1;
	u16 proto = *(const u16 *)(p + 12);
	if (proto == 0x0081) { /* 802.1Q, big endian */
		if (q + 4 > e)
			return 1;
		proto = *(const u16 *)(q + 2);
		q += 4;
	}
	if (proto != 0x0008) /* IPv4 */
		return 2;
	if (q + 20 > e)
		return 1;
	u32 ihl = (q[0] & 15) * 4;
	if (q[0] >> 4 != 4 || ihl < 20)
		return 3;
	if (q[6] & 0x3f || q[7]) /* a fragment */
		return 4;
	u32 src = ld32(q + 12), dst = ld32(q + 16);
	u8 ttl = q[8], l4 = q[9];
	if (l4 != 6 || ttl < 2)
		return 5;
	const u8 *t = q + ihl;
	if (t + 20 > e)
		return 1;
	u16 sport = __builtin_bswap16(*(const u16 *)t),
	    dport = __builtin_bswap16(*(const u16 *)(t + 2));
	u32 doff = (t[12] >> 4) * 4, flags = t[13];
	if (doff < 20 || (flags & 2))
		return 6;
	u32 key = src * 0x9e3779b1u ^ rol32(dst, 13) ^ (((u32)sport << 16) | dport);
	key ^= key >> 15;
	return key + ihl + doff + ttl;
}
BENCH_COMPUTE(run);
