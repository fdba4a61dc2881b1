/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers that need a run: maps, callbacks, tail calls, locks. Each program runs in both modes;
 * what only the checked mode refuses, there alone.
 */
#include "test.h"

#include "bpf/btf.h"
#include "bpf/ctx.h"
#include "bpf/helpers.h"
#include "bpf/interp.h"
#include "hal_host.h"
#include "include/err.h"
#include "support_map.h"
#include "support_run.h"
#include "support_vectors.h"

/* ---- maps -------------------------------------------------------------------------------------
 */

#define KEY_ON_STACK "*(u32 *)(r10 -4) = 1; r2 = r10; r2 += -4;"

TEST(map_elements)
{
	struct bpf_map *map;
	uint32_t key = 1;
	uint64_t value = 40;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_HASH, 4, 8, 4, 0), 0);
	CHECK_EQ(run(KEY_ON_STACK "r1 = map[0]; call bpf_map_lookup_elem; exit", &map, 1), 0);
	CHECK_EQ(map->ops->update(map, &key, &value, BPF_ANY), 0);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(run_mode(KEY_ON_STACK "r1 = map[0]; call bpf_map_lookup_elem;"
					       "if r0 == 0x0 goto out; r1 = *(u64 *)(r0 +0);"
					       "r1 += 1; *(u64 *)(r0 +0) = r1; r0 = r1; out: exit",
				  &map, 1, modes[i]),
			 41 + i);
	}
	CHECK_EQ(run(KEY_ON_STACK "r1 = map[0]; *(u64 *)(r10 -16) = 7; r3 = r10; r3 += -16; r4 = 0;"
				  "call bpf_map_update_elem; exit",
		     &map, 1),
		 0);
	CHECK_EQ(*(uint64_t *)map->ops->lookup(map, &key), 7);
	CHECK_EQ(run_mode(KEY_ON_STACK "r1 = map[0]; call bpf_map_delete_elem; exit", &map, 1,
			  PROG_MODE_FAST),
		 0);
	CHECK_EQ(run(KEY_ON_STACK "r1 = map[0]; call bpf_map_delete_elem; exit", &map, 1),
		 (uint64_t)-ENOENT);
	map_end(map);
}

TEST(map_arguments_are_checked)
{
	static const char *const bad[] = {
		"r1 = 0; " KEY_ON_STACK "call bpf_map_lookup_elem; exit",
		"r1 = map[0]; r2 = 0; call bpf_map_lookup_elem; exit",
		"r1 = map[0]; r2 = r10; r2 += -3; call bpf_map_lookup_elem; exit",
		"r1 = r10; " KEY_ON_STACK "call bpf_map_lookup_elem; exit",
		KEY_ON_STACK "r1 = map[0]; r3 = r2; r4 = 0; call bpf_map_update_elem; exit",
		/* Not a map of this kind. */
		"r1 = map[0]; r2 = r10; r2 += -8; call bpf_map_pop_elem; exit",
	};
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_HASH, 4, 8, 4, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (run_checked(bad[i], &map, 1) != ENDED(RUN_END_BAD_CALL))
			TEST_FAIL("\"%s\"", bad[i]);
	}
	map_end(map);
}

TEST(map_values_are_bounded)
{
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_ARRAY, 4, 12, 1, 0), 0);
	CHECK_EQ(run("r1 = map[0][0]+8; r0 = *(u32 *)(r1 +0); exit", &map, 1), 0);
	CHECK_EQ(run_checked("r1 = map[0][0]+8; r0 = *(u64 *)(r1 +0); exit", &map, 1),
		 ENDED(RUN_END_BAD_ACCESS));
	CHECK_EQ(run_checked("r1 = map[0]; r0 = *(u64 *)(r1 +0); exit", &map, 1),
		 ENDED(RUN_END_BAD_ACCESS));
	map_end(map);
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_ARRAY, 4, 8, 1, BPF_F_RDONLY_PROG), 0);
	CHECK_EQ(run("r1 = map[0][0]+0; r0 = *(u64 *)(r1 +0); exit", &map, 1), 0);
	CHECK_EQ(run_checked("r1 = map[0][0]+0; *(u64 *)(r1 +0) = 1; r0 = 0; exit", &map, 1),
		 ENDED(RUN_END_BAD_ACCESS));
	map_end(map);
}

