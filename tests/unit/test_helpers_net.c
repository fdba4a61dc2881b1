/* SPDX-License-Identifier: BSD-2-Clause */
/* Helpers for packets and checksums, called directly. */
#include "test.h"

#include "bpf/helpers.h"
#include "bpf/packet.h"
#include "include/err.h"

#define CALL(name, ...) CALL5(name, __VA_ARGS__, 0, 0, 0, 0, 0)
#define CALL5(name, a, b, c, d, e, ...)                                                            \
	((int64_t)helper_##name((uint64_t)(a), (uint64_t)(b), (uint64_t)(c), (uint64_t)(d),        \
				(uint64_t)(e)))

#define HEAD 64
#define TAIL 64

/* A packet in the middle of a buffer of exact size. */
struct packet {
	uint8_t *buf;
	struct ctx_skb skb;
	struct ctx_xdp xdp;
};

static void packet_new(struct packet *p, uint32_t len)
{
	memset(p, 0, sizeof(*p));
	p->buf = malloc(HEAD + len + TAIL);
	memset(p->buf, 0xee, HEAD + len + TAIL);
	for (uint32_t i = 0; i < len; i++)
		p->buf[HEAD + i] = (uint8_t)i;
	p->skb.pkt = (struct ctx_pkt){ .data = p->buf + HEAD,
				       .data_end = p->buf + HEAD + len,
				       .data_meta = p->buf + HEAD,
				       .hard_start = p->buf,
				       .hard_end = p->buf + HEAD + len + TAIL };
	p->skb.len = len;
	p->xdp.pkt = p->skb.pkt;
}

static void packet_end(struct packet *p)
{
	free(p->buf);
}

/* ---- socket buffers ---------------------------------------------------------------------------
 */

TEST(load_bytes)
{
	struct packet p;
	uint8_t out[8];

	packet_new(&p, 20);
	CHECK_EQ(CALL(skb_load_bytes, &p.skb, 3, out, 4), 0);
	CHECK_MEM(out, "\3\4\5\6", 4);
	CHECK_EQ(CALL(skb_load_bytes, &p.skb, 16, out, 4), 0);
	memset(out, 0xff, sizeof(out));
	CHECK_EQ(CALL(skb_load_bytes, &p.skb, 17, out, 4), -EFAULT);
	CHECK_MEM(out, "\0\0\0\0\xff", 5);
	CHECK_EQ(CALL(skb_load_bytes, &p.skb, 0xffffffff, out, 4), -EFAULT);
	packet_end(&p);
}

/* A socket filter's packet begins behind its link header. */
TEST(load_bytes_relative)
{
	struct packet p;
	uint8_t out[4];

	packet_new(&p, 40);
	p.skb.l2_bytes = 14;
	p.skb.pkt.data += 14;
	CHECK_EQ(CALL(skb_load_bytes_relative, &p.skb, 0, out, 2, BPF_HDR_START_MAC), 0);
	CHECK_MEM(out, "\0\1", 2);
	CHECK_EQ(CALL(skb_load_bytes_relative, &p.skb, 1, out, 2, BPF_HDR_START_NET), 0);
	CHECK_MEM(out, "\17\20", 2);
	CHECK_EQ(CALL(skb_load_bytes_relative, &p.skb, 25, out, 2, BPF_HDR_START_NET), -EFAULT);
	CHECK_EQ(CALL(skb_load_bytes_relative, &p.skb, 0, out, 2, 2), -EFAULT);
	CHECK_EQ(CALL(skb_load_bytes_relative, &p.skb, 0x10000, out, 2, 0), -EFAULT);
	packet_end(&p);
}

TEST(store_bytes)
{
	struct packet p;

	packet_new(&p, 20);
	CHECK_EQ(CALL(get_hash_recalc, &p.skb) != 0, 1);
	CHECK_EQ(CALL(skb_store_bytes, &p.skb, 18, "xy", 2, 0), 0);
	CHECK_MEM(p.skb.pkt.data + 17, "\21xy", 3);
	CHECK_EQ(p.skb.hash_valid, 1);
	CHECK_EQ(CALL(skb_store_bytes, &p.skb, 19, "xy", 2, 0), -EFAULT);
	CHECK_EQ(CALL(skb_store_bytes, &p.skb, 0, "xy", 2, 4), -EINVAL);
	CHECK_EQ(CALL(skb_store_bytes, &p.skb, 0, "xy", 2, BPF_F_INVALIDATE_HASH), 0);
	CHECK_EQ(p.skb.hash_valid, 0);
	packet_end(&p);
}

