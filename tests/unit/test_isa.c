/* SPDX-License-Identifier: BSD-2-Clause */
/* Instruction table, disassembler and logs. */
#include "test.h"

#include "bpf/disasm.h"
#include "bpf/isa.h"
#include "bpf/log.h"
#include "include/err.h"
#include "support_asm.h"

static uint64_t state = 1;

static uint32_t rnd(void)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33);
}

static uint32_t used_fields(const struct isa_row *row)
{
	static const uint32_t by_sel[] = { 0, FORM_OFF, FORM_IMM, FORM_SRC };

	return row->form | by_sel[row->sel];
}

/* A random legal instruction of a row. */
static void make(const struct isa_row *row, struct bpf_insn insn[2])
{
	memset(insn, 0, 2 * sizeof(*insn));
	insn->code = row->code;
	if (row->form & FORM_DST)
		insn->dst_reg = rnd() % 11 & 15;
	if (row->form & FORM_SRC)
		insn->src_reg = rnd() % 11 & 15;
	if (row->form & FORM_OFF)
		insn->off = (short)rnd();
	if (row->form & FORM_IMM)
		insn->imm = (int)(rnd() << 1 ^ rnd());
	if (row->flags & ISA_F_WIDE)
		insn[1].imm = (int)(rnd() << 1 ^ rnd());
	if (row->sel == SEL_OFF)
		insn->off = row->val;
	if (row->sel == SEL_IMM)
		insn->imm = row->val;
	if (row->sel == SEL_SRC)
		insn->src_reg = (uint16_t)row->val & 15;
	/* What prints as a name or with one number only. */
	if (row->id == ISA_CALL_HELPER)
		insn->imm = BPF_FUNC_ktime_get_ns;
	if (row->id == ISA_CALL_KFUNC)
		insn->off = 0;
	if (row->id == ISA_LD_MAP_FD || row->id == ISA_LD_MAP_IDX || row->id == ISA_LD_FUNC ||
	    row->id == ISA_LD_BTF_ID)
		insn[1].imm = 0;
}

TEST(rows_are_found_by_their_own_instructions)
{
	for (int id = 0; id < ISA_ID_NR; id++) {
		const struct isa_row *row = isa_row_get((enum isa_id)id);

		for (int i = 0; i < 100; i++) {
			struct bpf_insn insn[2];
			const char *why = NULL;

			make(row, insn);
			if (isa_find(insn, true, &why) != row) {
				TEST_FAIL("%s: %s", row->name, why ? why : "another row");
				return;
			}
		}
	}
}

static bool refused(const struct bpf_insn *insn, bool have_next)
{
	const char *why = NULL;

	return !isa_find(insn, have_next, &why) && why;
}

TEST(unused_fields_must_be_zero)
{
	for (int id = 0; id < ISA_ID_NR; id++) {
		const struct isa_row *row = isa_row_get((enum isa_id)id);
		uint32_t used = used_fields(row);

		for (uint32_t field = FORM_DST; field <= FORM_IMM; field <<= 1) {
			struct bpf_insn insn[2];

			if (used & field)
				continue;
			make(row, insn);
			insn->dst_reg = field == FORM_DST ? 1 : insn->dst_reg;
			insn->src_reg = field == FORM_SRC ? 1 : insn->src_reg;
			insn->off = field == FORM_OFF ? 1 : insn->off;
			insn->imm = field == FORM_IMM ? 1 : insn->imm;
			if (!refused(insn, true)) {
				TEST_FAIL("%s with field %u", row->name, field);
				return;
			}
		}
	}
}

TEST(registers_above_ten_do_not_exist)
{
	for (int id = 0; id < ISA_ID_NR; id++) {
		const struct isa_row *row = isa_row_get((enum isa_id)id);
		struct bpf_insn insn[2];

		make(row, insn);
		insn->dst_reg = 11;
		CHECK(!(row->form & FORM_DST) || refused(insn, true));
		make(row, insn);
		insn->src_reg = 11;
		CHECK(!(row->form & FORM_SRC) || refused(insn, true));
	}
}

