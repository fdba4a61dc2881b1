/* SPDX-License-Identifier: BSD-2-Clause */
/* Board commands: knobs, the machine's services, closing, fdinfo. */
#include "support_rt.h"
#include "test.h"

/* ---- a machine ------------------------------------------------------------------------------- */

static struct {
	uint32_t reset_how, knob;
	int64_t knob_value;
	int knob_answer;
} machine;

static void machine_info(void *arg, struct board_info_reply *out)
{
	(void)arg;
	strcpy(out->board, "paper");
	out->baud = 115200;
}

static int machine_reset(void *arg, uint32_t how, uint32_t status)
{
	(void)arg;
	machine.reset_how = how * 100 + status;
	return 0;
}

static int machine_pmu(void *arg, struct board_attr_pmu *pmu)
{
	(void)arg;
	pmu->supported = 1;
	pmu->value[0] = 1234;
	return 0;
}

/* The text "0123456789", from a position on. */
static uint32_t machine_log(void *arg, uint32_t which, char *buf, uint32_t len, uint64_t *pos,
			    uint64_t *lost)
{
	static const char text[] = "0123456789";
	uint32_t n = 0;

	(void)arg;
	*lost = which;
	while (n < len && *pos < 10)
		buf[n++] = text[(*pos)++];
	return n;
}

static uint32_t machine_mem(void *arg, struct board_mem_purpose *rows, uint32_t nr, uint64_t *total,
			    uint64_t *free_bytes)
{
	(void)arg;
	(void)nr;
	strcpy(rows[0].name, "image");
	rows[0].bytes = 5;
	strcpy(rows[1].name, "heap");
	*total = 100;
	*free_bytes = 50;
	return 2;
}

static int machine_selftest(void *arg, const char *name, char *log, uint32_t len, uint32_t *failed)
{
	(void)arg;
	if (strcmp(name, "walk"))
		return -ENOENT;
	snprintf(log, len, "2 checks\n");
	*failed = 1;
	return 0;
}

static void machine_load(void *arg, struct board_load_stat *out)
{
	(void)arg;
	out->rx_bytes = 77;
}

static uint32_t machine_syms(void *arg, uint32_t *first, char *buf, uint32_t len)
{
	(void)arg;
	(void)len;
	*first = *first ? 0 : 9;
	memcpy(buf, "1 T a\n", 6);
	return 6;
}

static int machine_knob(void *arg, enum rt_knob k, int64_t value)
{
	(void)arg;
	machine.knob = k;
	machine.knob_value = value;
	return machine.knob_answer;
}

static const struct rt_platform platform = {
	.info = machine_info,
	.reset = machine_reset,
	.pmu_read = machine_pmu,
	.log_read = machine_log,
	.mem_stat = machine_mem,
	.selftest = machine_selftest,
	.syms = machine_syms,
	.load_stat = machine_load,
	.knob_set = machine_knob,
};

/* ---- knobs ----------------------------------------------------------------------------------- */