TEST(ends)
{
	struct packet p;

	packet_new(&p, 20);
	CHECK_EQ(CALL(skb_pull_data, &p.skb, 20), 0);
	CHECK_EQ(CALL(skb_pull_data, &p.skb, 21), -ENOMEM);
	CHECK_EQ(CALL(skb_change_tail, &p.skb, 30, 0), 0);
	CHECK_EQ(p.skb.len, 30);
	CHECK_MEM(p.skb.pkt.data + 19, "\23\0\0\0\0\0\0\0\0\0\0", 11);
	CHECK_EQ(CALL(skb_change_tail, &p.skb, 14, 0), 0);
	CHECK_EQ(CALL(skb_change_tail, &p.skb, 13, 0), -EINVAL);
	CHECK_EQ(CALL(skb_change_tail, &p.skb, 20, 1), -EINVAL);
	CHECK_EQ(CALL(skb_change_tail, &p.skb, 20 + TAIL, 0), 0);
	CHECK_EQ(CALL(skb_change_tail, &p.skb, 21 + TAIL, 0), -ENOMEM);
	CHECK_EQ(CALL(skb_change_head, &p.skb, 4, 0), 0);
	CHECK_EQ(p.skb.len, 24 + TAIL);
	CHECK_MEM(p.skb.pkt.data, "\0\0\0\0\0\1\2", 7);
	CHECK(p.skb.pkt.data_meta == p.skb.pkt.data);
	CHECK_EQ(CALL(skb_change_head, &p.skb, HEAD - 4, 0), 0);
	CHECK_EQ(CALL(skb_change_head, &p.skb, 1, 0), -ENOMEM);
	CHECK_EQ(CALL(skb_change_head, &p.skb, 0xffffffff, 0), -EINVAL);
	CHECK_EQ(CALL(skb_change_head, &p.skb, 1, 1), -EINVAL);
	packet_end(&p);
}

static uint32_t net16(uint16_t v)
{
	return be16_swap(v);
}

TEST(vlan_tags)
{
	struct packet p;

	packet_new(&p, 40);
	p.skb.protocol = net16(0x0800);
	/* The first goes to the context, the next one pushes it into the packet. */
	CHECK_EQ(CALL(skb_vlan_push, &p.skb, net16(0x8100), 5), 0);
	CHECK_EQ(p.skb.vlan_present, 1);
	CHECK_EQ(p.skb.vlan_tci, 5);
	CHECK_EQ(p.skb.len, 40);
	CHECK_EQ(CALL(skb_vlan_push, &p.skb, net16(0x88a8), 6), 0);
	CHECK_EQ(p.skb.len, 44);
	CHECK_EQ(p.skb.vlan_proto, net16(0x88a8));
	CHECK_EQ(p.skb.vlan_tci, 6);
	CHECK_EQ(p.skb.protocol, net16(0x8100));
	CHECK_MEM(p.skb.pkt.data, "\0\1\2\3\4\5\6\7\10\11\12\13\x81\0\0\5\14\15\16", 19);
	/* And back. The ethertype in the packet becomes the protocol. */
	CHECK_EQ(CALL(skb_vlan_pop, &p.skb), 0);
	CHECK_EQ(p.skb.len, 40);
	CHECK_EQ(p.skb.vlan_present, 1);
	CHECK_EQ(p.skb.vlan_tci, 5);
	CHECK_EQ(p.skb.vlan_proto, net16(0x8100));
	CHECK_EQ(p.skb.protocol, net16(0x0c0d));
	CHECK_EQ(CALL(skb_vlan_pop, &p.skb), 0);
	CHECK_EQ(p.skb.vlan_present, 0);
	/* Nothing left: no error. */
	CHECK_EQ(CALL(skb_vlan_pop, &p.skb), 0);
	CHECK_MEM(p.skb.pkt.data, "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16", 15);
	/* Anything else than a tag's protocol stands for the usual one. */
	CHECK_EQ(CALL(skb_vlan_push, &p.skb, 7, 1), 0);
	CHECK_EQ(p.skb.vlan_proto, net16(0x8100));
	packet_end(&p);
}