TEST(wide_instructions_need_a_clean_second_slot)
{
	struct bpf_insn insn[2], bad;
	const char *why;

	make(isa_row_get(ISA_LD_IMM64), insn);
	CHECK(isa_find(insn, true, &why));
	CHECK(refused(insn, false));
	CHECK(!isa_find(insn, false, &why));
	CHECK_STR(why, "invalid bpf_ld_imm64 insn");
	bad = insn[1];
	insn[1].code = 7;
	CHECK(refused(insn, true));
	insn[1] = bad;
	insn[1].dst_reg = 1;
	CHECK(refused(insn, true));
	insn[1] = bad;
	insn[1].off = 1;
	CHECK(refused(insn, true));
}

/* Opcode bytes without a row, callx among them. */
TEST(unknown_opcodes)
{
	bool known[256] = { false };

	for (int id = 0; id < ISA_ID_NR; id++)
		known[isa_row_get((enum isa_id)id)->code] = true;
	CHECK(!known[BPF_JMP | BPF_CALL | BPF_X]);
	for (int code = 0; code < 256; code++) {
		struct bpf_insn insn[2] = { { .code = (uint8_t)code } };
		const char *why = NULL;

		CHECK_EQ(isa_known_opcode((uint8_t)code), known[code]);
		if (known[code])
			continue;
		CHECK(!isa_find(insn, true, &why));
		CHECK_STR(why, "unknown opcode");
	}
}

TEST(selectors_outside_their_rows)
{
	struct bpf_insn div = { .code = BPF_ALU64 | BPF_DIV | BPF_X, .off = 2 };
	struct bpf_insn movsx = { .code = BPF_ALU | BPF_MOV | BPF_X, .off = 32 };
	struct bpf_insn atomic = { .code = BPF_STX | BPF_ATOMIC | BPF_DW, .imm = 0x11 };
	struct bpf_insn end = { .code = BPF_ALU | BPF_END, .imm = 24 };
	struct bpf_insn byte = { .code = BPF_STX | BPF_ATOMIC | BPF_B, .imm = BPF_ADD };
	struct bpf_insn wide[2] = { { .code = BPF_LD | BPF_IMM | BPF_DW, .src_reg = 7 } };

	CHECK(refused(&div, true));
	CHECK(refused(&movsx, true));
	CHECK(refused(&atomic, true));
	CHECK(refused(&end, true));
	CHECK(refused(&byte, true));
	CHECK(refused(wide, true));
}

TEST(check_names_the_first_bad_one)
{
	struct bpf_insn insns[4] = { { .code = BPF_LD | BPF_IMM | BPF_DW },
				     { 0 },
				     { .code = BPF_JMP | BPF_EXIT, .imm = 1 },
				     { .code = 0xff } };
	const char *why = NULL;
	uint32_t bad = 0;

	CHECK_EQ(isa_check(insns, 4, &bad, &why), -EINVAL);
	CHECK_EQ(bad, 2);
	CHECK_STR(why, "BPF_EXIT uses reserved fields");
	insns[2].imm = 0;
	CHECK_EQ(isa_check(insns, 3, &bad, &why), 0);
	CHECK_EQ(isa_check(insns, 1, &bad, &why), -EINVAL);
	CHECK_EQ(bad, 0);
}

TEST(targets_and_sizes)
{
	struct bpf_insn ja = { .code = BPF_JMP | BPF_JA, .off = -3, .imm = 100 };
	struct bpf_insn gotol = { .code = BPF_JMP32 | BPF_JA, .off = 5, .imm = -100 };
	struct bpf_insn call = { .code = BPF_JMP | BPF_CALL, .src_reg = 1, .imm = 7 };

	CHECK_EQ(isa_target(&ja, 10), 8);
	CHECK_EQ(isa_target(&gotol, 10), -89);
	CHECK_EQ(isa_target(&call, 10), 18);
	for (uint32_t i = 0; i < 4; i++) {
		static const uint8_t size[] = { BPF_B, BPF_H, BPF_W, BPF_DW };
		struct bpf_insn insn = { .code = (uint8_t)(BPF_LDX | BPF_MEM | size[i]) };

		CHECK_EQ(isa_access_size(&insn), 1u << i);
	}
}

/* ---- text -------------------------------------------------------------------------------------
 */