TEST(knobs_listed)
{
	struct rt *rt = rt_new(NULL);
	char name[BOARD_KNOB_LEN] = "";
	int n = 0;

	for (;;) {
		struct bpf_call *c = rt_call(BOARD_KNOB_NEXT);

		memcpy(c->attr.board.knob.name, name, sizeof(name));
		if (rt_do(rt))
			break;
		memcpy(name, c->attr.board.knob.name, sizeof(name));
		CHECK(c->attr.board.knob.value >= c->attr.board.knob.min);
		CHECK(c->attr.board.knob.value <= c->attr.board.knob.max);
		CHECK(n++ < KNOB_NR);
		c = rt_call(BOARD_KNOB_GET);
		memcpy(c->attr.board.knob.name, name, sizeof(name));
		CHECK_EQ(rt_do(rt), 0);
	}
	CHECK_EQ(n, KNOB_NR);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(knobs_set)
{
	struct rt *rt = rt_new(&platform);
	struct bpf_call *c;

	CHECK_EQ(rt_knob_put(rt, "bpf.jit_harden", 2), 0);
	CHECK_EQ(machine.knob, KNOB_JIT_HARDEN);
	CHECK_EQ(machine.knob_value, 2);
	CHECK_EQ(rt_knob(rt, KNOB_JIT_HARDEN), 2);
	CHECK_EQ(rt_knob_put(rt, "bpf.jit_harden", 3), -EINVAL);
	CHECK_EQ(rt_knob_put(rt, "bpf.jit_harden", -1), -EINVAL);
	CHECK_EQ(rt_knob_put(rt, "none", 1), -ENOENT);
	CHECK_EQ(rt_knob_put(rt, "", 1), -ENOENT);
	/* What the machine refuses keeps its value. */
	machine.knob_answer = -EBUSY;
	CHECK_EQ(rt_knob_put(rt, "bpf.jit_harden", 1), -EBUSY);
	CHECK_EQ(rt_knob(rt, KNOB_JIT_HARDEN), 2);
	machine.knob_answer = 0;
	c = rt_call(BOARD_KNOB_SET);
	memset(c->attr.board.knob.name, 'x', BOARD_KNOB_LEN);
	CHECK_EQ(rt_do(rt), -EINVAL);
	c = rt_call(BOARD_KNOB_NEXT);
	strcpy(c->attr.board.knob.name, "none");
	CHECK_EQ(rt_do(rt), -ENOENT);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- machine services ------------------------------------------------------------------------ */

TEST(without_machine)
{
	static const uint32_t cmds[] = { BOARD_INFO,	  BOARD_LOG_READ, BOARD_PMU_READ,
					 BOARD_RESET,	  BOARD_SELFTEST, BOARD_MEM_STAT,
					 BOARD_LOAD_STAT, BOARD_SYMS };
	struct rt *rt = rt_new(NULL);

	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		rt_call(cmds[i]);
		CHECK_EQ(rt_do(rt), -EOPNOTSUPP);
	}
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(info)
{
	struct rt *rt = rt_new(&platform);
	const struct board_info_reply *info;
	struct bpf_call *c = rt_call(BOARD_INFO);

	c->attr.board.info.info_len = 500;
	rt_out(&c->attr.board.info.info, 500);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.info.info_len, sizeof(*info));
	info = rt_result(c->attr.board.info.info, sizeof(*info));
	CHECK_EQ(info->abi, 1);
	CHECK_EQ(info->cpus, 4);
	CHECK_EQ(info->baud, 115200);
	CHECK_STR(info->board, "paper");
	c = rt_call(BOARD_INFO);
	c->attr.board.info.info_len = 8;
	rt_out(&c->attr.board.info.info, 8);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(rt_result_len(c->attr.board.info.info), 8);
	c->attr.board.info.info = 0;
	CHECK_EQ(rt_do(rt), -EFAULT);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(log_read)
{
	struct rt *rt = rt_new(&platform);
	struct bpf_call *c = rt_call(BOARD_LOG_READ);

	c->attr.board.log.which = 1;
	c->attr.board.log.len = 4;
	c->attr.board.log.pos = 3;
	rt_out(&c->attr.board.log.buf, 4);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.log.len, 4);
	CHECK_EQ(c->attr.board.log.pos, 7);
	CHECK_EQ(c->attr.board.log.lost, 1);
	CHECK_MEM(rt_result(c->attr.board.log.buf, 4), "3456", 4);
	c = rt_call(BOARD_LOG_READ);
	c->attr.board.log.len = 100;
	c->attr.board.log.pos = 8;
	rt_out(&c->attr.board.log.buf, 100);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.log.len, 2);
	CHECK_EQ(rt_result_len(c->attr.board.log.buf), 2);
	c->attr.board.log.which = 2;
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(small_services)
{
	struct rt *rt = rt_new(&platform);
	struct bpf_call *c = rt_call(BOARD_PMU_READ);

	c->attr.board.pmu.nr = 1;
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.pmu.value[0], 1234);
	c->attr.board.pmu.nr = 9;
	CHECK_EQ(rt_do(rt), -EINVAL);
	c->attr.board.pmu.nr = 1;
	c->attr.board.pmu.cpu = 4;
	CHECK_EQ(rt_do(rt), -ENXIO);
	c->attr.board.pmu.cpu = 0;
	c->attr.board.pmu.flags = 2;
	CHECK_EQ(rt_do(rt), -EINVAL);

	c = rt_call(BOARD_RESET);
	c->attr.board.reset.how = 2;
	c->attr.board.reset.status = 7;
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(machine.reset_how, 207);
	c->attr.board.reset.how = 3;
	CHECK_EQ(rt_do(rt), -EINVAL);

	c = rt_call(BOARD_MEM_STAT);
	c->attr.board.memstat.nr = 1;
	rt_out(&c->attr.board.memstat.rows, 2 * sizeof(struct board_mem_purpose));
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.memstat.nr, 1);
	CHECK_EQ(c->attr.board.memstat.free_bytes, 50);
	CHECK_EQ(rt_result_len(c->attr.board.memstat.rows), sizeof(struct board_mem_purpose));

	c = rt_call(BOARD_LOAD_STAT);
	c->attr.board.loadstat.stat_len = 8;
	rt_out(&c->attr.board.loadstat.stat, 8);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(*(const uint64_t *)rt_result(c->attr.board.loadstat.stat, 8), 77);
	CHECK_EQ(c->attr.board.loadstat.stat_len, sizeof(struct board_load_stat));

	c = rt_call(BOARD_SYMS);
	c->attr.board.syms.len = 64;
	rt_out(&c->attr.board.syms.buf, 64);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.syms.len, 6);
	CHECK_EQ(c->attr.board.syms.first, 9);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(selftest)
{
	struct rt *rt = rt_new(&platform);
	struct bpf_call *c = rt_call(BOARD_SELFTEST);

	strcpy(c->attr.board.selftest.name, "walk");
	c->attr.board.selftest.log_len = 64;
	rt_out(&c->attr.board.selftest.log, 64);
	CHECK_EQ(rt_do(rt), 0);
	CHECK_EQ(c->attr.board.selftest.failed, 1);
	CHECK_EQ(c->attr.board.selftest.log_len, 9);
	CHECK_EQ(rt_result_len(c->attr.board.selftest.log), 9);
	c = rt_call(BOARD_SELFTEST);
	strcpy(c->attr.board.selftest.name, "none");
	c->attr.board.selftest.log_len = 64;
	rt_out(&c->attr.board.selftest.log, 64);
	CHECK_EQ(rt_do(rt), -ENOENT);
	CHECK_EQ(rt_result_len(c->attr.board.selftest.log), 0);
	memset(c->attr.board.selftest.name, 'x', BOARD_NAME_LEN);
	CHECK_EQ(rt_do(rt), -EINVAL);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

TEST(close_many)
{
	struct rt *rt = rt_new(NULL);
	uint32_t h[3];
	struct bpf_call *c;

	for (int i = 0; i < 3; i++)
		h[i] = (uint32_t)rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 4, 1, 0);
	c = rt_call(BOARD_CLOSE);
	c->attr.board.close.nr = 4;
	rt_in(&c->attr.board.close.handles, (uint32_t[]){ h[0], 12345, h[2], h[0] }, 16);
	CHECK_EQ(rt_do(rt), -EBADF);
	CHECK_EQ(rt_count(rt, RT_MAP), 1);
	c->attr.board.close.nr = 5;
	CHECK_EQ(rt_do(rt), -EFAULT);
	c->attr.board.close.nr = 1 << 20;
	CHECK_EQ(rt_do(rt), -E2BIG);
	c->attr.board.close.nr = 0;
	CHECK_EQ(rt_do(rt), 0);
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}