TEST(adjust_room)
{
	struct packet p;

	packet_new(&p, 60);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, 4, BPF_ADJ_ROOM_NET, 0), -ENOTSUPP);
	p.skb.protocol = net16(0x0800);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, 4, BPF_ADJ_ROOM_NET, 0), 0);
	CHECK_EQ(p.skb.len, 64);
	CHECK_MEM(p.skb.pkt.data + 32, "\40\41\0\0\0\0\42", 7);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, -4, BPF_ADJ_ROOM_NET, 0), 0);
	CHECK_MEM(p.skb.pkt.data + 32, "\40\41\42\43", 4);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, 20, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_ENCAP_L3_IPV6),
		 0);
	CHECK_EQ(p.skb.protocol, net16(0x86dd));
	CHECK_MEM(p.skb.pkt.data + 12, "\14\15\0\0", 4);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, -20, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_DECAP_L3_IPV4),
		 0);
	CHECK_EQ(p.skb.protocol, net16(0x0800));
	CHECK_EQ(p.skb.len, 60);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, -27, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_DECAP_L3_IPV4),
		 -ENOTSUPP);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, -46, BPF_ADJ_ROOM_MAC, 0), -ENOTSUPP);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, 0x1000, BPF_ADJ_ROOM_NET, 0), -EFAULT);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, 4, 2, 0), -ENOTSUPP);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, 4, 0, 1ull << 40), -EINVAL);
	CHECK_EQ(CALL(skb_adjust_room, &p.skb, HEAD + 1, BPF_ADJ_ROOM_NET, 0), -ENOMEM);
	CHECK_EQ(p.skb.len, 60);
	packet_end(&p);
}

TEST(types_and_hashes)
{
	struct packet p;
	int64_t hash;

	packet_new(&p, 40);
	CHECK_EQ(CALL(skb_change_type, &p.skb, 3), 0);
	CHECK_EQ(p.skb.pkt_type, 3);
	CHECK_EQ(CALL(skb_change_type, &p.skb, 4), -EINVAL);
	hash = CALL(get_hash_recalc, &p.skb);
	CHECK(hash && hash == CALL(get_hash_recalc, &p.skb));
	CHECK_EQ(p.skb.hash, hash);
	CHECK_EQ(CALL(set_hash, &p.skb, 77), 0);
	CHECK_EQ(CALL(get_hash_recalc, &p.skb), 77);
	CHECK_EQ(CALL(set_hash_invalid, &p.skb), 0);
	CHECK_EQ(CALL(get_hash_recalc, &p.skb), hash);
	CHECK_EQ(CALL(clone_redirect, &p.skb, 1, 0), -ENODEV);
	CHECK_EQ(CALL(clone_redirect, &p.skb, 1, 2), -EINVAL);
	packet_end(&p);
}

/* ---- XDP --------------------------------------------------------------------------------------
 */

TEST(xdp_head)
{
	struct packet p;

	packet_new(&p, 40);
	CHECK_EQ(CALL(xdp_adjust_head, &p.xdp, 5), 0);
	CHECK_EQ(p.xdp.pkt.data - p.buf, HEAD + 5);
	CHECK(p.xdp.pkt.data_meta == p.xdp.pkt.data);
	CHECK_EQ(CALL(xdp_adjust_head, &p.xdp, 40 - 5 - 14), 0);
	CHECK_EQ(CALL(xdp_adjust_head, &p.xdp, 1), -EINVAL);
	CHECK_EQ(CALL(xdp_adjust_head, &p.xdp, -(HEAD + 26 - XDP_FRAME_BYTES)), 0);
	CHECK_EQ(p.xdp.pkt.data - p.buf, XDP_FRAME_BYTES);
	CHECK_EQ(CALL(xdp_adjust_head, &p.xdp, -1), -EINVAL);
	CHECK_EQ(CALL(xdp_adjust_head, &p.xdp, INT32_MIN), -EINVAL);
	CHECK_EQ(CALL(xdp_adjust_head, &p.xdp, INT32_MAX), -EINVAL);
	packet_end(&p);
}