TEST(queues)
{
	struct bpf_map *map;
	uint64_t v = 11;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_QUEUE, 0, 8, 4, 0), 0);
	for (size_t i = 0; i < 2; i++) {
		CHECK_EQ(map->ops->push(map, &v, 0), 0);
		CHECK_EQ(run_mode("r1 = map[0]; *(u64 *)(r10 -8) = 5; r2 = r10; r2 += -8; r3 = 0;"
				  "call bpf_map_push_elem; r1 = map[0]; r2 = r10; r2 += -16;"
				  "call bpf_map_peek_elem; r6 = *(u64 *)(r10 -16); r1 = map[0];"
				  "r2 = r10; r2 += -16; call bpf_map_pop_elem; r1 = map[0];"
				  "r2 = r10; r2 += -16; call bpf_map_pop_elem;"
				  "r0 = *(u64 *)(r10 -16); r6 <<= 8; r0 |= r6; exit",
				  &map, 1, modes[i]),
			 0xb05);
	}
	map_end(map);
}

TEST(per_cpu_elements)
{
	struct bpf_map *map;
	uint32_t key = 1;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 4, 0), 0);
	hal_host_set_cpu(1);
	*(uint64_t *)map->ops->lookup(map, &key) = 55;
	hal_host_set_cpu(0);
	CHECK_EQ(run(KEY_ON_STACK "r1 = map[0]; r3 = 1; call bpf_map_lookup_percpu_elem;"
				  "r0 = *(u64 *)(r0 +0); exit",
		     &map, 1),
		 55);
	CHECK_EQ(run(KEY_ON_STACK "r1 = map[0]; r3 = 99; call bpf_map_lookup_percpu_elem; exit",
		     &map, 1),
		 0);
	map_end(map);
}

#define SUM_EACH                                                                                   \
	"r1 = map[0]; r2 = subprog[each]; *(u64 *)(r10 -8) = 0; r3 = r10; r3 += -8; r4 = 0;"       \
	"call bpf_for_each_map_elem; r1 = *(u64 *)(r10 -8); r0 <<= 32; r0 |= r1; exit;"

TEST(for_each)
{
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_HASH, 4, 8, 8, 0), 0);
	for (uint32_t key = 1; key <= 3; key++) {
		uint64_t value = key * 100;

		CHECK_EQ(map->ops->update(map, &key, &value, BPF_ANY), 0);
	}
	CHECK_EQ(run(SUM_EACH "each: r1 = *(u32 *)(r2 +0); r5 = *(u64 *)(r3 +0); r1 += r5;"
			      "r5 = *(u64 *)(r4 +0); r5 += r1; *(u64 *)(r4 +0) = r5; r0 = 0; exit",
		     &map, 1),
		 3ull << 32 | 606);
	/* Ends after the first. */
	CHECK_EQ(run(SUM_EACH "each: r0 = 1; exit", &map, 1) >> 32, 1);
	/* The key may not be written, nor read beyond its end. */
	CHECK_EQ(run_checked(SUM_EACH "each: *(u32 *)(r2 +0) = 9; r0 = 0; exit", &map, 1),
		 ENDED(RUN_END_BAD_ACCESS));
	CHECK_EQ(run("r1 = map[0]; r2 = subprog[f]; r3 = 0; r4 = 1; call bpf_for_each_map_elem;"
		     "exit; f: r0 = 0; exit",
		     &map, 1),
		 (uint64_t)-EINVAL);
	map_end(map);
}

TEST(loop_budget)
{
	struct run_ctx rc = { 0 };
	struct bpf_prog *prog = test_prog_asm(BPF_PROG_TYPE_UNSPEC,
					      "r1 = 1000; r2 = subprog[outer]; r3 = 0; r4 = 0;"
					      "call bpf_loop; exit;"
					      "outer: r1 = 8388608; r2 = subprog[inner]; r3 = 0;"
					      "r4 = 0; call bpf_loop; r0 = 0; exit;"
					      "inner: r0 = 0; exit",
					      NULL, 0, false);
	uint64_t ret;

	CHECK(prog);
	CHECK_EQ(test_prog_run(prog, PROG_MODE_FAST, NULL, NULL, &rc, &ret), -EFAULT);
	CHECK_EQ(rc.end.why, RUN_END_LOOPS);
	CHECK_EQ(rc.loops_left, 0);
	test_prog_free(prog);
}

/* ---- tail calls -------------------------------------------------------------------------------
 */

/* A prog array whose slots hold programs of the test. */
static struct bpf_prog *slot_progs[4];

static int slot_get(void *rt, struct bpf_map *map, uint32_t handle, void **obj)
{
	(void)rt;
	(void)map;
	*obj = slot_progs[handle - 1];
	return 0;
}