/* ---- fdinfo ---------------------------------------------------------------------------------- */

static const char *fdinfo(struct rt *rt, int64_t fd)
{
	static char text[1024];
	struct bpf_call *c = rt_call(BOARD_FDINFO);
	uint32_t len;

	c->attr.board.fdinfo.fd = (uint32_t)fd;
	c->attr.board.fdinfo.len = sizeof(text) - 1;
	rt_out(&c->attr.board.fdinfo.buf, sizeof(text) - 1);
	if (rt_do(rt))
		return NULL;
	len = c->attr.board.fdinfo.len;
	memcpy(text, rt_result(c->attr.board.fdinfo.buf, len), len);
	text[len] = '\0';
	return text;
}

static bool begins(const char *text, const char *with)
{
	return text && !strncmp(text, with, strlen(with));
}

TEST(fdinfo_text)
{
	struct rt *rt = rt_new(NULL);
	int64_t map = rt_map_create(rt, BPF_MAP_TYPE_ARRAY, 4, 8, 3, BPF_F_MMAPABLE);
	int64_t prog = LOAD(rt, BPF_PROG_TYPE_XDP, MOV_IMM(0, 0), EXIT());
	const char *text = fdinfo(rt, map);

	CHECK(begins(text, "map_type:\t2\nkey_size:\t4\nvalue_size:\t8\nmax_entries:\t3\n"
			   "map_flags:\t0x400\nmap_extra:\t0x0\nmemlock:\t"));
	CHECK(strstr(text, "\nmap_id:\t1\nfrozen:\t0\n"));
	text = fdinfo(rt, prog);
	/* The tag that any Linux gives to `r0 = 0; exit`. */
	CHECK(begins(text, "prog_type:\t6\nprog_jited:\t0\nprog_tag:\ta04f5eef06a7f555\n"));
	CHECK(strstr(text, "\nprog_id:\t1\nrun_time_ns:\t0\nrun_cnt:\t0\n"));
	CHECK(!fdinfo(rt, 999));
	rt_call_end();
	CHECK_EQ(rt_free(rt), 0);
}
