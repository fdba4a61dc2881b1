/* SPDX-License-Identifier: BSD-2-Clause */
/* Ring-buffer and dynptr helpers, called by programs in both modes. */
#include "test.h"

#include "bpf/map.h"
#include "include/err.h"
#include "support_map.h"
#include "support_run.h"

static uint64_t query(struct bpf_map *map, uint64_t what)
{
	return map->ops->ringbuf_query(map, what);
}

TEST(ring_buffer)
{
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0), 0);
	CHECK_EQ(run("r1 = map[0]; *(u64 *)(r10 -8) = 5; r2 = r10; r2 += -8; r3 = 8; r4 = 0;"
		     "call bpf_ringbuf_output; exit",
		     &map, 1),
		 0);
	CHECK_EQ(query(map, BPF_RB_PROD_POS), 32);
	CHECK_EQ(
		run("r1 = map[0]; r2 = 16; r3 = 0; call bpf_ringbuf_reserve; if r0 == 0x0 goto out;"
		    "*(u64 *)(r0 +8) = 1; r1 = r0; r2 = 0; call bpf_ringbuf_submit; r0 = 1;"
		    "out: exit",
		    &map, 1),
		1);
	CHECK_EQ(query(map, BPF_RB_PROD_POS), 80);
	CHECK_EQ(run("r1 = map[0]; r2 = 2; call bpf_ringbuf_query; exit", &map, 1),
		 query(map, BPF_RB_CONS_POS));
	CHECK_EQ(run("r1 = map[0]; r2 = 8192; r3 = 0; call bpf_ringbuf_reserve; exit", &map, 1), 0);
	map_end(map);
}

#define RESERVE "r1 = map[0]; r2 = 16; r3 = 0; call bpf_ringbuf_reserve; r6 = r0;"

TEST(ring_buffer_records_are_guarded)
{
	static const struct {
		const char *text;
		enum run_end_why why;
	} cases[] = {
		{ RESERVE "*(u64 *)(r6 +16) = 1; exit", RUN_END_BAD_ACCESS },
		{ RESERVE "r0 = *(u64 *)(r6 -8); exit", RUN_END_BAD_ACCESS },
		{ RESERVE "r1 = r6; r2 = 0; call bpf_ringbuf_submit; r0 = *(u64 *)(r6 +0); exit",
		  RUN_END_BAD_ACCESS },
		{ RESERVE "r1 = r6; r2 = 0; call bpf_ringbuf_submit; r1 = r6; r2 = 0;"
			  "call bpf_ringbuf_submit; exit",
		  RUN_END_BAD_CALL },
		{ RESERVE "r1 = r6; r1 += 8; r2 = 0; call bpf_ringbuf_discard; exit",
		  RUN_END_BAD_CALL },
		/* Kept at the end. */
		{ RESERVE "r0 = 0; exit", RUN_END_BAD_CALL },
	};
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t got = run_checked(cases[i].text, &map, 1);

		if (got != ENDED(cases[i].why))
			TEST_FAIL("\"%s\": %" PRIx64, cases[i].text, got);
	}
	/* Every record was given back: the ring takes a record of all that is left. */
	CHECK_EQ(query(map, BPF_RB_PROD_POS), 6 * 24);
	map_end(map);
}

/* More records at once than a run can remember. */
TEST(ring_buffer_records_are_limited)
{
	char text[4096] = "r7 = 0;";
	struct bpf_map *map;

	for (int i = 0; i < RUN_HELD_MAX + 1; i++)
		strcat(text, RESERVE "if r6 == 0x0 goto pc+1; r7 += 1;");
	strcat(text, "r1 = 0; r0 = *(u64 *)(r1 +0); exit");
	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0), 0);
	CHECK_EQ(run_checked(text, &map, 1), ENDED(RUN_END_BAD_ACCESS));
	map_end(map);
}

/* ---- dynptrs ----------------------------------------------------------------------------------
 */

#define DYNPTR_OF_VALUE                                                                            \
	"r1 = map[0][0]+0; r2 = 16; r3 = 0; r4 = r10; r4 += -16; call bpf_dynptr_from_mem;"