TEST(text_reads_back)
{
	for (int id = 0; id < ISA_ID_NR; id++) {
		const struct isa_row *row = isa_row_get((enum isa_id)id);

		for (int i = 0; i < 20; i++) {
			struct bpf_insn insn[2], back[2] = { { 0 } };
			char text[DISASM_MAX];
			int slots = row->flags & ISA_F_WIDE ? 2 : 1;

			make(row, insn);
			CHECK(bpf_disasm(NULL, insn, true, text, sizeof(text)) < DISASM_MAX);
			if (asm_text(text + 5, back, 2) != slots || memcmp(insn, back, 8)) {
				TEST_FAIL("%s: \"%s\"", row->name, text);
				return;
			}
			CHECK_EQ(back[1].imm, insn[1].imm);
		}
	}
}

TEST(text_is_the_kernels)
{
	static const struct {
		struct bpf_insn insn[2];
		const char *text;
	} cases[] = {
		{ { { BPF_ALU64 | BPF_ADD | BPF_K, 1, 0, 0, -4 } }, "(07) r1 += -4" },
		{ { { BPF_ALU | BPF_MOV | BPF_X, 1, 2, 0, 0 } }, "(bc) w1 = w2" },
		{ { { BPF_ALU64 | BPF_MOV | BPF_X, 1, 2, 8, 0 } }, "(bf) r1 = (s8)r2" },
		{ { { BPF_ALU | BPF_MOD | BPF_X, 1, 2, 1, 0 } }, "(9c) w1 s%= w2" },
		{ { { BPF_ALU | BPF_END | BPF_TO_BE, 1, 0, 0, 16 } }, "(dc) r1 = be16 r1" },
		{ { { BPF_LDX | BPF_MEM | BPF_W, 2, 1, 0, 0 } }, "(61) r2 = *(u32 *)(r1 +0)" },
		{ { { BPF_LDX | BPF_MEMSX | BPF_B, 0, 10, -8, 0 } }, "(91) r0 = *(s8 *)(r10 -8)" },
		{ { { BPF_ST | BPF_MEM | BPF_W, 10, 0, -4, 7 } }, "(62) *(u32 *)(r10 -4) = 7" },
		{ { { BPF_STX | BPF_MEM | BPF_DW, 10, 1, -16, 0 } },
		  "(7b) *(u64 *)(r10 -16) = r1" },
		{ { { BPF_STX | BPF_ATOMIC | BPF_DW, 1, 2, 8, BPF_ADD } },
		  "(db) lock *(u64 *)(r1 +8) += r2" },
		{ { { BPF_STX | BPF_ATOMIC | BPF_W, 1, 2, 0, BPF_ADD | BPF_FETCH } },
		  "(c3) r2 = atomic_fetch_add((u32 *)(r1 +0), r2)" },
		{ { { BPF_STX | BPF_ATOMIC | BPF_DW, 1, 2, 0, BPF_CMPXCHG } },
		  "(db) r0 = atomic64_cmpxchg((u64 *)(r1 +0), r0, r2)" },
		{ { { BPF_JMP | BPF_JSGT | BPF_K, 1, 0, 3, -1 } },
		  "(65) if r1 s> 0xffffffff goto pc+3" },
		{ { { BPF_JMP32 | BPF_JSET | BPF_X, 1, 2, -3, 0 } }, "(4e) if w1 & w2 goto pc-3" },
		{ { { BPF_JMP | BPF_JA, 0, 0, 5, 0 } }, "(05) goto pc+5" },
		{ { { BPF_JMP32 | BPF_JA, 0, 0, 0, 70000 } }, "(06) gotol pc+70000" },
		{ { { BPF_JMP | BPF_CALL, 0, 0, 0, 1 } }, "(85) call bpf_map_lookup_elem#1" },
		{ { { BPF_JMP | BPF_CALL, 0, 1, 0, -9 } }, "(85) call pc-9" },
		{ { { BPF_JMP | BPF_EXIT, 0, 0, 0, 0 } }, "(95) exit" },
		{ { { BPF_LD | BPF_IMM | BPF_DW, 1, 0, 0, -1 }, { 0, 0, 0, 0, 1 } },
		  "(18) r1 = 0x1ffffffff" },
		{ { { BPF_LD | BPF_ABS | BPF_H, 0, 0, 0, 12 } }, "(28) r0 = *(u16 *)skb[12]" },
		{ { { BPF_LD | BPF_IND | BPF_B, 0, 7, 0, 5 } }, "(50) r0 = *(u8 *)skb[r7 + 5]" },
		{ { { 0xff, 1, 2, 3, 4 } }, "(ff) dst 1 src 2 off 3 imm 4: unknown opcode" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[DISASM_MAX], small[8];
		int len = bpf_disasm(NULL, cases[i].insn, true, text, sizeof(text));

		CHECK_STR(text, cases[i].text);
		CHECK_EQ(len, strlen(text));
		/* Cut, but terminated. */
		CHECK_EQ(bpf_disasm(NULL, cases[i].insn, true, small, sizeof(small)), len);
		CHECK(!strncmp(small, text, 7) && strlen(small) <= 7);
	}
}

/* ---- logs -------------------------------------------------------------------------------------
 */

TEST(log_keeps_what_fits)
{
	char buf[16];
	struct bpf_log log;
	uint32_t size;

	bpf_log_init(&log, BPF_LOG_LEVEL1, buf, sizeof(buf));
	bpf_log_printf(&log, "hello %d\n", 5);
	CHECK_EQ(bpf_log_finish(&log, &size), 0);
	CHECK_STR(buf, "hello 5\n");
	CHECK_EQ(size, 9);
}

TEST(log_keeps_the_end)
{
	for (uint32_t room = 1; room < 60; room++) {
		char *buf = malloc(room), whole[64] = "";
		struct bpf_log log;
		uint32_t size;

		bpf_log_init(&log, BPF_LOG_LEVEL1, buf, room);
		for (int i = 0; i < 13; i++) {
			bpf_log_printf(&log, "%d,", i);
			sprintf(whole + strlen(whole), "%d,", i);
		}
		CHECK_EQ(bpf_log_finish(&log, &size), strlen(whole) < room ? 0 : -ENOSPC);
		CHECK_EQ(size, strlen(whole) + 1);
		if (strlen(whole) < room)
			CHECK_STR(buf, whole);
		else
			CHECK_STR(buf, whole + strlen(whole) - (room - 1));
		free(buf);
	}
}

TEST(log_fixed_keeps_the_beginning)
{
	char buf[6];
	struct bpf_log log;
	uint32_t size;

	bpf_log_init(&log, BPF_LOG_LEVEL1 | BPF_LOG_FIXED, buf, sizeof(buf));
	bpf_log_printf(&log, "abcd");
	bpf_log_printf(&log, "efgh");
	CHECK_EQ(bpf_log_finish(&log, &size), -ENOSPC);
	CHECK_STR(buf, "abcde");
	CHECK_EQ(size, 9);
}

TEST(log_goes_back)
{
	char buf[64], tiny[8];
	struct bpf_log log;
	uint64_t mark;
	uint32_t size;

	bpf_log_init(&log, BPF_LOG_LEVEL1, buf, sizeof(buf));
	bpf_log_printf(&log, "one ");
	mark = bpf_log_mark(&log);
	bpf_log_printf(&log, "a good path ");
	bpf_log_reset_to(&log, mark);
	bpf_log_printf(&log, "two");
	CHECK_EQ(bpf_log_finish(&log, &size), 0);
	CHECK_STR(buf, "one two");
	CHECK_EQ(size, strlen("one a good path ") + 1);

	/* Back to before what is still kept. */
	bpf_log_init(&log, BPF_LOG_LEVEL1, tiny, sizeof(tiny));
	bpf_log_printf(&log, "0123456789abcdef");
	bpf_log_reset_to(&log, 4);
	bpf_log_printf(&log, "xy");
	CHECK_EQ(bpf_log_finish(&log, &size), -ENOSPC);
	CHECK_STR(tiny, "xy");
}

TEST(log_counts_without_a_buffer)
{
	struct bpf_log log;
	uint32_t size;

	bpf_log_init(&log, BPF_LOG_LEVEL1, NULL, 0);
	bpf_log_printf(&log, "12345");
	CHECK_EQ(bpf_log_finish(&log, &size), 0);
	CHECK_EQ(size, 6);
	bpf_log_init(&log, 0, NULL, 0);
	bpf_log_printf(&log, "12345");
	CHECK_EQ(bpf_log_finish(&log, &size), 0);
	CHECK_EQ(size, 0);
	bpf_log_printf(NULL, "nowhere");
}
