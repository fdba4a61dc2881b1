/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internet checksums (RFC 1071) and the packet hash. Packets here carry no checksum state of a
 * device: they are as CHECKSUM_NONE in Linux.
 */
#include <string.h>

#include "bpf/helpers.h"
#include "bpf/packet.h"

#define CSUM_DIFF_MAX 512u

static uint32_t csum_add(uint32_t a, uint32_t b)
{
	uint64_t sum = (uint64_t)a + b;

	return (uint32_t)sum + (uint32_t)(sum >> 32);
}

static uint16_t csum_fold16(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)((sum & 0xffff) + (sum >> 16));
}

/* Sum of 32-bit words; len is a multiple of 4. */
static uint32_t csum_words(const uint8_t *p, uint32_t len, uint32_t seed)
{
	uint64_t sum = seed;

	for (uint32_t i = 0; i < len; i += 4) {
		uint32_t word;

		memcpy(&word, p + i, sizeof(word));
		sum += word;
	}
	sum = (sum & 0xffffffff) + (sum >> 32);
	return (uint32_t)((sum & 0xffffffff) + (sum >> 32));
}

HELPER_DEF(csum_diff)
{
	uint32_t from_size = (uint32_t)r2, to_size = (uint32_t)r4;
	uint32_t sum = (uint32_t)r5;

	if ((from_size | to_size) & 3 || (uint64_t)from_size + to_size > CSUM_DIFF_MAX)
		return helper_ret(-EINVAL);
	sum = csum_words(helper_ptr(r3), to_size, sum);
	if (from_size)
		sum = csum_add(sum, ~csum_words(helper_ptr(r1), from_size, 0));
	return csum_fold16(sum);
}

HELPER_DEF(csum_update)
{
	return helper_ret(-ENOTSUPP);
}

HELPER_DEF(csum_level)
{
	switch (r2) {
	case BPF_CSUM_LEVEL_QUERY:
		return helper_ret(-EACCES);
	case BPF_CSUM_LEVEL_INC:
	case BPF_CSUM_LEVEL_DEC:
	case BPF_CSUM_LEVEL_RESET:
		return 0;
	default:
		return helper_ret(-EINVAL);
	}
}

/* A checksum field after a summand changed from `from` to `to` (RFC 1624, equation 3). */
static uint16_t csum_replace(uint16_t field, uint32_t from, uint32_t to)
{
	uint32_t sum = csum_add(csum_add((uint16_t)~field, ~from), to);

	return (uint16_t)~csum_fold16(sum);
}

/* Width of the changed field: 2 or 4 bytes, 0: `to` is a difference already. False: not one. */
static bool replace_width(uint64_t width, uint64_t from, uint64_t to, uint32_t *old, uint32_t *new)
{
	switch (width) {
	case 0:
		*old = ~0u; /* adds nothing */
		*new = (uint32_t)to;
		return !from;
	case 2:
		*old = (uint16_t)from;
		*new = (uint16_t)to;
		return true;
	case 4:
		*old = (uint32_t)from;
		*new = (uint32_t)to;
		return true;
	default:
		return false;
	}
}

static uint8_t *checksum_field(uint64_t ctx, uint64_t off)
{
	const struct ctx_skb *skb = helper_ptr(ctx);

	return (uint32_t)off > 0xffff || off & 1 ? NULL : pkt_at(&skb->pkt, (uint32_t)off, 2);
}

HELPER_DEF(l3_csum_replace)
{
	uint32_t old, new;
	uint16_t field;
	uint8_t *p;

	if (r5 & ~(uint64_t)BPF_F_HDR_FIELD_MASK)
		return helper_ret(-EINVAL);
	p = checksum_field(r1, r2);
	if (!p)
		return helper_ret(-EFAULT);
	if (!replace_width(r5 & BPF_F_HDR_FIELD_MASK, r3, r4, &old, &new))
		return helper_ret(-EINVAL);
	memcpy(&field, p, sizeof(field));
	field = csum_replace(field, old, new);
	memcpy(p, &field, sizeof(field));
	return 0;
}

HELPER_DEF(l4_csum_replace)
{
	const uint64_t known =
		BPF_F_MARK_MANGLED_0 | BPF_F_MARK_ENFORCE | BPF_F_PSEUDO_HDR | BPF_F_HDR_FIELD_MASK;
	bool zero_is_none = r5 & BPF_F_MARK_MANGLED_0;
	uint32_t old, new;
	uint16_t field;
	uint8_t *p;

	if (r5 & ~known)
		return helper_ret(-EINVAL);
	p = checksum_field(r1, r2);
	if (!p)
		return helper_ret(-EFAULT);
	memcpy(&field, p, sizeof(field));
	/* UDP: 0 says that there is no checksum. */
	if (zero_is_none && !(r5 & BPF_F_MARK_ENFORCE) && !field)
		return 0;
	if (!replace_width(r5 & BPF_F_HDR_FIELD_MASK, r3, r4, &old, &new))
		return helper_ret(-EINVAL);
	field = csum_replace(field, old, new);
	if (zero_is_none && !field)
		field = 0xffff;
	memcpy(p, &field, sizeof(field));
	return 0;
}

/* ---- the packet's hash ----------------------------------------------------------------------- */

static uint32_t hash_bytes(uint32_t hash, const uint8_t *p, uint32_t len)
{
	for (uint32_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * 0x01000193; /* FNV-1a */
	return hash;
}

/*
 * Flows: addresses, protocol and ports where there are some. Equal for equal packets, never 0. Not
 * Linux's value, which differs from boot to boot anyway.
 */
static uint32_t flow_hash(const struct ctx_skb *skb)
{
	const uint8_t *ip = skb_network(skb);
	uint32_t left = skb->pkt.data_end > ip ? (uint32_t)(skb->pkt.data_end - ip) : 0;
	uint32_t hash = hash_bytes(0x811c9dc5, (const uint8_t *)&skb->protocol, 2), l4 = 0;
	uint8_t proto = 0;

	if (left >= 20 && ip[0] >> 4 == 4) {
		hash = hash_bytes(hash, ip + 12, 8);
		proto = ip[9];
		l4 = (ip[0] & 15u) * 4;
	} else if (left >= 40 && ip[0] >> 4 == 6) {
		hash = hash_bytes(hash, ip + 8, 32);
		proto = ip[6];
		l4 = 40;
	}
	hash = hash_bytes(hash, &proto, 1);
	if ((proto == 6 || proto == 17) && left >= l4 + 4)
		hash = hash_bytes(hash, ip + l4, 4);
	return hash ? hash : 1;
}

HELPER_DEF(get_hash_recalc)
{
	struct ctx_skb *skb = helper_ptr(r1);

	if (!skb->hash_valid) {
		skb->hash = flow_hash(skb);
		skb->hash_valid = 1;
	}
	return skb->hash;
}

HELPER_DEF(set_hash_invalid)
{
	struct ctx_skb *skb = helper_ptr(r1);

	skb->hash = 0;
	skb->hash_valid = 0;
	return 0;
}

HELPER_DEF(set_hash)
{
	struct ctx_skb *skb = helper_ptr(r1);

	skb->hash = (uint32_t)r2;
	skb->hash_valid = 1;
	return 0;
}
