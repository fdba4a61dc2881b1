/* SPDX-License-Identifier: BSD-2-Clause */
/* bpf_scan: structure of programs, calls, where the context pointer is. */
#include "test.h"

#include "bpf/log.h"
#include "bpf/verify.h"
#include "hal_host.h"
#include "include/err.h"
#include "include/hal.h"
#include "support_asm.h"
#include "support_vectors.h"

static char log_text[512];

/* bpf_scan's verdict on a text. */
static int scan(enum bpf_prog_type type, const char *text, bool gpl)
{
	static struct bpf_insn insns[VECTOR_INSNS_MAX];
	int nr = asm_text(text, insns, VECTOR_INSNS_MAX), err;
	struct bpf_prog prog = {
		.type = type, .gpl = gpl, .insns = insns, .insn_cnt = (uint32_t)nr
	};
	struct bpf_log log;
	uint32_t size;

	if (nr < 0)
		return 1;
	bpf_log_init(&log, BPF_LOG_LEVEL1, log_text, sizeof(log_text));
	err = bpf_scan(&prog, &log);
	if (bpf_log_finish(&log, &size))
		err = 1;
	hal_free(prog.aux);
	hal_free(prog.subprogs);
	return err;
}

TEST(scan_refuses)
{
	static const struct {
		const char *text;
		int err;
		const char *log;
	} cases[] = {
		{ "r0 = 0; exit", 0, "" },
		{ "r0 = 0", -EINVAL, "last insn is not an exit or jmp\n" },
		{ "if r0 == 0x0 goto pc-1", -EINVAL, "last insn is not an exit or jmp\n" },
		{ "goto pc+5; exit", -EINVAL, "jump out of range from insn 0 to 6\n" },
		{ "goto pc-2; exit", -EINVAL, "jump out of range from insn 0 to -1\n" },
		{ "gotol pc+5; exit", -EINVAL, "jump out of range from insn 0 to 6\n" },
		{ "goto pc+1; r0 = 0x5; exit", -EINVAL,
		  "jump into the middle of ldimm64 insn 2\n" },
		{ "call pc+9; exit", -EINVAL, "call to invalid destination from insn 0\n" },
		{ "call pc+2; exit; r0 = 0x5; exit", -EINVAL,
		  "function starts in the middle of ldimm64 insn 3\n" },
		{ "call f; goto in; f: r0 = 0; in: exit", -EINVAL,
		  "jump out of range from insn 1 to 3\n" },
		{ "r10 = 5; exit", -EACCES, "0: frame pointer is read only\n" },
		{ "r10 += 5; exit", -EACCES, "0: frame pointer is read only\n" },
		{ "call 9999; exit", -EINVAL, "0: invalid func unknown#9999\n" },
		{ "exit; call 9999; exit", 0, "" },
		{ "r1 = subprog[f]; exit; f: exit", 0, "" },
		{ "call kernel-function#5; exit", -EINVAL,
		  "0: calling kernel function is not allowed\n" },
		{ "call kernel-function#2002000001; exit", 0, "" },
		{ "call 195896080; exit", 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int err = scan(BPF_PROG_TYPE_XDP, cases[i].text, true);

		if (err != cases[i].err || strcmp(log_text, cases[i].log))
			TEST_FAIL("\"%s\": %d, %s", cases[i].text, err, log_text);
	}
}

TEST(scan_gates_helpers)
{
	CHECK_EQ(scan(BPF_PROG_TYPE_XDP, "call bpf_trace_printk; exit", true), 0);
	CHECK_EQ(scan(BPF_PROG_TYPE_XDP, "call bpf_trace_printk; exit", false), -EINVAL);
	CHECK(strstr(log_text, "GPL-restricted"));
	CHECK_EQ(scan(BPF_PROG_TYPE_XDP, "call bpf_probe_read; exit", true), -EINVAL);
	CHECK(strstr(log_text, "program of this type cannot use helper bpf_probe_read#4"));
	CHECK_EQ(scan(BPF_PROG_TYPE_TRACEPOINT, "call bpf_probe_read; exit", true), 0);
}

static struct bpf_prog *make(enum bpf_prog_type type, const char *text)
{
	return test_prog_asm(type, text, NULL, 0, false);
}

TEST(scan_finds_functions)
{
	struct bpf_prog *p = make(BPF_PROG_TYPE_XDP, "r1 = subprog[g]; call f; exit;"
						     "f: *(u64 *)(r10 -8) = 1; r0 = 0; exit;"
						     "g: call bpf_tail_call; r0 = 1; exit");

	CHECK(p);
	CHECK_EQ(p->subprog_cnt, 3);
	CHECK_EQ(p->subprogs[0].end, 4);
	CHECK_EQ(p->subprogs[1].start, 4);
	CHECK_EQ(p->subprogs[2].start, 7);
	CHECK_EQ(p->subprogs[2].end, 10);
	CHECK_EQ(p->subprogs[0].stack_bytes, 0);
	CHECK_EQ(p->subprogs[1].stack_bytes, 512);
	CHECK_EQ(p->subprogs[0].is_leaf, 0);
	CHECK_EQ(p->subprogs[1].is_leaf, 1);
	CHECK_EQ(p->subprogs[2].is_callback, 1);
	CHECK_EQ(p->subprogs[2].has_tail_call, 1);
	CHECK_EQ(p->has_tail_call, 1);
	CHECK_EQ(p->has_subprog_calls, 1);
	CHECK(p->aux[7].flags & AUX_CALLBACK);
	for (uint32_t i = 0; i < p->insn_cnt; i++) {
		CHECK(p->aux[i].flags & AUX_REACHED);
		CHECK_EQ(p->aux[i].orig_idx, i);
	}
	test_prog_free(p);
}

TEST(scan_too_many_functions)
{
	static char text[8192];
	size_t at = 0;

	for (int i = 0; i < 256; i++)
		at += (size_t)sprintf(text + at, "call pc+%d;", 256);
	sprintf(text + at, "exit;");
	at = strlen(text);
	for (int i = 0; i < 256; i++)
		at += (size_t)sprintf(text + at, "exit;");
	CHECK_EQ(scan(BPF_PROG_TYPE_XDP, text, true), -E2BIG);
}

/* Where the context is known, and where not. */
TEST(scan_marks_context_accesses)
{
	static const struct {
		const char *text;
		uint32_t at;
		bool ctx;
	} cases[] = {
		{ "r0 = *(u32 *)(r1 +4); exit", 0, true },
		{ "r6 = r1; call bpf_ktime_get_ns; r0 = *(u32 *)(r6 +4); exit", 2, true },
		{ "call bpf_ktime_get_ns; r0 = *(u32 *)(r1 +4); exit", 1, false },
		{ "r1 += 0; r0 = *(u32 *)(r1 +4); exit", 1, false },
		{ "w1 = w1; r0 = *(u32 *)(r1 +4); exit", 1, false },
		{ "*(u64 *)(r10 -8) = r1; r2 = *(u64 *)(r10 -8); r0 = *(u32 *)(r2 +4); exit", 2,
		  true },
		{ "*(u64 *)(r10 -8) = r1; *(u8 *)(r10 -3) = 1; r2 = *(u64 *)(r10 -8);"
		  "r0 = *(u32 *)(r2 +4); exit",
		  3, false },
		{ "*(u64 *)(r10 -12) = r1; r2 = *(u64 *)(r10 -12); r0 = *(u32 *)(r2 +4); exit", 2,
		  false },
		/* Two paths: one of them loses it. */
		{ "if r1 == 0x0 goto out; r1 = r10; out: r0 = *(u32 *)(r1 +4); exit", 2, false },
		{ "r6 = r1; if r1 == 0x0 goto out; r7 = 1; out: r0 = *(u32 *)(r6 +4); exit", 3,
		  true },
		/* Known at first, lost in the second round of a loop. */
		{ "top: r0 = *(u32 *)(r1 +4); r1 = r10; if r0 != 0x0 goto top; exit", 0, false },
		{ "call f; exit; f: r0 = *(u32 *)(r1 +4); exit", 2, true },
		{ "r2 = r1; call f; r1 = 0; call f; exit; f: r0 = *(u32 *)(r1 +4); exit", 5,
		  false },
		{ "r2 = subprog[f]; call bpf_loop; exit; f: r0 = *(u32 *)(r1 +4); exit", 4, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bpf_prog *p = make(BPF_PROG_TYPE_XDP, cases[i].text);

		CHECK(p);
		if ((p->aux[cases[i].at].ptr == AUX_PTR_CTX) != cases[i].ctx)
			TEST_FAIL("\"%s\"", cases[i].text);
		test_prog_free(p);
	}
}

TEST(scan_fails_cleanly_without_memory)
{
	struct bpf_insn insns[2] = { { .code = BPF_ALU64 | BPF_MOV },
				     { .code = BPF_JMP | BPF_EXIT } };

	for (unsigned long n = 1;; n++) {
		struct bpf_prog prog = { .insns = insns, .insn_cnt = 2 };
		int err;

		hal_host_fail_alloc(n, false);
		err = bpf_scan(&prog, NULL);
		if (!hal_host_fail_hit()) {
			CHECK_EQ(err, 0);
			hal_free(prog.aux);
			hal_free(prog.subprogs);
			break;
		}
		CHECK_EQ(err, -ENOMEM);
		CHECK(!prog.aux && !prog.subprogs);
		CHECK_EQ(test_leaked_bytes(), 0);
	}
}