static void slot_put(void *rt, struct bpf_map *map, void *obj)
{
	(void)rt;
	(void)map;
	(void)obj;
}

static uint32_t slot_id(void *obj)
{
	(void)obj;
	return 0;
}

static const struct map_fd_ops slot_ops = { slot_get, slot_put, slot_id };

static struct bpf_map *slots_new(uint32_t nr)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_PROG_ARRAY,
				.key_size = 4,
				.value_size = 4,
				.max_entries = nr };
	struct bpf_map *map;

	return bpf_map_create(&attr, NULL, NULL, NULL, &slot_ops, &map) ? NULL : map;
}

static void slot_set(struct bpf_map *map, uint32_t at, uint32_t handle)
{
	if (bpf_map_sys_update(map, &at, &handle, BPF_ANY))
		TEST_FAIL("slot %u", at);
}

static uint64_t run_prog(struct bpf_prog *prog, enum prog_mode mode, struct run_ctx *rc)
{
	struct ctx_xdp xdp = { 0 };
	void *r1 = ctx_run_begin(rc, BPF_PROG_TYPE_XDP, &xdp);
	uint64_t ret;

	if (test_prog_run(prog, mode, r1, NULL, rc, &ret))
		return ENDED(rc->end.why);
	return ret;
}

#define COUNT_AND_JUMP(slot)                                                                       \
	"r6 = map[1][0]+0; r2 = *(u64 *)(r6 +0); r2 += 1; *(u64 *)(r6 +0) = r2; r2 = map[0];"      \
	"r3 = " #slot "; call bpf_tail_call; r0 = 77; exit"

TEST(tail_calls)
{
	struct bpf_map *maps[2] = { slots_new(4), NULL };
	uint64_t *counter;
	uintptr_t addr;

	CHECK(maps[0]);
	CHECK_EQ(map_new(&maps[1], BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0), 0);
	CHECK_EQ(maps[1]->ops->direct_value(maps[1], 0, &addr), 0);
	counter = (uint64_t *)addr;
	slot_progs[0] = test_prog_asm(BPF_PROG_TYPE_XDP, COUNT_AND_JUMP(0), maps, 2, false);
	slot_progs[1] = test_prog_asm(BPF_PROG_TYPE_XDP, COUNT_AND_JUMP(9), maps, 2, false);
	slot_progs[2] = test_prog_asm(BPF_PROG_TYPE_XDP, COUNT_AND_JUMP(3), maps, 2, false);
	slot_progs[3] = test_prog_asm(BPF_PROG_TYPE_XDP,
				      "*(u64 *)(r10 -512) = 5; r2 = *(u64 *)(r10 -512); r0 = r2;"
				      "exit",
				      maps, 2, false);
	slot_set(maps[0], 0, 1);
	for (size_t i = 0; i < 2; i++) {
		struct run_ctx rc = { 0 };

		/* Itself, until the 33 are used up: 1 + 33 runs, then on after the call. */
		*counter = 0;
		CHECK_EQ(run_prog(slot_progs[0], modes[i], &rc), 77);
		CHECK_EQ(*counter, 34);
		CHECK_EQ(rc.tail_calls, 33);
		/* Index out of range, empty slot. */
		*counter = 0;
		CHECK_EQ(run_prog(slot_progs[1], modes[i], &rc), 77);
		CHECK_EQ(run_prog(slot_progs[2], modes[i], &rc), 77);
		CHECK_EQ(*counter, 2);
		CHECK_EQ(rc.tail_calls, 0);
	}
	/* A caller without a frame of its own gives the target a whole one. */
	slot_set(maps[0], 3, 4);
	for (size_t i = 0; i < 2; i++) {
		struct run_ctx rc = { 0 };

		CHECK_EQ(run_prog(slot_progs[2], modes[i], &rc), 5);
		CHECK(rc.prog == slot_progs[3]);
	}
	map_end(maps[0]);
	map_end(maps[1]);
	for (size_t i = 0; i < 4; i++)
		test_prog_free(slot_progs[i]);
}