TEST(dynptr_of_memory)
{
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_ARRAY, 4, 16, 1, 0), 0);
	CHECK_EQ(run(DYNPTR_OF_VALUE "*(u64 *)(r10 -24) = 99; r1 = r10; r1 += -16; r2 = 4;"
				     "r3 = r10; r3 += -24; r4 = 8; r5 = 0; call bpf_dynptr_write;"
				     "if r0 != 0x0 goto out; r1 = r10; r1 += -32; r2 = 8; r3 = r10;"
				     "r3 += -16; r4 = 4; r5 = 0; call bpf_dynptr_read;"
				     "if r0 != 0x0 goto out; r0 = *(u64 *)(r10 -32); out: exit",
		     &map, 1),
		 99);
	CHECK_EQ(run(DYNPTR_OF_VALUE "r1 = r10; r1 += -32; r2 = 8; r3 = r10; r3 += -16; r4 = 9;"
				     "r5 = 0; call bpf_dynptr_read; exit",
		     &map, 1),
		 (uint64_t)-E2BIG);
	CHECK_EQ(run(DYNPTR_OF_VALUE "r1 = r10; r1 += -16; r2 = 4; r3 = 8; call bpf_dynptr_data;"
				     "r0 = *(u64 *)(r0 +0); exit",
		     &map, 1),
		 99);
	CHECK_EQ(run(DYNPTR_OF_VALUE "r1 = r10; r1 += -16; r2 = 9; r3 = 8; call bpf_dynptr_data;"
				     "exit",
		     &map, 1),
		 0);
	CHECK_EQ(run("r1 = map[0][0]+0; r2 = 16; r3 = 1; r4 = r10; r4 += -16;"
		     "call bpf_dynptr_from_mem; exit",
		     &map, 1),
		 (uint64_t)-EINVAL);
	/* An invalid one is refused by every helper. */
	CHECK_EQ(run("*(u64 *)(r10 -16) = 0; *(u64 *)(r10 -8) = 0; r1 = r10; r1 += -32; r2 = 8;"
		     "r3 = r10; r3 += -16; r4 = 0; r5 = 0; call bpf_dynptr_read; exit",
		     &map, 1),
		 (uint64_t)-EINVAL);
	/* Forged: memory that the program may not touch. */
	CHECK_EQ(run_checked("r1 = map[0]; *(u64 *)(r10 -16) = r1; *(u32 *)(r10 -8) = 268435464;"
			     "*(u32 *)(r10 -4) = 0; r1 = r10; r1 += -32; r2 = 8; r3 = r10;"
			     "r3 += -16; r4 = 0; r5 = 0; call bpf_dynptr_read; exit",
			     &map, 1),
		 ENDED(RUN_END_BAD_CALL));
	map_end(map);
}

#define DYNPTR_OF_RING                                                                             \
	"r1 = map[0]; r2 = 16; r3 = 0; r4 = r10; r4 += -16; call bpf_ringbuf_reserve_dynptr;"

TEST(dynptr_of_a_record)
{
	struct bpf_map *map;

	CHECK_EQ(map_new(&map, BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0), 0);
	CHECK_EQ(run(DYNPTR_OF_RING
		     "r7 = r0; r1 = r10; r1 += -16; r2 = 8; r3 = 8;"
		     "call bpf_dynptr_data; *(u64 *)(r0 +0) = 3; r1 = r10; r1 += -16;"
		     "r2 = 0; call bpf_ringbuf_submit_dynptr; r0 = r7; exit",
		     &map, 1),
		 0);
	CHECK_EQ(query(map, BPF_RB_PROD_POS), 48);
	/* Too large: the dynptr is invalid, giving it back does nothing. */
	CHECK_EQ(run("r1 = map[0]; r2 = 5000; r3 = 0; r4 = r10; r4 += -16;"
		     "call bpf_ringbuf_reserve_dynptr; r7 = r0; r1 = r10; r1 += -16; r2 = 0;"
		     "call bpf_ringbuf_discard_dynptr; r0 = r7; exit",
		     &map, 1),
		 (uint64_t)-EINVAL);
	CHECK_EQ(query(map, BPF_RB_PROD_POS), 48);
	/* A second time. */
	CHECK_EQ(run_checked(DYNPTR_OF_RING
			     "r6 = *(u64 *)(r10 -16); r7 = *(u64 *)(r10 -8);"
			     "r1 = r10; r1 += -16; r2 = 0;"
			     "call bpf_ringbuf_submit_dynptr; *(u64 *)(r10 -16) = r6;"
			     "*(u64 *)(r10 -8) = r7; r1 = r10; r1 += -16; r2 = 0;"
			     "call bpf_ringbuf_submit_dynptr; exit",
			     &map, 1),
		 ENDED(RUN_END_BAD_CALL));
	map_end(map);
}
