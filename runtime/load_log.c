/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/load.h"

#include "runtime/cmd.h"

#define LOG_LEVELS   (BPF_LOG_LEVEL1 | BPF_LOG_LEVEL2 | BPF_LOG_STATS | BPF_LOG_FIXED)
#define LOG_SIZE_MAX (UINT32_MAX >> 2)

int load_log_begin(struct load_log *l, uint32_t level, uint64_t user, uint32_t size)
{
	if (!user != !size || (user && !level) || (level & ~(uint32_t)LOG_LEVELS) ||
	    size > LOG_SIZE_MAX)
		return -EINVAL;
	l->room = size;
	bpf_log_init_growing(&l->log, level, size);
	return 0;
}

int load_log_end(struct load_log *l, struct bpf_call *call, uint64_t user, uint32_t *true_size)
{
	const char *text = "";
	uint32_t size;
	int err = bpf_log_finish(&l->log, &size);

	if (l->log.buf)
		text = l->log.buf;
	/* Memory for it ended early: as if the client had given less room. */
	if (!err && size > 1 && l->log.room < MIN(size, l->room))
		err = -ENOSPC;
	if (l->room) {
		int bad = cmd_put(call, user, text, __builtin_strlen(text) + 1);

		if (bad)
			err = bad;
	}
	hal_free(l->log.buf);
	*true_size = size;
	return err;
}
