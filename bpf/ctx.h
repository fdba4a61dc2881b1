/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Contexts. A program sees the UAPI structure (xdp_md, __sk_buff, ...); memory holds the internal
 * one below, with real pointers. bpf/prog_types.def gives each program type its kind;
 * bpf/ctx_access.def has one row per UAPI field: what may be read or written and where the internal
 * field lies. Three users of that one table: the verifier (what is allowed), xlate (rewrites the
 * access), the checked interpreter (performs it).
 */
#pragma once

#include "include/base.h"
#include "include/uapi_new.h"

enum ctx_kind {
	CTX_NONE,	/* R1 is plain memory (raw runs) */
	CTX_XDP,	/* struct ctx_xdp */
	CTX_SKB,	/* struct ctx_skb */
	CTX_TRACEPOINT, /* bytes, read only: struct ctx_bytes */
	CTX_RAW_TP,	/* u64 args[], read only: struct ctx_bytes */
	CTX_RAW_TP_W,	/* as RAW_TP; args[0] points to a writable buffer */
	CTX_PERF_EVENT, /* struct ctx_perf */
	CTX_SYSCALL,	/* bytes, read and write: struct ctx_bytes */
	CTX_KIND_NR,
};

/* Both packet contexts begin with this, so that packet helpers and checks serve both. */
struct ctx_pkt {
	uint8_t *data;
	uint8_t *data_end;
	uint8_t *data_meta;
	uint8_t *hard_start; /* first byte of the buffer: data may move down to here */
	uint8_t *hard_end;   /* one past the buffer: data_end may move up to here */
};

struct ctx_xdp {
	struct ctx_pkt pkt;
	uint32_t ingress_ifindex, rx_queue_index, egress_ifindex;
};

struct ctx_skb {
	struct ctx_pkt pkt;
	uint32_t len; /* data_end - data always; kept for the UAPI field */
	uint32_t pkt_type, mark, queue_mapping, protocol /* network order in the low half */;
	uint32_t vlan_present, vlan_tci, vlan_proto, priority;
	uint32_t ingress_ifindex, ifindex, tc_index, hash, tc_classid, napi_id;
	uint32_t gso_segs, gso_size, tstamp_type;
	uint64_t tstamp, hwtstamp;
	uint32_t cb[5];
	uint32_t l2_bytes; /* bytes of link header before data (socket filters: pulled) */
	uint32_t hash_valid;
};

struct ctx_perf {
	uint64_t regs[34]; /* x0..x30, sp, pc, pstate: struct user_pt_regs */
	uint64_t sample_period, addr;
};

/* Contexts whose program-visible bytes lie in memory as they are. R1 = bytes. */
struct ctx_bytes {
	uint8_t *bytes;
	uint32_t len;
};

enum ctx_field_kind {
	CTX_SCALAR,
	CTX_PKT_DATA, /* pointer to packet bytes: the UAPI's u32 stands for it */
	CTX_PKT_META,
	CTX_PKT_END,
	CTX_BUFFER,    /* pointer to a buffer that the program may read and write (raw_tp.w) */
	CTX_FORBIDDEN, /* the field exists in the UAPI and may not be used on this board */
};

enum ctx_access {
	CTX_NARROW =
		1,     /* narrower loads allowed, at any offset that is a multiple of their width */
	CTX_BYTES = 2, /* plain bytes: loads and stores of any width, naturally aligned */
};

/* Sets of program types in the columns below: bit n stands for program type n. */
#define CTX_BY_ALL  (~0u)
#define CTX_BY_NONE 0u

/*
 * All internal fields have the UAPI's byte order and hold at least its bytes, so an access of
 * `size` bytes at UAPI offset o is one at in_off + (o - off), of the same size; only a pointer
 * field's load becomes one of in_size (8) bytes.
 */
struct ctx_field {
	uint16_t off, size;	  /* in the UAPI structure; of one element */
	uint16_t count;		  /* elements, 1 for a plain field */
	uint16_t in_off, in_size; /* in the internal structure; in_size 8 for pointers */
	uint8_t kind;		  /* enum ctx_field_kind */
	uint8_t access;		  /* enum ctx_access */
	uint32_t readers;	  /* CTX_BY_*: program types that may load it */
	uint32_t writers;	  /* ... that may store it */
	const char *name;
};

/*
 * The row that covers [off, off+size) of the kind's UAPI structure, or NULL. Does not judge access
 * rights. Context: any.
 */
const struct ctx_field *ctx_field_find(enum ctx_kind kind, uint32_t off, uint32_t size);
/*
 * Same, judged for a program type: NULL also where direction, width or alignment is not allowed, or
 * the field is forbidden. What Linux's is_valid_access functions say, as data.
 */
const struct ctx_field *ctx_field_check(enum ctx_kind kind, enum bpf_prog_type type, uint32_t off,
					uint32_t size, bool write);
/* Bytes of the UAPI structure as a program sees it (the most it may be, for plain bytes). */
uint32_t ctx_uapi_size(enum ctx_kind kind);
/* Bytes of the internal structure; 0 for kinds that R1 reaches as plain bytes. */
uint32_t ctx_internal_size(enum ctx_kind kind);
/*
 * Perform a checked access (checked interpreter): load or store `size` bytes at UAPI offset off of
 * the internal context ctx. 0 or -EACCES. Pointer fields give the 64-bit pointer.
 */
int ctx_load(enum ctx_kind kind, enum bpf_prog_type type, const void *ctx, uint32_t off,
	     uint32_t size, uint64_t *value) __must_check;
int ctx_store(enum ctx_kind kind, enum bpf_prog_type type, void *ctx, uint32_t off, uint32_t size,
	      uint64_t value) __must_check;

struct run_ctx;
/*
 * Prepare a run on a context: sets rc->ctx and the regions that a checked run may touch (context,
 * packet or bytes); returns the value of R1. ctx is the internal structure of the type's kind
 * (struct ctx_bytes for the plain ones); for CTX_NONE add the regions by hand.
 */
void *ctx_run_begin(struct run_ctx *rc, enum bpf_prog_type type, void *ctx);

/* Program types: one row of bpf/prog_types.def each. */
struct prog_type {
	enum bpf_prog_type type;
	const char *name; /* as bpftool prints it */
	enum ctx_kind ctx;
	uint8_t pkt_access;  /* 0 none, 1 read, 2 read and write */
	uint8_t test_run;    /* enum test_run_kind */
	uint8_t ret_checked; /* R0 at exit must be in [ret_min, ret_max] */
	int32_t ret_min, ret_max;
};
enum test_run_kind { TEST_RUN_NONE, TEST_RUN_XDP, TEST_RUN_SKB, TEST_RUN_RAW_TP, TEST_RUN_SYSCALL };
/* NULL: this board does not know the type. */
const struct prog_type *prog_type_get(enum bpf_prog_type type);
