/* SPDX-License-Identifier: BSD-2-Clause */
#include "runtime/load.h"

#include "include/err.h"
#include "include/hal.h"

#define LOG_LEVELS   (BPF_LOG_LEVEL1 | BPF_LOG_LEVEL2 | BPF_LOG_STATS | BPF_LOG_FIXED)
#define LOG_SIZE_MAX (UINT32_MAX >> 2)

int load_log_begin(struct load_log *l, uint32_t level, uint64_t user, uint32_t size)
{
	char *buf = NULL;

	if (!user != !size || (user && !level) || (level & ~(uint32_t)LOG_LEVELS) ||
	    size > LOG_SIZE_MAX)
		return -EINVAL;
	if (size) {
		buf = hal_alloc(size);
		if (!buf)
			return -ENOMEM;
	}
	l->room = size;
	bpf_log_init(&l->log, level, buf, size);
	return 0;
}

int load_log_end(struct load_log *l, struct bpf_call *call, uint64_t user, uint32_t *true_size)
{
	uint32_t size;
	int err = bpf_log_finish(&l->log, &size);

	if (l->log.buf) {
		size_t text_bytes = __builtin_strlen(l->log.buf) + 1;
		char *out = call_out(call, user, text_bytes);

		if (out)
			__builtin_memcpy(out, l->log.buf, text_bytes);
		else
			err = -EFAULT;
		hal_free(l->log.buf);
	}
	*true_size = size;
	return err;
}
