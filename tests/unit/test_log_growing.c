/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs whose buffer grows with the text (bpf_log_init_growing). */
#include "bpf/log.h"
#include "hal_host.h"
#include "include/err.h"
#include "include/hal.h"
#include "test.h"

static void write_lines(struct bpf_log *log, int from, int to)
{
	for (int i = from; i < to; i++)
		bpf_log_printf(log, "line %06d\n", i); /* 12 bytes */
}

TEST(grows_to_text)
{
	struct bpf_log log;
	uint32_t size;
	char want[24];

	bpf_log_init_growing(&log, 1, 16 << 20);
	write_lines(&log, 0, 5000);
	CHECK_EQ(bpf_log_finish(&log, &size), 0);
	CHECK_EQ(size, 5000 * 12 + 1);
	CHECK_EQ(strlen(log.buf), 5000 * 12);
	/* What is held is the text's size, not the client's. */
	CHECK(log.room < 4 * size);
	for (int i = 0; i < 5000; i += 7) {
		snprintf(want, sizeof(want), "line %06d\n", i);
		CHECK_MEM(log.buf + 12 * i, want, 12);
	}
	hal_free(log.buf);
}

TEST(keeps_end_at_most)
{
	struct bpf_log log;
	uint32_t size;

	bpf_log_init_growing(&log, 1, 12 * 200 + 1);
	write_lines(&log, 0, 1000);
	CHECK_EQ(bpf_log_finish(&log, &size), -ENOSPC);
	CHECK_EQ(size, 12 * 1000 + 1);
	CHECK_EQ(strlen(log.buf), 12 * 200);
	CHECK_MEM(log.buf, "line 000800\n", 12);
	hal_free(log.buf);
}

TEST(fixed_keeps_beginning)
{
	struct bpf_log log;
	uint32_t size;

	bpf_log_init_growing(&log, 1 | BPF_LOG_FIXED, 12 * 200 + 1);
	write_lines(&log, 0, 1000);
	CHECK_EQ(bpf_log_finish(&log, &size), -ENOSPC);
	CHECK_EQ(strlen(log.buf), 12 * 200);
	CHECK_MEM(log.buf, "line 000000\n", 12);
	hal_free(log.buf);
}

/* Text that was taken back does not make it grow. */
TEST(resets)
{
	struct bpf_log log;
	uint32_t size;

	bpf_log_init_growing(&log, 1, 1 << 20);
	for (int i = 0; i < 1000; i++) {
		uint64_t mark = bpf_log_mark(&log);

		write_lines(&log, 0, 20);
		bpf_log_reset_to(&log, mark);
	}
	write_lines(&log, 7, 8);
	CHECK_EQ(bpf_log_finish(&log, &size), 0);
	CHECK_STR(log.buf, "line 000007\n");
	CHECK(log.room <= 1024);
	hal_free(log.buf);
}

TEST(no_memory)
{
	struct bpf_log log;
	uint32_t size;

	bpf_log_init_growing(&log, 1, 1 << 20);
	hal_host_fail_alloc(2, true);
	write_lines(&log, 0, 1000);
	hal_host_fail_alloc(0, false);
	CHECK_EQ(bpf_log_finish(&log, &size), -ENOSPC);
	CHECK_EQ(size, 12 * 1000 + 1);
	CHECK(strstr(log.buf, "line 000999\n"));
	hal_free(log.buf);
}