/* Metadata moves with the packet's start. */
TEST(xdp_meta)
{
	struct packet p;

	packet_new(&p, 40);
	CHECK_EQ(CALL(xdp_adjust_meta, &p.xdp, -8), 0);
	CHECK_EQ(p.xdp.pkt.data_meta - p.buf, HEAD - 8);
	memcpy(p.xdp.pkt.data_meta, "metadata", 8);
	CHECK_EQ(CALL(xdp_adjust_head, &p.xdp, 4), 0);
	CHECK_MEM(p.xdp.pkt.data_meta, "metadata", 8);
	CHECK_EQ(p.xdp.pkt.data - p.xdp.pkt.data_meta, 8);
	CHECK_EQ(CALL(xdp_adjust_meta, &p.xdp, 2), -EACCES);
	CHECK_EQ(CALL(xdp_adjust_meta, &p.xdp, 12), -EINVAL);
	CHECK_EQ(CALL(xdp_adjust_meta, &p.xdp, -100), -EINVAL);
	CHECK_EQ(CALL(xdp_adjust_meta, &p.xdp, 8), 0);
	CHECK(p.xdp.pkt.data_meta == p.xdp.pkt.data);
	packet_end(&p);
}

TEST(xdp_tail_and_bytes)
{
	struct packet p;
	uint8_t out[8];

	packet_new(&p, 40);
	CHECK_EQ(CALL(xdp_get_buff_len, &p.xdp), 40);
	CHECK_EQ(CALL(xdp_adjust_tail, &p.xdp, 3), 0);
	CHECK_MEM(p.xdp.pkt.data + 39, "\47\0\0\0\xee", 5);
	CHECK_EQ(CALL(xdp_adjust_tail, &p.xdp, TAIL - 3), 0);
	CHECK_EQ(CALL(xdp_adjust_tail, &p.xdp, 1), -EINVAL);
	CHECK_EQ(CALL(xdp_adjust_tail, &p.xdp, -(40 + TAIL - 14)), 0);
	CHECK_EQ(CALL(xdp_adjust_tail, &p.xdp, -1), -EINVAL);
	CHECK_EQ(CALL(xdp_get_buff_len, &p.xdp), 14);
	CHECK_EQ(CALL(xdp_load_bytes, &p.xdp, 10, out, 4), 0);
	CHECK_MEM(out, "\12\13\14\15", 4);
	CHECK_EQ(CALL(xdp_load_bytes, &p.xdp, 11, out, 4), -EINVAL);
	CHECK_EQ(CALL(xdp_load_bytes, &p.xdp, 0x10000, out, 4), -EFAULT);
	CHECK_EQ(CALL(xdp_store_bytes, &p.xdp, 12, "zz", 2), 0);
	CHECK_MEM(p.xdp.pkt.data + 11, "\13zz", 3);
	CHECK_EQ(CALL(xdp_store_bytes, &p.xdp, 13, "zz", 2), -EINVAL);
	CHECK_EQ(CALL(redirect_map, 0, 0, 2), 2);
	CHECK_EQ(CALL(redirect_map, 0, 0, 1ull << 20), 0);
	packet_end(&p);
}

/* ---- checksums --------------------------------------------------------------------------------
 */

