/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/support_rt_load.h"

#include <string.h>

struct bpf_call *good_load(const struct bpf_insn *insns, uint32_t cnt)
{
	struct bpf_call *c = rt_call(BPF_PROG_LOAD);

	c->attr.bpf.prog_type = BPF_PROG_TYPE_XDP;
	c->attr.bpf.insn_cnt = cnt;
	rt_in(&c->attr.bpf.insns, insns, cnt * 8);
	rt_in(&c->attr.bpf.license, "GPL", 4);
	return c;
}

int64_t load_with_map(struct rt *rt, uint8_t src, uint32_t imm, uint32_t imm2)
{
	const struct bpf_insn insns[] = { LDIMM64(1, src, (int32_t)imm, (int32_t)imm2),
					  MOV_IMM(0, 0), EXIT() };

	good_load(insns, ARRAY_SIZE(insns));
	return rt_do(rt);
}

struct test_btf make_btf(void)
{
	struct test_btf b = {
		.hdr = { .magic = 0xeb9f,
			 .version = 1,
			 .hdr_len = sizeof(struct btf_header),
			 .type_len = offsetof(struct test_btf, strings) - sizeof(struct btf_header),
			 .str_off = offsetof(struct test_btf, strings) - sizeof(struct btf_header),
			 .str_len = 64 },
		.integer = { { .name_off = STR_INT, .info = BTF_KIND_INT << 24, .size = 4 },
			     BTF_INT_SIGNED << 24 | 32 },
		.proto = { .info = BTF_KIND_FUNC_PROTO << 24, .type = 1 },
		.func = { { .name_off = STR_MAIN, .info = BTF_KIND_FUNC << 24 | 1, .type = 2 },
			  { .name_off = STR_SUB, .info = BTF_KIND_FUNC << 24, .type = 2 } },
	};

	memcpy(b.strings + STR_INT, "int", 4);
	memcpy(b.strings + STR_MAIN, "main", 5);
	memcpy(b.strings + STR_SUB, "sub", 4);
	memcpy(b.strings + STR_FILE, "a.c", 4);
	memcpy(b.strings + STR_LINE, "  return 0;", 12);
	return b;
}

int64_t load_btf(struct rt *rt)
{
	struct test_btf btf = make_btf();
	struct bpf_call *c = rt_call(BPF_BTF_LOAD);
	int64_t ret;

	rt_in(&c->attr.bpf.btf, &btf, sizeof(btf));
	c->attr.bpf.btf_size = sizeof(btf);
	ret = rt_do(rt);
	rt_call_end();
	return ret;
}

const struct bpf_insn two_funcs[4] = { CALL_REL(1), EXIT(), MOV_IMM(0, 0), EXIT() };

struct infos good_infos(void)
{
	return (struct infos){
		.func = { { 0, 3 }, { 2, 4 } },
		.line = { { 0, STR_FILE, STR_LINE, 1 << 10 },
			  { 1, STR_FILE, STR_LINE, 2 << 10 },
			  { 2, STR_FILE, STR_LINE, 5 << 10 } },
	};
}

int64_t load_infos(struct rt *rt, uint32_t btf, const struct infos *in, uint32_t funcs,
		   uint32_t lines)
{
	struct bpf_call *c = good_load(two_funcs, 4);

	c->attr.bpf.prog_btf_fd = btf;
	c->attr.bpf.func_info_rec_size = sizeof(in->func[0]);
	c->attr.bpf.func_info_cnt = funcs;
	rt_in(&c->attr.bpf.func_info, in->func, funcs * (uint32_t)sizeof(in->func[0]));
	c->attr.bpf.line_info_rec_size = sizeof(in->line[0]);
	c->attr.bpf.line_info_cnt = lines;
	rt_in(&c->attr.bpf.line_info, in->line, lines * (uint32_t)sizeof(in->line[0]));
	return rt_do(rt);
}
