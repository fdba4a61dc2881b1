/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(2) calls by hand, for tests of runtime/. A call lives in one static structure:
 *
 *	struct bpf_call *c = rt_call(BPF_MAP_LOOKUP_ELEM);
 *	c->attr.bpf.map_fd = map;
 *	rt_in(&c->attr.bpf.key, &key, sizeof(key));
 *	rt_out(&c->attr.bpf.value, sizeof(value));
 *	CHECK_EQ(rt_do(rt), 0);
 *	CHECK_EQ(*(uint32_t *)rt_result(c->attr.bpf.value, 4), 7);
 *	rt_call_end();
 *
 * rt_call ends the call before it.
 */
#pragma once

#include "include/err.h"
#include "include/hal.h"
#include "runtime/rt.h"

#define RT_TEST_SESSION 7

struct bpf_call *rt_call(uint32_t cmd);
void rt_in(__u64 *ptr, const void *data, uint32_t len);
void rt_inout(__u64 *ptr, const void *data, uint32_t len, uint32_t cap);
void rt_out(__u64 *ptr, uint32_t cap);
/*
 * From the n-th allocation inside bpf_syscall on (counted over all calls from now), every one
 * fails; those of the test itself do not. 0: none fails.
 */
void rt_fail_from(unsigned long n);
/* Run it; session RT_TEST_SESSION. */
int64_t rt_do(struct rt *rt);
/* len bytes that came back at a pointer of the attr, or NULL: fewer came. */
const void *rt_result(uint64_t ptr, uint32_t len);
/* Bytes that came back in that buffer. */
uint32_t rt_result_len(uint64_t ptr);
void rt_call_end(void);

/* Frequent calls; all return what bpf(2) does. */
int64_t rt_map_create(struct rt *rt, uint32_t type, uint32_t key, uint32_t value, uint32_t max,
		      uint32_t flags);
int64_t rt_map_put(struct rt *rt, uint32_t map, const void *key, uint32_t key_len,
		   const void *value, uint32_t value_len);
int64_t rt_map_look(struct rt *rt, uint32_t map, const void *key, uint32_t key_len, void *value,
		    uint32_t value_len);
int64_t rt_load(struct rt *rt, uint32_t type, const struct bpf_insn *insns, uint32_t cnt);
int64_t rt_close(struct rt *rt, uint32_t handle);
int64_t rt_path(struct rt *rt, uint32_t cmd, const char *path, uint32_t handle);
int64_t rt_knob_put(struct rt *rt, const char *name, int64_t value);
/* Objects with an id. */
unsigned int rt_count(struct rt *rt, enum rt_kind kind);

/* Instructions. */
#define I(c, d, s, o, i)                                                                           \
	((struct bpf_insn){ .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOV_IMM(d, i)	      I(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define MOV_REG(d, s)	      I(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD_IMM(d, i)	      I(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define LDX(sz, d, s, o)      I(BPF_LDX | BPF_MEM | (sz), d, s, o, 0)
#define STX(sz, d, s, o)      I(BPF_STX | BPF_MEM | (sz), d, s, o, 0)
#define CALL(id)	      I(BPF_JMP | BPF_CALL, 0, 0, 0, id)
#define CALL_REL(n)	      I(BPF_JMP | BPF_CALL, 0, BPF_PSEUDO_CALL, 0, n)
#define JEQ_IMM(d, i, o)      I(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, i)
#define JA(o)		      I(BPF_JMP | BPF_JA, 0, 0, o, 0)
#define EXIT()		      I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)
#define LDIMM64(d, s, lo, hi) I(BPF_LD | BPF_IMM | BPF_DW, d, s, 0, lo), I(0, 0, 0, 0, hi)
#define LOAD(rt, type, ...)                                                                        \
	rt_load(rt, type, (const struct bpf_insn[]){ __VA_ARGS__ },                                \
		ARRAY_SIZE(((const struct bpf_insn[]){ __VA_ARGS__ })))