/* RFC 1071, written down once more. */
static uint16_t checksum(const uint8_t *p, uint32_t len)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i + 1 < len; i += 2)
		sum += (uint32_t)p[i] << 8 | p[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

TEST(differences)
{
	uint8_t a[64], b[64], both[128];
	uint64_t state = 1;

	for (int round = 0; round < 2000; round++) {
		uint16_t before, after, want;
		int64_t diff;

		for (uint32_t i = 0; i < 64; i++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			a[i] = (uint8_t)(state >> 33);
			b[i] = (uint8_t)(state >> 41);
		}
		memcpy(both, a, 64);
		memcpy(both + 64, a, 64);
		before = checksum(both, 128);
		diff = CALL(csum_diff, a, 64, b, 64, (uint16_t)~__builtin_bswap16(before));
		memcpy(both + 64, b, 64);
		want = checksum(both, 128);
		after = __builtin_bswap16((uint16_t)~diff);
		/* 0 and all ones are the same sum. */
		CHECK(after == want || (uint16_t)(after ^ want) == 0xffff);
	}
	CHECK_EQ(CALL(csum_diff, a, 3, b, 4, 0), -EINVAL);
	CHECK_EQ(CALL(csum_diff, a, 256, b, 260, 0), -EINVAL);
	CHECK_EQ(CALL(csum_diff, NULL, 0, NULL, 0, 0x12345), 0x2346);
}

/* An IPv4 header keeps a right checksum through every kind of change. */
TEST(replacing)
{
	struct packet p;
	uint8_t *ip;
	uint16_t old16;
	uint32_t old32, new32 = 0xddccbbaa;

	packet_new(&p, 40);
	ip = p.skb.pkt.data + 14;
	be16_put(ip + 10, 0);
	be16_put(ip + 10, checksum(ip, 20));
	CHECK_EQ(checksum(ip, 20), 0);
	memcpy(&old16, ip + 2, 2);
	be16_put(ip + 2, 0x1234);
	CHECK_EQ(CALL(l3_csum_replace, &p.skb, 24, old16, be16_swap(0x1234), 2), 0);
	CHECK_EQ(checksum(ip, 20), 0);
	memcpy(&old32, ip + 12, 4);
	memcpy(ip + 12, &new32, 4);
	CHECK_EQ(CALL(l3_csum_replace, &p.skb, 24, old32, new32, 4), 0);
	CHECK_EQ(checksum(ip, 20), 0);
	memcpy(&old32, ip + 16, 4);
	memset(ip + 16, 0x77, 4);
	CHECK_EQ(CALL(l3_csum_replace, &p.skb, 24, 0, CALL(csum_diff, &old32, 4, ip + 16, 4, 0), 0),
		 0);
	CHECK_EQ(checksum(ip, 20), 0);
	CHECK_EQ(CALL(l3_csum_replace, &p.skb, 24, 1, 0, 0), -EINVAL);
	CHECK_EQ(CALL(l3_csum_replace, &p.skb, 24, 1, 0, 3), -EINVAL);
	CHECK_EQ(CALL(l3_csum_replace, &p.skb, 24, 1, 0, 0x12), -EINVAL);
	CHECK_EQ(CALL(l3_csum_replace, &p.skb, 23, 1, 0, 2), -EFAULT);
	CHECK_EQ(CALL(l3_csum_replace, &p.skb, 40, 1, 0, 2), -EFAULT);
	packet_end(&p);
}

TEST(replacing_udp)
{
	struct packet p;
	uint8_t *field;

	packet_new(&p, 40);
	field = p.skb.pkt.data + 34;
	be16_put(field, 0);
	CHECK_EQ(CALL(l4_csum_replace, &p.skb, 34, 1, 2, 2 | BPF_F_MARK_MANGLED_0), 0);
	CHECK_EQ(be16_get(field), 0);
	CHECK_EQ(CALL(l4_csum_replace, &p.skb, 34, 1, 1,
		      2 | BPF_F_MARK_MANGLED_0 | BPF_F_MARK_ENFORCE),
		 0);
	CHECK_EQ(be16_get(field), 0xffff);
	CHECK_EQ(CALL(l4_csum_replace, &p.skb, 34, 1, 1, 2 | BPF_F_PSEUDO_HDR), 0);
	CHECK_EQ(CALL(l4_csum_replace, &p.skb, 34, 1, 1, 2 | 0x100), -EINVAL);
	CHECK_EQ(CALL(csum_update, &p.skb, 1), -ENOTSUPP);
	CHECK_EQ(CALL(csum_level, &p.skb, BPF_CSUM_LEVEL_QUERY), -EACCES);
	CHECK_EQ(CALL(csum_level, &p.skb, BPF_CSUM_LEVEL_INC), 0);
	CHECK_EQ(CALL(csum_level, &p.skb, 9), -EINVAL);
	packet_end(&p);
}