/* From a function: the target takes its place and returns to its caller. */
TEST(tail_call_in_a_function)
{
	struct bpf_map *map = slots_new(1);
	struct bpf_prog *caller;

	CHECK(map);
	slot_progs[0] = test_prog_asm(BPF_PROG_TYPE_XDP, "r6 = 1; r0 = 40; exit", &map, 1, false);
	caller = test_prog_asm(BPF_PROG_TYPE_XDP,
			       "r6 = 2; call f; r0 += r6; exit;"
			       "f: r2 = map[0]; r3 = 0; call bpf_tail_call; r0 = 7; exit",
			       &map, 1, false);
	CHECK(slot_progs[0] && caller);
	slot_set(map, 0, 1);
	for (size_t i = 0; i < 2; i++) {
		struct run_ctx rc = { 0 };

		CHECK_EQ(run_prog(caller, modes[i], &rc), 42);
		CHECK(rc.prog == caller);
	}
	/* What may only run checked is no target of an unchecked run. */
	slot_progs[0]->mode = PROG_MODE_CHECKED;
	{
		struct run_ctx rc = { 0 };

		CHECK_EQ(run_prog(caller, PROG_MODE_FAST, &rc), 9);
		CHECK_EQ(run_prog(caller, PROG_MODE_CHECKED, &rc), 42);
	}
	map_end(map);
	test_prog_free(caller);
	test_prog_free(slot_progs[0]);
}

/* ---- locks ------------------------------------------------------------------------------------
 */

TEST(spin_locks)
{
	struct bpf_btf *btf;
	struct bpf_map *map;
	uintptr_t addr;

	CHECK_EQ(map_test_btf(&btf), 0);
	CHECK_EQ(map_new_btf(&map, btf, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0, MAP_TEST_INT,
			     MAP_TEST_LOCK_VALUE),
		 0);
	CHECK_EQ(map->ops->direct_value(map, 8, &addr), 0);
	CHECK_EQ(run_mode("r6 = map[0][0]+8; r1 = r6; call bpf_spin_lock; r7 = *(u32 *)(r6 +0);"
			  "r1 = r6; call bpf_spin_unlock; r0 = r7; exit",
			  &map, 1, PROG_MODE_FAST),
		 1);
	CHECK_EQ(run("r6 = map[0][0]+8; r1 = r6; call bpf_spin_lock;"
		     "*(u64 *)(r6 -8) = 5; r1 = r6; call bpf_spin_unlock; r0 = *(u64 *)(r6 -8);"
		     "exit",
		     &map, 1),
		 5);
	/* The lock is its helpers' alone, and only it is a lock. */
	CHECK_EQ(run_checked("r1 = map[0][0]+8; r0 = *(u32 *)(r1 +0); exit", &map, 1),
		 ENDED(RUN_END_BAD_ACCESS));
	CHECK_EQ(run_checked("r1 = map[0][0]+0; call bpf_spin_lock; exit", &map, 1),
		 ENDED(RUN_END_BAD_CALL));
	CHECK_EQ(*(uint32_t *)addr, 0);
	CHECK_EQ(hal_host_irq_depth(), 0);
	/* Twice, never taken, never given back, ended while held: nobody waits, all is free. */
	CHECK_EQ(run("r6 = map[0][0]+8; r1 = r6; call bpf_spin_lock; r1 = r6; call bpf_spin_lock;"
		     "exit",
		     &map, 1),
		 ENDED(RUN_END_BAD_CALL));
	CHECK_EQ(run("r1 = map[0][0]+8; call bpf_spin_unlock; exit", &map, 1),
		 ENDED(RUN_END_BAD_CALL));
	CHECK_EQ(run_checked("r1 = map[0][0]+8; call bpf_spin_lock; r0 = 0; exit", &map, 1),
		 ENDED(RUN_END_BAD_CALL));
	CHECK_EQ(run_checked("r1 = map[0][0]+8; call bpf_spin_lock; r1 = 0; r0 = *(u8 *)(r1 +0);"
			     "exit",
			     &map, 1),
		 ENDED(RUN_END_BAD_ACCESS));
	CHECK_EQ(*(uint32_t *)addr, 0);
	CHECK_EQ(run_checked("r1 = r10; r1 += -3; call bpf_spin_lock; exit", &map, 1),
		 ENDED(RUN_END_BAD_CALL));
	map_end(map);
	btf_free(btf);
}

/* ---- verdicts ---------------------------------------------------------------------------------
 */

TEST(redirect_is_a_verdict)
{
	struct run_ctx rc = { 0 };
	struct bpf_prog *prog = test_prog_asm(
		BPF_PROG_TYPE_XDP, "r1 = 5; r2 = 0; call bpf_redirect; exit", NULL, 0, false);

	CHECK(prog);
	CHECK_EQ(run_prog(prog, PROG_MODE_FAST, &rc), XDP_REDIRECT);
	CHECK_EQ(rc.redirect_ifindex, 5);
	test_prog_free(prog);
	CHECK_EQ(run("r1 = 5; r2 = 1; call bpf_redirect; exit", NULL, 0), XDP_ABORTED);
}
